package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/lead"
)

// Whoever has locked a lead may note that the news to any address ended, and waits for nobody who waits for that lead.
func TestEndNews_ComesAfterTheLeads(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		if s.db.Engine != core.PostgreSQL {
			return // SQLite has one lock
		}
		leadOf := func(email string) *lead.Lead {
			saved, err := s.Lead.Create(t.Context(), s.account, lead.NewLead{Email: email, Source: lead.SourceAPI}, false)
			require.NoError(t, err)
			return saved.Lead
		}
		ada, adas, graces := s.customer(t, "ada@example.com", nil), leadOf("ada@example.com"), leadOf("grace@example.com")
		_, err := s.MergeCustomer(t.Context(), s.account, ada.ID, graces.CustomerID) // whose address is free then
		require.NoError(t, err)
		s.changed(t, `UPDATE customers SET marketing_consent = '{"status":"unsubscribed"}' WHERE id = ?`, ada.ID)
		waits := func(locked *lead.Lead, ends string, call func(ctx context.Context) error) {
			t.Helper()
			done := make(chan error, 1)
			s.during(t, func(ctx context.Context, u *db.Unit) {
				_, err := db.Get[string](ctx, u, `SELECT id FROM leads WHERE account_id = ? AND id = ?`+u.Lock(), s.account, locked.ID)
				require.NoError(t, err)
				await := dbtest.Waiter(t, s.db)
				go func() { done <- call(context.WithoutCancel(t.Context())) }()
				await() // for the lead
				_, err = u.Exec(ctx, `SET LOCAL lock_timeout = '200ms'`)
				require.NoError(t, err)
				require.NoError(t, s.Customer.EndNews(ctx, u, s.account, s.Now(), ends))
			})
			require.NoError(t, <-done)
		}
		waits(graces, "ada@example.com", func(ctx context.Context) error {
			_, err := s.UpdateCustomer(ctx, s.account, ada.ID, func(c *customer.Customer) { c.SetEmail("grace@example.com") })
			return err
		})
		s.changed(t, `DELETE FROM news_endings WHERE account_id = ?`, s.account)
		waits(adas, "grace@example.com", func(ctx context.Context) error {
			_, err := s.DeleteCustomer(ctx, s.account, ada.ID, false)
			return err
		})
		require.Equal(t, 2, s.count(t, `SELECT COUNT(*) FROM news_endings WHERE account_id = ?`, s.account))
	})
}
