package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// offers adds a recurring price variant to the product of a subscription, and returns its id.
func (g *guest) offers(sub *subscription.Subscription, v catalog.PriceVariant) string {
	g.t.Helper()
	if v.Type == "" {
		v.Type, v.Interval, v.IntervalCount = catalog.PriceVariantTypeRecurring, new("month"), new(int64(1))
	}
	made, err := g.Catalog.CreatePriceVariant(g.t.Context(), g.account, sub.ProductID, v)
	require.NoError(g.t, err)
	return made.ID
}

// confirming is the form of a page that shows what a plan costs.
func confirming(page string) url.Values {
	form := url.Values{}
	for _, field := range []string{"plan", "quantity", "shown"} {
		form.Set(field, regexp.MustCompile(`name="` + field + `" value="([^"]*)"`).FindStringSubmatch(page)[1])
	}
	return form
}

// anyPrice is the field by which a customer agrees to whatever a change of their subscription to a monthly plan costs, at once.
func anyPrice(sub *subscription.Subscription) string {
	return fmt.Sprintf("100000000000000 100000000000000 100000000000000 1 month 0 %d 0", sub.CurrentPeriodEnd)
}

func TestPortal_CustomerChangesThePlan(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		gold := g.offers(sub, catalog.PriceVariant{Name: new("Gold <b>"), Amount: 2900})
		path := "/subscriptions/" + sub.ID
		assert.Contains(t, g.see(path, http.StatusOK), path+"/plan?plan="+gold+`" dir="auto">Club &amp; more (Gold &lt;b&gt;)</a><br><small>`+"$29.00 every month</small>")
		page := g.see(path+"/plan?plan="+gold, http.StatusOK)
		assert.Contains(t, page, "<strong>$20.00 now</strong>")
		assert.Contains(t, page, "<br>Charged to Visa ending in 4242.</p>")
		assert.Contains(t, page, "$29.00 every month")
		_, err := g.Tenant.UpdateAccount(t.Context(), g.account, func(a *tenant.AccountChange) {
			a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("DE"), RateBps: 1000, Name: "VAT"}}}
		})
		require.NoError(t, err)
		lives := func(address *core.Address) {
			_, err := g.UpdateCustomer(t.Context(), g.account, g.customer.ID, func(c *customer.Customer) { c.BillingAddress = core.JSONOf(address) })
			require.NoError(t, err)
		}
		lives(&core.Address{Country: new("DE")})
		assert.Contains(t, g.see(path+"/plan?plan="+gold, http.StatusOK), ": $31.90 every month, with taxes", "as it will be charged")
		assert.Contains(t, g.see(path, http.StatusOK), "(Gold &lt;b&gt;)</a><br><small>$31.90 every month</small>")
		assert.Contains(t, g.see(path, http.StatusOK), "<p>$9.90 every month<br>", "the plan that they have is told in the same way")
		assert.Contains(t, g.see("", http.StatusOK), "<small>$9.90 every month<br>")
		lives(nil)
		assert.Contains(t, page, "Change and pay $20.00")
		assert.Equal(t, sub.PriceVariantID, g.subscription(sub.ID).PriceVariantID, "looking changes nothing")

		low := confirming(page)
		low.Set("shown", strings.Replace(low.Get("shown"), "2000", "1999", 1))
		assert.Contains(t, g.does(path+"/plan", low, http.StatusUnprocessableEntity), "The amount has changed.")
		assert.Equal(t, sub.PriceVariantID, g.subscription(sub.ID).PriceVariantID)

		page = g.does(path+"/plan", confirming(page), http.StatusOK)
		assert.Contains(t, page, "Your subscription is Club &amp; more (Gold &lt;b&gt;) now.")
		assert.Equal(t, gold, g.subscription(sub.ID).PriceVariantID)
		lines, _, err := g.Activity.ListActivities(t.Context(), g.account, activity.ListActivities{Page: core.Page{Limit: 10}, Actor: g.customer.ID})
		require.NoError(t, err)
		require.NotEmpty(t, lines)
		assert.Equal(t, "changeSubscription", lines[0].Operation)

		page = g.see("?locale=de", http.StatusOK)
		assert.Contains(t, page, "<strong>Wechsel von Club &amp; more zu Club &amp; more (Gold &lt;b&gt;), bis ")
		assert.Contains(t, g.text(regexp.MustCompile(`href="([^"]*/pdf[^"]*)"`).FindStringSubmatch(page)[1]), "(Gold <b>), bis ", "the PDF says it too")

		// Back: what was paid becomes credit.
		page = g.see(path+"/plan?plan="+sub.PriceVariantID, http.StatusOK)
		assert.Contains(t, page, "Nothing is charged now.")
		assert.Contains(t, page, "becomes your credit")
		g.does(path+"/plan", confirming(page), http.StatusOK)
		assert.Contains(t, g.see("", http.StatusOK), "$20.00 to your credit")
	})
}

// Two prices of one product may have no names. A customer reads which is which wherever they stand beside each other, in their own language.
func TestPortal_TellsPlansOfOneNameByTheirPrices(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		dear := g.offers(sub, catalog.PriceVariant{Amount: 2900})
		yearly := g.offers(sub, catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 9000, Interval: new("year"), IntervalCount: new(int64(1))})
		gold := g.offers(sub, catalog.PriceVariant{Name: new("Gold"), Amount: 3900})
		path := "/subscriptions/" + sub.ID
		page := g.see(path, http.StatusOK)
		for variant, says := range map[string]string{
			dear: "Club &amp; more, $29.00 every month</a></div>", yearly: "Club &amp; more, $90.00 every year</a></div>", gold: "Club &amp; more (Gold)</a><br><small>$39.00 every month</small></div>",
		} {
			assert.Contains(t, page, path+"/plan?plan="+variant+`" dir="auto">`+says)
		}
		assert.Contains(t, g.see(path+"/plan?locale=de&plan="+dear, http.StatusOK), `<h1 dir="auto">Zu Club &amp; more, 29,00 $ pro Monat wechseln</h1>`)
		assert.Contains(t, g.see(path+"/plan?plan="+gold, http.StatusOK), `<h1 dir="auto">Change to Club &amp; more (Gold)</h1>`)

		g.prorates(tenant.ProrationBehaviorNextPeriod)
		form := confirming(g.see(path+"/plan?plan="+yearly, http.StatusOK))
		page = g.does(path+"/plan", form, http.StatusOK)
		assert.Contains(t, page, "Your subscription changes to Club &amp; more, $90.00 every year on ", "what was done")
		assert.Contains(t, g.see(path, http.StatusOK), "<br>It changes to Club &amp; more, $90.00 every year on ")
		g.does(path+"/unchange", nil, http.StatusOK)

		g.prorates(tenant.ProrationBehaviorInvoiceImmediately)
		g.does(path+"/plan", confirming(g.see(path+"/plan?plan="+dear, http.StatusOK)), http.StatusOK)
		page = g.see("", http.StatusOK)
		assert.Contains(t, page, "<strong>Change from Club &amp; more, $9.00 every month to Club &amp; more, $29.00 every month, until ")
		page = g.see("?locale=de", http.StatusOK)
		assert.Contains(t, page, "<strong>Wechsel von Club &amp; more, 9,00 $ pro Monat zu Club &amp; more, 29,00 $ pro Monat, bis ")
		receipt := g.text(regexp.MustCompile(`href="([^"]*/pdf[^"]*)"`).FindStringSubmatch(page)[1])
		assert.Regexp(t, `29,00\s\$\s+pro\s+Monat,\s+bis`, receipt, "the PDF says it too")
		amount, _ := g.paid(sub)
		assert.Equal(t, int64(2900), amount, "what is paid stays as it was: 9.00, and 20.00 more")
		g.sound()
	})
}

// However often the button is pressed, the change is paid once.
func TestPortal_APlanIsPaidOnce(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		gold := g.offers(sub, catalog.PriceVariant{Amount: 2900})
		path := "/subscriptions/" + sub.ID + "/plan"
		form := confirming(g.see(path+"?plan="+gold, http.StatusOK))
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				response, err := http.PostForm(g.session.URL+path, form)
				if assert.NoError(t, err) {
					assert.NoError(t, response.Body.Close())
				}
			})
		}
		all.Wait()
		assert.Equal(t, gold, g.subscription(sub.ID).PriceVariantID)
		orders, _, err := g.Order.List(t.Context(), g.account, order.List{Page: core.Page{Limit: 10}, Customer: g.customer.ID})
		require.NoError(t, err)
		paid := 0
		for _, o := range orders {
			if o.Status == order.StatusPaid {
				paid++
			}
		}
		assert.Equal(t, 2, paid, "the first period, and the change")
	})
}

func TestPortal_OnlyPlansThatAreSold(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		other := g.subscribes(catalog.PriceVariant{Amount: 100}, "pm_card_visa")
		once := g.offers(sub, catalog.PriceVariant{Type: catalog.PriceVariantTypeOneTime, Amount: 100})
		euros := g.offers(sub, catalog.PriceVariant{Amount: 100, Currency: "eur"})
		chosen := g.offers(sub, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeCustom, MinAmount: new(int64(100)), SuggestedAmount: new(int64(100))})
		many := g.offers(sub, catalog.PriceVariant{Amount: 100, QuantityMin: 5})
		gone := g.offers(sub, catalog.PriceVariant{Amount: 100})
		_, err := g.Catalog.UpdatePriceVariant(t.Context(), g.account, gone, func(v *catalog.PriceVariant) { v.Status = catalog.PriceVariantStatusArchived })
		require.NoError(t, err)
		path := "/subscriptions/" + sub.ID
		assert.NotContains(t, g.see(path, http.StatusOK), "Change the plan")
		for _, wrong := range []string{"", "nonsense", once, euros, chosen, many, gone, other.PriceVariantID, sub.PriceVariantID} {
			g.see(path+"/plan?plan="+wrong, http.StatusUnprocessableEntity)
			g.does(path+"/plan", url.Values{"plan": {wrong}, "shown": {anyPrice(sub)}}, http.StatusUnprocessableEntity)
		}
		assert.Equal(t, sub.PriceVariantID, g.subscription(sub.ID).PriceVariantID)

		gold := g.offers(sub, catalog.PriceVariant{Amount: 2900})
		stranger := g.shop.guest("other@example.com")
		stranger.see(path+"/plan?plan="+gold, http.StatusNotFound)
		stranger.does(path+"/plan", url.Values{"plan": {gold}, "shown": {anyPrice(sub)}}, http.StatusNotFound)
		g.does(path+"/cancel", nil, http.StatusOK)
		g.does(path+"/plan", url.Values{"plan": {gold}, "shown": {anyPrice(sub)}}, http.StatusUnprocessableEntity)
		assert.Equal(t, sub.PriceVariantID, g.subscription(sub.ID).PriceVariantID, "one that ends keeps its plan")
	})
}

func TestPortal_APlanThatCannotBePaidStays(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "tok_fail_on_renewal")
		gold := g.offers(sub, catalog.PriceVariant{Amount: 2900})
		path := "/subscriptions/" + sub.ID + "/plan"
		page := g.does(path, confirming(g.see(path+"?plan="+gold, http.StatusOK)), http.StatusUnprocessableEntity)
		assert.Contains(t, page, "There is a problem")
		assert.Contains(t, page, "Change and pay $20.00", "to be tried again")
		assert.Equal(t, sub.PriceVariantID, g.subscription(sub.ID).PriceVariantID)
	})
}

func TestPortal_SaysWhenThePlanChanges(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		gold := g.offers(sub, catalog.PriceVariant{Name: new("Gold"), Amount: 2900})
		path := "/subscriptions/" + sub.ID
		for _, c := range []struct {
			behavior tenant.ProrationBehavior
			says     string
		}{{tenant.ProrationBehaviorNextInvoice, "$20.00 more with your next payment"}, {tenant.ProrationBehaviorNextPeriod, "all stays as it is."}} { // the second changes it
			behavior, says := c.behavior, c.says
			_, err := g.Tenant.UpdateAccount(t.Context(), g.account, func(a *tenant.AccountChange) { a.ProrationBehavior = behavior })
			require.NoError(t, err)
			page := g.see(path+"/plan?plan="+gold, http.StatusOK)
			assert.Contains(t, page, says)
			assert.Contains(t, page, "Nothing is charged now.")
			if behavior == tenant.ProrationBehaviorNextPeriod {
				page = g.does(path+"/plan", confirming(page), http.StatusOK)
				assert.Contains(t, page, "It changes to Club &amp; more (Gold) on ")
			}
		}
	})
}

func TestPortal_CustomerPausesInsteadOfCancelling(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		path := "/subscriptions/" + sub.ID
		assert.Contains(t, g.see(path+"/cancel", http.StatusOK), ">Pause for a month</button>")
		for range 2 { // the second is a double click
			assert.Contains(t, g.does(path+"/pause", nil, http.StatusOK), "and paused then.")
		}
		got := g.subscription(sub.ID)
		assert.True(t, got.PauseAtPeriodEnd)
		assert.Equal(t, sub.CurrentPeriodEnd.Time().AddDate(0, 1, 0), got.ResumesAt.Time())
		assert.NotContains(t, g.see(path+"/cancel", http.StatusOK), "Pause for a month", "there is one offer")
		g.shop.guest("other@example.com").does(path+"/pause", nil, http.StatusNotFound)
		g.shop.guest("another@example.com").does(path+"/resume", nil, http.StatusNotFound)
		assert.Contains(t, g.see(path, http.StatusOK), ">Resume the subscription</button>")
		for range 2 {
			assert.Contains(t, g.does(path+"/resume", nil, http.StatusOK), "goes on as before.")
		}
		assert.False(t, g.subscription(sub.ID).PauseAtPeriodEnd)
		g.does(path+"/pause", nil, http.StatusOK)
		g.now = sub.CurrentPeriodEnd.Time().Add(time.Hour)
		g.run()
		g.renew()
		assert.Contains(t, g.see(path, http.StatusOK), "the next period begins at once and is charged.")
		for range 2 {
			assert.Contains(t, g.does(path+"/resume", nil, http.StatusOK), "goes on as before.")
		}
		g.run()
		assert.Equal(t, subscription.StatusActive, g.subscription(sub.ID).Status)
		orders, _, err := g.Order.List(t.Context(), g.account, order.List{Page: core.Page{Limit: 10}, Subscription: sub.ID})
		require.NoError(t, err)
		assert.Len(t, orders, 2, "one is of the period that has begun")
		g.does(path+"/pause", nil, http.StatusOK)
		for _, until := range []*core.Time{nil, g.subscription(sub.ID).ResumesAt} { // for as long as they wanted, too
			_, err = g.PauseSubscription(t.Context(), g.account, sub.ID, store.PauseSubscription{ResumesAt: until})
			require.NoError(t, err)
			assert.NotContains(t, g.see(path, http.StatusOK), "Resume the subscription", "the seller paused it")
			assert.Contains(t, g.does(path+"/resume", nil, http.StatusUnprocessableEntity), "You have not paused")
		}
		assert.False(t, g.subscription(sub.ID).PausedByCustomer)

		ending := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		path = "/subscriptions/" + ending.ID
		g.does(path+"/cancel", nil, http.StatusOK)
		assert.Contains(t, g.does(path+"/pause", nil, http.StatusUnprocessableEntity), "cannot be paused now")
		assert.False(t, g.subscription(ending.ID).PauseAtPeriodEnd)
		assert.Contains(t, g.see(path+"/cancel", http.StatusOK), "You have cancelled.")
	})
}

// That a customer lives elsewhere is told to nobody, and stays as long as they stay in the country and name no region.
func TestPortal_KeepsThatACustomerLivesElsewhere(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		_, err := g.UpdateCustomer(t.Context(), g.account, g.customer.ID, func(c *customer.Customer) {
			c.BillingAddress = core.JSONOf(&core.Address{State: new(tenant.Elsewhere), Country: new("US")})
		})
		require.NoError(t, err)
		assert.NotContains(t, g.see("/details", http.StatusOK), `value="-"`)
		for _, sent := range []struct{ country, state, kept string }{{"US", "", "-"}, {"US", "TX", "TX"}, {"US", "-", "-"}, {"CA", "", ""}} {
			g.does("/details", url.Values{"country": {sent.country}, "state": {sent.state}}, http.StatusOK)
			c, err := g.Customer.Get(t.Context(), g.account, g.customer.ID)
			require.NoError(t, err)
			assert.Equal(t, sent.kept, core.Deref(c.BillingAddress.V.State), sent)
		}
	})
}

func TestPortal_CustomerSaysWhoInvoicesAreFor(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		_, err := g.UpdateCustomer(t.Context(), g.account, g.customer.ID, func(c *customer.Customer) {
			c.TaxID = core.JSONOf(&customer.TaxID{Type: "eu_vat", Value: "DE123456789"})
		})
		require.NoError(t, err)
		page := g.see("/details", http.StatusOK)
		assert.Contains(t, page, `value="Grace &lt;H&gt;"`)
		assert.Contains(t, page, `value="DE123456789"`)
		form := url.Values{"name": {" Grace Hopper\x00 "}, "company": {"Hopper Ltd."}, "line1": {"Harbour Road 4"}, "city": {"Nordstrand"}, "postal_code": {"25845"}, "country": {"DE"}, "tax_id": {"DE123456789"}}
		assert.Contains(t, g.does("/details", form, http.StatusOK), "Your details are saved.")
		c, err := g.Customer.Get(t.Context(), g.account, g.customer.ID)
		require.NoError(t, err)
		assert.Equal(t, "Grace Hopper", *c.Name)
		assert.Equal(t, core.Address{Company: new("Hopper Ltd."), Line1: new("Harbour Road 4"), City: new("Nordstrand"), PostalCode: new("25845"), Country: new("DE")}, *c.BillingAddress.V)
		assert.Equal(t, "eu_vat", c.TaxID.V.Type, "the seller knows which kind it is")

		for field, wrong := range map[string]string{"country": "XX", "tax_id": strings.Repeat("1", 65), "name": strings.Repeat("n", 256)} {
			bad := url.Values{"city": {"Husum"}, "country": {"DE"}}
			bad.Set(field, wrong)
			page = g.does("/details", bad, http.StatusUnprocessableEntity)
			assert.Contains(t, page, `href="#`+field+`"`)
			assert.Contains(t, page, `value="Husum"`, "what was typed is kept")
		}
		g.does("/details", url.Values{"city": {"Husum"}}, http.StatusUnprocessableEntity)
		lines, _, err := g.Activity.ListActivities(t.Context(), g.account, activity.ListActivities{Page: core.Page{Limit: 10}, Actor: g.customer.ID})
		require.NoError(t, err)
		require.Len(t, lines, 1, "what was refused changed nothing")
		assert.Equal(t, "updateCustomer", lines[0].Operation)
		after, err := g.Customer.Get(t.Context(), g.account, g.customer.ID)
		require.NoError(t, err)
		assert.Equal(t, c, after)

		g.does("/details", url.Values{"name": {""}, "line1": {""}, "tax_id": {""}, "country": {""}}, http.StatusOK)
		after, err = g.Customer.Get(t.Context(), g.account, g.customer.ID)
		require.NoError(t, err)
		assert.Nil(t, after.Name)
		assert.Nil(t, after.BillingAddress.V)
		assert.Nil(t, after.TaxID.V)
		assert.Equal(t, c.Email, after.Email)
	})
}
