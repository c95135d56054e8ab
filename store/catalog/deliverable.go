package catalog

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// DeliverableType is the kind of thing that a buyer receives.
type DeliverableType string

// The types of a deliverable. Ref names a file or an experience by its id, and is the URL of a link.
const (
	DeliverableTypeFile       DeliverableType = "file"
	DeliverableTypeLicenseKey DeliverableType = "license_key"
	DeliverableTypeLink       DeliverableType = "link"
	DeliverableTypeExperience DeliverableType = "experience"
)

// importedKeys is the ref of licence keys that are handed out of those that the seller has imported.
const importedKeys = "imported"

// DeliveryUpdates says who receives what is put on a product's list of deliverables after they bought it, and who loses what is
// taken off it.
type DeliveryUpdates string

// With new_buyers a buyer keeps the list of their purchase.
const (
	DeliveryUpdatesAllBuyers DeliveryUpdates = "all_buyers"
	DeliveryUpdatesNewBuyers DeliveryUpdates = "new_buyers"
)

// Deliverable is something that a buyer receives.
type Deliverable struct {
	Type DeliverableType
	Ref  *string
	Name *string

	DownloadLimit *int64 // of a file, for each buyer; nil = any number
}

// deliverableRow is a deliverable on the list of a product. Rows are never changed but for Removed, so that the list of any moment
// can be read.
type deliverableRow struct {
	AccountID string          `db:"account_id"`
	ID        string          `db:"id"` // tells when it was put on the list, as Removed tells when it was taken off
	ProductID string          `db:"product_id"`
	Position  int64           `db:"position"`
	Removed   *string         `db:"removed"`
	Type      DeliverableType `db:"type"`
	Ref       *string         `db:"ref"`
	Name      *string         `db:"name"`

	DownloadLimit *int64 `db:"download_limit"`
}

var deliverableColumns = db.ColumnsOf[deliverableRow]("product_deliverables")

func (r *deliverableRow) deliverable() Deliverable {
	return Deliverable{r.Type, r.Ref, r.Name, r.DownloadLimit}
}

// check adds what is wrong with the deliverable by itself. At is its place, with a dot behind it.
func (d *Deliverable) check(at string, p *core.Problems) {
	p.Check(d.DownloadLimit == nil || d.Type == DeliverableTypeFile, at+"download_limit", "Only a file has a download_limit.")
	switch d.Type {
	case DeliverableTypeLink:
		p.Check(d.Ref != nil && isLink(*d.Ref), at+"ref", "The ref of a link is its URL, with http or https.")
	case DeliverableTypeLicenseKey:
		p.Check(d.Ref == nil || *d.Ref == importedKeys, at+"ref", "The ref of a license_key is null for keys that are made here, or `imported` for those that you have imported.")
	case DeliverableTypeFile, DeliverableTypeExperience:
		p.Check(d.Ref != nil, at+"ref", fmt.Sprintf("The ref of a deliverable of type %s is its id.", d.Type))
	}
}

// isLink reports whether a text is a URL that a browser can follow.
func isLink(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) && u.Hostname() != ""
}

// readDeliverables fills in what the buyers of some products of one account receive. Without deliverables it costs nothing, else one
// statement.
func (s *Store) readDeliverables(ctx context.Context, r db.Reader, account string, products ...*Product) error {
	var ids []string
	byID := map[string]*Product{}
	for _, p := range products {
		if p.Delivers {
			ids, byID[p.ID] = append(ids, p.ID), p
		}
	}
	if len(ids) == 0 {
		return nil
	}
	condition, arg := s.db.In("product_id", ids)
	rows, err := db.Select[deliverableRow](ctx, r, deliverableColumns.SelectSQL+`
		WHERE account_id = ? AND `+condition+` AND removed IS NULL ORDER BY product_id, position`, account, arg)
	if err != nil {
		return fmt.Errorf("read deliverables: %w", err)
	}
	for i := range rows {
		p := byID[rows[i].ProductID]
		p.Deliverables = append(p.Deliverables, rows[i].deliverable())
	}
	return nil
}

// checkDeliverables checks the deliverables of a product that were sent, and puts ids in the place of slugs. A file or an experience that does
// not exist is CodeMissing on its ref.
func (s *Store) checkDeliverables(ctx context.Context, u *db.Unit, p *Product) error {
	var problems core.Problems
	for i := range p.Deliverables {
		p.Deliverables[i].check(fmt.Sprintf("deliverables.%d.", i), &problems)
	}
	if err := problems.Err(); err != nil {
		return err
	}
	for i := range p.Deliverables {
		d := &p.Deliverables[i]
		kind, table := d.named()
		if table == "" {
			continue
		}
		where, args := db.RefWhere(kind, p.AccountID, *d.Ref)
		id, err := db.Get[string](ctx, u, `SELECT id FROM `+table+where, args...)
		if err != nil {
			return fmt.Errorf("read deliverable: %w", err)
		}
		if id == nil {
			return core.Missing(string(d.Type), fmt.Sprintf("deliverables.%d.ref", i), *d.Ref)
		}
		d.Ref = id
	}
	return nil
}

// named returns what kind of thing the ref names, and in which table it is; nothing for a deliverable that names nothing here.
func (d *Deliverable) named() (core.Kind, string) {
	switch d.Type {
	case DeliverableTypeFile:
		return core.KindFile, "files"
	case DeliverableTypeExperience:
		return core.KindExperience, "experiences"
	case DeliverableTypeLicenseKey, DeliverableTypeLink:
	}
	return "", ""
}

// checkDelivery returns CodeInvalid on deliverables if a locked product is active and has one that no buyer could get. The error names the place
// and the ref. No buyer could get a file that is still uploading or an experience that is not published. The same goes for what was stored before
// it was checked, if it is wrong. Files and experiences are locked, so that they stay as they are until the transaction ends.
func (s *Store) checkDelivery(ctx context.Context, u *db.Unit, p *Product) error {
	if p.Status != ProductStatusActive {
		return nil
	}
	files, err := s.ready(ctx, u, p, DeliverableTypeFile, `SELECT id FROM files WHERE account_id = ? AND status || '' = 'ready'`)
	if err != nil {
		return err
	}
	experiences, err := s.ready(ctx, u, p, DeliverableTypeExperience, `SELECT id FROM experiences WHERE account_id = ? AND status || '' = 'published'`)
	if err != nil {
		return err
	}
	var problems core.Problems
	for i, d := range p.Deliverables {
		var wrong core.Problems
		d.check("", &wrong)
		_, table := d.named()
		isThere := table == "" || slices.Contains(files, core.Deref(d.Ref)) || slices.Contains(experiences, core.Deref(d.Ref))
		problems.Check(len(wrong) == 0 && isThere, "deliverables", fmt.Sprintf("No buyer could get deliverable %d, the %s %q.", i, d.Type, core.Deref(d.Ref)))
	}
	return problems.Err()
}

// ready locks what the deliverables of a type name, in the order of their ids. It returns the ids of those that a buyer could get. The query says
// which these are.
func (s *Store) ready(ctx context.Context, u *db.Unit, p *Product, kind DeliverableType, query string) ([]string, error) {
	var ids []string
	for _, d := range p.Deliverables {
		if d.Type == kind && d.Ref != nil {
			ids = append(ids, *d.Ref)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	condition, arg := s.db.In("id", ids)
	found, err := db.Select[string](ctx, u.Locked(), query+` AND `+condition+` ORDER BY id`, p.AccountID, arg)
	if err != nil {
		return nil, fmt.Errorf("lock what a product delivers: %w", err)
	}
	return found, nil
}

// countDeliverables sets what the row of a product says of its deliverables.
func (p *Product) countDeliverables() {
	p.Delivers, p.DeliveredFiles, p.DeliveredKeys, p.DeliveredAccess = len(p.Deliverables) > 0, 0, 0, 0
	for i := range p.Deliverables {
		switch p.Deliverables[i].Type {
		case DeliverableTypeFile:
			p.DeliveredFiles++
		case DeliverableTypeLicenseKey:
			p.DeliveredKeys++
		case DeliverableTypeLink, DeliverableTypeExperience:
			p.DeliveredAccess++
		}
	}
}

// insertDeliverables stores the deliverables of a new product.
func (s *Store) insertDeliverables(ctx context.Context, u *db.Unit, p *Product) error {
	rows := make([]deliverableRow, len(p.Deliverables))
	for i, d := range p.Deliverables {
		rows[i] = deliverableRow{p.AccountID, core.NewULID(), p.ID, int64(i), nil, d.Type, d.Ref, d.Name, d.DownloadLimit}
	}
	return db.InsertAll(ctx, u, deliverableColumns, rows)
}

// changeDeliverables checks and stores the deliverables of a locked product that has others now.
func (s *Store) changeDeliverables(ctx context.Context, u *db.Unit, p *Product) error {
	if err := s.checkDeliverables(ctx, u, p); err != nil {
		return err
	}
	p.countDeliverables()
	return s.replaceDeliverables(ctx, u, p)
}

// replaceDeliverables stores the deliverables of a locked product that has others now. What stays in its place is not touched.
func (s *Store) replaceDeliverables(ctx context.Context, u *db.Unit, p *Product) error {
	rows, err := db.Select[deliverableRow](ctx, u, deliverableColumns.SelectSQL+`
		WHERE account_id = ? AND product_id = ? AND removed IS NULL ORDER BY position`, p.AccountID, p.ID)
	if err != nil {
		return fmt.Errorf("read deliverables: %w", err)
	}
	now := core.NewULID()
	var added []deliverableRow
	for i, d := range p.Deliverables {
		if i < len(rows) && core.SameJSON(rows[i].deliverable(), d) {
			rows[i].ProductID = "" // stays
			continue
		}
		added = append(added, deliverableRow{p.AccountID, core.NewULID(), p.ID, int64(i), nil, d.Type, d.Ref, d.Name, d.DownloadLimit})
	}
	var gone []string
	for i := range rows {
		if rows[i].ProductID != "" {
			gone = append(gone, rows[i].ID)
		}
	}
	if len(gone) > 0 {
		condition, arg := s.db.In("id", gone)
		if _, err := u.Exec(ctx, `UPDATE product_deliverables SET removed = ? WHERE account_id = ? AND `+condition, now, p.AccountID, arg); err != nil {
			return fmt.Errorf("take deliverables away: %w", err)
		}
	}
	return db.InsertAll(ctx, u, deliverableColumns, added)
}
