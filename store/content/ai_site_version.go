package content

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// AISiteOrigin says how a version came about.
type AISiteOrigin string

// AISiteOriginEdited is the origin of a version whose content was sent.
const AISiteOriginEdited AISiteOrigin = "edited"

// AISiteVersion is content that a site had or may have. It never changes.
type AISiteVersion struct {
	AccountID  string              `db:"account_id"`
	ID         string              `db:"id"`
	SiteID     string              `db:"site_id"`
	Version    int64               `db:"version"` // 1 for the first one of a site
	Origin     AISiteOrigin        `db:"origin"`
	Prompt     *string             `db:"prompt"`
	Dropped    core.JSON[[]string] `db:"dropped"` // what was left out of what was generated
	CreatedAt  core.Time           `db:"created_at"`
	Content    *SiteContent        `db:"-"` // lists leave it out
	PreviewURL string              `db:"-"`
}

// aiSiteVersionsKept is how many versions of a site are kept besides its draft and what it shows.
const aiSiteVersionsKept = 100

var aiSiteVersionColumns = db.ColumnsOf[AISiteVersion]("ai_site_versions")

// Link signs the address at which a version can be looked at, whenever one is read: see db.Linked.
func (v *AISiteVersion) Link(d *db.DB) { v.PreviewURL = previewURL(d, v) }

// ListAISiteVersions returns a page of the versions of a site without their content, newest first, and whether there are more.
func (s *Store) ListAISiteVersions(ctx context.Context, account, site string, p core.Page) ([]AISiteVersion, bool, error) {
	a, err := s.getAISite(ctx, s.db, account, site)
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.OrderedIfSet("site_id", a.ID)
	return db.Page(ctx, s.db, aiSiteVersionColumns, core.KindAISiteVersion, account, p, &f)
}

// GetAISiteVersion returns a version of a site by its number, or CodeMissing.
func (s *Store) GetAISiteVersion(ctx context.Context, account, site string, version int64) (*AISiteVersion, error) {
	a, err := s.getAISite(ctx, s.db, account, site)
	if err != nil {
		return nil, err
	}
	return s.findVersion(ctx, s.db, a, version, "")
}

// findVersion returns a version of a site with its content. Param is the parameter that named it, "" if the path did.
func (s *Store) findVersion(ctx context.Context, r db.Reader, a *AISite, version int64, param string) (*AISiteVersion, error) {
	v, err := db.Get[AISiteVersion](ctx, r, aiSiteVersionColumns.SelectSQL+` WHERE account_id = ? AND site_id = ? AND version = ?`, a.AccountID, a.ID, version)
	if err == nil && v == nil {
		err = core.Missing("version", param, strconv.FormatInt(version, 10))
	}
	if err != nil {
		return nil, err
	}
	v.Content, err = s.contentOf(ctx, r, a, version)
	return v, err
}

// contentOf returns the content of a version of a site. A version that does not exist is CodeMissing.
func (s *Store) contentOf(ctx context.Context, r db.Reader, a *AISite, version int64) (*SiteContent, error) {
	text, err := db.Get[string](ctx, r, `SELECT content FROM ai_site_versions WHERE account_id = ? AND site_id = ? AND version = ?`, a.AccountID, a.ID, version)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, core.Missing("page", "", "")
	}
	content := &SiteContent{}
	if err := json.Unmarshal([]byte(*text), content); err != nil {
		return nil, fmt.Errorf("read content of version %d of %s: %w", version, a.ID, err)
	}
	return content, nil
}

// addContent makes a version of content that was sent, which becomes the draft of the locked site. Null makes the page a
// composed one; content that the draft has already makes nothing.
func (s *Store) addContent(ctx context.Context, u *db.Unit, a *AISite, sent json.RawMessage) error {
	if isNull(sent) {
		a.Version, a.Content = 0, nil
		return nil
	}
	content, err := readSiteContent(sent)
	if err != nil {
		return err
	}
	if err := s.checkProducts(ctx, u, a.AccountID, content); err != nil {
		return err
	}
	if a.Content != nil && core.SameJSON(a.Content, content) {
		return nil
	}
	v, err := s.addVersion(ctx, u, a, AISiteVersion{Origin: AISiteOriginEdited, Content: content})
	if err != nil {
		return err
	}
	a.Version, a.Content = v.Version, content
	return nil
}

// addVersion stores a version of the locked site under the next number, and deletes the oldest one if there are too many.
func (s *Store) addVersion(ctx context.Context, u *db.Unit, a *AISite, v AISiteVersion) (*AISiteVersion, error) {
	a.LastVersion++
	v.AccountID, v.ID, v.SiteID, v.Version, v.CreatedAt = a.AccountID, core.NewID(core.KindAISiteVersion), a.ID, a.LastVersion, s.Now()
	v.Link(s.db)
	if _, err := u.Exec(ctx, `
		INSERT INTO ai_site_versions (account_id, id, site_id, version, origin, prompt, content, dropped, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.AccountID, v.ID, v.SiteID, v.Version, v.Origin, v.Prompt, core.JSONText(v.Content), v.Dropped, v.CreatedAt); err != nil {
		return nil, fmt.Errorf("insert version: %w", err)
	}
	_, err := u.Exec(ctx, `
		DELETE FROM ai_site_versions WHERE account_id = ? AND site_id = ? AND version <= ? AND version <> ? AND version <> ?`,
		a.AccountID, a.ID, a.LastVersion-aiSiteVersionsKept, a.Version, core.Deref(a.PublishedVersion))
	return &v, err
}

// checkProducts returns CodeMissing for a product in a block that the account does not have.
func (s *Store) checkProducts(ctx context.Context, u *db.Unit, account string, content *SiteContent) error {
	named := content.products()
	if len(named) == 0 {
		return nil
	}
	condition, ids := s.db.In("id", slices.Collect(maps.Values(named)))
	known, err := db.Select[string](ctx, u, `SELECT id FROM products WHERE account_id = ? AND `+condition, account, ids)
	if err != nil {
		return fmt.Errorf("find products of blocks: %w", err)
	}
	for _, param := range slices.Sorted(maps.Keys(named)) {
		if !slices.Contains(known, named[param]) {
			return core.Missing("product", param, named[param])
		}
	}
	return nil
}
