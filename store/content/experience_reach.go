package content

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/internal/db"
)

// countedGrants is how many grants are looked at for an AccessCount.
const countedGrants = 20_000

// described fills in which products deliver an experience and how many customers it is open to.
func (s *Store) described(ctx context.Context, r db.Reader) func(*Experience, error) (*Experience, error) {
	return func(e *Experience, err error) (*Experience, error) {
		if err != nil {
			return nil, err
		}
		if err := s.readProducts(ctx, r, e.AccountID, []*Experience{e}); err != nil {
			return nil, err
		}
		return e, s.countAccess(ctx, r, e)
	}
}

// readProducts fills in which products deliver experiences. It takes one statement, however many there are.
func (s *Store) readProducts(ctx context.Context, r db.Reader, account string, experiences []*Experience) error {
	if len(experiences) == 0 {
		return nil
	}
	ids := make([]string, len(experiences))
	byID := make(map[string]*Experience, len(experiences))
	for i, e := range experiences {
		ids[i], byID[e.ID] = e.ID, e
		e.ProductIDs = nil
	}
	condition, arg := s.db.In("d.ref", ids)
	rows, err := db.Select[struct {
		Experience string `db:"ref"`
		Product    string `db:"product_id"`
	}](ctx, r, `
		SELECT ref, product_id FROM (
			SELECT d.ref, d.product_id, ROW_NUMBER() OVER (PARTITION BY d.ref ORDER BY d.product_id DESC) AS place FROM product_deliverables d
			WHERE d.account_id = ? AND d.type = 'experience' AND `+condition+` AND d.removed IS NULL GROUP BY d.ref, d.product_id) delivered
		WHERE place <= 100 ORDER BY ref, product_id DESC`, account, arg)
	if err != nil {
		return fmt.Errorf("read products of experiences: %w", err)
	}
	for _, row := range rows {
		e := byID[row.Experience]
		e.ProductIDs = append(e.ProductIDs, row.Product)
	}
	return nil
}

// countAccess fills in how many customers have an active grant that opens an experience. Where there are too many grants it counts nothing.
func (s *Store) countAccess(ctx context.Context, r db.Reader, e *Experience) error {
	e.AccessCount = new(int64)
	products, err := db.Select[string](ctx, r, `
		SELECT DISTINCT product_id FROM product_deliverables WHERE account_id = ? AND type = 'experience' AND ref = ?`, e.AccountID, e.ID)
	if err != nil || len(products) == 0 {
		return err
	}
	now, err := db.BusinessNow(ctx, r, e.AccountID)
	if err != nil {
		return err
	}
	condition, arg := s.db.In("g.product_id", products)
	count, err := db.Get[struct {
		Grants    int64 `db:"grants"`
		Customers int64 `db:"customers"`
	}](ctx, r, `
		SELECT COUNT(*) AS grants, COUNT(DISTINCT customer_id) AS customers FROM (
			SELECT CASE WHEN `+db.ActiveGrantSQL+` AND EXISTS (
				SELECT 1 FROM product_deliverables d WHERE d.account_id = g.account_id AND d.product_id = g.product_id AND d.type = 'experience' AND d.ref = ?
					AND `+db.OnListSQL+`) THEN g.customer_id END AS customer_id
			FROM grants g JOIN products p ON p.account_id = g.account_id AND p.id = g.product_id
			WHERE g.account_id = ? AND `+condition+` LIMIT ?) looked_at`, now, e.ID, e.AccountID, arg, countedGrants+1)
	switch {
	case err != nil:
		return fmt.Errorf("count customers of experience: %w", err)
	case count.Grants > countedGrants:
		e.AccessCount = nil
	default:
		e.AccessCount = &count.Customers
	}
	return nil
}
