package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lead"
)

// Whoever adds a table whose rows are a customer's has to say what becomes of them.
func TestMergeCustomer_KnowsEveryTable(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var found []string
		for table, columns := range tableColumns(t, s) {
			if slices.ContainsFunc(columns, func(column string) bool { return strings.HasPrefix(column, "customer_id ") }) {
				found = append(found, table)
			}
		}
		assert.ElementsMatch(t, slices.Concat(rowsBeforeCustomer, rowsAfterCustomer, rowsAfterGrants, rowsEndedBy, []string{"grants", "activities"}), found)
	})
}

// A use case that read whose invoice it is, and then waits for them while they are merged, goes on with the other one.
func TestMergeCustomer_IsSeenByWhoeverWaitsForTheCustomer(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		from := s.customer(t, "grace@example.com", nil)
		draft, err := s.Invoice.Create(t.Context(), s.account, invoice.Draft{
			Invoice: &invoice.Invoice{CollectionMethod: invoice.CollectionMethodChargeAutomatically}, Customer: from.ID,
			Lines: []invoice.NewLine{{Description: ref("Advice"), UnitAmount: ref(int64(700)), Quantity: 1}},
		})
		require.NoError(t, err)
		i, err := s.FinalizeInvoice(t.Context(), s.account, draft.ID)
		require.NoError(t, err)
		into := s.customer(t, "ada@example.com", nil)
		var settled func() error
		s.during(t, func(ctx context.Context, _ *db.Unit) {
			_, err := s.MergeCustomer(ctx, s.account, into.ID, i.CustomerID)
			require.NoError(t, err)
			settled = s.started(t, func(replica *Store) error {
				_, err := replica.PayInvoiceOutOfBand(context.WithoutCancel(t.Context()), s.account, i.ID)
				return err
			})
			s.waiting(t, 1)
		})
		require.NoError(t, settled())
		got, err := s.Customer.Get(t.Context(), s.account, into.ID)
		require.NoError(t, err)
		paid, err := s.Invoice.Get(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		require.Equal(t, invoice.StatusPaid, paid.Status)
		require.Equal(t, into.ID, paid.CustomerID)
		require.Equal(t, paid.AmountPaid, got.TotalSpent.V["usd"])
		s.sound(t)
	})
}

func TestMergeCustomer_KeepsTheCustomersOwnWord(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		keys := map[string]string{}
		for i := range 49 {
			keys[fmt.Sprintf("k%02d", i)] = "from"
		}
		from, err := s.Customer.Create(t.Context(), s.account, customer.Customer{
			Email: ref("grace@example.com"), Name: ref("Grace"), Phone: ref("1"), ExternalID: ref("g"), Notes: ref("n"), TaxExempt: true,
			Tags: core.JSONOf([]string{"vip", "old"}), Metadata: core.NewMetadata(keys), BillingAddress: core.JSONOf(&core.Address{Country: ref("GB")}),
			MarketingConsent: core.JSONOf(&customer.MarketingConsent{Status: "subscribed"}),
		})
		require.NoError(t, err)
		into, err := s.Customer.Create(t.Context(), s.account, customer.Customer{
			Email: ref("ada@example.com"), Name: ref("Ada"), Tags: core.JSONOf([]string{"vip"}), Metadata: core.NewMetadata(map[string]string{"k00": "own", "a": "1", "b": "2"}),
		})
		require.NoError(t, err)
		_, err = s.MergeCustomer(t.Context(), s.account, into.ID, into.ID)
		dbtest.RequireInvalid(t, err, "from")
		_, err = s.MergeCustomer(t.Context(), s.account, into.ID, "cust_"+strings.TrimPrefix(from.ID, "cus_"))
		require.NoError(t, err)
		got, err := s.Customer.Get(t.Context(), s.account, into.ID)
		require.NoError(t, err)
		assert.Equal(t, []any{"ada@example.com", "Ada", "1", "g", "n", false, "GB"},
			[]any{*got.Email, *got.Name, *got.Phone, *got.ExternalID, *got.Notes, got.TaxExempt, *got.BillingAddress.V.Country})
		assert.Equal(t, []string{"vip", "old"}, got.Tags.V)
		assert.Nil(t, got.MarketingConsent.V, "it was given for another address")
		assert.Len(t, got.Metadata.Map(), core.MetadataMaxKeys)
		assert.Equal(t, "own", got.Metadata.Map()["k00"])
		_, err = s.UpdateCustomer(t.Context(), s.account, from.ID, func(c *customer.Customer) { c.Name = ref("x") })
		dbtest.RequireCode(t, err, core.CodeMissing)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM customers WHERE id = ? AND (email IS NOT NULL OR name IS NOT NULL OR external_id IS NOT NULL)`, from.ID))

		_, err = s.UpdateCustomer(t.Context(), s.account, into.ID, func(c *customer.Customer) {
			c.MarketingConsent.V = &customer.MarketingConsent{Status: customer.Subscribed}
		})
		require.NoError(t, err)
		noted, err := s.Lead.Create(t.Context(), s.account, lead.NewLead{Email: "ada@example.com", Source: lead.SourceAPI, Consent: &lead.NewConsent{Marketing: true}}, false)
		require.NoError(t, err)
		for _, one := range []struct {
			email string
			ends  bool
		}{{"lin@example.com", false}, {"ada+news@example.com", true}} {
			gone, err := s.Customer.Create(t.Context(), s.account, customer.Customer{Email: &one.email, MarketingConsent: core.JSONOf(&customer.MarketingConsent{Status: customer.Unsubscribed})})
			require.NoError(t, err)
			got, err = s.MergeCustomer(t.Context(), s.account, into.ID, gone.ID)
			require.NoError(t, err)
			assert.Equal(t, one.ends, got.IsUnsubscribed(), one.email)
			l, err := s.Lead.Get(t.Context(), s.account, noted.Lead.ID)
			require.NoError(t, err)
			assert.Equal(t, one.ends, l.Status == lead.StatusUnsubscribed, one.email)
		}
	})
}

// Whoever locks several leads of an address locks them in one order, and before the endings of news. So no two wait for each other.
func TestLeads_AreLockedInOneOrder(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada := s.customer(t, "ada@example.com", nil)
		_, err := s.Customer.Create(t.Context(), s.account, customer.Customer{
			Email: ref("deleted@example.com"), MarketingConsent: core.JSON[*customer.MarketingConsent]{V: &customer.MarketingConsent{Status: customer.Unsubscribed}},
		})
		require.NoError(t, err)
		for id, email := range map[string]string{"first": "first@example.com", "second": "upserted@example.com"} {
			_, err := s.Customer.Create(t.Context(), s.account, customer.Customer{Email: &email, ExternalID: &id})
			require.NoError(t, err)
		}
		products := []string{s.onSale(t, fixedPrice(1900)).ProductID, s.onSale(t, fixedPrice(1900)).ProductID}
		slices.Sort(products)
		for email, change := range map[string]func(ctx context.Context, replica *Store, c string) error{
			"merged@example.com": func(ctx context.Context, replica *Store, c string) error {
				_, err := replica.MergeCustomer(ctx, s.account, ada.ID, c)
				return err
			},
			"deleted@example.com": func(ctx context.Context, replica *Store, c string) error {
				_, err := replica.DeleteCustomer(ctx, s.account, c, false)
				return err
			},
			"unsubscribed@example.com": func(ctx context.Context, replica *Store, c string) error {
				_, err := replica.UpdateCustomer(ctx, s.account, c, func(c *customer.Customer) {
					c.MarketingConsent.V = &customer.MarketingConsent{Status: customer.Unsubscribed}
				})
				return err
			},
			"upserted@example.com": func(ctx context.Context, replica *Store, _ string) error {
				unsubscribe := func(c *customer.Customer) {
					c.MarketingConsent.V = &customer.MarketingConsent{Status: customer.Unsubscribed}
				}
				_, err := replica.UpsertCustomers(ctx, s.account, []core.Upsert[customer.Customer]{
					{ExternalID: "first", Change: unsubscribe}, {ExternalID: "second", Change: unsubscribe},
				})
				return err
			},
		} {
			var made []*lead.Lead // in the other order than they are locked
			for _, product := range slices.Backward(products) {
				saved, err := s.Lead.Create(t.Context(), s.account, lead.NewLead{Email: email, Product: product, Source: lead.SourceAPI}, false)
				require.NoError(t, err)
				made = append(made, saved.Lead)
			}
			var changed func() error
			s.during(t, func(ctx context.Context, u *db.Unit) {
				require.NoError(t, s.lock(ctx, u, "leads", made[1].ID, u.Lock()))
				changed = s.started(t, func(replica *Store) error {
					return change(context.WithoutCancel(t.Context()), replica, made[0].CustomerID)
				})
				s.waiting(t, 1)
				free, err := db.Get[string](ctx, u, `SELECT id FROM leads WHERE account_id = ? AND id = ?`+u.LockSkip(), s.account, made[0].ID)
				require.NoError(t, err)
				assert.NotNil(t, free, "%s: who waits for the first has none of the others", email)
				if s.db.Engine == core.PostgreSQL {
					assert.Zero(t, s.count(t, `
						SELECT count(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database
						WHERE datname = current_database() AND relation = 'news_endings'::regclass AND mode = 'RowExclusiveLock'`), "%s: nor an ending", email)
				}
			})
			require.NoError(t, changed())
			require.Zero(t, s.count(t, `SELECT count(*) FROM leads WHERE customer_id = ? AND status = 'new'`, made[0].CustomerID), email)
		}
	})
}
