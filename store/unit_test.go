package store

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// The product is made as the transaction ends: its event is one more thing to be stored then.
func TestBeforeCommit_RunsUseCasesInTheTransaction(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var made *catalog.Product
		endWith := func(fail error) error {
			_, err := db.Tx(t.Context(), s.db, func(_ context.Context, u *db.Unit) (any, error) {
				u.BeforeCommit(func(ctx context.Context) (err error) {
					if made, err = s.Catalog.CreateProduct(ctx, s.account, catalog.NewProduct{Product: catalog.Product{Name: "Book"}}); err != nil {
						return err
					}
					return fail
				})
				return nil, nil
			})
			return err
		}
		require.NoError(t, endWith(nil))
		require.Equal(t, []string{"product.created"}, s.eventTypes(t, made.ID))
		require.Equal(t, 1, s.products(t))

		dbtest.RequireInvalid(t, endWith(core.Invalid("name", "No.")), "name")
		require.Equal(t, 1, s.products(t))
	})
}

// A lock that nobody holds would be worse than none: whoever asks for it believes in it.
func TestLock_NeedsItsOpenTransaction(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var over *db.Unit
		during := func(lock func(context.Context, *db.Unit) error) {
			_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) { return nil, lock(ctx, u) })
			require.NoError(t, err)
		}
		refused := func(ctx context.Context) {
			_, err := s.Customer.LockNamed(ctx, over, s.account, core.NewID(core.KindCustomer), "")
			require.ErrorContains(t, err, "in an open transaction alone")
		}
		during(func(ctx context.Context, u *db.Unit) error {
			over = u
			_, err := s.Customer.LockNamed(ctx, u, s.account, core.NewID(core.KindCustomer), "")
			dbtest.RequireCode(t, err, core.CodeMissing)
			return nil
		})
		refused(t.Context())
		during(func(ctx context.Context, _ *db.Unit) error { // another is open, which would lock for somebody else
			refused(ctx)
			return nil
		})
	})
}

// What locks or changes rows shows that it does: it is given the transaction, and does not find one in its context.
func TestRead_ChangesNothing(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		change := `UPDATE accounts SET name = name WHERE id = ? RETURNING id`
		refused := func(ctx context.Context, query string) {
			_, err := db.Get[string](ctx, s.db, query, s.account)
			require.ErrorContains(t, err, "in an open transaction alone")
		}
		refused(t.Context(), change)
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
			refused(ctx, change)
			refused(ctx, `SELECT id FROM accounts WHERE id = ? FOR UPDATE`)
			id, err := db.Get[string](ctx, u, change, s.account)
			require.Equal(t, &s.account, id)
			return nil, err
		})
		require.NoError(t, err)
	})
}

func TestLater_IsAsIfItWereNow(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, fixedPrice(1900))
		name := "as it was"
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
			change := func(table, set, id string, arg any) {
				require.NoError(t, u.Later(ctx, db.Change{
					Table: table, Query: `UPDATE ` + table + ` SET ` + set + ` WHERE account_id = ? AND id = ?`, Args: []any{arg, s.account, id}, Rows: 1,
				}))
			}
			change("products", "name = ?", v.ProductID, &name)
			name = "as it is now"
			change("price_variants", "sold_count = ?", v.ID, 2)
			change("products", "sales_count = ?", v.ProductID, 2)
			change("price_variants", "sold_count = sold_count + ?", v.ID, 3) // of one statement it would see nothing
			variant, err := s.Catalog.GetPriceVariant(ctx, s.account, v.ID)
			require.NoError(t, err)
			require.EqualValues(t, 5, variant.SoldCount, "what reads sees all that waits")
			return nil, nil
		})
		require.NoError(t, err)
		product, err := s.Catalog.GetProduct(t.Context(), s.account, v.ProductID)
		require.NoError(t, err)
		require.Equal(t, "as it was", product.Name)
		require.EqualValues(t, 2, product.SalesCount)
	})
}

// What a request did is noted before it commits, and so before it is known how many rows there were.
func TestLater_OfAnyRowsIsAChange(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.onSale(t, fixedPrice(1900))
		_, _, err := s.Request(t.Context(), nil, func(ctx context.Context) (*core.Answer, error) {
			_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
				require.False(t, db.HasChanged(ctx))
				return nil, u.Later(ctx, db.Change{Table: "products", Query: `UPDATE products SET name = ? WHERE account_id = ?`, Args: []any{"Book", s.account}, Rows: db.AnyRows})
			})
			require.True(t, db.HasChanged(ctx))
			return &core.Answer{Status: http.StatusOK}, err
		})
		require.NoError(t, err)
	})
}

func TestLater_OfAnotherNumberOfRowsUndoesAll(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, fixedPrice(1900))
		for _, wrong := range []error{nil, core.Invalid("name", "No.")} {
			_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
				sold := db.Change{
					Table: "products", Query: `UPDATE products SET sales_count = ? WHERE account_id = ? AND id = ?`, Args: []any{7, s.account, v.ProductID}, Rows: 1,
				}
				gone := db.Change{
					Table: "price_variants", Query: `UPDATE price_variants SET sold_count = ? WHERE account_id = ? AND id = ?`,
					Args: []any{7, s.account, "gone"}, Rows: 1, Wrong: wrong,
				}
				return nil, cmp.Or(u.Later(ctx, sold), u.Later(ctx, gone))
			})
			if wrong == nil {
				require.ErrorContains(t, err, "change price_variants: 0 rows instead of 1")
			} else {
				require.ErrorIs(t, err, wrong)
			}
			product, err := s.Catalog.GetProduct(t.Context(), s.account, v.ProductID)
			require.NoError(t, err)
			require.Zero(t, product.SalesCount)
		}
	})
}

// Whoever is told of a change that could not be made may not mind: nothing commits all the same.
func TestLater_IsNotForgivenByWhoeverComesNext(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, fixedPrice(1900))
		out := core.Invalid("line_items", "Out of stock.")
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
			_ = u.Later(ctx, db.Change{
				Table: "products", Query: `UPDATE products SET sales_count = ? WHERE account_id = ? AND id = ?`, Args: []any{7, s.account, v.ProductID}, Rows: 1,
			})
			_ = u.Later(ctx, db.Change{
				Table: "price_variants", Query: `UPDATE price_variants SET sold_count = ? WHERE account_id = ? AND id = ?`,
				Args: []any{7, s.account, "gone"}, Rows: 1, Wrong: out,
			})
			_, _ = s.Catalog.GetProduct(ctx, s.account, v.ProductID)
			return nil, nil
		})
		require.ErrorIs(t, err, out)
		product, err := s.Catalog.GetProduct(t.Context(), s.account, v.ProductID)
		require.NoError(t, err)
		require.Zero(t, product.SalesCount)
	})
}

// A read comes after the changes that wait if it names their table. That is enough as long as every read names all tables that it reads. What
// triggers write must be written to a table that couldSee knows, too.
func TestLater_NoReadSeesATableThatItDoesNotName(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		views, triggers := `SELECT name FROM sqlite_master WHERE type = 'view'`, `SELECT sql FROM sqlite_master WHERE type = 'trigger'`
		if s.Engine() == core.PostgreSQL {
			views = `SELECT relname FROM pg_class WHERE relkind IN ('v', 'm') AND relnamespace = CAST('public' AS regnamespace)`
			triggers = `SELECT prosrc FROM pg_proc WHERE prorettype = CAST('trigger' AS regtype) AND pronamespace = CAST('public' AS regnamespace)`
		}
		hidden, err := db.Select[string](t.Context(), s.db, views)
		require.NoError(t, err)
		require.Empty(t, hidden)
		bodies, err := db.Select[string](t.Context(), s.db, triggers)
		require.NoError(t, err)
		require.NotEmpty(t, bodies)
		for _, body := range bodies {
			for _, written := range regexp.MustCompile(`(?:INSERT(?: OR \w+)? INTO|DELETE FROM|UPDATE(?: OR \w+)?)\s+(\w+)\s`).FindAllStringSubmatch(body, -1) {
				if !slices.Contains([]string{"ON", "OF", "SET"}, written[1]) { // what the trigger is for, and a row that was there
					require.True(t, db.Triggered(written[1]), "%s is written by %s", written[1], body)
				}
			}
		}
	})
}
