package pages

import (
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// quantityPages returns the pages on which a customer changes the quantity of a subscription.
func quantityPages(v *visit, sub subscription.Subscription, word func(string) string) []drawn {
	sub.PriceVariantID, sub.Quantity = "price_1", 3
	offers := func(problem string) *portalSubscription {
		page := &portalSubscription{portalPage: v.page(planName(&sub), problem), Subscription: &sub, Price: periodPrice(v.l, sub.CurrentPlan(), 3213, "eur")}
		page.Pieces = newPlanPieces(v.l, &sub, &store.Pieces{Variant: &catalog.PriceVariant{}, Least: 2, Most: 10})
		return page
	}
	chooses, refused := offers(""), offers("x")
	refused.Pieces.Value, refused.Pieces.Problem = word("ten"), word(v.l.T("error.quantity.form"))
	plan := sub.CurrentPlan()
	plan.Quantity = 1
	fewer := &portalPlan{portalPage: v.page(v.l.T("plan.title", "plan", planOf(&sub, plan)), ""), Subscription: &sub, Change: &store.SubscriptionChange{
		Subscription: &sub, Plan: plan, Behavior: tenant.ProrationBehaviorInvoiceImmediately, Credit: 2100, EffectiveAt: someday - 1, PeriodEnd: someday,
	}}
	fewer.Price = periodPrice(v.l, plan, 1071, "eur")
	changing := sub
	changing.Status = subscription.StatusActive
	changing.PendingChange = core.JSONOf(&subscription.PendingChange{Plan: plan, EffectiveAt: someday, ByCustomer: true})
	waits := &portalSubscription{portalPage: v.page(planName(&changing), ""), Subscription: &changing, Price: fewer.Price, Becomes: planOf(&changing, plan)}
	return []drawn{
		{"portal-changes", "portal_subscription.html", waits.frame(), waits},
		{"portal-quantity", "portal_subscription.html", chooses.frame(), chooses}, {"portal-quantity-refused", "portal_subscription.html", refused.frame(), refused},
		{"portal-quantity-fewer", "portal_plan.html", fewer.frame(), fewer},
	}
}
