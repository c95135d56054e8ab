package pages

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// portalPlan is the data of portal_plan.html, which says what another plan costs before a customer changes to it.
type portalPlan struct {
	portalPage
	*subscription.Subscription
	Change *store.SubscriptionChange
	Price  string // of each period of the plan, with its tax and without discounts
}

// DueNow returns what is charged as soon as the customer confirms.
func (p *portalPlan) DueNow() int64 {
	if p.Change.Behavior != tenant.ProrationBehaviorInvoiceImmediately {
		return 0
	}
	return p.Change.Amounts.Total - p.Change.Balance
}

// DueNext returns what the rest of this period costs more, if that is charged with the next payment.
func (p *portalPlan) DueNext() int64 {
	if p.Change.Behavior != tenant.ProrationBehaviorNextInvoice {
		return 0
	}
	return p.Change.Amounts.Total
}

// IsLater reports whether the plan changes only when the period is over.
func (p *portalPlan) IsLater() bool { return p.Change.EffectiveAt == p.CurrentPeriodEnd }

// planOf names a plan, such as "Newsletter (yearly)".
func planOf(plan subscription.Plan) string {
	return planName(&subscription.Subscription{ProductName: plan.ProductName, PriceVariantName: plan.PriceVariantName, Quantity: plan.Quantity})
}

// pricedPlan is a plan that a subscription has or can have.
type pricedPlan struct {
	subscription.Plan
	Price string // of each period, with its tax and without discounts, such as "USD 90.00 every year"
}

// pricedPlans returns the plans that a subscription can be changed to as it stands, and the price of the one that it has.
func (p *Pages) pricedPlans(v *visit, sub *subscription.Subscription) (plans []pricedPlan, own string, err error) {
	found, err := p.plansFor(v.ctx(), sub)
	if err != nil {
		return nil, "", err
	}
	of := []subscription.PlanOf{{Subscription: sub, Plan: sub.CurrentPlan()}}
	for _, plan := range found {
		of = append(of, subscription.PlanOf{Subscription: sub, Plan: plan})
	}
	prices, err := p.periodPrices(v, of...)
	if err != nil {
		return nil, "", err
	}
	for i, plan := range found {
		plans = append(plans, pricedPlan{plan, prices[i+1]})
	}
	return plans, prices[0], nil
}

// ownPrices returns the prices of the plans that subscriptions have, by the id of the subscription.
func (p *Pages) ownPrices(v *visit, subs []subscription.Subscription) (map[string]string, error) {
	of := make([]subscription.PlanOf, len(subs))
	for i := range subs {
		of[i] = subscription.PlanOf{Subscription: &subs[i], Plan: subs[i].CurrentPlan()}
	}
	prices, err := p.periodPrices(v, of...)
	own := map[string]string{}
	for i, price := range prices {
		own[subs[i].ID] = price
	}
	return own, err
}

// periodPrices says what each period of plans costs the customer, with its tax and without discounts.
func (p *Pages) periodPrices(v *visit, of ...subscription.PlanOf) ([]string, error) {
	amounts, err := p.store.Subscription.PeriodPrices(v.ctx(), v.Customer, of...)
	prices := make([]string, len(amounts))
	for i, amount := range amounts {
		prices[i] = periodPrice(v.l, of[i].Plan, amount, of[i].Currency)
	}
	return prices, err
}

// periodPrice says what each period of a plan costs.
func periodPrice(l *locale.Locale, plan subscription.Plan, amount int64, currency string) string {
	return l.Money(amount, currency) + " " + l.Every(plan.Interval, plan.IntervalCount)
}

// plansFor returns the plans that a subscription can be changed to as it stands.
func (p *Pages) plansFor(ctx context.Context, sub *subscription.Subscription) ([]subscription.Plan, error) {
	going := sub.Status == subscription.StatusActive || sub.Status == subscription.StatusTrialing
	if !going || sub.CancelAt() != nil || sub.PauseAtPeriodEnd || sub.PendingChange.V != nil {
		return nil, nil
	}
	return p.store.PlansFor(ctx, sub)
}

// portalPlan serves the page that says what the chosen plan costs now and later.
func (p *Pages) portalPlan(v *visit) error {
	return p.showPlan(v, v.QueryParam("plan"), http.StatusOK, "")
}

func (p *Pages) showPlan(v *visit, chosen string, status int, problem string) error {
	page, why, err := p.previewPlan(v, chosen)
	switch {
	case err != nil:
		return p.refuse(v, err)
	case why != "":
		return p.showSubscription(v, http.StatusUnprocessableEntity, why)
	}
	page.portalPage = v.page(v.l.T("plan.title", "plan", planOf(page.Change.Plan)), problem)
	return p.render(v, status, "portal_plan.html", page.frame(), page)
}

// previewPlan finds out what a change to the chosen plan costs at this moment. Why says that it cannot be chosen.
func (p *Pages) previewPlan(v *visit, chosen string) (page *portalPlan, why string, err error) {
	ctx, account := v.ctx(), v.Session.AccountID
	sub, err := p.store.CustomerSubscription(ctx, account, v.Customer.ID, v.Param("subscription"))
	if err != nil {
		return nil, "", err
	}
	plans, err := p.plansFor(ctx, sub)
	if err != nil {
		return nil, "", err
	}
	if !slices.ContainsFunc(plans, func(plan subscription.Plan) bool { return plan.PriceVariantID == chosen }) {
		return nil, v.l.T("plan.choose_there"), nil
	}
	change, err := p.store.PreviewSubscriptionChange(ctx, account, sub.ID, store.ChangeSubscription{PriceVariant: chosen})
	if why, refused := isInvalid(p.spoken(v), err); refused {
		return nil, why, nil
	}
	if err != nil {
		return nil, "", err
	}
	prices, err := p.periodPrices(v, subscription.PlanOf{Subscription: sub, Plan: change.Plan})
	if err != nil {
		return nil, "", err
	}
	return &portalPlan{Subscription: sub, Change: change, Price: prices[0]}, "", nil
}

// changePlan takes the form that confirms a change of plan. If more would be charged than was shown, the new amount is shown
// instead, and nothing is charged.
func (p *Pages) changePlan(v *visit) error {
	chosen := v.FormValue("plan")
	page, why, err := p.previewPlan(v, chosen)
	switch {
	case err != nil:
		return p.refuse(v, err)
	case why != "":
		return p.showSubscription(v, http.StatusUnprocessableEntity, why)
	}
	if shown, err := strconv.ParseInt(v.FormValue("shown"), 10, 64); err != nil || page.DueNow() > shown {
		return p.showPlan(v, chosen, http.StatusUnprocessableEntity, v.l.T("plan.amount_changed"))
	}
	show := func(v *visit, status int, problem string) error { return p.showPlan(v, chosen, status, problem) }
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.doing("changeSubscription")), payTime)
	defer cancel()
	return p.change(v, "changed", show, func(id string) error {
		_, err := p.billing.ChangeSubscription(ctx, v.Session.AccountID, id, store.ChangeSubscription{PriceVariant: chosen})
		if core.OutcomeOf(err) == core.Unknown {
			slog.WarnContext(ctx, "charge a change of plan", "error", err)
			return explanation(v.l.T("plan.bank_silent"))
		}
		return err
	})
}
