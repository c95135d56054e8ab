package contract

import (
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// changed has a subscription go over to another price variant at once, which is billed with the next period.
func changed(t *testing.T, c *sdk.Client, sub *sdk.Subscription, to *sdk.PriceVariant) {
	t.Helper()
	ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, &sdk.SubscriptionChangeCreate{
		PriceVariant: &to.ID, ProrationBehavior: new(sdk.ProrationBehavior("next_invoice")),
	}))
}

// TestChangeSubscription_UndoesNoDecisionOfTheSeller says that whoever was shut out stays so by whatever plan, until the seller lets them in.
func TestChangeSubscription_UndoesNoDecisionOfTheSeller(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		low, high := monthly(t, c, 900), monthly(t, c, 1900)
		sub := subscription(t, c, low)
		own := func(i int) sdk.Grant { return had(t, c, sub.Customer.ID)[i] }
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, own(0).ID))
		changed(t, c, sub, high)
		says(t, own(0), "revoked", "plan_change", "of the former product")
		says(t, own(1), "revoked", "manual", "of the new product")
		changed(t, c, sub, low)
		says(t, own(0), "revoked", "manual", "of the former product again")
		advance(t, c, 32*24*time.Hour)
		says(t, own(0), "revoked", "manual", "in the next period")
		ok[*sdk.Grant](t)(c.Grants.Reinstate(background, own(0).ID))
		changed(t, c, sub, high)
		says(t, own(0), "revoked", "plan_change", "once it was reinstated, of the former product")
		says(t, own(1), "active", "", "once it was reinstated, of the new product")
	})
}

// TestChangeSubscription_UndoesNoRefund says that after a refund the next product waits for the next payment, as the same one would.
func TestChangeSubscription_UndoesNoRefund(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		low, high, best := monthly(t, c, 900), monthly(t, c, 1900), monthly(t, c, 2900)
		refunded := func() (*sdk.Subscription, func(int) sdk.Grant) {
			sub := subscription(t, c, low)
			order := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &sub.Customer.ID})).Data[0]
			ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(100)), RevokeAccess: new(true)}))
			return sub, func(i int) sdk.Grant { return had(t, c, sub.Customer.ID)[i] }
		}
		sub, own := refunded()
		changed(t, c, sub, high)
		says(t, own(0), "revoked", "plan_change", "of the former product")
		says(t, own(1), "revoked", "refund", "of the new product")
		advance(t, c, 32*24*time.Hour)
		says(t, own(1), "active", "", "of the new product, once a period is paid")

		sub, own = refunded()
		ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &best.ID}))
		says(t, own(1), "active", "", "of a product that was paid for at once")
	})
}

// TestChangeSubscription_ByWayOfATipUndoesNothing says that a plan that gives nothing, between two that do, lets nobody in who was shut out.
func TestChangeSubscription_ByWayOfATipUndoesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		low, high := monthly(t, c, 900), monthly(t, c, 1900)
		in := sellable("Thank you")
		in.Type, in.Status = new(sdk.ProductType("tip")), new(sdk.ProductStatus("active"))
		in.PriceVariants = []sdk.ProductPriceVariant{{Type: new(sdk.PriceVariantType("recurring")), Interval: new(sdk.PriceVariantInterval("month")), Amount: new(int64(500))}}
		tip := &sdk.PriceVariant{ID: ok[*sdk.Product](t)(c.Products.Create(background, in)).PriceVariants[0].ID}
		begin := func() (*sdk.Subscription, func(int) sdk.Grant) {
			sub := subscription(t, c, low)
			return sub, func(i int) sdk.Grant { return had(t, c, sub.Customer.ID)[i] }
		}

		sub, own := begin()
		order := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &sub.Customer.ID})).Data[0]
		ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(100)), RevokeAccess: new(true)}))
		changed(t, c, sub, tip)
		says(t, own(0), "revoked", "plan_change", "with a tip")
		changed(t, c, sub, low)
		says(t, own(0), "revoked", "refund", "again after a refund and a tip")
		changed(t, c, sub, tip)
		changed(t, c, sub, high)
		says(t, own(1), "revoked", "refund", "of another product after a refund and a tip")
		advance(t, c, 32*24*time.Hour)
		says(t, own(1), "active", "", "once a period is paid")

		sub, own = begin()
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, own(0).ID))
		changed(t, c, sub, tip)
		changed(t, c, sub, high)
		says(t, own(1), "revoked", "manual", "of another product after the seller's word and a tip")

		sub, own = begin()
		changed(t, c, sub, tip)
		changed(t, c, sub, high)
		says(t, own(1), "active", "", "of another product after a tip alone")
	})
}
