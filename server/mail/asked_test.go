package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/person"
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

// The same goes for the other letters that somebody waits for.
func TestPost_SendsWhatIsAwaitedBesideASlowLetter(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(t *testing.T, s *store.Store, url, account string, n int){
		"leads":      asksLead,
		"portal":     asksPortalLink,
		"teams":      joinsTeam,
		"recoveries": asksRecovery,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, url string) {
				s, account := given(t, url)
				for n := range 2 * lettersAtOnce {
					ask(t, s, url, account, n)
				}
				if name == "teams" {
					s.NoteKeyRefused(t.Context(), account, "sk_test_wrong")
				}
				require.NoError(t, NewPost(s, &slowBox{before: 2*lettersAtOnce - 1, taken: make(chan struct{})}).SendDue(t.Context()))
			})
		})
	}
}

// lateBox is a Mailer that takes letters to leads only so long after the first, and keeps to whom each goes.
type lateBox struct {
	after time.Duration
	first sync.Once
	over  chan struct{}
	mutex sync.Mutex
	to    []string
}

// Send implements Mailer.
func (b *lateBox) Send(_ context.Context, l Letter) error {
	if strings.HasPrefix(l.To, "lead") {
		b.first.Do(func() { time.AfterFunc(b.after, func() { close(b.over) }) })
		<-b.over
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.to = append(b.to, l.To)
	return nil
}

// Letters to a mail server that is always slow have a turn, as all others have.
func TestPost_BeginsNothingThatIsAwaitedAfterItsTurn(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		for n := range 3 * lettersAtOnce {
			asksLead(t, s, url, account, n)
		}
		box := &lateBox{after: 2 * time.Second, over: make(chan struct{})}
		post := NewPost(s, box)
		post.turn = time.Second
		require.NoError(t, post.SendDue(t.Context()))
		require.LessOrEqual(t, slices.Index(box.to, "grace@example.com"), lettersAtOnce)
		require.Contains(t, box.to, "grace@example.com")
		require.NoError(t, post.SendDue(t.Context()))
		require.Len(t, box.to, 3*lettersAtOnce+1, "the others are sent in the next turn")
	})
}

// asksLead has somebody asked whether they agree to letters.
func asksLead(t *testing.T, s *store.Store, url, account string, n int) {
	t.Helper()
	_, err := s.Lead.Create(t.Context(), account, lead.NewLead{Email: fmt.Sprintf("lead%d@example.com", n), Source: lead.SourceForm}, false)
	require.NoError(t, err)
	_, err = database.Behind(t, url).ExecContext(t.Context(), `UPDATE leads SET letter_due_at = 1`)
	require.NoError(t, err)
}

// asksPortalLink has a customer ask for a link to the portal.
func asksPortalLink(t *testing.T, s *store.Store, _, account string, n int) {
	t.Helper()
	email := fmt.Sprintf("customer%d@example.com", n)
	_, err := s.Customer.Create(t.Context(), account, customer.Customer{Email: &email})
	require.NoError(t, err)
	require.NoError(t, s.Portal.AskLinks(t.Context(), email, account))
}

// joinsTeam makes somebody one of those who are told that the payment provider refuses the key of an account.
func joinsTeam(t *testing.T, s *store.Store, _, account string, n int) {
	t.Helper()
	p := confirmed(t, s, n)
	require.NoError(t, s.Person.AddMember(t.Context(), account, p.ID, person.RoleOwner))
	_, err := s.Tenant.UpdateAccount(t.Context(), account, func(a *tenant.AccountChange) { a.StripeKey = new("sk_test_wrong") })
	require.NoError(t, err)
}

// asksRecovery has somebody ask for a link by which they choose another password.
func asksRecovery(t *testing.T, s *store.Store, _, _ string, n int) {
	t.Helper()
	require.NoError(t, s.Person.AskRecovery(t.Context(), confirmed(t, s, n).Email))
}

// confirmed makes a person whose address is confirmed.
func confirmed(t *testing.T, s *store.Store, n int) *person.Person {
	t.Helper()
	p, err := s.Person.CreatePerson(t.Context(), person.NewPerson{Email: fmt.Sprintf("member%d@example.com", n)})
	require.NoError(t, err)
	require.NoError(t, s.Person.ConfirmEmail(t.Context(), p.ID))
	return p
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
