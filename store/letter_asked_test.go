package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/tenant"
)

// What is one too many is refused when it is asked for, and is no row. What was counted then is not counted again when it is sent.
func TestResendOrderReceipt_IsCountedWhenItIsAskedFor(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.at(time.Now())
		typed := s.asked(t, "victim@example.com")
		s.confirm(t, typed)
		bought, err := s.Order.Get(t.Context(), s.account, *s.read(t, typed).OrderID)
		require.NoError(t, err)
		require.False(t, bought.CustomerVerified)
		for range mailbox.UnaskedLetters { // all that are sent by themselves to an address that nobody has confirmed
			_, err := s.Mailbox.CountUnasked(t.Context(), s.account, "victim@example.com", true)
			require.NoError(t, err)
		}
		_, told := s.claimed(t, s.letter(t, tenant.LetterReceipt).ID)
		require.NotEmpty(t, told.Void)
		for range mailbox.DocumentLetters {
			_, err := s.ResendOrderReceipt(t.Context(), s.account, bought.ID)
			require.NoError(t, err)
			_, told := s.claimed(t, s.letter(t, tenant.LetterReceipt).ID)
			require.Empty(t, told.Void)
			require.Equal(t, "victim@example.com", told.Recipient)
		}
		_, err = s.ResendOrderReceipt(t.Context(), s.account, bought.ID)
		dbtest.RequireCode(t, err, core.CodeRateLimit)
		for n := range mailbox.PageDocumentLetters {
			require.NoError(t, s.RenewReceipt(t.Context(), bought, fmt.Sprintf("203.0.%d.7", n)), "what is asked for on a page is counted apart")
		}
		dbtest.RequireCode(t, s.RenewReceipt(t.Context(), bought, "198.51.100.7"), core.CodeRateLimit)
		require.Equal(t, 1+mailbox.DocumentLetters+mailbox.PageDocumentLetters, s.count(t, `SELECT COUNT(*) FROM letters`))
	})
}

// An invoice may be void before its letter is sent. Whoever has an old address of its page still gets a new one.
func TestSendInvoice_SendsNoVoidOne(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		i := s.openInvoice(t)
		_, err := s.SendInvoice(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		asked := s.letter(t, tenant.LetterInvoice)
		require.NoError(t, s.RenewInvoice(t.Context(), i, "203.0.113.7"))
		renewed := s.letter(t, tenant.LetterInvoice)
		_, err = s.VoidInvoice(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		_, told := s.claimed(t, asked.ID)
		require.Equal(t, "The invoice is void now.", told.Void)
		_, told = s.claimed(t, renewed.ID)
		require.Empty(t, told.Void)
		_, err = s.SendInvoice(t.Context(), s.account, i.ID)
		dbtest.RequireInvalid(t, err, "status")
		require.Equal(t, 2, s.count(t, `SELECT COUNT(*) FROM letters`))
	})
}

// Somebody may take the address away before the letter is sent.
func TestSendInvoice_NeedsAnAddress(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		i := s.openInvoice(t)
		_, err := s.SendInvoice(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		_, err = s.db.Write.DB.Exec(`UPDATE invoices SET customer_email = NULL`)
		require.NoError(t, err)
		_, told := s.claimed(t, s.letter(t, tenant.LetterInvoice).ID)
		require.Equal(t, "The invoice has no address any more.", told.Void)
		_, err = s.SendInvoice(t.Context(), s.account, i.ID)
		dbtest.RequireInvalid(t, err, "customer_email")
	})
}

// Who was deleted is sent nothing, and nobody is told that they were. No row has their address again.
func TestResendOrderReceipt_WritesToNobodyWhoWasDeleted(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		i := s.openInvoice(t)
		billed, err := s.Order.Get(t.Context(), s.account, *i.OrderID)
		require.NoError(t, err)
		_, err = s.DeleteCustomer(t.Context(), s.account, i.CustomerID, true)
		require.NoError(t, err)
		kept, err := s.Invoice.Get(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		require.NotNil(t, kept.CustomerEmail, "an invoice keeps what it says")
		_, err = s.SendInvoice(t.Context(), s.account, i.ID)
		dbtest.RequireInvalid(t, err, "customer")
		_, err = s.ResendOrderReceipt(t.Context(), s.account, billed.ID)
		dbtest.RequireInvalid(t, err, "customer")
		dbtest.RequireInvalid(t, s.RenewReceipt(t.Context(), billed, "203.0.113.7"), "customer")
		dbtest.RequireInvalid(t, s.RenewInvoice(t.Context(), i, "203.0.113.7"), "customer")
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM letters`))
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM throttles WHERE subject LIKE '%letters%'`), "nothing was counted")
	})
}
