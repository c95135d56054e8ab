package pages_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// shows returns the form of the page that shows what another plan costs.
func (g *guest) shows(sub *subscription.Subscription, plan string) url.Values {
	g.t.Helper()
	return confirming(g.see("/subscriptions/"+sub.ID+"/plan?plan="+plan, http.StatusOK))
}

// looksAgain expects that a form changes nothing, but has its page shown anew, and that the new one is taken.
func (g *guest) looksAgain(sub *subscription.Subscription, form url.Values, says string) {
	g.t.Helper()
	path := "/subscriptions/" + sub.ID + "/plan"
	before := g.subscription(sub.ID)
	page := g.does(path, form, http.StatusUnprocessableEntity)
	assert.Contains(g.t, page, "The amount has changed. Look at it, and confirm it again.")
	assert.Contains(g.t, page, says)
	assert.Equal(g.t, before, g.subscription(sub.ID))
	g.does(path, confirming(page), http.StatusOK)
	after := g.subscription(sub.ID)
	assert.True(g.t, after.PriceVariantID == form.Get("plan") || after.PendingChange.V != nil && after.PendingChange.V.Plan.PriceVariantID == form.Get("plan"), "what is shown now")
}

// taxes has the seller's prices taxed at a rate in Germany.
func (g *guest) taxes(behavior string, bps int64) {
	g.t.Helper()
	_, err := g.Tenant.UpdateAccount(g.t.Context(), g.account, func(a *tenant.AccountChange) {
		a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: behavior, Rates: []tenant.TaxRate{{Country: new("DE"), RateBps: bps, Name: "VAT"}}}
	})
	require.NoError(g.t, err)
}

// lives has the guest live in a country.
func (g *guest) lives(country string) {
	g.t.Helper()
	_, err := g.UpdateCustomer(g.t.Context(), g.account, g.customer.ID, func(c *customer.Customer) {
		c.BillingAddress = core.JSONOf(&core.Address{Country: &country})
	})
	require.NoError(g.t, err)
}

// What each period costs is shown with its tax, and nobody pays more than that without having seen it.
func TestPortal_ChangesToNoTaxThatWasNotShown(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		g.prorates(tenant.ProrationBehaviorNextPeriod)
		for name, meanwhile := range map[string]func(gold string){
			"the price": func(gold string) {
				_, err := g.Catalog.UpdatePriceVariant(t.Context(), g.account, gold, func(v *catalog.PriceVariant) { v.TaxBehavior = new(tenant.TaxBehaviorExclusive) })
				require.NoError(t, err)
			},
			"the seller": func(string) { g.taxes(tenant.TaxBehaviorExclusive, 1000) },
			"the rate":   func(string) { g.taxes(tenant.TaxBehaviorExclusive, 1000) },
			"the place":  func(string) { g.lives("DE") },
		} {
			g.taxes(tenant.TaxBehaviorInclusive, 1000)
			g.lives("DE")
			switch name {
			case "the rate":
				g.taxes(tenant.TaxBehaviorExclusive, 500)
			case "the place":
				g.taxes(tenant.TaxBehaviorExclusive, 1000)
				g.lives("FR")
			}
			sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
			gold := g.offers(sub, catalog.PriceVariant{Amount: 2900})
			form := g.shows(sub, gold)
			meanwhile(gold)
			g.looksAgain(sub, form, ": $31.90 every month")
		}
		g.sound()
	})
}

// What costs less than was shown is what everybody would agree to.
func TestPortal_ATaxThatFallsIsTaken(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		g.prorates(tenant.ProrationBehaviorNextPeriod)
		g.taxes(tenant.TaxBehaviorExclusive, 1000)
		g.lives("DE")
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		form := g.shows(sub, g.offers(sub, catalog.PriceVariant{Amount: 2900}))
		g.taxes(tenant.TaxBehaviorExclusive, 500)
		g.does("/subscriptions/"+sub.ID+"/plan", form, http.StatusOK)
		assert.NotNil(t, g.subscription(sub.ID).PendingChange.V)
	})
}

// A change takes place when the page said that it would: on that day, or at once.
func TestPortal_ChangesAtNoTimeThatWasNotShown(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		changes := func(variant catalog.PriceVariant, behavior tenant.ProrationBehavior, says string, meanwhile func(sub *subscription.Subscription)) {
			t.Helper()
			g.prorates(behavior)
			sub := g.subscribes(variant, "pm_card_visa")
			form := g.shows(sub, g.offers(sub, catalog.PriceVariant{Amount: 100}))
			meanwhile(sub)
			g.looksAgain(sub, form, says)
		}
		monthly := catalog.PriceVariant{Amount: 900}
		changes(monthly, tenant.ProrationBehaviorNextPeriod, "The change takes effect at once.", func(*subscription.Subscription) { g.prorates(tenant.ProrationBehaviorNextInvoice) })
		changes(monthly, tenant.ProrationBehaviorNextInvoice, "all stays as it is.", func(*subscription.Subscription) { g.prorates(tenant.ProrationBehaviorNextPeriod) })
		changes(catalog.PriceVariant{Amount: 900, TrialDays: 7}, tenant.ProrationBehaviorNextPeriod, "$1.00 every month", func(sub *subscription.Subscription) {
			_, err := g.UpdateSubscription(t.Context(), g.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, TrialEnd: new(sub.TrialEnd.Add(20 * core.Day))})
			require.NoError(t, err)
		})
		changes(monthly, tenant.ProrationBehaviorNextPeriod, "all stays as it is.", func(sub *subscription.Subscription) {
			g.now = sub.CurrentPeriodEnd.Time().Add(time.Hour)
			g.run()
			g.renew()
			require.NotEqual(t, sub.CurrentPeriodEnd, g.subscription(sub.ID).CurrentPeriodEnd)
		})
		g.sound()
	})
}

// A period that begins with the change ends as much later as it begins. Nobody has to look at that again.
func TestPortal_ANewPeriodBeginsWhenItIsConfirmed(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		yearly := g.offers(sub, catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 9900, Interval: new("year"), IntervalCount: new(int64(1))})
		form := g.shows(sub, yearly)
		g.now = g.now.Add(time.Minute)
		g.does("/subscriptions/"+sub.ID+"/plan", form, http.StatusOK)
		assert.Equal(t, yearly, g.subscription(sub.ID).PriceVariantID)
		g.sound()
	})
}

// What a change costs that begins a period holds for ten minutes, though less and less is left of what was paid. The period begins as was shown.
func TestPortal_ADearChangeCostsWhatWasShown(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		for _, c := range []struct {
			passes    time.Duration
			holds     bool
			meanwhile func(sub *subscription.Subscription, shown []string)
		}{
			{10*time.Minute - time.Second, true, func(*subscription.Subscription, []string) {}},
			{10 * time.Minute, false, func(*subscription.Subscription, []string) {}},
			{5 * time.Minute, false, func(_ *subscription.Subscription, shown []string) {
				shown[7] = strconv.FormatInt(int64(core.TimeOf(g.now.Add(time.Hour))), 10)
			}},
			{5 * time.Minute, false, func(sub *subscription.Subscription, _ []string) {
				_, err := g.UpdateSubscription(t.Context(), g.account, sub.ID, store.SubscriptionPatch{Change: func(s *subscription.Subscription) { s.Metadata = core.NewMetadata(map[string]string{"seat": "1"}) }})
				require.NoError(t, err)
			}},
		} {
			sub := g.subscribes(catalog.PriceVariant{Amount: 990000}, "pm_card_visa")
			yearly := g.offers(sub, catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 9900000, Interval: new("year"), IntervalCount: new(int64(1))})
			g.now = g.now.Add(time.Hour)
			shownAt, form := core.TimeOf(g.now.Truncate(time.Millisecond)), g.shows(sub, yearly)
			g.now = g.now.Add(c.passes - time.Minute)
			shown := strings.Fields(form.Get("shown"))
			c.meanwhile(sub, shown)
			form.Set("shown", strings.Join(shown, " "))
			g.now = g.now.Add(time.Minute)
			if !c.holds {
				g.looksAgain(sub, form, ": $99,000.00 every year")
				continue
			}
			g.does("/subscriptions/"+sub.ID+"/plan", form, http.StatusOK)
			after := g.subscription(sub.ID)
			assert.Equal(t, yearly, after.PriceVariantID)
			assert.Equal(t, shownAt, after.CurrentPeriodStart)
			i, err := g.Invoice.Get(t.Context(), g.account, *after.LatestInvoiceID)
			require.NoError(t, err)
			assert.Equal(t, shown[0], strconv.FormatInt(i.AmountPaid, 10))
		}
		g.sound()
	})
}

// The moment that a form names is no way to a better price, nor to a later one. No credit grows by it, and nothing begins in the future.
func TestPortal_NobodyChoosesWhenAChangeBegins(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		g.prorates(tenant.ProrationBehaviorInvoiceImmediately)
		for _, c := range []struct {
			interval string
			amount   int64
			moved    time.Duration
		}{{"month", 1990000, -9 * time.Minute}, {"month", 100, -9 * time.Minute}, {"year", 100, -9 * time.Minute}, {"year", 9900000, time.Hour}} {
			sub := g.subscribes(catalog.PriceVariant{Amount: 990000}, "pm_card_visa")
			plan := g.offers(sub, catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: c.amount, Interval: &c.interval, IntervalCount: new(int64(1))})
			g.now = g.now.Add(time.Hour)
			form := g.shows(sub, plan)
			shown := strings.Fields(form.Get("shown"))
			shown[0], shown[1], shown[7] = "1000000000", "1000000000", strconv.FormatInt(int64(core.TimeOf(g.now.Add(c.moved))), 10)
			form.Set("shown", strings.Join(shown, " "))
			is, err := g.PreviewSubscriptionChange(t.Context(), g.account, sub.ID, store.ChangeSubscription{PriceVariant: plan})
			require.NoError(t, err)
			before, err := g.Customer.Get(t.Context(), g.account, sub.CustomerID)
			require.NoError(t, err)
			g.does("/subscriptions/"+sub.ID+"/plan", form, http.StatusOK)
			after, err := g.Customer.Get(t.Context(), g.account, sub.CustomerID)
			require.NoError(t, err)
			assert.Equal(t, is.Credit-is.Balance, after.Balance.V["usd"]-before.Balance.V["usd"])
			assert.Equal(t, is.PeriodStart, g.subscription(sub.ID).CurrentPeriodStart)
			assert.Equal(t, plan, g.subscription(sub.ID).PriceVariantID)
			if is.Amounts.Total > 0 {
				i, err := g.Invoice.Get(t.Context(), g.account, *g.subscription(sub.ID).LatestInvoiceID)
				require.NoError(t, err)
				assert.Equal(t, is.Amounts.Total, i.TotalAmount)
			}
		}
		g.sound()
	})
}

// A form that was opened before the server was updated does not say all that is compared now. Neither does one that somebody has cut.
func TestPortal_AFormThatDoesNotSayAllIsShownAgain(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		for _, c := range []struct {
			behavior tenant.ProrationBehavior
			interval string
		}{{tenant.ProrationBehaviorInvoiceImmediately, "month"}, {tenant.ProrationBehaviorInvoiceImmediately, "year"}, {tenant.ProrationBehaviorNextPeriod, "month"}} {
			g.prorates(c.behavior)
			for _, cut := range []func(fields []string) []string{
				func(fields []string) []string { return fields[:5] }, // of the release before, if the price has no tax
				func([]string) []string { return []string{"100000", "100000", "2900", "1", c.interval} },
				func(fields []string) []string { return fields[:6] },
				func(fields []string) []string { return fields[:7] },
				func([]string) []string { return nil },
				func([]string) []string { return []string{"everything"} },
			} {
				sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
				form := g.shows(sub, g.offers(sub, catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 2900, Interval: &c.interval, IntervalCount: new(int64(1))}))
				form.Set("shown", strings.Join(cut(strings.Fields(form.Get("shown"))), " "))
				g.looksAgain(sub, form, ": $29.00 every "+c.interval)
			}
		}
		g.sound()
	})
}
