package store

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/tenant"
)

// tokenOf is the last part of an address.
func tokenOf(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// bareToken is what addresses had before schema 43.
func (s *shop) bareToken(account, id string) string {
	named := id + "_" + strings.TrimPrefix(account, core.KindAccount.Prefix())
	return named + "_" + core.TokenEncoding.EncodeToString(s.db.Options.Sealer.Sign("page\x00"+named))
}

// at sets the store's time.
func (s *shop) at(now time.Time) { s.db.Options.Now = func() time.Time { return now } }

func (s *shop) requireInvoiceOpens(t *testing.T, token string, opens bool) {
	t.Helper()
	_, ended, err := s.Invoice.OpenHosted(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, !opens, ended)
}

func (s *shop) requireReceiptOpens(t *testing.T, token string, opens bool) {
	t.Helper()
	_, ended, err := s.Order.OpenReceipt(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, !opens, ended)
}

func TestPageLink_OpensForHalfAYearAndWhileThereIsSomethingToPay(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		began := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
		s.at(began)
		i := s.openInvoice(t)
		o, err := s.Order.Get(t.Context(), s.account, *i.OrderID)
		require.NoError(t, err)
		hosted, receipt := tokenOf(i.HostedURL), tokenOf(o.ReceiptURL)
		s.at(began.AddDate(3, 0, 0))
		s.requireInvoiceOpens(t, hosted, true)
		s.requireReceiptOpens(t, receipt, true)

		_, err = s.VoidInvoice(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		s.at(began.AddDate(3, 0, 29))
		s.requireInvoiceOpens(t, hosted, true)
		s.requireReceiptOpens(t, receipt, true)
		s.at(began.AddDate(3, 0, 31))
		s.requireInvoiceOpens(t, hosted, false)
		s.requireReceiptOpens(t, receipt, false)

		again, err := s.Invoice.Get(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		require.NotEqual(t, i.HostedURL, again.HostedURL, "what is read later ends later")
		s.requireInvoiceOpens(t, tokenOf(again.HostedURL), true)
		s.at(began.AddDate(3, 6, 31))
		s.requireInvoiceOpens(t, tokenOf(again.HostedURL), true)
		s.at(began.AddDate(3, 8, 0))
		s.requireInvoiceOpens(t, tokenOf(again.HostedURL), false)
	})
}

func TestPageLink_IsTheSameForARowUntilTheMonthEnds(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.at(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
		i := s.openInvoice(t)
		s.at(time.Date(2026, 11, 30, 23, 59, 59, 0, time.UTC))
		again, err := s.Invoice.Get(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		require.Equal(t, i.HostedURL, again.HostedURL)
	})
}

func TestPageLink_OfBeforeOpensUntilItsDay(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.at(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC))
		i := s.openInvoice(t)
		_, err := s.VoidInvoice(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		hosted, receipt := s.bareToken(s.account, i.ID), s.bareToken(s.account, *i.OrderID)
		end := time.Date(2027, time.July, 1, 0, 0, 0, 0, time.UTC)
		s.at(end.Add(-time.Second))
		s.requireInvoiceOpens(t, hosted, true)
		s.requireReceiptOpens(t, receipt, true)
		s.at(end)
		s.requireInvoiceOpens(t, hosted, false)
		s.requireReceiptOpens(t, receipt, false)
	})
}

func TestRevokeLinks_EndsEveryAddressThatThereIs(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		i := s.openInvoice(t)
		o, err := s.Order.Get(t.Context(), s.account, *i.OrderID)
		require.NoError(t, err)
		old := []string{tokenOf(i.HostedURL), s.bareToken(s.account, i.ID)}
		oldReceipts := []string{tokenOf(o.ReceiptURL), s.bareToken(s.account, o.ID)}

		revoked, err := s.Invoice.RevokeLinks(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		for _, token := range old {
			s.requireInvoiceOpens(t, token, false)
		}
		s.requireInvoiceOpens(t, tokenOf(revoked.HostedURL), true)
		for _, token := range oldReceipts {
			s.requireReceiptOpens(t, token, true)
		}
		order, err := s.Order.RevokeLinks(t.Context(), s.account, o.ID)
		require.NoError(t, err)
		for _, token := range oldReceipts {
			s.requireReceiptOpens(t, token, false)
		}
		s.requireReceiptOpens(t, tokenOf(order.ReceiptURL), true)
		read, err := s.Order.Get(t.Context(), s.account, o.ID)
		require.NoError(t, err)
		require.Equal(t, order.ReceiptURL, read.ReceiptURL)

		_, err = s.Invoice.RevokeLinks(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		s.requireInvoiceOpens(t, tokenOf(revoked.HostedURL), false)

		other, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Other", Email: "other@example.com"})
		require.NoError(t, err)
		_, err = s.Order.RevokeLinks(t.Context(), other.ID, o.ID)
		dbtest.RequireCode(t, err, core.CodeMissing)
		_, err = s.Invoice.RevokeLinks(t.Context(), other.ID, i.ID)
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}

func TestPageLink_NobodyMovesItsEndOrVersion(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		i := s.openInvoice(t)
		parts := strings.Split(tokenOf(i.HostedURL), "_")
		require.Len(t, parts, 6)
		for _, at := range []int{3, 4} {
			for _, other := range []string{"", "-1", "1", "zzz", parts[at] + "0"} {
				changed := append([]string{}, parts...)
				changed[at] = other
				_, _, err := s.Invoice.OpenHosted(t.Context(), strings.Join(changed, "_"))
				dbtest.RequireCode(t, err, core.CodeMissing)
			}
		}
		bare := append(append([]string{}, parts[:3]...), parts[5])
		_, _, err := s.Invoice.OpenHosted(t.Context(), strings.Join(bare, "_"))
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}

// Two who revoke at once both end what the other was given before.
func TestRevokeLinks_AtOnceEachEndsWhatWasThere(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		i := s.openInvoice(t)
		var orders, invoices sync.Map
		var results []func() error
		s.during(t, func(_ context.Context, u *db.Unit) {
			for _, table := range []string{"orders", "invoices"} { // everybody waits for the rows
				_, err := u.Exec(t.Context(), `UPDATE `+table+` SET updated_at = updated_at WHERE account_id = ?`, s.account)
				require.NoError(t, err)
			}
			for range 3 {
				results = append(results, s.started(t, func(replica *Store) error {
					o, err := replica.Order.RevokeLinks(t.Context(), s.account, *i.OrderID)
					if err == nil {
						orders.Store(tokenOf(o.ReceiptURL), true)
					}
					return err
				}), s.started(t, func(replica *Store) error {
					i, err := replica.Invoice.RevokeLinks(t.Context(), s.account, i.ID)
					if err == nil {
						invoices.Store(tokenOf(i.HostedURL), true)
					}
					return err
				}))
			}
			s.waiting(t, len(results))
		})
		for _, result := range results {
			require.NoError(t, result())
		}
		o, err := s.Order.Get(t.Context(), s.account, *i.OrderID)
		require.NoError(t, err)
		i, err = s.Invoice.Get(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		require.EqualValues(t, []int64{3, 3}, []int64{o.LinkVersion, i.LinkVersion})
		orders.Range(func(token, _ any) bool {
			s.requireReceiptOpens(t, token.(string), token == tokenOf(o.ReceiptURL))
			return true
		})
		invoices.Range(func(token, _ any) bool {
			s.requireInvoiceOpens(t, token.(string), token == tokenOf(i.HostedURL))
			return true
		})
	})
}
