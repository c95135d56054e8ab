package content

import (
	"context"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

const (
	subdomainMin, subdomainMax = 3, 63

	subdomainMessage = "A subdomain has 3 to 63 lower-case letters, digits and single hyphens between them. Some names are reserved."
)

// isSubdomain reports whether a site may have this subdomain. One that looks like an encoded international name (xn--)
// or is reserved may not be had.
func isSubdomain(s string) bool {
	return len(s) >= subdomainMin && len(s) <= subdomainMax && db.SlugPattern.MatchString(s) && !strings.HasPrefix(s, "xn--") && !isReserved(s)
}

// isReserved reports whether visitors would take a subdomain for the platform itself. It also reports a word that a path of the API has where the
// subdomain would stand.
func isReserved(subdomain string) bool {
	return slices.Contains([]string{
		"about", "account", "accounts", "admin", "api", "app", "apps", "ask", "assets", "auth", "autoconfig", "autodiscover", "billing", "blog",
		"cdn", "checkout", "console", "dashboard", "demo", "dev", "docs", "download", "downloads", "email", "export", "files", "ftp", "help", "hooks",
		"imap", "internal", "localhost", "login", "mail", "media", "ns1", "ns2", "oauth", "pay", "payments", "pop", "portal", "postmaster",
		"preview", "public", "root", "secure", "security", "shop", "signup", "smtp", "sso", "staging", "static", "status", "store", "support",
		"test", "tillwright", "web", "webhooks", "webmaster", "webmail", "www",
	}, subdomain)
}

// takeSubdomain reserves the site's subdomain, or one made from its name if it has none. One that is in use is
// CodeInvalid. The former subdomain goes on leading to the site until another site takes it; empty means that there is
// none.
func (s *Store) takeSubdomain(ctx context.Context, u *db.Unit, a *AISite, former string) error {
	if a.Subdomain == "" {
		if err := s.takeFreeSubdomain(ctx, u, a); err != nil {
			return err
		}
	} else if taken, err := u.TakeGlobalName(ctx, "subdomain", a.Subdomain, a.AccountID, a.ID); err != nil {
		return err
	} else if !taken {
		return core.Invalid("subdomain", "This subdomain is in use. Choose another one.")
	}
	if former == "" {
		return nil
	}
	_, err := u.Exec(ctx, `UPDATE global_names SET kind = 'former_subdomain' WHERE kind = 'subdomain' AND name = ? AND account_id = ? AND object_id = ?`,
		former, a.AccountID, a.ID)
	return err
}

// takeFreeSubdomain makes a subdomain from the site's name and reserves it. It tries the name itself, then a few numbers behind it, then random
// letters. All accounts share the names, so the numbers of a common one are soon gone.
func (s *Store) takeFreeSubdomain(ctx context.Context, u *db.Unit, a *AISite) error {
	base := strings.Trim(cut(db.Slugify(a.Name, core.KindAISite), subdomainMax-10), "-")
	if !isSubdomain(base) {
		base = "site-" + base
	}
	for number := 1; ; number++ {
		switch {
		case number == 1:
			a.Subdomain = base
		case number < 10:
			a.Subdomain = db.Numbered(base, number)
		default:
			id := core.NewULID()
			a.Subdomain = base + "-" + id[len(id)-8:]
		}
		if taken, err := u.TakeGlobalName(ctx, "subdomain", a.Subdomain, a.AccountID, a.ID); taken || err != nil {
			return err
		}
	}
}

// cut returns at most length bytes from the beginning of s.
func cut(s string, length int) string { return s[:min(len(s), length)] }
