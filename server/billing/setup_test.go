package billing_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

func (g giver) give(method string) (*billing.GivenMethod, error) {
	return g.GiveMethod(g.t.Context(), g.account, g.customer, billing.GiveMethod{
		Method: payments.MethodInput{Ref: method}, IsDefault: true, Page: "https://shop.test/portal/1/cards/new?subscription=sub_1",
	})
}

func TestGiveMethod_AsksTheBankFirst(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		g := w.giver()
		_, err := g.give("pm_card_chargeDeclined")
		refused(t, err, "payment_method")
		_, err = g.give("pm_nobody")
		refused(t, err, "payment_method")
		require.Empty(t, g.methods())
		given, err := g.give("pm_card_visa")
		require.NoError(t, err)
		require.Len(t, g.methods(), 1)
		again, err := g.FindGivenMethod(t.Context(), w.account, g.customer, given.Ref, payment.Buyer{})
		require.NoError(t, err)
		assert.Equal(t, given.Saved.ID, again.Saved.ID)
		for customer, ref := range map[string]string{w.customer("ada@example.com", nil).ID: given.Ref, g.customer: "seti_nobody"} {
			_, err = g.FindGivenMethod(t.Context(), w.account, customer, ref, payment.Buyer{})
			var gone *core.Error
			require.ErrorAs(t, err, &gone)
			assert.Equal(t, core.CodeMissing, gone.Code)
		}

		asked, err := g.give("pm_card_authenticationRequiredOnSetup")
		require.NoError(t, err)
		assert.Equal(t, "https://hooks.stripe.test/3d_secure", asked.NextURL)
		assert.Nil(t, asked.Saved)
		intent := fake.Object(asked.Ref)
		assert.NotContains(t, fmt.Sprint(intent["metadata"]), "/portal/", "the address opens the portal, to whoever reads it at Stripe")
		assert.Contains(t, fmt.Sprint(intent["next_action"]), "https://shop.test/portal/1/cards/new?subscription=sub_1")
		assert.Zero(t, fake.Taken())
	})
}

// Who agrees at their bank and never comes back has given the method all the same, once: not again after they removed it.
func TestGiveMethod_IsKeptByANotification(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		g := w.giver()
		_, err := g.give("pm_card_visa")
		require.NoError(t, err)
		asked, err := g.give("pm_card_authenticationRequiredOnSetup")
		require.NoError(t, err)
		fake.Settle(asked.Ref, true)
		events := fake.Events()
		for _, err := range parallel(3, func(int) error { return w.told(fake, events) }) {
			require.NoError(t, err)
		}
		require.Len(t, g.methods(), 2)
		kept := g.methods()[0]
		assert.Equal(t, "3155", kept.Card.V.Last4)
		c, err := w.Customer.Get(t.Context(), w.account, g.customer)
		require.NoError(t, err)
		assert.Equal(t, kept.ID, *c.DefaultPaymentMethodID)

		_, err = w.DeletePaymentMethod(t.Context(), w.account, g.customer, kept.ID)
		require.NoError(t, err)
		require.NoError(t, w.told(fake, events))
		assert.Len(t, g.methods(), 1)
		_, err = w.DeleteCustomer(t.Context(), w.account, g.customer, false)
		require.NoError(t, err)
		require.NoError(t, w.told(fake, events), "nobody is there to give it")
	})
}

// Nothing is known of a method while Stripe is not heard; the same form sent again finds out.
func TestGiveMethod_IsGivenOnce(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		for i, fault := range []stripefake.Fault{{Path: "/v1/setup_intents"}, {Path: "/confirm"}, {Path: "/confirm", Status: 500}, {Path: "/confirm", Status: 429}} {
			g := giver{w, w.customer(fmt.Sprintf("ada%d@example.com", i), nil).ID}
			fake.Spoil(fault)
			_, err := g.give("pm_card_visa")
			require.Equal(t, core.Unknown, core.OutcomeOf(err), fault)
			_, err = g.give("pm_card_visa")
			require.NoError(t, err)
			assert.Len(t, g.methods(), 1)
		}
	})
}

// TestGiveMethod_IsForgivenOnceAfterTheBank: a card that the bank confirms elsewhere was not declined, whoever hears of it, and
// however often.
func TestGiveMethod_IsForgivenOnceAfterTheBank(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		for name, hear := range map[string]func(g giver, ref string){
			"on the page": func(g giver, ref string) {
				_, err := g.FindGivenMethod(t.Context(), w.account, g.customer, ref, payment.Buyer{})
				require.NoError(t, err)
			},
			"by notification": func(giver, string) { require.NoError(t, w.told(fake, fake.Events())) },
		} {
			g := giver{w, w.customer(strings.ReplaceAll(name, " ", "")+"@example.com", nil).ID}
			asked, err := g.give("pm_card_authenticationRequiredOnSetup")
			require.NoError(t, err)
			for range 9 {
				_, err = g.give("pm_card_chargeDeclined")
				refused(t, err, "payment_method")
			}
			_, err = g.give("pm_card_chargeDeclined")
			slowed(t, err, 30*time.Second, time.Minute)
			fake.Settle(asked.Ref, true)
			for range 3 {
				hear(g, asked.Ref)
			}
			_, err = g.give("pm_card_chargeDeclinedInsufficientFunds")
			refused(t, err, "payment_method")
			_, err = g.give("pm_card_chargeDeclinedInsufficientFunds")
			slowed(t, err, 30*time.Second, time.Minute)
		}
	})
}

// outrun is a way to Stripe on which the notification of a confirmed card arrives before the answer to its confirmation.
type outrun struct {
	http.RoundTripper
	notify func()
}

func (o outrun) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := o.RoundTripper.RoundTrip(r)
	if strings.HasSuffix(r.URL.Path, "/confirm") {
		o.notify()
	}
	return answer, err
}

// A card that was not declined is forgiven once, also if Stripe's notification is heard before its answer. Else a good card
// between bad ones would buy another try each time.
func TestGiveMethod_IsForgivenOnceIfTheNotificationIsFirst(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		client := fake.Client()
		client.Transport = outrun{client.Transport, func() { assert.NoError(t, w.told(fake, fake.Events())) }}
		w.Billing = billing.New(w.Store, payments.NewRegistry(w.provider, stripe.New(stripe.Options{
			Client: client, BaseURL: fake.URL, Credentials: stripe.Keys(w.Store),
		}))).Patient()
		g := w.giver()
		from := payment.Buyer{Address: "203.0.113.7"}
		give := func(method string) error {
			_, err := g.GiveMethod(t.Context(), w.account, g.customer, billing.GiveMethod{Method: payments.MethodInput{Ref: method}, From: from})
			return err
		}
		for range 9 {
			refused(t, give("pm_card_chargeDeclined"), "payment_method")
		}
		require.NoError(t, give("pm_card_visa"))
		require.Len(t, g.methods(), 1)
		declines := harness.OpenDatabase(t, w.url)
		assert.Equal(t, 3, declines.Count(t, "payment_guards WHERE declines = 9"), "of the customer, of their address and of the network around it")
		refused(t, give("pm_card_chargeDeclinedInsufficientFunds"), "payment_method")
		slowed(t, give("pm_card_chargeDeclinedInsufficientFunds"), 30*time.Second, time.Minute)
	})
}
