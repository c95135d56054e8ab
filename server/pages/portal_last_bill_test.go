package pages_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
)

// Who cancels is told what a last bill charges, before they do so and after.
func TestPortal_SaysThatALastBillFollows(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		path := "/subscriptions/" + sub.ID
		assert.Contains(t, g.see(path+"/cancel", http.StatusOK), "Nothing more is charged.")
		gold := g.offers(sub, catalog.PriceVariant{Amount: 2900})
		_, err := g.billing.ChangeSubscription(t.Context(), g.account, sub.ID, store.ChangeSubscription{PriceVariant: gold, Behavior: tenant.ProrationBehaviorNextInvoice})
		require.NoError(t, err)
		page := g.see(path+"/cancel", http.StatusOK)
		assert.NotContains(t, page, "Nothing more is charged.")
		assert.Contains(t, page, "A last bill of $20.00 follows")
		assert.NotContains(t, g.see(path, http.StatusOK), "A last bill")
		assert.Contains(t, g.does(path+"/cancel", url.Values{}, http.StatusOK), "A last bill of $20.00 follows")
		_, err = g.Subscription.PreviewRenewal(t.Context(), g.account, sub.ID)
		require.ErrorContains(t, err, "A last invoice charges USD\u00a020.00 then")
		charged, err := g.Subscription.LastBillAmount(t.Context(), g.account, sub.ID)
		require.NoError(t, err)

		g.now = g.now.Add(32 * 24 * time.Hour)
		g.run()
		g.renew()
		assert.NotContains(t, g.see(path, http.StatusOK), "A last bill")
		orders, _, err := g.Order.List(t.Context(), g.account, order.List{Page: core.Page{Limit: 10}, Subscription: sub.ID})
		require.NoError(t, err)
		require.Len(t, orders, 2)
		assert.Equal(t, charged, orders[0].PaidAmount)
	})
}

// The portal has the dates of the seller's time zone.
func TestPortal_HasTheDatesOfTheSellersZone(t *testing.T) {
	t.Parallel()
	g := newShop(t).guest("grace@example.com")
	g.now = time.Date(g.now.Year()+1, time.January, 31, 20, 0, 0, 0, time.UTC)
	g.renew()
	sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
	paths := map[string][2]string{
		"": {"Order 1 · 31 January", "Order 1 · 1 February"}, "/orders": {"31 January", "1 February"},
		"/subscriptions/" + sub.ID: {"28 February", "1 March"}, "/subscriptions/" + sub.ID + "/cancel": {"28 February", "1 March"},
	}
	for zone, at := range map[string]int{"UTC": 0, "Pacific/Auckland": 1} {
		_, err := g.Tenant.UpdateAccount(t.Context(), g.account, func(a *tenant.AccountChange) { a.Timezone = zone })
		require.NoError(t, err)
		for path, want := range paths {
			page := g.see(path, http.StatusOK)
			assert.Contains(t, page, want[at], zone+path)
			assert.NotContains(t, page, want[1-at], zone+path)
		}
	}
}
