package pages_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// A plan with another interval begins a period, which is charged at once, whatever becomes of other differences. Its page says so.
func TestPortal_SaysThatANewPeriodIsChargedNow(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		yearly := g.offers(sub, catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 9900, Interval: new("year"), IntervalCount: new(int64(1))})
		g.prorates(tenant.ProrationBehaviorNextInvoice)
		path := "/subscriptions/" + sub.ID + "/plan"
		page := g.see(path+"?plan="+yearly, http.StatusOK)
		assert.Contains(t, page, "<strong>$90.00 now</strong>")
		assert.NotContains(t, page, "with your next payment")
		assert.Contains(t, page, "Change and pay $90.00")
		low := confirming(page)
		low.Set("shown", strings.Replace(low.Get("shown"), "9000 ", "0 ", 1))
		assert.Contains(t, g.does(path, low, http.StatusUnprocessableEntity), "The amount has changed.")
		before, _ := g.paid(sub)
		g.does(path, confirming(page), http.StatusOK)
		after, _ := g.paid(sub)
		assert.Equal(t, int64(9000), after-before, "what its page said")
		g.sound()
	})
}

// What is paid in instalments is had for good after the last one. Nobody has more of it for the rest of a period alone.
func TestPortal_InstalmentsStayAsTheyAre(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		variant := seats(10)
		variant.BillingCycles = new(int64(2))
		sub := g.subscribesFor(2, variant, "pm_card_visa")
		dearer := g.offers(sub, catalog.PriceVariant{Amount: 50_000})
		g.now = g.now.AddDate(0, 1, 1)
		g.renew()
		g.run()
		g.now = g.subscription(sub.ID).CurrentPeriodEnd.Time().Add(-time.Minute)
		g.renew()
		page := g.see("/subscriptions/"+sub.ID, http.StatusOK)
		assert.NotContains(t, page, "Change the quantity")
		assert.NotContains(t, page, "Change the plan")
		for _, form := range []url.Values{{"plan": {sub.PriceVariantID}, "quantity": {"10"}, "shown": {anyPrice(sub)}}, {"plan": {dearer}, "quantity": {"2"}, "shown": {anyPrice(sub)}}} {
			g.does("/subscriptions/"+sub.ID+"/plan", form, http.StatusUnprocessableEntity)
		}
		g.now = g.now.Add(time.Hour)
		g.renew()
		g.run()
		after := g.subscription(sub.ID)
		assert.Equal(t, subscription.StatusCompleted, after.Status)
		given, err := g.Grant.GetGrant(t.Context(), g.account, after.Granted.V.GrantID)
		require.NoError(t, err)
		assert.Equal(t, grant.StatusActive, given.Status)
		assert.Equal(t, int64(2), given.Quantity, "what was paid for")
		assert.Equal(t, sub.PriceVariantID, *given.PriceVariantID)
		amount, _ := g.paid(sub)
		assert.Equal(t, int64(4000), amount)
		g.sound()
	})
}

// Periods of a plan until cancelled are no instalments of another one, whose last one would be the first.
func TestPortal_OffersNoInstalmentsToWhoSubscribes(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		rates := g.offers(sub, catalog.PriceVariant{Amount: 1000, BillingCycles: new(int64(1))})
		path := "/subscriptions/" + sub.ID
		assert.NotContains(t, g.see(path, http.StatusOK), "Change the plan")
		g.does(path+"/plan", url.Values{"plan": {rates}, "shown": {anyPrice(sub)}}, http.StatusUnprocessableEntity)
		assert.Equal(t, sub.PriceVariantID, g.subscription(sub.ID).PriceVariantID)
	})
}

// Whoever presses the button twice reads what has become of the change, and not that it is wrong.
func TestPortal_AChangeThatIsThereIsNoMistake(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribesFor(2, seats(10), "pm_card_visa")
		gold := g.offers(sub, catalog.PriceVariant{Name: new("Gold"), Amount: 2900})
		path := "/subscriptions/" + sub.ID + "/plan"
		twice := func(form url.Values, says string) {
			t.Helper()
			for range 2 { // the second is a double click
				page := g.does(path, form, http.StatusOK)
				assert.Contains(t, page, says)
				assert.NotContains(t, page, "There is a problem")
			}
		}
		twice(confirming(g.see(asking(sub, "5"), http.StatusOK)), "Your subscription is 5 × Club &amp; more now.")
		twice(confirming(g.see(path+"?plan="+gold, http.StatusOK)), "Your subscription is 5 × Club &amp; more (Gold) now.")
		g.prorates(tenant.ProrationBehaviorNextPeriod)
		twice(confirming(g.see(path+"?plan="+sub.PriceVariantID, http.StatusOK)), "Your subscription changes to 5 × Club &amp; more on ")
		_, orders := g.paid(sub)
		assert.Equal(t, 3, orders, "each is paid once")
		assert.NotNil(t, g.subscription(sub.ID).PendingChange.V)
		g.sound()
	})
}

// A change that waits for the end of the period is taken back by whoever asked for it: the customer theirs, and the seller theirs.
func TestPortal_CustomersTakeTheirChangeBack(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		gold := g.offers(sub, catalog.PriceVariant{Name: new("Gold"), Amount: 2900})
		g.prorates(tenant.ProrationBehaviorNextPeriod)
		path := "/subscriptions/" + sub.ID
		assert.NotContains(t, g.see(path, http.StatusOK), "Keep the plan that I have")
		page := g.does(path+"/plan", confirming(g.see(path+"/plan?plan="+gold, http.StatusOK)), http.StatusOK)
		assert.Contains(t, page, ">Keep the plan that I have</button>")
		for range 2 { // the second is a double click
			page = g.does(path+"/unchange", nil, http.StatusOK)
			assert.Contains(t, page, "Your subscription is Club &amp; more now.")
			assert.NotContains(t, page, "Keep the plan that I have")
		}
		assert.Nil(t, g.subscription(sub.ID).PendingChange.V)
		lines, _, err := g.Activity.ListActivities(t.Context(), g.account, activity.ListActivities{Page: core.Page{Limit: 10}, Actor: g.customer.ID})
		require.NoError(t, err)
		require.Len(t, lines, 2)
		require.NotNil(t, lines[0].Changes.V, "the seller reads that it was taken back")
		assert.Equal(t, activity.Changes{"price_variant": {Before: json.RawMessage(`"` + gold + `"`), After: json.RawMessage(`"` + sub.PriceVariantID + `"`)}}, *lines[0].Changes.V)

		_, err = g.ChangeSubscription(t.Context(), g.account, sub.ID, store.ChangeSubscription{PriceVariant: gold})
		require.NoError(t, err)
		assert.NotContains(t, g.see(path, http.StatusOK), "Keep the plan that I have")
		assert.Equal(t, "You have not asked for this change. Ask the seller.", g.refused(path+"/unchange", "en", nil))
		assert.Equal(t, "Sie haben diesen Wechsel nicht gewünscht. Fragen Sie den Verkäufer.", g.refused(path+"/unchange", "de", nil))
		require.NotNil(t, g.subscription(sub.ID).PendingChange.V)
		assert.Equal(t, gold, g.subscription(sub.ID).PendingChange.V.Plan.PriceVariantID)
		g.sound()
	})
}

// The seller reads which quantity a customer asked for, and that they took it back.
func TestPortal_ActivitySaysTheQuantity(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribesFor(2, seats(10), "pm_card_visa")
		g.prorates(tenant.ProrationBehaviorNextPeriod)
		path := "/subscriptions/" + sub.ID
		g.does(path+"/plan", confirming(g.see(asking(sub, "5"), http.StatusOK)), http.StatusOK)
		g.does(path+"/unchange", nil, http.StatusOK)
		lines, _, err := g.Activity.ListActivities(t.Context(), g.account, activity.ListActivities{Page: core.Page{Limit: 10}, Actor: g.customer.ID})
		require.NoError(t, err)
		require.Len(t, lines, 2)
		two, five := json.RawMessage("2"), json.RawMessage("5")
		for i, change := range []activity.Change{{Before: five, After: two}, {Before: two, After: five}} {
			require.NotNil(t, lines[i].Changes.V)
			assert.Equal(t, activity.Changes{"quantity": change}, *lines[i].Changes.V)
		}
	})
}

// What is being paid, and what has ended, is nobody's to take back. The page says so, and does not call it the seller's.
func TestPortal_SaysWhyAChangeStays(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		gold := g.offers(sub, catalog.PriceVariant{Name: new("Gold"), Amount: 2900})
		path := "/subscriptions/" + sub.ID
		_, err := g.ChangeSubscription(t.Context(), g.account, sub.ID, store.ChangeSubscription{PriceVariant: gold, Shown: &store.ShownChange{Now: 2000, Rest: 2000, Each: 2900, IntervalCount: 1, Interval: "month", PeriodEnd: sub.CurrentPeriodEnd}})
		require.NoError(t, err)
		assert.Equal(t, "A change of this subscription is being paid. Try again in a moment.", g.refused(path+"/unchange", "en", nil))
		assert.True(t, g.subscription(sub.ID).ChangeIsBeingPaid())

		other := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		_, err = g.CancelSubscription(t.Context(), g.account, other.ID, store.CancelSubscription{Now: true})
		require.NoError(t, err)
		assert.Equal(t, "This subscription has ended.", g.refused("/subscriptions/"+other.ID+"/unchange", "en", nil))
		g.sound()
	})
}

// Whoever has cancelled is not offered to keep a plan: they would take that for what keeps the subscription.
func TestPortal_KeepsNoPlanOfWhatEnds(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		gold := g.offers(sub, catalog.PriceVariant{Name: new("Gold"), Amount: 2900})
		g.prorates(tenant.ProrationBehaviorNextPeriod)
		path := "/subscriptions/" + sub.ID
		g.does(path+"/plan", confirming(g.see(path+"/plan?plan="+gold, http.StatusOK)), http.StatusOK)
		page := g.does(path+"/cancel", nil, http.StatusOK)
		assert.NotContains(t, page, "Keep the plan that I have")
		assert.NotContains(t, page, "Gold", "it does not become that either")
		assert.Contains(t, g.does(path+"/uncancel", nil, http.StatusOK), "Keep the plan that I have")
	})
}

// A price that rises after it was shown is shown anew, even where nothing is charged now. So is what would take credit unseen.
func TestPortal_ChangesToNoPriceThatWasNotShown(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		refuses := func(variant catalog.PriceVariant, behavior tenant.ProrationBehavior, meanwhile func(gold string)) {
			t.Helper()
			sub := g.subscribes(variant, "pm_card_visa")
			gold := g.offers(sub, catalog.PriceVariant{Name: new("Gold"), Amount: 2900})
			g.prorates(behavior)
			path := "/subscriptions/" + sub.ID + "/plan"
			form := confirming(g.see(path+"?plan="+gold, http.StatusOK))
			meanwhile(gold)
			assert.Contains(t, g.does(path, form, http.StatusUnprocessableEntity), "The amount has changed.", behavior)
			after := g.subscription(sub.ID)
			assert.Equal(t, sub.PriceVariantID, after.PriceVariantID)
			assert.Nil(t, after.PendingChange.V)
			assert.Contains(t, g.does(path, confirming(g.see(path+"?plan="+gold, http.StatusOK)), http.StatusOK), "(Gold)", "what is shown now")
		}
		rises := func(gold string) {
			_, err := g.Catalog.UpdatePriceVariant(t.Context(), g.account, gold, func(v *catalog.PriceVariant) { v.Amount = 29_000 })
			require.NoError(t, err)
		}
		refuses(catalog.PriceVariant{Amount: 900}, tenant.ProrationBehaviorNextPeriod, rises)
		refuses(catalog.PriceVariant{Amount: 900}, tenant.ProrationBehaviorNextInvoice, rises)
		refuses(catalog.PriceVariant{Amount: 900, TrialDays: 14}, tenant.ProrationBehaviorInvoiceImmediately, rises)
		shortens := func(gold string) {
			_, err := g.Catalog.UpdatePriceVariant(t.Context(), g.account, gold, func(v *catalog.PriceVariant) { v.Interval = new("week") })
			require.NoError(t, err)
		}
		refuses(catalog.PriceVariant{Amount: 900}, tenant.ProrationBehaviorNextPeriod, shortens)
		refuses(catalog.PriceVariant{Amount: 900}, tenant.ProrationBehaviorInvoiceImmediately, shortens)
		refuses(catalog.PriceVariant{Amount: 900}, tenant.ProrationBehaviorNextPeriod, func(gold string) {
			_, err := g.Catalog.UpdatePriceVariant(t.Context(), g.account, gold, func(v *catalog.PriceVariant) { v.IntervalCount = new(int64(2)) })
			require.NoError(t, err)
		})
		_, err := g.Customer.CreateTransaction(t.Context(), g.account, g.customer.ID, customer.NewBalanceTransaction{Currency: "usd", Amount: 5000, Description: "Sorry"})
		require.NoError(t, err)
		refuses(catalog.PriceVariant{Amount: 900}, tenant.ProrationBehaviorNextPeriod, func(string) { g.prorates(tenant.ProrationBehaviorInvoiceImmediately) })
		g.sound()
	})
}

// A seller may change or end a subscription at the moment at which its customer confirms another plan. What the seller wants stays.
func TestPortal_ReplacesNothingOfTheSellers(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		g.prorates(tenant.ProrationBehaviorNextPeriod)
		for name, first := range map[string]func(sub *subscription.Subscription, gold string) error{
			"a change": func(sub *subscription.Subscription, gold string) error {
				_, err := g.ChangeSubscription(t.Context(), g.account, sub.ID, store.ChangeSubscription{PriceVariant: gold})
				return err
			},
			"an end": func(sub *subscription.Subscription, _ string) error {
				_, err := g.CancelSubscription(t.Context(), g.account, sub.ID, store.CancelSubscription{})
				return err
			},
			"a pause": func(sub *subscription.Subscription, _ string) error {
				_, err := g.PauseSubscription(t.Context(), g.account, sub.ID, store.PauseSubscription{})
				return err
			},
		} {
			sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
			gold, iron := g.offers(sub, catalog.PriceVariant{Amount: 2900}), g.offers(sub, catalog.PriceVariant{Amount: 100})
			require.NoError(t, first(sub, gold), name)
			before := g.subscription(sub.ID)
			shown := store.ShownChange{Now: 9000, Rest: 9000, Each: 9000, IntervalCount: 1, Interval: "month", EffectiveAt: sub.CurrentPeriodEnd, PeriodEnd: sub.CurrentPeriodEnd}
			for _, plan := range []string{iron, sub.PriceVariantID} {
				_, err := g.ChangeSubscription(t.Context(), g.account, sub.ID, store.ChangeSubscription{PriceVariant: plan, Shown: &shown})
				refused, ok := errors.AsType[*core.Error](err)
				require.True(t, ok, name)
				assert.Equal(t, "no_change", refused.Reason, name)
			}
			assert.Equal(t, before, g.subscription(sub.ID), name)
		}
		g.sound()
	})
}

// Nobody makes the seller's orders, letters and declines without end by changing their subscription to and fro.
func TestPortal_CustomersChangeASubscriptionSoOften(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribesFor(1, seats(10), "pm_card_visa")
		other := g.subscribesFor(1, seats(10), "pm_card_visa")
		g.prorates(tenant.ProrationBehaviorNextInvoice)
		for i := range 20 {
			g.takes(sub, int64(2+i%2))
		}
		path := "/subscriptions/" + sub.ID + "/plan"
		form := confirming(g.see(asking(sub, "9"), http.StatusOK))
		assert.Contains(t, g.does(path, form, http.StatusTooManyRequests), "You have changed this subscription too often. Try again in 24 hours.")
		assert.Contains(t, g.does(path+"?locale=de", form, http.StatusTooManyRequests), "Zu viele Versuche. Versuchen Sie es in 24 Stunden erneut.")
		assert.Equal(t, int64(3), g.subscription(sub.ID).Quantity)
		g.takes(other, 2)
		g.now = g.now.Add(25 * time.Hour)
		g.renew()
		g.takes(sub, 9)
		g.sound()
	})
}

// Declines count, too: whoever has them tries no more than so often.
func TestPortal_ACardIsTriedSoOftenForAChange(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribesFor(1, seats(10), "tok_fail_on_renewal")
		path := "/subscriptions/" + sub.ID + "/plan"
		for range 20 {
			g.does(path, confirming(g.see(asking(sub, "9"), http.StatusOK)), http.StatusUnprocessableEntity)
		}
		page := g.does(path, confirming(g.see(asking(sub, "9"), http.StatusOK)), http.StatusTooManyRequests)
		assert.Contains(t, page, "You have changed this subscription too often.")
		assert.Equal(t, int64(1), g.subscription(sub.ID).Quantity)
		g.sound()
	})
}
