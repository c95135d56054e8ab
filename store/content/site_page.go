package content

import (
	"context"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// SitePage is what a visitor of a site is shown.
type SitePage struct {
	Site    *AISite
	Content *SiteContent // nil: the page is composed
}

// PublishAISite shows a version of a site to visitors, which becomes the draft as well: the draft itself for nil. A version that
// the site does not have is CodeMissing. Publishing what is shown already changes nothing.
func (s *Store) PublishAISite(ctx context.Context, account, ref string, version *int64) (*AISite, error) {
	return s.changeAISite(ctx, account, ref, func(ctx context.Context, u *db.Unit, a *AISite) error {
		if version != nil {
			v, err := s.findVersion(ctx, u, a, *version, "version")
			if err != nil {
				return err
			}
			a.Version, a.Content = v.Version, v.Content
		}
		if !a.IsLive || core.Deref(a.PublishedVersion) != a.Version {
			a.show(s.Now())
		}
		return nil
	})
}

// UnpublishAISite hides a site from visitors. Its domain stays verified.
func (s *Store) UnpublishAISite(ctx context.Context, account, ref string) (*AISite, error) {
	return s.changeAISite(ctx, account, ref, func(_ context.Context, _ *db.Unit, a *AISite) error {
		a.IsLive = false
		return nil
	})
}

// show makes visitors see the draft.
func (a *AISite) show(now core.Time) {
	a.IsLive, a.PublishedVersion, a.PublishedAt = true, nil, &now
	if a.Version > 0 {
		a.PublishedVersion = new(a.Version)
	}
}

// VisitSite returns what a live site shows at its subdomain, or at one that it had before and nobody took since. A site that is
// not live, or whose account is disabled, is CodeMissing.
func (s *Store) VisitSite(ctx context.Context, subdomain string) (*SitePage, error) {
	// `subdomain` sorts behind `former_subdomain`: the present name goes before a former one.
	a, err := db.Get[AISite](ctx, s.db, aiSiteColumns.SelectSQL+`
		WHERE is_live AND `+db.EnabledAccount+` AND (account_id, id) = (
			SELECT account_id, object_id FROM global_names WHERE kind IN ('subdomain', 'former_subdomain') AND name = ? ORDER BY kind DESC LIMIT 1)`, subdomain)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, core.Missing("page", "", "")
	}
	return s.pageOf(ctx, s.db, a, core.Deref(a.PublishedVersion))
}

// VisitSiteByID returns what a live site of an account shows. A site that is not live, or whose account is disabled, is CodeMissing.
func (s *Store) VisitSiteByID(ctx context.Context, account, id string) (*SitePage, error) {
	a, err := db.Get[AISite](ctx, s.db, aiSiteColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND is_live AND `+db.EnabledAccount, account, id)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, core.Missing("page", "", "")
	}
	return s.pageOf(ctx, s.db, a, core.Deref(a.PublishedVersion))
}

// pageOf returns the page of a site with one of its versions, 0 for a composed one.
func (s *Store) pageOf(ctx context.Context, r db.Reader, a *AISite, version int64) (*SitePage, error) {
	if version == 0 {
		return &SitePage{Site: a}, nil
	}
	content, err := s.contentOf(ctx, r, a, version)
	return &SitePage{a, content}, err
}

// previewContext begins what is signed for the address of a preview, so that no other signature can serve as one.
const previewContext = "site preview\x00"

// previewURL returns an address that shows a version to whoever has it, until the end of the next hour. All that are made in an
// hour are the same.
func previewURL(d *db.DB, v *AISiteVersion) string {
	named := strings.TrimPrefix(v.ID, core.KindAISiteVersion.Prefix()) + "_" + strings.TrimPrefix(v.AccountID, core.KindAccount.Prefix()) + "_" +
		strconv.FormatInt(hourOf(d.Now())+2, 36)
	return d.Options.PublicURL + "/sites/preview/" + named + "_" + core.TokenEncoding.EncodeToString(d.Options.Sealer.Sign(previewContext+named))
}

// hourOf counts hours from 1970.
func hourOf(t core.Time) int64 { return t.Time().Unix() / 3600 }

// OpenPreview returns what a version shows. A token that was not made here, whose version was deleted since or whose account is
// disabled, is CodeMissing.
// If its time is over, expired is true and the page has no content.
func (s *Store) OpenPreview(ctx context.Context, token string) (page *SitePage, expired bool, err error) {
	missing := core.Missing("page", "", "")
	at := strings.LastIndexByte(token, '_')
	if at < 0 {
		return nil, false, missing
	}
	named := token[:at]
	signature, err := core.TokenEncoding.DecodeString(token[at+1:])
	if err != nil || !s.db.Options.Sealer.Signed(previewContext+named, signature) || core.TokenEncoding.EncodeToString(signature) != token[at+1:] {
		return nil, false, missing
	}
	parts := strings.Split(named, "_") // what was signed has three
	end, err := strconv.ParseInt(parts[2], 36, 64)
	if err != nil {
		return nil, false, missing
	}
	v, err := db.Get[AISiteVersion](ctx, s.db, aiSiteVersionColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND `+db.EnabledAccount,
		core.KindAccount.Prefix()+parts[1], core.KindAISiteVersion.Prefix()+parts[0])
	if err != nil {
		return nil, false, err
	}
	if v == nil {
		return nil, false, missing
	}
	a, err := s.getAISite(ctx, s.db, v.AccountID, v.SiteID)
	if err != nil {
		return nil, false, err
	}
	if hourOf(s.Now()) >= end {
		return &SitePage{Site: a}, true, nil
	}
	page, err = s.pageOf(ctx, s.db, a, v.Version)
	return page, false, err
}
