package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// UpsertProduct changes the product with the account's own id as UpdateProduct does. If there is none it makes one, which isNew says. Of
// several at once that make it, all but the first change it.
func (s *Store) UpsertProduct(ctx context.Context, account string, in core.Upsert[Product]) (p *Product, isNew bool, err error) {
	p, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Product, error) {
		there, err := s.lockExternalProducts(ctx, u, account, []string{in.ExternalID})
		if err != nil {
			return nil, err
		}
		p, status, err := s.upsertProduct(ctx, u, account, there[in.ExternalID], &in)
		isNew = status == core.UpsertCreated
		return p, err
	})
	return p, isNew, err
}

// UpsertProducts does what UpsertProduct does for each of many products, and says what became of each, in their order. One that is refused leaves
// the others as they are.
func (s *Store) UpsertProducts(ctx context.Context, account string, in []core.Upsert[Product]) ([]core.Upserted, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]core.Upserted, error) {
		there, err := s.lockExternalProducts(ctx, u, account, db.ExternalIDs(in))
		if err != nil {
			return nil, err
		}
		lookAgain := func(externalID string) error {
			now, err := s.lockExternalProducts(ctx, u, account, []string{externalID})
			there[externalID] = now[externalID]
			return err
		}
		return db.UpsertAll(ctx, u, in, lookAgain, func(item *core.Upsert[Product]) (string, core.UpsertStatus, error) {
			p, status, err := s.upsertProduct(ctx, u, account, there[item.ExternalID], item)
			if err != nil {
				return "", status, err
			}
			there[item.ExternalID] = p
			return p.ID, status, nil
		})
	})
}

// upsertProduct changes a copy of the locked product that is there, or makes one if that is nil, and returns it.
func (s *Store) upsertProduct(ctx context.Context, u *db.Unit, account string, there *Product, in *core.Upsert[Product]) (*Product, core.UpsertStatus, error) {
	var p Product
	if there == nil {
		if err := s.outbox.CheckBulk(u); err != nil {
			return nil, "", err
		}
		in.Change(&p)
		if strings.TrimSpace(p.Name) == "" {
			return nil, "", core.Invalid("name", "No product has this external_id, and a new one needs a name.")
		}
		p.fill()
		made, err := s.createProduct(ctx, u, account, &p, nil)
		return made, core.UpsertCreated, db.OvertakenOn("external_id", err)
	}
	p = *there
	in.Change(&p)
	if core.SameJSON(there, &p) {
		return there, core.UpsertUnchanged, nil
	}
	if err := s.outbox.CheckBulk(u); err != nil {
		return nil, "", err
	}
	return &p, core.UpsertUpdated, s.changeProduct(ctx, u, there, &p)
}

// lockExternalProducts locks the products with the account's own ids that there are, and returns them by these. It locks them in the order of our
// ids, as whoever locks several does. Each is looked for by itself: of a list PostgreSQL may read every row that has an id.
func (s *Store) lockExternalProducts(ctx context.Context, u *db.Unit, account string, externalIDs []string) (map[string]*Product, error) {
	there := map[string]*Product{}
	var ids []string
	for _, externalID := range externalIDs {
		id, err := db.Get[string](ctx, u, `SELECT id FROM products WHERE account_id = ? AND external_id = ?`, account, externalID)
		if err != nil {
			return nil, fmt.Errorf("find product by external id: %w", err)
		}
		if id != nil {
			ids = append(ids, *id)
		}
	}
	if len(ids) == 0 {
		return there, nil
	}
	condition, arg := s.db.In("id", ids)
	locked, err := db.Select[Product](ctx, u.Locked(), productColumns.SelectSQL+` WHERE account_id = ? AND `+condition+` ORDER BY id`, account, arg)
	if err != nil {
		return nil, fmt.Errorf("lock products by external id: %w", err)
	}
	all := make([]*Product, len(locked))
	for i := range locked {
		all[i] = &locked[i]
		if external := all[i].ExternalID; external != nil { // it was not taken away meanwhile
			there[*external] = all[i]
		}
	}
	return there, s.readDeliverables(ctx, u, account, all...)
}
