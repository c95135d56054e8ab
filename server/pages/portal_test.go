package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/portal"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// guest is a customer with a session on the portal.
type guest struct {
	*shop
	customer *customer.Customer
	session  *portal.Session
}

func (w *shop) guest(email string) *guest {
	w.t.Helper()
	c, err := w.Customer.Create(w.t.Context(), w.account, customer.Customer{Email: &email, Name: new("Grace <H>")})
	require.NoError(w.t, err)
	p, err := w.Portal.CreateSession(w.t.Context(), w.account, c.ID, new("https://shop.example/account?a=1&b=2"))
	require.NoError(w.t, err)
	return &guest{w, c, p}
}

// eachGuest runs a test as a guest, on both engines.
func eachGuest(t *testing.T, test func(t *testing.T, g *guest)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) { test(t, newShopOn(t, url).guest("grace@example.com")) })
}

// see is a page of the portal.
func (g *guest) see(below string, status int) string {
	g.t.Helper()
	return g.page(g.session.URL+below, status)
}

// does posts a form of the portal, and returns the page after it.
func (g *guest) does(below string, form url.Values, status int) string {
	g.t.Helper()
	response, err := http.PostForm(g.session.URL+below, form)
	require.NoError(g.t, err)
	return g.read(response, status)
}

// subscribes lets the guest buy a club, with a card that is saved with it.
func (g *guest) subscribes(variant catalog.PriceVariant, card string) *subscription.Subscription {
	g.t.Helper()
	return g.subscribesFor(1, variant, card)
}

// subscribesFor is subscribes for so many pieces.
func (g *guest) subscribesFor(pieces int64, variant catalog.PriceVariant, card string) *subscription.Subscription {
	g.t.Helper()
	variant.Type, variant.Interval, variant.IntervalCount = catalog.PriceVariantTypeRecurring, new("month"), new(int64(1))
	club, err := g.Catalog.CreateProduct(g.t.Context(), g.account, catalog.NewProduct{
		Product: catalog.Product{Name: "Club & more", Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{variant},
	})
	require.NoError(g.t, err)
	sub, err := g.billing.CreateSubscription(g.t.Context(), g.account, billing.CreateSubscription{
		Draft: checkout.Draft{
			Checkout: &checkout.Checkout{CustomerID: &g.customer.ID}, Lines: []offer.NewLine{{PriceVariant: club.PriceVariantIDs.V[0], Quantity: pieces, CustomAmount: variant.SuggestedAmount}},
		},
		Method: &payments.MethodInput{Ref: card},
	})
	require.NoError(g.t, err)
	return sub
}

func (g *guest) subscription(id string) *subscription.Subscription {
	g.t.Helper()
	sub, err := g.Subscription.Get(g.t.Context(), g.account, id)
	require.NoError(g.t, err)
	return sub
}

// typed is a card as the form of a page sends it.
func typed(page, number string) url.Values {
	once := regexp.MustCompile(`name="once" value="([^"]*)"`).FindStringSubmatch(page)
	return url.Values{"once": {once[1]}, "card_number": {number}, "card_expiry": {"12 / 2090"}, "card_cvc": {"123"}}
}

func TestPortal_IsOpenToWhomItWasMadeFor(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	grace, ada := w.guest("grace@example.com"), w.guest("ada@example.com")
	sub := ada.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
	card := ada.cards()[0].ID
	page := grace.see("", http.StatusOK)
	for _, text := range []string{
		"Ada &lt;b&gt;&amp; sons&lt;/b&gt;", "Grace &lt;H&gt;", "grace@example.com", "You have no subscriptions.", "You have not ordered anything yet.", "You have no saved cards.",
		`href="https://shop.example/account?a=1&amp;b=2"`,
	} {
		assert.Contains(t, page, text)
	}
	assert.NotContains(t, page, "Club")
	assert.Contains(t, ada.see("", http.StatusOK), "Club &amp; more")

	// What is another customer's is not there.
	grace.see("/subscriptions/"+sub.ID, http.StatusNotFound)
	for _, path := range []string{"/subscriptions/" + sub.ID + "/cancel", "/subscriptions/" + sub.ID + "/uncancel", "/subscriptions/" + sub.ID + "/card", "/cards/" + card + "/default", "/cards/" + card + "/remove"} {
		assert.Contains(t, grace.does(path, url.Values{"card": {card}}, http.StatusNotFound), "There is nothing here", path)
	}
	own := grace.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
	assert.Contains(t, grace.does("/subscriptions/"+own.ID+"/card", url.Values{"card": {card}}, http.StatusNotFound), "There is nothing here")
	assert.Len(t, ada.cards(), 1)
	assert.False(t, ada.subscription(sub.ID).CancelAtPeriodEnd)
	assert.NotContains(t, grace.see("/orders", http.StatusOK), ada.customer.ID)
}

func TestPortal_OpensToNothingElse(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	g := w.guest("grace@example.com")
	for _, wrong := range []string{"x", g.session.ID, g.session.Token + "a", "%00", strings.Repeat("_", 3)} {
		for _, below := range []string{"", "/orders", "/subscriptions/sub_x"} {
			assert.Contains(t, w.page(w.server.URL+"/portal/"+wrong+below, http.StatusNotFound), "There is nothing here")
		}
	}
	g.see("/orders?after=nonsense", http.StatusNotFound)
	g.see("/subscriptions/nonsense", http.StatusNotFound)
	g.does("/cards/%00/default", nil, http.StatusNotFound)
	g.does("/cards/nonsense/remove", nil, http.StatusNotFound)
	now := w.now
	w.now = now.Add(25 * time.Hour)
	assert.Contains(t, g.see("", http.StatusGone), "has expired")
	assert.Contains(t, g.does("/cards", typed(`name="once" value="a"`, "4242424242424242"), http.StatusGone), "has expired")
	w.now = now

	page := g.does("/end", nil, http.StatusOK)
	assert.Contains(t, page, "signed out")
	assert.Contains(t, page, "https://shop.example/account")
	g.see("", http.StatusNotFound)
	g.does("/end", nil, http.StatusNotFound)
}

func TestPortal_ShowsOrdersAndWhatIsToBePaid(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		for range 6 {
			g.billed()
		}
		g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		page := g.see("", http.StatusOK)
		assert.Equal(t, 6, strings.Count(page, ">Pay invoice "), "every open invoice can be paid")
		assert.Contains(t, page, "€95.20 is due by ")
		assert.Equal(t, 5, strings.Count(page, "<small>Order "))
		assert.Contains(t, page, "All orders and invoices")
		orders, _, err := g.Order.List(t.Context(), g.account, order.List{Page: core.Page{Limit: 10}, Customer: g.customer.ID})
		require.NoError(t, err)
		all := g.see("/orders", http.StatusOK)
		for _, o := range orders {
			i, err := g.Invoice.Get(t.Context(), g.account, *o.InvoiceID)
			require.NoError(t, err)
			assert.Equal(t, o.Status == order.StatusPaid, strings.Contains(all, `href="`+o.ReceiptURL+`"`))
			assert.Contains(t, all, `href="`+i.HostedURL+`/pdf"`)
			assert.Equal(t, o.Status == order.StatusPending, strings.Contains(all, `href="`+i.HostedURL+`"`), "what is paid is not to be paid")
		}
		assert.NotContains(t, all, "Older orders")
		older := g.see("/orders?after="+orders[3].ID, http.StatusOK)
		assert.Equal(t, len(orders)-4, strings.Count(older, "<small>Order "))
	})
}

func TestPortal_CustomerCancelsAndTakesItBack(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		path := "/subscriptions/" + sub.ID
		page := g.see(path, http.StatusOK)
		for _, text := range []string{"Club &amp; more", "$9.00 every month", "The next payment is $9.00", "Visa ending in 4242", "Active."} {
			assert.Contains(t, page, text)
		}
		page = g.see(path+"/cancel", http.StatusOK)
		assert.Contains(t, page, `<label for="reason">`)
		assert.Contains(t, page, "Until that day you keep all of it")
		assert.False(t, g.subscription(sub.ID).CancelAtPeriodEnd)
		page = g.does(path+"/cancel", url.Values{"reason": {"nonsense"}, "comment": {"it \"is\" <so>"}}, http.StatusUnprocessableEntity)
		assert.Contains(t, page, "Choose one of the reasons.")
		assert.Contains(t, page, "it &#34;is&#34; &lt;so&gt;", "what was typed is kept")
		g.does(path+"/cancel", url.Values{"comment": {strings.Repeat("ä", 1001)}}, http.StatusUnprocessableEntity)
		g.does(path+"/cancel", url.Values{"reason": {"payment_failed"}}, http.StatusUnprocessableEntity)
		assert.False(t, g.subscription(sub.ID).CancelAtPeriodEnd)

		page = g.does(path+"/cancel", url.Values{"reason": {"too_expensive"}, "comment": {" too\x00 \xff dear "}}, http.StatusOK)
		assert.Contains(t, page, "Your subscription is cancelled.")
		assert.Contains(t, page, "Keep the subscription")
		assert.NotContains(t, page, "Cancel the subscription")
		got := g.subscription(sub.ID)
		require.True(t, got.CancelAtPeriodEnd)
		assert.Equal(t, subscription.StatusActive, got.Status)
		assert.Equal(t, subscription.Cancellation{Reason: new(subscription.CancellationReason("too_expensive")), Comment: new("too  dear"), By: "customer"}, *got.Cancellation.V)
		g.does(path+"/cancel", url.Values{"reason": {"unused"}}, http.StatusOK)
		assert.Equal(t, got.Cancellation, g.subscription(sub.ID).Cancellation, "it was cancelled before")

		assert.Contains(t, g.does(path+"/uncancel", nil, http.StatusOK), "Your subscription goes on.")
		got = g.subscription(sub.ID)
		assert.False(t, got.CancelAtPeriodEnd)
		assert.Nil(t, got.Cancellation.V)
		assert.Contains(t, g.does(path+"/uncancel", nil, http.StatusUnprocessableEntity), "You have not cancelled this subscription.")

		lines, _, err := g.Activity.ListActivities(t.Context(), g.account, activity.ListActivities{Page: core.Page{Limit: 10}, Actor: g.customer.ID})
		require.NoError(t, err)
		require.Len(t, lines, 2, "only what changed something")
		for i, operation := range []string{"uncancelSubscription", "cancelSubscription"} {
			assert.Equal(t, operation, lines[i].Operation)
			assert.Equal(t, activity.ActorCustomer, lines[i].ActorType)
			assert.Equal(t, sub.ID, *lines[i].TargetID)
			assert.Contains(t, *lines[i].Changes.V, "cancel_at_period_end")
			assert.Nil(t, lines[i].IP)
		}
	})
}

func TestPortal_CustomerDoesNotKeepWhatTheSellerCancels(t *testing.T) {
	t.Parallel()
	g := newShop(t).guest("grace@example.com")
	sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
	path := "/subscriptions/" + sub.ID
	_, err := g.CancelSubscription(t.Context(), g.account, sub.ID, store.CancelSubscription{})
	require.NoError(t, err)
	page := g.does(path+"/cancel", nil, http.StatusOK)
	assert.NotContains(t, page, "/uncancel")
	g.does(path+"/uncancel", nil, http.StatusUnprocessableEntity)
	assert.Equal(t, "merchant", g.subscription(sub.ID).Cancellation.V.By)

	_, err = g.CancelSubscription(t.Context(), g.account, sub.ID, store.CancelSubscription{Now: true})
	require.NoError(t, err)
	page = g.see(path, http.StatusOK)
	assert.Contains(t, page, "Ended on ")
	assert.NotContains(t, page, "<form")
	for _, action := range []string{"/cancel", "/uncancel", "/card"} {
		g.does(path+action, url.Values{"card": {g.cards()[0].ID}}, http.StatusUnprocessableEntity)
	}
}

// renew gives the guest a session of today.
func (g *guest) renew() {
	g.t.Helper()
	var err error
	g.session, err = g.Portal.CreateSession(g.t.Context(), g.account, g.customer.ID, nil)
	require.NoError(g.t, err)
}

// run lets billing do what is due.
func (g *guest) run() {
	g.t.Helper()
	require.NoError(g.t, g.billing.Work(g.t.Context()))
}

// Every address on the pages leads somewhere, wherever the pages are mounted.
func TestPortal_EveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	g := newShop(t).guest("grace@example.com")
	sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
	g.billed()
	g.subscribes(catalog.PriceVariant{Amount: 500}, "pm_card_mastercard")
	for _, below := range []string{"", "/orders", "/subscriptions/" + sub.ID} {
		address, err := url.Parse(g.session.URL + below)
		require.NoError(t, err)
		for _, link := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(g.see(below, http.StatusOK), -1) {
			to, err := address.Parse(strings.ReplaceAll(link[1], "&amp;", "&"))
			require.NoError(t, err)
			if to.Scheme == "mailto" || to.Scheme == "data" || to.Host == "shop.example" {
				continue
			}
			response, err := http.Get(to.String())
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, http.StatusOK, response.StatusCode, fmt.Sprintf("%s on %q", link[1], below))
		}
	}
}
