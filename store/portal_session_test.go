package store

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

func (s *shop) portal(t *testing.T, customer *Customer) *PortalSession {
	t.Helper()
	p, err := s.CreatePortalSession(t.Context(), s.account, customer.ID, nil)
	require.NoError(t, err)
	return p
}

func TestOpenPortal_OpensToItsTokenAlone(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada, grace := s.customer(t, "ada@example.com", nil), s.customer(t, "grace@example.com", nil)
		p, other := s.portal(t, ada), s.portal(t, grace)
		opened, c, expired, err := s.OpenPortal(t.Context(), p.Token)
		require.NoError(t, err)
		require.False(t, expired)
		require.Equal(t, []string{p.ID, ada.ID}, []string{opened.ID, c.ID})
		require.Empty(t, opened.Token, "a token is known once")
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM portal_sessions WHERE token_hash LIKE ?`, "%"+p.Token[len(p.Token)-10:]+"%"))

		end := strings.LastIndexByte(p.Token, '_')
		for at := range p.Token {
			swapped := byte('a')
			if p.Token[at] == 'a' {
				swapped = 'b'
			}
			_, _, expired, err := s.OpenPortal(t.Context(), p.Token[:at]+string(swapped)+p.Token[at+1:])
			dbtest.RequireCode(t, err, core.CodeMissing)
			require.False(t, expired)
		}
		for _, wrong := range []string{"", "_", "___", p.ID, p.Token + "_", p.Token[:end], p.Token[:end] + other.Token[strings.LastIndexByte(other.Token, '_'):], strings.ToUpper(p.Token), "\x00", "a_b_c_d"} {
			_, _, _, err := s.OpenPortal(t.Context(), wrong)
			dbtest.RequireCode(t, err, core.CodeMissing)
		}
	})
}

func TestOpenPortal_OpensForADayAtMost(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada := s.customer(t, "ada@example.com", nil)
		p := s.portal(t, ada)
		for _, c := range []struct {
			later   time.Duration
			expired bool
			deleted int64
		}{{23 * time.Hour, false, 0}, {25 * time.Hour, true, 0}, {49 * time.Hour, true, 1}} {
			s.db.Options.Now = func() time.Time { return time.Now().Add(c.later) }
			opened, customer, expired, err := s.OpenPortal(t.Context(), p.Token)
			require.NoError(t, err)
			require.Equal(t, c.expired, expired)
			require.Equal(t, c.expired, opened == nil)
			require.Equal(t, c.expired, customer == nil)
			deleted, err := s.DeleteExpiredPortalSessions(t.Context(), 10)
			require.NoError(t, err)
			require.Equal(t, c.deleted, deleted)
		}
		_, _, _, err := s.OpenPortal(t.Context(), p.Token)
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}

func TestOpenPortal_NotWithoutTheCustomer(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		lead, buyer := s.customer(t, "lead@example.com", nil), s.customer(t, "grace@example.com", nil)
		sessions := []*PortalSession{s.portal(t, lead), s.portal(t, buyer)}
		s.bought(t, buyer)
		for _, c := range []*Customer{lead, buyer} {
			_, err := s.DeleteCustomer(t.Context(), s.account, c.ID, false)
			require.NoError(t, err)
			_, err = s.CreatePortalSession(t.Context(), s.account, c.ID, nil)
			dbtest.RequireCode(t, err, core.CodeMissing)
		}
		for _, p := range sessions {
			_, _, _, err := s.OpenPortal(t.Context(), p.Token)
			dbtest.RequireCode(t, err, core.CodeMissing)
		}
	})
}

// bought lets a customer buy something.
func (s *shop) bought(t *testing.T, customer *Customer) {
	t.Helper()
	c, err := s.CreateCheckout(t.Context(), s.account, CheckoutDraft{Checkout: &Checkout{CustomerID: &customer.ID}, Lines: pieceOf(s.onSale(t, fixedPrice(1900)))})
	require.NoError(t, err)
	begun, err := s.BeginConfirm(t.Context(), s.account, c.ID, byCard)
	require.NoError(t, err)
	_, err = s.SettlePayment(t.Context(), begun.Payment, ChargeResult{Status: PaymentStatusSucceeded})
	require.NoError(t, err)
}

func TestEndPortalSession_LeavesTheOthersOpen(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada := s.customer(t, "ada@example.com", nil)
		left, ended := s.portal(t, ada), s.portal(t, ada)
		for range 2 {
			require.NoError(t, s.EndPortalSession(t.Context(), ended))
		}
		_, _, _, err := s.OpenPortal(t.Context(), ended.Token)
		dbtest.RequireCode(t, err, core.CodeMissing)
		_, _, _, err = s.OpenPortal(t.Context(), left.Token)
		require.NoError(t, err)
	})
}

// One whose time is over is kept for the customer, who is told so: it has ended already.
func TestDeletePortalSession_EndsNoneWhoseTimeIsOver(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada := s.customer(t, "ada@example.com", nil)
		p := s.portal(t, ada)
		s.db.Options.Now = func() time.Time { return p.ExpiresAt.Time() }
		_, err := s.DeletePortalSession(t.Context(), s.account, ada.ID, p.ID)
		dbtest.RequireCode(t, err, core.CodeMissing)
		_, _, expired, err := s.OpenPortal(t.Context(), p.Token)
		require.NoError(t, err)
		require.True(t, expired)
		s.db.Options.Now = func() time.Time { return p.ExpiresAt.Time().Add(-time.Second) }
		_, err = s.DeletePortalSession(t.Context(), s.account, ada.ID, p.ID)
		require.NoError(t, err)
	})
}

func TestCreatePortalSession_EndsTheOldestOfTooMany(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada, err := s.CreateCustomer(t.Context(), s.account, Customer{Email: ref("ada@example.com")})
		require.NoError(t, err)
		other, err := s.CreateCustomer(t.Context(), s.account, Customer{Email: ref("grace@example.com")})
		require.NoError(t, err)
		kept := s.portal(t, other)
		var sessions []*PortalSession
		for range maxPortalSessions + 2 {
			sessions = append(sessions, s.portal(t, ada))
		}
		for i, p := range append(sessions, kept) {
			_, _, _, err := s.OpenPortal(t.Context(), p.Token)
			require.Equal(t, i < 2, err != nil, "session %d", i)
		}
	})
}
