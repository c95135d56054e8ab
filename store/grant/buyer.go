package grant

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/internal/db"
)

// NextBuyers returns the customers of the next grants of a product, at most limit. It says up to which grant that is, and whether it is the last. Who
// had the product until their grant expired is among them, and who has one that was revoked is not. One may come again, by another grant.
func (s *Store) NextBuyers(ctx context.Context, r db.Reader, account, product, after string, limit int) (customers []string, next string, last bool, err error) {
	grants, err := grantsAfter(ctx, r, account, product, after, limit)
	if err != nil {
		return nil, "", false, err
	}
	for _, g := range grants {
		after = g.ID
		if g.Status != StatusRevoked {
			customers = append(customers, g.CustomerID)
		}
	}
	return customers, after, len(grants) < limit, nil
}

// grantsAfter returns the next grants of a product, at most limit, in the order of their ids.
func grantsAfter(ctx context.Context, r db.Reader, account, product, after string, limit int) ([]Grant, error) {
	grants, err := db.Select[Grant](ctx, r, grantColumns.SelectSQL+` WHERE account_id = ? AND product_id = ? AND id > ? ORDER BY id LIMIT ?`, account, product, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read grants of a product: %w", err)
	}
	return grants, nil
}
