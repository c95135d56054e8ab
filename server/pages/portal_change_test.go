package pages_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store/catalog"
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
		low.Set("shown", "0")
		assert.Contains(t, g.does(path, low, http.StatusUnprocessableEntity), "The amount has changed.")
		before, _ := g.paid(sub)
		g.does(path, confirming(page), http.StatusOK)
		after, _ := g.paid(sub)
		assert.Equal(t, int64(9000), after-before, "what its page said")
		g.sound()
	})
}
