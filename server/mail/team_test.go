package mail

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A letter to a team has the language of the account. It is not sent once the account has switched it off, is disabled, or the server sends no mail.
func TestToTeam_SendsWhatIsStillToBeSent(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		owner, err := s.Person.CreatePerson(t.Context(), person.NewPerson{Email: "ada@example.com"})
		require.NoError(t, err)
		require.NoError(t, s.Person.ConfirmEmail(t.Context(), owner.ID))
		require.NoError(t, s.Person.AddMember(t.Context(), account, owner.ID, person.RoleOwner))
		update := func(change func(*tenant.AccountChange)) {
			_, err := s.Tenant.UpdateAccount(t.Context(), account, change)
			require.NoError(t, err)
		}
		tells := func(m Mailer, meanwhile func()) {
			update(func(a *tenant.AccountChange) { a.Locale, a.StripeKey = "de", new("sk_test_wrong") })
			s.NoteKeyRefused(t.Context(), account, "sk_test_wrong")
			meanwhile()
			require.NoError(t, NewPost(s, m).SendDue(t.Context()))
		}
		sent := &box{}
		toTeam := func() (all []Letter) {
			for _, l := range sent.letters {
				if l.To == owner.Email {
					all = append(all, l)
				}
			}
			return all
		}
		tells(sent, func() {})
		require.Len(t, toTeam(), 1)
		letter := toTeam()[0]
		assert.Equal(t, "Ihr Zahlungsanbieter lehnt Ihren Schlüssel ab", letter.Subject)
		assert.Contains(t, letter.Text, "Konto: Ada's Shop\n")
		assert.Contains(t, letter.Text, "http://shop.test/app/settings/payments\n")
		assert.Contains(t, letter.HTML, `<html lang="de" dir="ltr">`)
		assert.NotEmpty(t, letter.ID, "who gets it twice sees it once")

		tells(nil, func() {})
		tells(sent, func() {
			update(func(a *tenant.AccountChange) { a.SwitchLetters(map[string]bool{"provider_key_refused": false}) })
		})
		update(func(a *tenant.AccountChange) { a.SwitchLetters(map[string]bool{"provider_key_refused": true}) })
		tells(sent, func() {
			_, _, err := s.Tenant.DisableAccount(t.Context(), account)
			require.NoError(t, err)
		})
		require.Len(t, toTeam(), 1)
		told, err := s.Person.ListTeamLetters(t.Context(), account, 10)
		require.NoError(t, err)
		require.Len(t, told, 4)
		for i, l := range told {
			assert.Equal(t, []int64{1, 0}, map[bool][]int64{true: {l.People, l.Dropped}, false: {l.Dropped, l.Sent}}[i == 3], "%d", i)
		}
	})
}

// A letter about a day says that it names some of the sales, and not that if it names all.
func TestSalesOfDay_SaysIfItNamesSome(t *testing.T) {
	t.Parallel()
	of := func(count int64) []string {
		told := teamContent{LetterDetail: person.LetterDetail{Day: "2026-11-28", Sums: []person.Sum{{Currency: "jpy", Count: count, Amount: 1900}}}}
		told.sales = []sale{{order: &order.Order{Currency: "jpy", TotalAmount: 1900}, name: "Handbook"}}
		return salesOfDay(locale.English, &told).opening
	}
	assert.Contains(t, of(2), "Some of the largest, and what all come to:")
	assert.Len(t, of(1), 1)
}

// A letter about what failed on a day says if there was more than is counted in it.
func TestFailedOfDay_SaysIfThereWereMore(t *testing.T) {
	t.Parallel()
	told := teamContent{LetterDetail: person.LetterDetail{Day: "2026-11-28", Sums: []person.Sum{{Currency: "usd", Count: 5000, Amount: 1900}}}}
	c := failedOfDay(locale.English, &tenant.Account{}, &told)
	assert.Equal(t, "5,000 payments failed on 28 November 2026", c.subject)
	assert.Len(t, c.opening, 1)
	told.HasMore = true
	c = failedOfDay(locale.English, &tenant.Account{}, &told)
	assert.Equal(t, "More than 5,000 payments failed on 28 November 2026", c.subject)
	assert.Contains(t, c.opening, "Only 5,000 of them are counted here.")
}

// A letter about several domains names some, and counts the others.
func TestDomainFailing_NamesSomeOfMany(t *testing.T) {
	t.Parallel()
	told := teamContent{at: "https://pay.example", LetterDetail: person.LetterDetail{Site: "site_1", Host: "a.example", Reason: "No record.", Records: []person.DNSRecord{{Type: "TXT", Name: "_a", Value: "x"}}}}
	assert.Equal(t, "Your domain does not work any more", domainFailing(locale.English, &told).subject)
	told.Domains, told.Unnamed = []person.FailingDomain{{Host: "b.example", Reason: "See evil.example for help."}}, 3
	c := domainFailing(locale.English, &told)
	assert.Equal(t, "5 of your domains do not work any more", c.subject)
	assert.Contains(t, c.opening, "3 of them are not named here.")
	assert.Equal(t, []item{{name: "a.example", value: "No record"}, {name: "b.example", value: "See evil[.]example for help"}}, c.items)
	assert.Equal(t, "https://pay.example/app/sites", c.actions[0].url)
}

// A letter about a week with more new customers than are counted says so.
func TestWeekInFigures_SaysIfThereWereMoreCustomers(t *testing.T) {
	t.Parallel()
	told := teamContent{LetterDetail: person.LetterDetail{Week: &person.Week{Customers: store.CustomersOfWeek}, WeekBefore: &person.Week{Customers: 9_999}}}
	var written []string
	for _, sum := range weekInFigures(locale.English, &told).sums {
		written = append(written, sum.amount)
	}
	assert.Contains(t, written, "10,000+ (9,999)")
}

// issued is an invoice to a new customer.
func issued(t *testing.T, s *store.Store, account, name string) *invoice.Invoice {
	t.Helper()
	c, err := s.Customer.Create(t.Context(), account, customer.Customer{Email: new(name + "@example.com"), Name: &name})
	require.NoError(t, err)
	draft, err := s.Invoice.Create(t.Context(), account, invoice.Draft{
		Invoice: &invoice.Invoice{CollectionMethod: invoice.CollectionMethodSendInvoice, DueAt: new(s.Now().Add(time.Hour))}, Customer: c.ID,
		Lines: []invoice.NewLine{{Description: new("Workshop"), UnitAmount: new(int64(1900)), Quantity: 1}},
	})
	require.NoError(t, err)
	i, err := s.FinalizeInvoice(t.Context(), account, draft.ID)
	require.NoError(t, err)
	return i
}

// A letter about sales names who bought, and nobody who was deleted since: what is kept of the order is for the books.
func TestSales_NamesNobodyWhoWasDeleted(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		bill := issued(t, s, account, "Bob")
		buyer := func() string {
			sold, err := NewPost(s, nil).sales(t.Context(), account, []string{*bill.OrderID})
			require.NoError(t, err)
			require.Len(t, sold, 1)
			return sold[0].buyer
		}
		require.Equal(t, "Bob", buyer())
		_, err := s.DeleteCustomer(t.Context(), account, bill.CustomerID, false)
		require.NoError(t, err)
		require.Empty(t, buyer())
	})
}
