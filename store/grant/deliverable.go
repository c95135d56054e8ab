package grant

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/internal/db"
)

// Deliverable is something that a grant opens.
type Deliverable struct {
	Type string
	Name *string
	URL  *string // of a link, while the grant is active

	FileID       *string // of a file
	LicenseKey   *string // lic_: of a licence key, once there is one
	ExperienceID *string // of an experience

	Version, Size  *int64 // of a file, like the next two
	DownloadsCount *int64 // by this grant
	DownloadLimit  *int64 // nil = any number
	Downloaded     *int64 // the newest version that this grant downloaded, nil if that was not noted

	Waits bool // it is a licence key, of which there is none left: the next one that is imported is for it
}

// version is the number of the version of a file f that a grant g opens. It is the newest one, unless additions are for new buyers. Then it is
// the newest that was ready when the grant was given, or the first one if none was.
const version = `CASE p.delivery_updates WHEN 'all_buyers' THEN f.version ELSE COALESCE(
	(SELECT MAX(v.version) FROM file_versions v WHERE v.account_id = f.account_id AND v.file_id = f.id AND v.ready < substr(g.id, 7)),
	(SELECT MIN(v.version) FROM file_versions v WHERE v.account_id = f.account_id AND v.file_id = f.id AND v.ready IS NOT NULL), f.version) END`

// open fills in what grants open, and whether they are over by now. It takes one statement, however many there are.
func (s *Store) open(ctx context.Context, r db.Reader, account string, grants []*Grant) error {
	if len(grants) == 0 {
		return nil
	}
	now, err := db.BusinessNow(ctx, r, account)
	if err != nil {
		return err
	}
	ids := make([]string, len(grants))
	byID := map[string]*Grant{}
	for i, g := range grants {
		g.IsExpired = g.ExpiresAt != nil && *g.ExpiresAt <= now
		ids[i], byID[g.ID] = g.ID, g
	}
	slices.Sort(ids)
	condition, arg := s.db.In("g.id", ids)
	keyed, _ := s.db.In("k.grant_id", ids)
	waiting, _ := s.db.In("w.id", ids)
	rows, err := db.Select[struct {
		GrantID string  `db:"grant_id"`
		Type    string  `db:"type"`
		Ref     *string `db:"ref"`
		Name    *string `db:"name"`
		Place   int64   `db:"position"`
		ID      string  `db:"id"`

		Version   *int64 `db:"version"`
		Size      *int64 `db:"size"`
		Downloads *int64 `db:"downloads"`
		Limit     *int64 `db:"download_limit"`
		Had       *int64 `db:"had"`
	}](ctx, r, `
		SELECT g.id AS grant_id, d.type, d.ref, d.name, d.position, d.id, `+version+` AS version, COALESCE(v.size, f.size) AS size, COALESCE(n.downloads, 0) AS downloads,
			COALESCE(g.download_limit, d.download_limit) AS download_limit, n.version AS had FROM grants g
		JOIN products p ON p.account_id = g.account_id AND p.id = g.product_id
		JOIN product_deliverables d ON d.account_id = g.account_id AND d.product_id = g.product_id
		LEFT JOIN files f ON f.account_id = g.account_id AND f.id = d.ref AND d.type = 'file'
		LEFT JOIN file_versions v ON v.account_id = g.account_id AND v.file_id = f.id AND v.version = `+version+`
		LEFT JOIN grant_downloads n ON n.account_id = g.account_id AND n.grant_id = g.id AND n.file_id = f.id
		WHERE g.account_id = ? AND `+condition+` AND `+db.OnListSQL+`
		UNION ALL SELECT k.grant_id, '', k.id, NULL, 1000000, '', NULL, NULL, NULL, NULL, NULL FROM license_keys k
		WHERE k.account_id = ? AND `+keyed+` AND (k.ended_by IS NULL OR k.ended_by <> 'rotation')
		UNION ALL SELECT w.id, 'wait', NULL, NULL, 1000000, '', NULL, NULL, NULL, NULL, NULL FROM license_waits w WHERE w.account_id = ? AND `+waiting+` ORDER BY 1, 5, 6`,
		account, arg, account, arg, account, arg)
	if err != nil {
		return fmt.Errorf("read what grants open: %w", err)
	}
	for _, row := range rows {
		g := byID[row.GrantID]
		switch {
		case row.Type == "wait":
			g.wait()
			continue
		case row.Type == "" && g.Keyless:
			continue
		case row.Type == "":
			g.unlock(row.Ref)
			continue
		}
		d := Deliverable{Type: row.Type, Name: row.Name}
		switch {
		case row.Type == "file":
			d.FileID, d.Version, d.Size, d.DownloadsCount, d.DownloadLimit, d.Downloaded = row.Ref, row.Version, row.Size, row.Downloads, row.Limit, row.Had
		case row.Type == "experience":
			d.ExperienceID = row.Ref
		case row.Type == "link" && g.StatusNow() == StatusActive:
			d.URL = row.Ref
		}
		g.Deliverables = append(g.Deliverables, d)
	}
	return nil
}

// Open fills in what one grant opens.
func (s *Store) Open(ctx context.Context, g *Grant) error {
	return s.open(ctx, s.db, g.AccountID, []*Grant{g})
}

// unlock names the licence key of the grant in its deliverable. One for which the price variant asks alone has none yet.
func (g *Grant) unlock(key *string) {
	for i := range g.Deliverables {
		if d := &g.Deliverables[i]; d.Type == deliversLicense {
			d.LicenseKey = key
			return
		}
	}
	g.Deliverables = append(g.Deliverables, Deliverable{Type: deliversLicense, LicenseKey: key})
}

// wait notes in the deliverable of the grant that its licence key is still to come.
func (g *Grant) wait() {
	for i := range g.Deliverables {
		if d := &g.Deliverables[i]; d.Type == deliversLicense && d.LicenseKey == nil {
			d.Waits = true
			return
		}
	}
}

// deliversLicense is the type of a deliverable that is a licence key.
const deliversLicense = "license_key"

// HasProduct returns a grant by which a customer has a product now, the oldest of several, nil if there is none.
func (s *Store) HasProduct(ctx context.Context, account, customer, product string) (*Grant, error) {
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	return db.Get[Grant](ctx, s.db, grantColumns.SelectSQL+` g
		WHERE g.account_id = ? AND g.customer_id = ? AND g.product_id || '' = ? AND `+db.ActiveGrantSQL+` ORDER BY g.id LIMIT 1`, account, customer, product, now)
}

// HasExperience returns a grant that opens an experience to a customer now, nil if there is none. Of several it is the oldest by which its files
// can be downloaded as often as they want. If there is none of these, it is the newest, whose limit is the last to be used up.
func (s *Store) HasExperience(ctx context.Context, account, customer, experience string) (*Grant, error) {
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	return db.Get[Grant](ctx, s.db, grantColumns.SelectSQL+` g
		WHERE g.account_id = ? AND g.customer_id = ? AND `+db.ActiveGrantSQL+` AND EXISTS (
			SELECT 1 FROM product_deliverables d JOIN products p ON p.account_id = d.account_id AND p.id = d.product_id
			WHERE d.account_id = g.account_id AND d.product_id = g.product_id AND d.type = 'experience' AND d.ref = ? AND `+db.OnListSQL+`)
		ORDER BY g.download_limit IS NOT NULL, CASE WHEN g.download_limit IS NULL THEN g.id END, g.id DESC LIMIT 1`, account, customer, now, experience)
}
