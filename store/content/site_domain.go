package content

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// DomainRecord is a DNS record that shows whose a domain is. One of those of a site is enough.
type DomainRecord struct{ Type, Name, Value string }

// DomainFinding is what was found of a site's domain.
type DomainFinding struct {
	Proven bool   // a record is as it should be
	Wrong  string // what is there instead, "" if there is nothing
	Served bool   // of a proven one: visitors reach it by https, with a certificate
	Failed string // of a proven one: why it is not served, or what is wrong although it is

	Refused bool // of a proven one: it was refused a certificate
	Untried bool // of a proven one: whoever looked gets no certificates, so that it says nothing if it is not served
}

const (
	domainName    = "domain" // the kind of global name under which a site is found by its verified domain
	domainContext = "site domain\x00"

	domainPatience = 72 * time.Hour // after that a domain without a record is an error
	domainMisses   = 3              // so many times in a row a verified domain may have no record, or be refused a certificate
	domainRecheck  = 24 * time.Hour // after that a domain in use is looked at again

	// domainWarning is how many misses in a row the team is told of: two are a day apart, and one more loses the domain.
	domainWarning = domainMisses - 1

	// DomainWorkLease is how long whoever looks at a domain has for it.
	DomainWorkLease = 3 * time.Minute
)

// domainPauses are how long it takes from one look at a domain to the next; the last one stays.
var domainPauses = [...]time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

// linkDomain fills in what proves the site's domain.
func (a *AISite) linkDomain(d *db.DB) {
	a.DomainRecords = nil
	if a.Domain == nil {
		return
	}
	token := core.TokenEncoding.EncodeToString(d.Options.Sealer.Sign(a.domainText()))
	a.DomainRecords = []DomainRecord{
		{"TXT", "_tillwright." + *a.Domain, domainTXT + token},
		{"CNAME", *a.Domain, strings.TrimPrefix(a.ID, core.KindAISite.Prefix()) + "." + sitesHost(d)},
	}
}

// domainTXT begins the text of a record that proves a domain.
const domainTXT = "tillwright-site="

// domainText is what the token of a record signs: this site, and this domain of it. Neither another site nor another domain has
// the same, so that a record which somebody forgot proves nothing for anybody else.
func (a *AISite) domainText() string { return domainContext + a.ID + "\x00" + core.Deref(a.Domain) }

// ProvesDomain reports whether the text of a TXT record proves that the site's domain is the account's. One that was made with
// an older secret key does too.
func (s *Store) ProvesDomain(a *AISite, text string) bool {
	token, ok := strings.CutPrefix(text, domainTXT)
	signature, err := core.TokenEncoding.DecodeString(token)
	return ok && err == nil && s.db.Options.Sealer.Signed(a.domainText(), signature)
}

// IsDomainText reports whether the text of a TXT record is about some site.
func IsDomainText(text string) bool { return strings.HasPrefix(text, domainTXT) }

// sitesHost returns the host below which each site has a name that others may point at.
func sitesHost(d *db.DB) string {
	if d.Options.SitesHost != "" {
		return d.Options.SitesHost
	}
	u, err := url.Parse(d.Options.PublicURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// settleDomain sets what belongs to the site's domain: nothing without one; and pending, so that it is verified again, for
// another one than before. It gives back the name of the one before.
func (s *Store) settleDomain(ctx context.Context, u *db.Unit, a *AISite, before *string) error {
	if core.Deref(before) == core.Deref(a.Domain) {
		return nil
	}
	a.DomainStatus, a.DomainVerifiedAt, a.DomainError, a.DomainCheckedAt, a.DomainDueAt = nil, nil, nil, nil, nil
	a.DomainSince, a.DomainTries, a.DomainMisses, a.DomainRefusals, a.DomainTold, a.DomainTellAt = 0, 0, 0, 0, false, nil
	if a.Domain != nil {
		own := sitesHost(s.db)
		if *a.Domain == own || strings.HasSuffix(*a.Domain, "."+own) {
			return core.Invalid("domain", "Send a domain of yours. This one is the server's own.")
		}
		now := s.Now()
		a.DomainStatus, a.DomainSince, a.DomainDueAt = new(AISiteDomainPending), now, new(now.Add(domainPauses[0]))
	}
	return s.dropDomainName(ctx, u, a, before)
}

// dropDomainName gives back a domain if the site holds it; nil is none.
func (s *Store) dropDomainName(ctx context.Context, u *db.Unit, a *AISite, domain *string) error {
	if domain == nil {
		return nil
	}
	if _, err := u.Exec(ctx, `DELETE FROM global_names WHERE kind = ? AND name = ? AND account_id = ? AND object_id = ?`, domainName, *domain, a.AccountID, a.ID); err != nil {
		return fmt.Errorf("drop domain: %w", err)
	}
	return nil
}

// DueDomains returns at most limit sites of enabled accounts whose domains are to be looked at, the longest waiting first. If more wait, each
// account has one before any has a second. Looks at domains whose servers do not answer take long, and an account may have thousands.
func (s *Store) DueDomains(ctx context.Context, limit int) ([]AISite, error) {
	const isDue = ` WHERE domain_due_at IS NOT NULL AND domain_due_at <= ? AND ` + db.EnabledAccount
	due, err := db.Select[AISite](ctx, s.db, aiSiteColumns.SelectSQL+isDue+` ORDER BY domain_due_at LIMIT ?`, s.Now(), limit)
	if err != nil || len(due) < limit {
		return due, err
	}
	return db.Select[AISite](ctx, s.db, aiSiteColumns.SelectSQL+`
		WHERE (account_id, id) IN (SELECT account_id, id FROM (
			SELECT account_id, id, domain_due_at, row_number() OVER (PARTITION BY account_id ORDER BY domain_due_at) AS place FROM ai_sites`+isDue+`
		) AS waiting ORDER BY place, domain_due_at LIMIT ?)`, s.Now(), limit)
}

// TakeDomain claims the look at a due domain for the caller and commits. It reports false if somebody else was first.
func (s *Store) TakeDomain(ctx context.Context, a *AISite) (bool, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		rows, err := u.Exec(ctx, `UPDATE ai_sites SET domain_due_at = ? WHERE account_id = ? AND id = ? AND domain_due_at = ?`,
			s.Now().Add(DomainWorkLease), a.AccountID, a.ID, a.DomainDueAt)
		return rows == 1, err
	})
}

// BeginDomain returns a site whose domain is about to be looked at, and ends the transaction of the request: see Leave. A site
// without a domain is CodeInvalid.
func (s *Store) BeginDomain(ctx context.Context, account, ref string) (*AISite, error) {
	a, err := s.getAISite(ctx, s.db, account, ref)
	if err != nil {
		return nil, err
	}
	if a.Domain == nil {
		return nil, core.Invalid("domain", "This site has no domain. Send one with PATCH /ai_sites/{id}.")
	}
	return a, s.db.Leave(ctx)
}

// InTx reports whether a transaction is open. Then nothing outside may be asked.
func InTx(ctx context.Context) bool { return db.InTx(ctx) }

// SettleDomain records what was found of a site's domain, and returns the site. What was found of a domain that the site has no
// more is forgotten.
func (s *Store) SettleDomain(ctx context.Context, of *AISite, f DomainFinding) (*AISite, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*AISite, error) {
		a, err := s.withDraft(ctx, u)(s.lockAISite(ctx, u, of.AccountID, of.ID))
		if err != nil || core.Deref(a.Domain) != core.Deref(of.Domain) {
			return a, err
		}
		if f.Proven && a.DomainVerifiedAt == nil {
			taken, err := s.takeDomainName(ctx, u, a)
			if err != nil {
				return nil, err
			}
			if !taken {
				f = DomainFinding{Wrong: "Another site on this server has verified this domain, and holds it as long as its record is there. Remove that record."}
			}
		}
		wasActive := *a.DomainStatus == AISiteDomainActive
		if a.find(f, s.Now()) {
			if err := s.dropDomainName(ctx, u, a, a.Domain); err != nil {
				return nil, err
			}
		}
		a.planTelling(f, wasActive, s.Now())
		return a, u.Update(ctx, aiSiteColumns, a)
	})
}

// takeDomainName makes the site the one that is found by its domain. It reports false if another one is.
func (s *Store) takeDomainName(ctx context.Context, u *db.Unit, a *AISite) (bool, error) {
	taken, err := u.TakeGlobalName(ctx, domainName, *a.Domain, a.AccountID, a.ID)
	if err != nil || taken {
		return taken, err
	}
	own, err := db.Get[int](ctx, u, `SELECT 1 FROM global_names WHERE kind = ? AND name = ? AND account_id = ? AND object_id = ?`, domainName, *a.Domain, a.AccountID, a.ID)
	return own != nil, err
}

// find moves the domain to the state that follows from what was found, and says when to look again. It reports whether the
// domain is verified no more.
func (a *AISite) find(f DomainFinding, now core.Time) (lost bool) {
	active := *a.DomainStatus == AISiteDomainActive
	if f.Untried && !f.Served && a.DomainVerifiedAt != nil && !active {
		a.DomainCheckedAt = &now
		return false
	}
	a.DomainTries++
	pause := domainPauses[min(a.DomainTries, int64(len(domainPauses)-1))]
	a.DomainCheckedAt, a.DomainError = &now, nil
	a.DomainRefusals++
	if !f.Refused {
		a.DomainRefusals = 0
	}
	switch {
	case f.Proven && f.Served:
		a.DomainStatus, a.DomainMisses, a.DomainTries, pause = new(AISiteDomainActive), 0, 0, domainRecheck
		if f.Failed != "" {
			a.DomainError = &f.Failed
		}
	case a.DomainVerifiedAt != nil && active && a.DomainMisses+1 < domainMisses, a.DomainVerifiedAt != nil && !f.Proven && a.DomainMisses+1 < domainMisses:
		a.DomainMisses++
		a.DomainError = new(f.text())
		if active {
			pause = domainRecheck
		}
	case f.Proven && active:
		a.DomainStatus, a.DomainError = new(AISiteDomainError), new(f.text())
	case f.Proven:
		a.DomainMisses = 0
		if *a.DomainStatus != AISiteDomainError || a.DomainVerifiedAt == nil {
			a.DomainStatus = new(AISiteDomainSSLPending)
		}
		if a.DomainRefusals >= domainMisses {
			a.DomainStatus = new(AISiteDomainError)
		}
		if f.Failed != "" {
			a.DomainError = &f.Failed
		}
	default:
		lost = a.DomainVerifiedAt != nil
		early := f.Wrong == "" && !lost && a.DomainSince.Add(domainPatience) > now
		a.DomainVerifiedAt, a.DomainMisses = nil, 0
		a.DomainStatus, a.DomainError = new(AISiteDomainError), new(f.text())
		if early {
			a.DomainStatus = new(AISiteDomainPending)
		}
	}
	if f.Proven && a.DomainVerifiedAt == nil {
		a.DomainVerifiedAt, a.DomainTries, pause = &now, 0, domainPauses[0]
	}
	a.DomainDueAt = new(now.Add(pause))
	return lost
}

// planTelling has the team told of a domain that begins to fail. It was in use, and failed domainWarning looks in a row, or was as often refused a
// certificate as it may be. They are told once until it works. Nobody is told of a site that is not live.
func (a *AISite) planTelling(f DomainFinding, wasActive bool, now core.Time) {
	if f.Proven && f.Served && f.Failed == "" {
		a.DomainTold, a.DomainTellAt = false, nil
		return
	}
	fails := wasActive && a.IsLive && (a.DomainMisses >= domainWarning || *a.DomainStatus == AISiteDomainError || a.DomainRefusals >= domainMisses)
	if fails && !a.DomainTold {
		a.DomainTold, a.DomainTellAt = true, &now
	}
}

// text says what is wrong with a domain that is not in use.
func (f DomainFinding) text() string {
	switch {
	case f.Wrong != "":
		return f.Wrong
	case f.Proven:
		return f.Failed
	}
	return "No TXT or CNAME record yet."
}

// RecheckDomains makes all domains in use due at once whose certificate we cannot use. It is not below a path, or was sealed with a
// key that we do not have.
func (s *Store) RecheckDomains(ctx context.Context, path string) error {
	keys, ours := s.db.Options.Sealer.Ours()
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ai_sites SET domain_due_at = ?
			WHERE domain_due_at > ? AND domain_status = ? AND NOT EXISTS (SELECT 1 FROM site_certificate_files
				WHERE path = ? || '/' || ai_sites.domain || '/' || ai_sites.domain || '.crt' AND substr(sealed, 1, 4) IN `+ours+`)`,
			append([]any{s.Now(), s.Now().Add(DomainWorkLease), AISiteDomainActive, path}, keys...)...)
	})
	if err != nil {
		return fmt.Errorf("recheck domains: %w", err)
	}
	return nil
}

// AsksDomain reports whether a certificate may be had for a host: it is the verified domain of a live site.
func (s *Store) AsksDomain(ctx context.Context, host string) (bool, error) {
	a, err := s.siteOfDomain(ctx, host)
	return a != nil, err
}

// VisitDomain returns what a live site shows at its verified domain, or CodeMissing.
func (s *Store) VisitDomain(ctx context.Context, host string) (*SitePage, error) {
	a, err := s.siteOfDomain(ctx, host)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, core.Missing("page", "", "")
	}
	return s.pageOf(ctx, s.db, a, core.Deref(a.PublishedVersion))
}

// siteOfDomain returns the live site of an enabled account that has verified a domain, nil if there is none.
func (s *Store) siteOfDomain(ctx context.Context, host string) (*AISite, error) {
	return db.Get[AISite](ctx, s.db, aiSiteColumns.SelectSQL+`
		WHERE is_live AND `+db.EnabledAccount+` AND (account_id, id) = (SELECT account_id, object_id FROM global_names WHERE kind = ? AND name = ?)`, domainName, host)
}

// AnswerProbe returns what this server, and every replica of it, answers to a question at a domain. Whoever asks learns by it that
// the domain leads here.
func (s *Store) AnswerProbe(nonce string) string {
	return core.TokenEncoding.EncodeToString(s.db.Options.Sealer.Sign("site probe\x00" + nonce))
}
