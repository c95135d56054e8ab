package mail

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// What nobody can send is refused, and no row waits for ever.
func TestPost_TakesNoWishWithoutMail(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		bill := issued(t, s, account, "Bob")
		bought, err := s.Order.Get(t.Context(), account, *bill.OrderID)
		require.NoError(t, err)
		silent := NewPost(s, nil)
		_, err = silent.ResendOrderReceipt(t.Context(), account, bought.ID)
		require.Equal(t, errNoMail, err)
		_, err = silent.SendInvoice(t.Context(), account, bill.ID)
		require.Equal(t, errNoMail, err)
		require.Equal(t, errNoMail, silent.RenewReceipt(t.Context(), bought, "203.0.113.7"))
		require.Equal(t, errNoMail, silent.RenewInvoice(t.Context(), bill, "203.0.113.7"))

		_, noOrder := silent.ResendOrderReceipt(t.Context(), account, core.NewID(core.KindOrder))
		_, noInvoice := silent.SendInvoice(t.Context(), account, core.NewID(core.KindInvoice))
		for _, err := range []error{noOrder, noInvoice} {
			refused, ok := errors.AsType[*core.Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, core.CodeMissing, refused.Code)
		}
		for _, kind := range []tenant.LetterKind{tenant.LetterReceipt, tenant.LetterInvoice} {
			letters, _, err := s.ListLetters(t.Context(), account, store.ListLetters{Page: core.Page{Limit: 10}, Kind: kind})
			require.NoError(t, err)
			require.Empty(t, letters)
		}
	})
}
