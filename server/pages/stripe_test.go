package pages_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

const publishableKey = "pk_test_TYooMQauvdEDq54NiTphI7jx"

// useStripe lets the account be paid through Stripe; without a publishable key not on a page.
func (w *shop) useStripe(publishable string) {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) {
		a.PaymentsProvider, a.StripeKey = tenant.PaymentsProviderStripe, &w.bank.Key
		if publishable != "" {
			a.StripePublishableKey = &publishable
		}
	})
	require.NoError(w.t, err)
}

// checkScripts holds a page to its scripts. Ours count a total anew, copy a key, or stand beside Stripe's where that takes a card. The policy names
// these, and lets them reach what they need.
func (w *shop) checkScripts(body, policy string) {
	w.t.Helper()
	isLive, copies, takesStripe := strings.Contains(body, `name="do" value="update"`), strings.Contains(body, `class="copy"`), strings.Contains(body, "data-stripe-key")
	var ours, others, allowed []string
	for _, script := range regexp.MustCompile(`(?s)<script([^>]*)>(.*?)</script>`).FindAllStringSubmatch(body, -1) {
		if script[2] != "" {
			assert.Empty(w.t, script[1])
			ours = append(ours, hashOf(script[2]))
		} else {
			others = append(others, script[1])
		}
	}
	many := map[bool]int{true: 1}
	require.Len(w.t, ours, many[isLive]+many[copies]+many[takesStripe])
	if copies {
		assert.Contains(w.t, policy, hashOf(scriptOf(w.t, "copy.js")))
	}
	if isLive {
		assert.Contains(w.t, policy, hashOf(scriptOf(w.t, "checkout.js")))
	}
	says := map[string]string{}
	for _, said := range strings.Split(policy, "; ") {
		name, value, _ := strings.Cut(said, " ")
		says[name] = value
	}
	var reached []string
	if isLive {
		reached = append(reached, "'self'")
	}
	allowed = ours
	if takesStripe {
		assert.Equal(w.t, []string{` src="https://js.stripe.com/dahlia/stripe.js"`}, others)
		assert.Contains(w.t, policy, hashOf(scriptOf(w.t, "stripe.js")))
		allowed, reached = append(allowed, "https://js.stripe.com", "https://*.js.stripe.com"), append(reached, "https://api.stripe.com")
		assert.Equal(w.t, "https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com", says["frame-src"])
	} else {
		assert.Empty(w.t, others)
		assert.NotContains(w.t, policy, "stripe")
	}
	assert.ElementsMatch(w.t, allowed, strings.Fields(says["script-src"]))
	assert.ElementsMatch(w.t, reached, strings.Fields(says["connect-src"]))
}

// scriptOf reads a script of ours.
func scriptOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// hashOf returns the hash of a script as a policy names it.
func hashOf(script string) string {
	hash := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}

// given is what the form of a checkout sends when Stripe has taken a card.
func given(method, shown string) url.Values {
	return url.Values{"do": {"pay"}, "shown": {shown}, "payment_method": {method}}
}

func TestCheckoutPage_LetsStripeTakeTheCard(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		w.useStripe(publishableKey)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		page := w.page(c.URL, http.StatusOK)
		assert.Contains(t, page, `data-stripe-key="`+publishableKey+`"`)
		assert.Contains(t, page, `<div id="card"`)
		assert.Contains(t, page, "no money moves", "the key is of the test mode")
		assert.Contains(t, page, "<noscript>")
		assert.NotContains(t, page, `name="card_number"`)
		assert.NotContains(t, page, w.bank.Key)

		page = w.post(c, http.StatusUnprocessableEntity, given("", "3800"))
		assert.Contains(t, page, "payment method", "no script ran")
		page = w.post(c, http.StatusOK, given("pm_card_chargeDeclined", "3800"))
		assert.Contains(t, page, "The card was declined. Nothing was charged.")
		assert.Contains(t, page, `data-stripe-key`, "another card can be tried")
		assert.NotContains(t, page, "pm_card_chargeDeclined")
		page = w.post(c, http.StatusOK, given("pm_card_visa", "3800"))
		assert.Contains(t, page, "<h1>Thank you for your order</h1>")
		assert.EqualValues(t, 3800, w.bank.Taken())
	})
}

// Who has the address of a page pays with a card of their own, not with what the customer has saved.
func TestCheckoutPage_ChargesNoSavedMethod(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe(publishableKey)
	i := w.billed()
	first := w.checkout(catalog.PriceVariant{Amount: 1900})
	_, err := w.billing.ConfirmCheckout(t.Context(), w.account, first.ID, billing.CheckoutConfirm{Method: &payments.MethodInput{Ref: "pm_card_visa"}, Save: true})
	require.NoError(t, err)
	orders, _, err := w.Order.List(t.Context(), w.account, order.List{Page: core.Page{Limit: 1}})
	require.NoError(t, err)
	customer, err := w.Customer.Get(t.Context(), w.account, orders[0].CustomerID)
	require.NoError(t, err)

	c, err := w.Checkout.Update(t.Context(), w.account, w.checkout(catalog.PriceVariant{Amount: 1900}).ID, func(d *checkout.Draft) {
		d.CustomerID, d.CustomerEmail = &customer.ID, nil
	})
	require.NoError(t, err)
	saved := *customer.DefaultPaymentMethodID
	assert.Contains(t, w.post(c, http.StatusUnprocessableEntity, given(saved, "3800")), "payment method")
	assert.Contains(t, w.sends(i, saved, http.StatusUnprocessableEntity), "Enter a card.")
	assert.EqualValues(t, 3800, w.bank.Taken())
	_, err = w.billing.ConfirmCheckout(t.Context(), w.account, c.ID, billing.CheckoutConfirm{Method: &payments.MethodInput{Ref: saved}})
	require.NoError(t, err, "the seller may")
}

func TestCheckoutPage_SaysThatItTakesNoCardYet(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe("")
	page := w.page(w.checkout(catalog.PriceVariant{Amount: 1900}).URL, http.StatusOK)
	assert.NotContains(t, page, "<form")
	assert.Contains(t, page, "has not set this page up to take cards yet. Pay where you were sent from")
	assert.Contains(t, w.page(w.checkout(catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree}).URL, http.StatusOK), "Complete the order")

	w.useStripe(publishableKey)
	_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.StripeKey = new("") })
	require.NoError(t, err)
	assert.NotContains(t, w.page(w.checkout(catalog.PriceVariant{Amount: 1900}).URL, http.StatusOK), "data-stripe-key", "nobody could be charged")
}

// A buyer whose bank asks is sent there once, and not again when they come back without an answer.
func TestCheckoutPage_SendsTheBuyerToTheBank(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe(publishableKey)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	refresh := `<meta http-equiv="refresh" content="0; url=https://hooks.stripe.test/3d_secure">`
	assert.Contains(t, w.post(c, http.StatusOK, given("pm_card_authenticationRequiredOnSetup", "3800")), refresh)
	for _, address := range []string{c.URL, c.URL + "?redirect_status=failed"} {
		page := w.page(address, http.StatusOK)
		assert.NotContains(t, page, refresh)
		assert.Contains(t, page, `href="https://hooks.stripe.test/3d_secure"`)
	}
	payment, err := w.Payment.OfCheckout(t.Context(), w.account, c.ID)
	require.NoError(t, err)
	w.bank.Settle(*payment.ProviderRef, false)
	page := w.page(c.URL+"?redirect_status=failed", http.StatusOK)
	assert.Contains(t, page, "Your bank wanted you to confirm the payment, and that did not happen.")
	assert.Contains(t, page, "data-stripe-key", "another card can be tried")
}

// looked returns how often Stripe was asked what became of something.
func (w *shop) looked(what string) (n int) {
	for _, call := range w.bank.Calls() {
		if strings.HasPrefix(call, "GET ") && strings.Contains(call, what) {
			n++
		}
	}
	return n
}

// A page that is opened again and again asks Stripe once in a while alone: that comes out of what the seller may ask.
func TestPages_AskStripeOnceInAWhile(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		w.useStripe(publishableKey)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		w.pay(c, "pm_card_authenticationRequiredOnSetup")
		i := w.billed()
		w.sends(i, "pm_card_authenticationRequiredOnSetup", http.StatusOK)
		for _, address := range []string{c.URL, i.HostedURL} {
			before := w.looked("payment_intents")
			asks := func(times, most int) {
				for range times {
					w.page(address+"?redirect_status=x", http.StatusOK)
				}
				assert.Equal(t, before+most, w.looked("payment_intents"), address)
			}
			w.now = w.now.Truncate(time.Minute).Add(time.Minute)
			asks(9, 4) // whoever comes back from their bank at once is told
			w.now = w.now.Add(5 * time.Second)
			asks(9, 5)
			w.now = w.now.Add(5 * time.Second)
			asks(9, 6)
			w.now = w.now.Add(time.Minute)
			asks(9, 10)
		}
	})
}

// A charge of which nothing is heard is no error of the page: it says that the payment is being processed.
func TestPages_SayThatAnUnknownPaymentIsBeingProcessed(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe(publishableKey)
	c, i := w.checkout(catalog.PriceVariant{Amount: 1900}), w.billed()
	w.bank.Spoil(stripefake.Fault{Path: "/confirm", Status: http.StatusInternalServerError})
	page := w.post(c, http.StatusOK, given("pm_card_visa", "3800"))
	assert.Contains(t, page, "Your payment is being processed")
	assert.Contains(t, page, `<meta http-equiv="refresh" content="3">`, "it looks again")
	w.bank.Spoil(stripefake.Fault{Path: "/confirm", Status: http.StatusInternalServerError})
	assert.Contains(t, w.sends(i, "pm_card_visa", http.StatusOK), "A payment is being processed")
}

// sends posts what Stripe made of a card into the page of an invoice, and returns the page after it.
func (w *shop) sends(i *invoice.Invoice, method string, status int) string {
	w.t.Helper()
	response, err := http.PostForm(i.HostedURL+"/pay", url.Values{"payment_method": {method}})
	require.NoError(w.t, err)
	return w.read(response, status)
}

// What the seller has to do about an amount is not the buyer's to read.
func TestPages_TellBuyersOnlyThatAnAmountCannotBeCharged(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		w.useStripe(publishableKey)
		d, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Name: "Friends", Type: discount.TypePercent, PercentBps: new(int64(1111)), Duration: discount.DurationOnce,
		})
		require.NoError(t, err)
		c := w.checkout(catalog.PriceVariant{Amount: 5000, Currency: "kwd"})
		_, err = w.Checkout.Update(t.Context(), w.account, c.ID, func(draft *checkout.Draft) { draft.DiscountID = &d.ID })
		require.NoError(t, err)

		customer, err := w.Customer.Create(t.Context(), w.account, customer.Customer{Email: new("ada@example.com")})
		require.NoError(t, err)
		i, err := w.Invoice.Create(t.Context(), w.account, invoice.Draft{
			Invoice:  &invoice.Invoice{CollectionMethod: invoice.CollectionMethodSendInvoice, DueAt: new(core.TimeOf(w.now.Add(time.Hour))), Currency: "kwd"},
			Customer: customer.ID, Lines: []invoice.NewLine{{Description: new("Work"), UnitAmount: new(int64(1005)), Quantity: 1}},
		})
		require.NoError(t, err)
		i, err = w.FinalizeInvoice(t.Context(), w.account, i.ID)
		require.NoError(t, err)

		for _, page := range []string{
			w.post(c, http.StatusUnprocessableEntity, given("pm_card_visa", "8889 8889 10000")), w.sends(i, "pm_card_visa", http.StatusUnprocessableEntity),
		} {
			assert.Contains(t, page, "This amount cannot be charged. Ask the seller how you can pay.")
			assert.NotContains(t, page, "ends in 0")
			assert.NotContains(t, page, "Void")
		}
		assert.Empty(t, w.bank.Calls())
	})
}

func TestInvoicePage_LetsStripeTakeTheCard(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		w.useStripe("")
		i := w.billed()
		page := w.page(i.HostedURL, http.StatusOK)
		assert.Contains(t, page, "has not set this page up to take cards yet. Ask ")
		assert.NotContains(t, page, "<form")
		w.useStripe(publishableKey)
		assert.Contains(t, w.page(i.HostedURL, http.StatusOK), `data-stripe-key="`+publishableKey+`"`)
		assert.Contains(t, w.sends(i, "nonsense", http.StatusUnprocessableEntity), `action="./pay"`)
		assert.Contains(t, w.sends(i, "pm_card_chargeDeclined", http.StatusOK), "The card was declined. Nothing was charged.")

		page = w.sends(i, "pm_card_authenticationRequiredOnSetup", http.StatusOK)
		assert.Contains(t, page, `content="0; url=https://hooks.stripe.test/3d_secure"`)
		payment, err := w.Payment.LastOfInvoice(t.Context(), w.account, i.ID)
		require.NoError(t, err)
		assert.Contains(t, w.page(i.HostedURL+"?redirect_status=failed", http.StatusOK), `href="https://hooks.stripe.test/3d_secure"`)
		w.bank.Settle(*payment.ProviderRef, true)
		page = w.page(i.HostedURL+"?redirect_status=succeeded&payment_intent=pi_1", http.StatusOK)
		assert.Contains(t, page, ">Paid<")
		assert.NotContains(t, page, "<form")
		assert.EqualValues(t, 9520, w.bank.Taken())
	})
}

// What costs nothing today is charged to a card later: a trial, and a first period that a discount pays.
func TestCheckoutPage_AsksForTheCardOfATrial(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		trial := catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 1900, Interval: new("month"), IntervalCount: new(int64(1)), TrialDays: 14}
		free := trial
		free.Amount, free.AmountType = 0, catalog.PriceVariantAmountTypeFree
		page := w.page(w.checkout(free).URL, http.StatusOK)
		assert.NotContains(t, page, "card_number", "nothing follows")
		c := w.checkout(trial)
		page = w.page(c.URL, http.StatusOK)
		assert.Contains(t, page, "Nothing is charged today.")
		assert.Contains(t, page, `name="card_number"`)
		assert.Contains(t, page, `name="shown" value="0 3800 3800"`)
		_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.AllowQuantityChange = true })
		require.NoError(t, err)
		more := card("4242424242424242", "0 3800 3800")
		more.Set("quantity.0", "60")
		for range 2 {
			page = w.post(c, http.StatusOK, more)
			assert.Contains(t, page, "The total has changed.")
			assert.Contains(t, page, `name="shown" value="0 114000 114000"`, "what is paid when the trial is over")
			more.Set("shown", "0")
		}
		more.Set("shown", "0 114000 114000")
		assert.Contains(t, w.post(c, http.StatusOK, more), "Completed: nothing was charged today.")
		assert.Equal(t, "4242", w.methodOf(c).Card.Last4)

		w.useStripe(publishableKey)
		c = w.checkout(trial)
		assert.Contains(t, w.page(c.URL, http.StatusOK), "data-stripe-key")
		assert.Contains(t, w.post(c, http.StatusOK, given("pm_card_authenticationRequiredOnSetup", "0 3800 3800")), "hooks.stripe.test")
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		w.bank.Settle(*payment.ProviderRef, true)
		assert.Contains(t, w.page(c.URL+"?setup_intent="+*payment.ProviderRef+"&redirect_status=succeeded", http.StatusOK), "Completed: nothing was charged today.")
		assert.Equal(t, "3155", w.methodOf(c).Card.Last4)
		assert.Zero(t, w.bank.Taken())
	})
}

// methodOf is what the subscription of a checkout will be charged to.
func (w *shop) methodOf(c *checkout.Checkout) *payment.BillingMethod {
	w.t.Helper()
	sub, err := w.Subscription.OfCheckout(w.t.Context(), w.account, c.ID)
	require.NoError(w.t, err)
	require.NotNil(w.t, sub.Method.V)
	return sub.Method.V
}
