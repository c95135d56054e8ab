package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

func TestPortal_AsksStripeOnceInAWhile(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		g.useStripe(publishableKey)
		before := g.looked("setup_intents")
		for n := range 30 {
			status := http.StatusNotFound
			if n >= 10 {
				status = http.StatusOK
			}
			g.see(fmt.Sprintf("/cards/new?setup_intent=seti_%d", n/2), status)
		}
		assert.Equal(t, before+10, g.looked("setup_intents"), "whoever makes up names asks for ten a minute")
	})
}

// gives posts what Stripe made of a card into the portal, and returns the page after it.
func (g *guest) gives(method, subscription string, status int) string {
	g.t.Helper()
	return g.does("/cards", url.Values{"payment_method": {method}, "subscription": {subscription}, "default": {"true"}}, status)
}

// giving is the address of the page on which a customer comes back from their bank.
func (g *guest) giving() (ref, below string) {
	g.t.Helper()
	for _, call := range g.bank.Calls() {
		if id, found := strings.CutPrefix(call, "POST /v1/setup_intents/"); found {
			ref = strings.TrimSuffix(id, "/confirm")
		}
	}
	next := g.bank.Object(ref)["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["return_url"].(string)
	below, found := strings.CutPrefix(next, g.session.URL)
	require.True(g.t, found, next)
	return ref, below
}

// Stripe takes the cards of a customer on a page of its own: the others run no scripts.
func TestPortal_LetsStripeTakeACard(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		g.useStripe("")
		assert.Contains(t, g.see("", http.StatusOK), "To be charged to another card, ask ")
		g.see("/cards/new", http.StatusNotFound)
		g.useStripe(publishableKey)
		assert.Contains(t, g.see("", http.StatusOK), "/cards/new")
		page := g.see("/cards/new", http.StatusOK)
		assert.Contains(t, page, `data-stripe-key="`+publishableKey+`"`)
		assert.NotContains(t, page, g.bank.Key)
		for method, problem := range map[string]string{
			"": "Enter a card.", "nonsense": "Send the id of a Stripe PaymentMethod", "pm_nobody": "does not save", "pm_card_chargeDeclined": "The card was declined. Nothing was charged.",
		} {
			page = g.gives(method, "", http.StatusUnprocessableEntity)
			assert.Contains(t, page, problem)
			assert.Contains(t, page, "data-stripe-key", "another card can be tried")
			assert.Contains(t, page, "checked")
		}
		require.Empty(t, g.cards())
		assert.Contains(t, g.gives("pm_card_visa", "", http.StatusOK), "Your card is saved.")
		require.Len(t, g.cards(), 1)
		assert.Equal(t, g.cards()[0].ID, g.defaultCard())
		assert.Contains(t, g.does("/cards/"+g.cards()[0].ID+"/remove", nil, http.StatusOK), "Your card is removed.")

		g.bank.Spoil(stripefake.Fault{Path: "/v1/setup_intents", Status: http.StatusServiceUnavailable})
		page = g.gives("pm_card_visa", "", http.StatusOK)
		assert.Contains(t, page, "Your bank has not answered.")
		assert.Zero(t, g.bank.Taken())
	})
}

// A customer whose bank asks is sent there once. When they come back, the card is kept for the subscription that they chose it
// for.
func TestPortal_SendsTheCustomerToTheBank(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		g.useStripe(publishableKey)
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		page := g.see("/subscriptions/"+sub.ID, http.StatusOK)
		assert.Contains(t, page, "/cards/new?subscription="+sub.ID)
		refresh := `<meta http-equiv="refresh" content="0; url=https://hooks.stripe.test/3d_secure">`
		page = g.gives("pm_card_authenticationRequiredOnSetup", sub.ID, http.StatusOK)
		assert.Contains(t, page, refresh)
		assert.NotContains(t, page, "data-stripe-key")
		ref, below := g.giving()
		assert.Equal(t, "/cards/new?subscription="+sub.ID, below)
		below += "&setup_intent=" + ref + "&redirect_status="
		page = g.see(below+"failed", http.StatusOK)
		assert.NotContains(t, page, refresh)
		assert.Contains(t, page, `href="https://hooks.stripe.test/3d_secure"`)
		assert.Contains(t, page, `<meta http-equiv="refresh" content="15">`, "they may answer the bank in another tab")
		stranger := g.guest("ada@example.com")
		stranger.see("/cards/new?setup_intent="+ref, http.StatusNotFound)
		for _, wrong := range []string{"seti_nobody", "pi_1", "a/b", strings.Repeat("seti_", 99)} {
			assert.NotContains(t, g.see("/cards/new?setup_intent="+url.QueryEscape(wrong), http.StatusNotFound), "saved")
		}
		require.Len(t, g.cards(), 1)

		g.bank.Settle(ref, false)
		page = g.see(below+"failed", http.StatusOK)
		assert.Contains(t, page, "Your bank wanted you to confirm the payment, and that did not happen.")
		assert.Contains(t, page, "data-stripe-key", "another card can be tried")
	})
}

func TestPortal_KeepsTheCardThatTheBankAgreesTo(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		g.useStripe(publishableKey)
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		g.gives("pm_card_authenticationRequiredOnSetup", sub.ID, http.StatusOK)
		ref, below := g.giving()
		g.bank.Settle(ref, true)
		below += "&setup_intent=" + ref + "&redirect_status=succeeded"
		for range 2 {
			assert.Contains(t, g.see(below, http.StatusOK), "Charged to Visa ending in 3155")
		}
		require.Len(t, g.cards(), 2)
		assert.Equal(t, g.cards()[0].ID, *g.subscription(sub.ID).Method.V.ID)
		assert.Contains(t, g.see("", http.StatusOK), "Visa ending in 3155")
	})
}

// Whoever changes their subscription while the bank is silent is told to look again, and not that there is nothing to change.
func TestPortal_SaysOfAChangeThatTheBankIsSilent(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		g.useStripe(publishableKey)
		sub := g.subscribesFor(2, seats(10), "pm_card_visa")
		g.bank.Spoil(stripefake.Fault{Path: "/confirm", Status: http.StatusInternalServerError})
		page := g.does("/subscriptions/"+sub.ID+"/plan", confirming(g.see(asking(sub, "5"), http.StatusOK)), http.StatusUnprocessableEntity)
		assert.Contains(t, page, "Your bank has not answered. Look at your subscription in a minute: it changes once that is paid.")
		assert.Contains(t, page, "The change to 5 × Club &amp; more is being paid")
		g.now = g.now.Add(time.Hour)
		g.run()
		g.sound()
	})
}
