package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/portal"
)

func TestOpenPortal_NotWithoutTheCustomer(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		lead, buyer := s.customer(t, "lead@example.com", nil), s.customer(t, "grace@example.com", nil)
		var sessions []*portal.Session
		for _, c := range []*customer.Customer{lead, buyer} {
			p, err := s.Portal.CreateSession(t.Context(), s.account, c.ID, nil)
			require.NoError(t, err)
			sessions = append(sessions, p)
		}
		s.bought(t, buyer)
		for _, c := range []*customer.Customer{lead, buyer} {
			_, err := s.DeleteCustomer(t.Context(), s.account, c.ID, false)
			require.NoError(t, err)
			_, err = s.Portal.CreateSession(t.Context(), s.account, c.ID, nil)
			dbtest.RequireCode(t, err, core.CodeMissing)
		}
		for _, p := range sessions {
			_, _, err := s.Portal.Open(t.Context(), p.Token)
			dbtest.RequireCode(t, err, core.CodeMissing)
		}
	})
}

// bought lets a customer buy something.
func (s *shop) bought(t *testing.T, customer *customer.Customer) {
	t.Helper()
	c, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{CustomerID: &customer.ID}, Lines: pieceOf(s.onSale(t, fixedPrice(1900)))})
	require.NoError(t, err)
	begun, err := s.BeginConfirm(t.Context(), s.account, c.ID, byCard)
	require.NoError(t, err)
	_, err = s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusSucceeded})
	require.NoError(t, err)
}
