package mail

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/offer"
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

// asks has so many buyers ask for the letter that asks whose their address is.
func asks(t *testing.T, s *store.Store, account string, buyers int) {
	t.Helper()
	p, err := s.Catalog.CreateProduct(t.Context(), account, catalog.NewProduct{
		Product: catalog.Product{Name: "Guide", Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{{Amount: 1900}},
	})
	require.NoError(t, err)
	for n := range buyers {
		c, err := s.Checkout.Create(t.Context(), account, checkout.Draft{
			Checkout: &checkout.Checkout{CustomerEmail: new(fmt.Sprintf("buyer%d@example.com", n))}, Lines: []offer.NewLine{{PriceVariant: p.PriceVariantIDs.V[0], Quantity: 1}},
		})
		require.NoError(t, err)
		_, err = s.Checkout.AskVerification(t.Context(), account, c.ID, "203.0.113.7")
		require.NoError(t, err)
	}
}

// Strangers choose to which mail servers these letters go. One that takes long keeps no other buyer waiting.
func TestPost_AsksBesideASlowLetter(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		asks(t, s, account, 2*lettersAtOnce)
		require.NoError(t, NewPost(s, &slowBox{before: 2*lettersAtOnce - 1, taken: make(chan struct{})}).SendDue(t.Context()))
		left, err := s.Checkout.DueLetters(t.Context(), dueAtOnce)
		require.NoError(t, err)
		require.Empty(t, left)
	})
}

// What a mail server says of a letter ends in a log, without the address.
func TestPost_LogsNoAddress(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		asks(t, s, account, 1)
		err := NewPost(s, &box{refuses: errors.New("550 <Buyer0@Example.COM> is unknown")}).SendDue(t.Context())
		require.EqualError(t, err, "550 <(the address)> is unknown")
	})
}

// A mail server may say an address with the letters of the DNS. One that an older version stored need not be text at all.
func TestUnnamed_LeavesOutAnyAddress(t *testing.T) {
	t.Parallel()
	for said, to := range map[string]string{
		"550 <Ada@xn--mnchen-3ya.de> is unknown": "ada@münchen.de",
		"550 <ada@MÜNCHEN.de> is unknown":        "ada@münchen.de",
		"550 <a\xff\xfe@example.com> is unknown": "A\xff\xfe@example.com",
	} {
		require.Equal(t, "550 <(the address)> is unknown", unnamed(errors.New(said), to))
	}
}
