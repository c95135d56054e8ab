package content

import (
	"context"
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
	CodeHostRepoFullName *string             `db:"code_host_repo_full_name"`
	CodeHostURL          *string             `db:"code_host_url"`
	AppURL               *string             `db:"app_url"`
	IsLive               bool                `db:"is_live"`
	Metadata             core.Metadata       `db:"metadata"`
	CreatedAt            core.Time           `db:"created_at"`
	UpdatedAt            core.Time           `db:"updated_at"`
}

var aiSiteColumns = db.ColumnsOf[AISite]("ai_sites")

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

// settleDomain sets the state that belongs to the site's domain: none without a domain, and pending, so that it is
// verified again, for a domain other than the one before.
func (a *AISite) settleDomain(before *string) {
	switch {
	case a.Domain == nil:
		a.DomainStatus, a.DomainVerifiedAt = nil, nil
	case before == nil || *before != *a.Domain:
		pending := AISiteDomainPending
		a.DomainStatus, a.DomainVerifiedAt = &pending, nil
	}
}

// ListAISites holds the filters of a list of sites. An empty one does not filter.
type ListAISites struct {
	core.Page
	core.ListFilter
	Type   AISiteType
	IsLive *bool
}

// GetAISite returns a site by its id, its subdomain or a subdomain that it had before, or CodeMissing.
func (s *Store) GetAISite(ctx context.Context, account, ref string) (*AISite, error) {
	return s.findAISite(ctx, account, ref, "")
}

// ListAISites returns a page of sites, newest first, and whether there are more.
func (s *Store) ListAISites(ctx context.Context, account string, in ListAISites) ([]AISite, bool, error) {
	var f db.Filter
	f.Is("type", string(in.Type))
	if in.IsLive != nil {
		f.Equals("is_live", *in.IsLive)
	}
	f.List(s.db, "ai_sites", core.KindAISite, in.ListFilter, "name", "subdomain", "domain")
	return db.Page(ctx, s.db, aiSiteColumns, core.KindAISite, account, in.Page, &f)
}

// CreateAISite makes a site. The first one of an account becomes its default; a later one becomes it instead if Default
// is set. Without a subdomain, one is made from the name; one that is in use is CodeInvalid.
func (s *Store) CreateAISite(ctx context.Context, account string, a AISite) (*AISite, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*AISite, error) {
		a := a
		a.AccountID, a.ID, a.CreatedAt = account, core.NewID(core.KindAISite), s.Now()
		a.UpdatedAt = a.CreatedAt
		if a.Type == "" {
			a.Type = AISiteTypeAIBuilder
		}
		a.settleDomain(nil)
		if err := a.check(); err != nil {
			return nil, err
		}
		if err := u.settleDefault(ctx, &a); err != nil {
			return nil, err
		}
		if err := u.takeSubdomain(ctx, &a, ""); err != nil {
			return nil, err
		}
		return &a, u.Insert(ctx, aiSiteColumns, &a)
	})
}

// UpdateAISite locks the account and the site, applies change and stores the site. A site cannot just stop being the
// default, which is CodeInvalid: making another site the default is what ends it.
func (s *Store) UpdateAISite(ctx context.Context, account, ref string, change func(*AISite)) (*AISite, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*AISite, error) {
		if err := u.LockAccount(ctx, account); err != nil {
			return nil, err
		}
		a, err := s.findAISite(ctx, account, ref, u.Lock())
		if err != nil {
			return nil, err
		}
		before := *a
		change(a)
		a.settleDomain(before.Domain)
		if err := a.check(); err != nil || core.SameJSON(before, *a) {
			return a, err
		}
		if before.Default && !a.Default {
			return nil, core.Invalid("default", "Make another site the default instead.")
		}
		if err := u.settleDefault(ctx, a); err != nil {
			return nil, err
		}
		if a.Subdomain != before.Subdomain {
			if err := u.takeSubdomain(ctx, a, before.Subdomain); err != nil {
				return nil, err
			}
		}
		a.UpdatedAt = s.Now()
		return a, u.Update(ctx, aiSiteColumns, a)
	})
}

// DeleteAISite deletes a site for good, frees its present and former subdomains, and returns it. The default site cannot
// be deleted: that is CodeInvalid on `default`.
func (s *Store) DeleteAISite(ctx context.Context, account, ref string) (*AISite, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*AISite, error) {
		a, err := s.findAISite(ctx, account, ref, u.Lock())
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
		_, err = u.Exec(ctx, `DELETE FROM ai_sites WHERE account_id = ? AND id = ?`, account, a.ID)
		return a, err
	})
}

// findAISite returns a site as GetAISite does. lock is the lock clause of a transaction, or empty.
func (s *Store) findAISite(ctx context.Context, account, ref, lock string) (*AISite, error) {
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
	a, err := db.Get[AISite](ctx, s.db, aiSiteColumns.SelectSQL+where+lock, args...)
	if err == nil && a == nil {
		err = core.Missing("AI site", "", ref)
	}
	return a, err
}

// settleDefault makes the site the default if the account has none yet; and if the site is to be the default, it ends
// that of the others. It locks the account, so that two sites cannot both be the first.
func (u *unit) settleDefault(ctx context.Context, a *AISite) error {
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
		u.store.Now(), a.AccountID, a.ID)
	return err
}
