package billing_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// owned gives the account an owner who gets letters.
func (w *world) owned() {
	w.t.Helper()
	owner, err := w.Person.CreatePerson(w.t.Context(), person.NewPerson{Email: "ada@example.com"})
	require.NoError(w.t, err)
	require.NoError(w.t, w.Person.ConfirmEmail(w.t.Context(), owner.ID))
	require.NoError(w.t, w.Person.AddMember(w.t.Context(), w.account, owner.ID, person.RoleOwner))
}

// toldOfDay has the account's team told of the day before, and returns what its owner is told of failed payments.
func (w *world) toldOfDay() (told []person.LetterDetail) {
	w.t.Helper()
	accounts, err := w.DueTeams(w.t.Context(), 10)
	require.NoError(w.t, err)
	for range 2 { // another replica looked at the same time
		for _, account := range accounts {
			require.NoError(w.t, w.TellOfDay(w.t.Context(), account))
		}
	}
	ids, err := w.Person.DueLetters(w.t.Context(), 10)
	require.NoError(w.t, err)
	for _, id := range ids {
		l, err := w.Person.ClaimLetter(w.t.Context(), id)
		require.NoError(w.t, err)
		require.NoError(w.t, w.Person.EndLetter(w.t.Context(), l, true))
		if l.Kind == tenant.LetterFailedDaily {
			told = append(told, l.Detail.V)
		}
	}
	return told
}

// A team is told once of what could not be charged on a day, is not paid yet, and when it is tried again.
func TestTellOfDay_TellsOfWhatCouldNotBeCharged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.owned()
		w.saves("pm_card_visa")
		buyer := w.orders()[0].CustomerID
		declined, without := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa"), w.subscribe(w.variant(recurring(300, "month")), "pm_card_visa")
		require.Empty(t, w.toldOfDay(), "the first time it is planned")
		w.provider.declines.Store(true)
		paid, void := w.issued(invoice.CollectionMethodChargeAutomatically, buyer), w.issued(invoice.CollectionMethodChargeAutomatically, buyer)
		w.wait(32 * day)
		_, err := w.PayInvoice(t.Context(), w.account, paid.ID, billing.PayInvoice{OutOfBand: true})
		require.NoError(t, err)
		_, err = w.VoidInvoice(t.Context(), w.account, void.ID)
		require.NoError(t, err)
		harness.OpenDatabase(t, w.url).Must(t, `UPDATE payments SET created_at = 0 WHERE status = 'failed' AND invoice_id = '`+*w.now(without).LatestInvoiceID+`'`) // as if it had no card
		require.Empty(t, w.toldOfDay(), "the day is not over")

		w.wait(day)
		told := w.toldOfDay()
		require.Len(t, told, 1)
		require.Equal(t, []person.Sum{{Currency: "usd", Count: 2, Amount: 1200}}, told[0].Sums)
		require.EqualValues(t, 2, told[0].Retried)
		require.Equal(t, min(*w.now(declined).NextAttemptAt, *w.now(without).NextAttemptAt).String(), core.Deref(told[0].Next).String())
		require.Empty(t, w.toldOfDay())

		w.wait(day)
		require.Empty(t, w.toldOfDay(), "nothing failed on that day")
	})
}

// A team is told once that Stripe refuses the key, however many payments fail. It is told again after a day, or of another key. A card that
// is declined is no reason.
func TestNoteKey_TellsOnceThatTheKeyIsRefused(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		w.owned()
		pays := func(method string) { _, _ = w.pay(w.checkout(one(w.handbook())).ID, method) }
		told := func() int {
			letters, err := w.Person.ListTeamLetters(t.Context(), w.account, 10)
			require.NoError(t, err)
			return len(letters)
		}
		pays("pm_card_visa")
		pays("pm_card_chargeDeclinedInsufficientFunds")
		require.Zero(t, told(), "the key works")
		w.give("sk_test_wrong")
		for range 2 {
			pays("pm_card_visa")
			require.Equal(t, 1, told())
		}
		w.advance.Add(int64(23 * time.Hour))
		pays("pm_card_visa")
		require.Equal(t, 1, told())
		w.give("sk_test_other")
		pays("pm_card_visa")
		require.Equal(t, 2, told(), "it is another key")
		w.advance.Add(int64(day))
		pays("pm_card_visa")
		require.Equal(t, 3, told(), "a day later")
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.SwitchLetters(map[string]bool{"provider_key_refused": false}) })
		require.NoError(t, err)
		w.advance.Add(int64(day))
		pays("pm_card_visa")
		require.Equal(t, 3, told(), "it is switched off")
	})
}

// A restricted key that may not take payments is refused, too.
func TestNoteKey_TellsThatTheKeyMayNotDoIt(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		w.owned()
		fake.Lack("payment_intent_write")
		for range 2 {
			_, err := w.pay(w.checkout(one(w.handbook())).ID, "pm_card_visa")
			require.Error(t, err)
		}
		letters, err := w.Person.ListTeamLetters(t.Context(), w.account, 10)
		require.NoError(t, err)
		require.Len(t, letters, 1)
		require.Equal(t, tenant.LetterKeyRefused, letters[0].Kind)
	})
}

// lateAnswers is a network on which something happens while an answer is on its way.
type lateAnswers struct {
	http.RoundTripper
	meanwhile func()
}

func (l lateAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	l.meanwhile()
	return answer, err
}

// That Stripe refuses a key says nothing of the one that has replaced it meanwhile.
func TestNoteKey_TellsNothingOfAKeyThatWasReplaced(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		w.owned()
		w.give("sk_test_wrong")
		client := fake.Client()
		client.Transport = lateAnswers{client.Transport, func() { w.give(fake.Key) }}
		w.Billing = billing.New(w.Store, payments.NewRegistry(w.provider, stripe.New(stripe.Options{
			Client: client, BaseURL: fake.URL, Credentials: stripe.Keys(w.Store), KeyRefused: w.NoteKeyRefused,
		}))).Patient()
		_, err := w.pay(w.checkout(one(w.handbook())).ID, "pm_card_visa")
		require.Error(t, err)
		letters, err := w.Person.ListTeamLetters(t.Context(), w.account, 10)
		require.NoError(t, err)
		require.Empty(t, letters)
		w.NoteKeyRefused(t.Context(), w.account, fake.Key)
		letters, err = w.Person.ListTeamLetters(t.Context(), w.account, 10)
		require.NoError(t, err)
		require.Len(t, letters, 1, "it is the key of now")
	})
}
