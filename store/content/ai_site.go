package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// AISiteType tells a page of links from a whole site.
type AISiteType string

// The types of a site.
const (
	AISiteTypeLinkInBio AISiteType = "link_in_bio"
	AISiteTypeAIBuilder AISiteType = "ai_builder"
)

// AISiteDomainStatus is how far the custom domain of a site has come.
type AISiteDomainStatus string

// A new domain is pending until it is found to point here; ssl_pending until it has a certificate.
const (
	AISiteDomainPending    AISiteDomainStatus = "pending"
	AISiteDomainSSLPending AISiteDomainStatus = "ssl_pending"
	AISiteDomainActive     AISiteDomainStatus = "active"
	AISiteDomainError      AISiteDomainStatus = "error"
)

// AISite is a public site of an account. One of an account's sites is its default. The subdomain is unique over all
// accounts; the domain is not before it is verified, or anybody could keep its owner from using it.
type AISite struct {
	AccountID            string              `db:"account_id"`
	ID                   string              `db:"id"`
	Name                 string              `db:"name"`
	Type                 AISiteType          `db:"type"`
	Default              bool                `db:"is_default"`
	Subdomain            string              `db:"subdomain"`
	Domain               *string             `db:"domain"`
	DomainStatus         *AISiteDomainStatus `db:"domain_status"`
	DomainVerifiedAt     *core.Time          `db:"domain_verified_at"`
	DomainError          *string             `db:"domain_error"`
	DomainCheckedAt      *core.Time          `db:"domain_checked_at"`
	DomainDueAt          *core.Time          `db:"domain_due_at"`   // when its records are looked for again
	DomainSince          core.Time           `db:"domain_since"`    // when it was wanted
	DomainTries          int64               `db:"domain_tries"`    // looks since it was wanted or verified
	DomainMisses         int64               `db:"domain_misses"`   // looks in a row at which a verified one had no record
	DomainRefusals       int64               `db:"domain_refusals"` // in a row, of a certificate
	DomainTold           bool                `db:"domain_told"`     // the team was told that it fails, or is to be, and it has not worked since
	DomainTellAt         *core.Time          `db:"domain_tell_at"`  // from when on they are to be told
	CodeHostRepoFullName *string             `db:"code_host_repo_full_name"`
	CodeHostURL          *string             `db:"code_host_url"`
	AppURL               *string             `db:"app_url"`
	IsLive               bool                `db:"is_live"`
	Version              int64               `db:"version"`           // of the draft, 0 if the page is composed
	LastVersion          int64               `db:"last_version"`      // the newest one's number
	PublishedVersion     *int64              `db:"published_version"` // what was shown last, nil if that was composed
	PublishedAt          *core.Time          `db:"published_at"`
	Metadata             core.Metadata       `db:"metadata"`
	CreatedAt            core.Time           `db:"created_at"`
	UpdatedAt            core.Time           `db:"updated_at"`

	Content       *SiteContent   `db:"-"` // the draft, nil if the page is composed; lists leave it out
	URL           string         `db:"-"`
	DomainRecords []DomainRecord `db:"-"` // of which one proves the domain
}

// AISiteDraft is a site in the hands of whoever makes or changes it, with content that comes beside it as JSON. Without content (nil) what is
// there stays; null has the page composed.
type AISiteDraft struct {
	*AISite
	Sent json.RawMessage
}

var aiSiteColumns = db.ColumnsOf[AISite]("ai_sites")

// Link fills in the address of the site, which is its domain once that is in use, and what proves the domain. It is called whenever a site is
// read: see db.Linked.
func (a *AISite) Link(d *db.DB) {
	a.URL = d.Options.PublicURL + "/sites/" + a.Subdomain
	if core.Deref(a.DomainStatus) == AISiteDomainActive {
		scheme, _, _ := strings.Cut(d.Options.PublicURL, "://")
		a.URL = scheme + "://" + *a.Domain + "/"
	}
	a.linkDomain(d)
}

// check returns CodeInvalid, with every field at fault, for a site that cannot be stored.
func (a *AISite) check() error {
	var p core.Problems
	length := utf8.RuneCountInString(strings.TrimSpace(a.Name))
	p.Check(length >= 1 && length <= 255, "name", "Send a name of 1 to 255 characters.")
	p.Check(a.Type == AISiteTypeLinkInBio || a.Type == AISiteTypeAIBuilder, "type", "Send link_in_bio or ai_builder.")
	p.Check(a.Subdomain == "" || isSubdomain(a.Subdomain), "subdomain", subdomainMessage)
	a.Metadata.Check(&p)
	return p.Err()
}

// ListAISites holds the filters of a list of sites. An empty one does not filter.
type ListAISites struct {
	core.Page
	core.ListFilter
	Type   AISiteType
	IsLive *bool
}

// GetAISite returns a site with its draft by its id, its subdomain or a subdomain that it had before, or CodeMissing.
func (s *Store) GetAISite(ctx context.Context, account, ref string) (*AISite, error) {
	return s.withDraft(ctx, s.db)(s.getAISite(ctx, s.db, account, ref))
}

// AISiteNamed reads a site by id or subdomain, as a field of a request names it, or returns CodeMissing on that field.
func (s *Store) AISiteNamed(ctx context.Context, r db.Reader, account, ref, field string) (*AISite, error) {
	a, err := s.getAISite(ctx, r, account, ref)
	if missing, ok := errors.AsType[*core.Error](err); ok {
		missing.Param = field
	}
	return a, err
}

// ListAISites returns a page of sites without their drafts, newest first, and whether there are more.
func (s *Store) ListAISites(ctx context.Context, account string, in ListAISites) ([]AISite, bool, error) {
	var f db.Filter
	f.OrderedIfSet("type", string(in.Type))
	if in.IsLive != nil {
		f.Ordered("is_live", *in.IsLive)
	}
	f.List(s.db, "ai_sites", core.KindAISite, in.ListFilter, "name", "subdomain", "domain")
	return db.Page(ctx, s.db, aiSiteColumns, core.KindAISite, account, in.Page, &f)
}

// CreateAISite makes a site. The first one of an account becomes its default; a later one becomes it instead if Default
// is set. Without a subdomain, one is made from the name; one that is in use is CodeInvalid. A live one shows its content.
func (s *Store) CreateAISite(ctx context.Context, account string, in AISiteDraft) (*AISite, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*AISite, error) {
		a := *in.AISite
		a.AccountID, a.ID, a.CreatedAt = account, core.NewID(core.KindAISite), s.Now()
		a.UpdatedAt = a.CreatedAt
		if a.Type == "" {
			a.Type = AISiteTypeAIBuilder
		}
		if err := a.check(); err != nil {
			return nil, err
		}
		if err := s.settleDomain(ctx, u, &a, nil); err != nil {
			return nil, err
		}
		if err := s.settleDefault(ctx, u, &a); err != nil {
			return nil, err
		}
		if err := s.takeSubdomain(ctx, u, &a, ""); err != nil {
			return nil, err
		}
		if in.Sent != nil {
			if err := s.addContent(ctx, u, &a, in.Sent); err != nil {
				return nil, err
			}
		}
		if a.IsLive {
			a.show(s.Now())
		}
		a.Link(s.db)
		return &a, u.Insert(ctx, aiSiteColumns, &a)
	})
}

// UpdateAISite locks the account and the site, applies change and stores the site; new content is a new version. A site cannot
// just stop being the default, which is CodeInvalid: making another site the default is what ends it. One that becomes live
// shows its draft.
func (s *Store) UpdateAISite(ctx context.Context, account, ref string, change func(*AISiteDraft)) (*AISite, error) {
	return s.changeAISite(ctx, account, ref, func(ctx context.Context, u *db.Unit, a *AISite) error {
		wasLive, draft := a.IsLive, AISiteDraft{AISite: a}
		change(&draft)
		if draft.Sent != nil {
			if err := s.addContent(ctx, u, a, draft.Sent); err != nil {
				return err
			}
		}
		if a.IsLive && !wasLive {
			a.show(s.Now())
		}
		return nil
	})
}

// changeAISite locks the account and the site, applies change, checks the site and stores it. A change that changes nothing
// stores nothing.
func (s *Store) changeAISite(ctx context.Context, account, ref string, change func(context.Context, *db.Unit, *AISite) error) (*AISite, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*AISite, error) {
		if err := u.LockAccount(ctx, account); err != nil {
			return nil, err
		}
		a, err := s.withDraft(ctx, u)(s.lockAISite(ctx, u, account, ref))
		if err != nil {
			return nil, err
		}
		before := *a
		if err := change(ctx, u, a); err != nil {
			return nil, err
		}
		if err := a.check(); err != nil || core.SameJSON(before, *a) {
			return a, err
		}
		if err := s.settleDomain(ctx, u, a, before.Domain); err != nil {
			return nil, err
		}
		if before.Default && !a.Default {
			return nil, core.Invalid("default", "Make another site the default instead.")
		}
		if err := s.settleDefault(ctx, u, a); err != nil {
			return nil, err
		}
		if a.Subdomain != before.Subdomain {
			if err := s.takeSubdomain(ctx, u, a, before.Subdomain); err != nil {
				return nil, err
			}
		}
		a.UpdatedAt = s.Now()
		a.Link(s.db)
		return a, u.Update(ctx, aiSiteColumns, a)
	})
}

// DeleteAISite deletes a site for good, frees its domain and its present and former subdomains, and returns it. The default site cannot
// be deleted: that is CodeInvalid on `default`.
func (s *Store) DeleteAISite(ctx context.Context, account, ref string) (*AISite, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*AISite, error) {
		a, err := s.lockAISite(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if a.Default {
			return nil, core.Invalid("default", "This is the default site. Make another one the default first.")
		}
		if _, err := u.Exec(ctx, `
			DELETE FROM global_names WHERE kind IN ('subdomain', 'former_subdomain') AND account_id = ? AND object_id = ?`, account, a.ID); err != nil {
			return nil, fmt.Errorf("free subdomain: %w", err)
		}
		if err := s.dropDomainName(ctx, u, a, a.Domain); err != nil {
			return nil, err
		}
		for _, query := range []string{
			`DELETE FROM ai_site_versions WHERE account_id = ? AND site_id = ?`,
			`DELETE FROM ai_sites WHERE account_id = ? AND id = ?`,
		} {
			if _, err := u.Exec(ctx, query, account, a.ID); err != nil {
				return nil, fmt.Errorf("delete site: %w", err)
			}
		}
		return a, nil
	})
}

// withDraft adds the draft to a site that was read: see getAISite.
func (s *Store) withDraft(ctx context.Context, r db.Reader) func(*AISite, error) (*AISite, error) {
	return func(a *AISite, err error) (*AISite, error) {
		if err != nil {
			return nil, err
		}
		page, err := s.pageOf(ctx, r, a, a.Version)
		if err != nil {
			return nil, err
		}
		a.Content = page.Content
		return a, nil
	}
}

// getAISite returns a site, without its draft, by what GetAISite takes.
func (s *Store) getAISite(ctx context.Context, r db.Reader, account, ref string) (*AISite, error) {
	return findAISite(ctx, r, account, ref)
}

// lockAISite does what getAISite does, and locks the row until the transaction ends.
func (s *Store) lockAISite(ctx context.Context, u *db.Unit, account, ref string) (*AISite, error) {
	return findAISite(ctx, u.Locked(), account, ref)
}

func findAISite(ctx context.Context, r db.Reader, account, ref string) (*AISite, error) {
	where, args := ` WHERE account_id = ? AND id = ?`, []any{account, ref}
	if id, ok := core.ParseID(core.KindAISite, ref); ok {
		args[1] = id
	} else {
		// `subdomain` sorts behind `former_subdomain`: the present name goes before a former one.
		where = ` WHERE account_id = ? AND id = (
			SELECT object_id FROM global_names WHERE kind IN ('subdomain', 'former_subdomain') AND name = ? AND account_id = ?
			ORDER BY kind DESC LIMIT 1)`
		args = append(args, account)
	}
	a, err := db.Get[AISite](ctx, r, aiSiteColumns.SelectSQL+where, args...)
	if err == nil && a == nil {
		err = core.Missing("AI site", "", ref)
	}
	return a, err
}

// settleDefault makes the site the default if the account has none yet. If the site is to be the default, the others are no longer. It locks the
// account, so that two sites cannot both be the first.
func (s *Store) settleDefault(ctx context.Context, u *db.Unit, a *AISite) error {
	if err := u.LockAccount(ctx, a.AccountID); err != nil {
		return err
	}
	if !a.Default {
		others, err := db.Get[int](ctx, u, `SELECT count(*) FROM ai_sites WHERE account_id = ? AND is_default`, a.AccountID)
		if err != nil {
			return fmt.Errorf("count default sites: %w", err)
		}
		a.Default = *others == 0
		return nil
	}
	_, err := u.Exec(ctx, `UPDATE ai_sites SET is_default = FALSE, updated_at = ? WHERE account_id = ? AND is_default AND id <> ?`,
		s.Now(), a.AccountID, a.ID)
	return err
}
