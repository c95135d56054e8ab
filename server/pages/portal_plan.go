package pages

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// portalPlan is the data of portal_plan.html, which says what another plan costs before a customer changes to it.
type portalPlan struct {
	portalPage
	*subscription.Subscription
	Change *store.SubscriptionChange
	Named  string          // the plan, told apart from those that it is beside
	Price  string          // of each period of the plan, with its tax and without discounts
	Card   *payment.Method // to which DueNow is charged, nil for none
}

// DueNow returns what is charged as soon as the customer confirms.
func (p *portalPlan) DueNow() int64 { return p.Change.DueNow() }

// Shown is what the page shows of the cost and the time, as its form has it.
func (p *portalPlan) Shown() string {
	shown := p.Change.Shown()
	return fmt.Sprintf("%d %d %d %d %s %d %d %d", shown.Now, shown.Rest, shown.Each, shown.IntervalCount, shown.Interval, shown.EffectiveAt, shown.PeriodEnd, shown.Begins)
}

// shown reads what the page of a form showed. A form that is older than this server does not say all, and nothing is taken for shown.
func (v *visit) shown() store.ShownChange {
	var s store.ShownChange
	if _, err := fmt.Sscan(v.FormValue("shown"), &s.Now, &s.Rest, &s.Each, &s.IntervalCount, &s.Interval, &s.EffectiveAt, &s.PeriodEnd, &s.Begins); err != nil {
		return store.ShownChange{Now: -1}
	}
	return s
}

// DueNext returns what the rest of this period costs more, if that is charged with the next payment.
func (p *portalPlan) DueNext() int64 {
	if p.Change.IsBilledNow() {
		return 0
	}
	return p.Change.Amounts.Total
}

// IsQuantity reports whether the plan stays, and only its quantity changes.
func (p *portalPlan) IsQuantity() bool { return p.Change.Plan.PriceVariantID == p.PriceVariantID }

// planOf names a plan that a subscription has or can have, such as "2 × Newsletter (yearly)". One piece is counted where there are more, or were.
func planOf(sub *subscription.Subscription, plan subscription.Plan) string {
	if plan.Quantity > 1 || sub.HasPieces() {
		return fmt.Sprintf("%d × %s", plan.Quantity, plan.Describe())
	}
	return plan.Describe()
}

// tellPlan names a plan of a subscription beside others. Where one of them has its name, what a period of the plan costs comes after it.
func tellPlan(l *locale.Locale, sub *subscription.Subscription, plan subscription.Plan, price string, beside ...subscription.Plan) string {
	if slices.ContainsFunc(beside, plan.HasNameOf) {
		return l.List(planOf(sub, plan), price)
	}
	return planOf(sub, plan)
}

// pricedPlan is a plan that a subscription can have.
type pricedPlan struct {
	subscription.Plan
	Named string
	Price string // of each period, with its tax and without discounts, such as "USD 90.00 every year"; empty if Named has it
}

// pricedPlans returns the plans that a subscription can have, of which each has its price.
func pricedPlans(l *locale.Locale, sub *subscription.Subscription, plans []subscription.Plan, prices []string) (priced []pricedPlan) {
	beside := append([]subscription.Plan{sub.CurrentPlan()}, plans...)
	for i, plan := range plans {
		p := pricedPlan{plan, tellPlan(l, sub, plan, prices[i], beside...), prices[i]}
		if p.Named != planOf(sub, plan) {
			p.Price = ""
		}
		priced = append(priced, p)
	}
	return priced
}

// offerChanges fills in what the subscription of a page can be changed to as it stands, and what it will be. It also fills in the price of the plan
// that there is.
func (p *Pages) offerChanges(v *visit, page *portalSubscription) error {
	sub := page.Subscription
	plans, pieces, err := p.plansFor(v, sub)
	if err != nil {
		return err
	}
	of := []subscription.PlanOf{{Subscription: sub, Plan: sub.CurrentPlan()}}
	for _, plan := range plans {
		of = append(of, subscription.PlanOf{Subscription: sub, Plan: plan})
	}
	next := sub.PendingChange.V
	if next != nil { // then nothing else is offered
		of = append(of, subscription.PlanOf{Subscription: sub, Plan: next.Plan})
	}
	prices, err := p.periodPrices(v, of...)
	if err != nil {
		return err
	}
	page.Pieces, page.Price, page.Plans = pieces, prices[0], pricedPlans(v.l, sub, plans, prices[1:])
	if next != nil {
		page.Becomes = tellPlan(v.l, sub, next.Plan, prices[len(prices)-1], sub.CurrentPlan())
	}
	return nil
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

// isGoing reports whether a subscription is neither behind with a payment, at rest nor over.
func isGoing(sub *subscription.Subscription) bool {
	return sub.Status == subscription.StatusActive || sub.Status == subscription.StatusTrialing
}

// plansFor returns the plans that a subscription can be changed to as it stands, and the field for another quantity of its own.
func (p *Pages) plansFor(v *visit, sub *subscription.Subscription) ([]subscription.Plan, *planPieces, error) {
	if !isGoing(sub) || sub.CancelAt() != nil || sub.PauseAtPeriodEnd || sub.PendingChange.V != nil {
		return nil, nil, nil
	}
	plans, pieces, err := p.store.PlansFor(v.ctx(), sub)
	return plans, newPlanPieces(v.l, sub, pieces), err
}

// portalPlan serves the page that says what the chosen plan costs now and later.
func (p *Pages) portalPlan(v *visit) error { return p.showPlan(v, http.StatusOK, "") }

func (p *Pages) showPlan(v *visit, status int, problem string) error {
	page, why, err := p.previewPlan(v)
	switch {
	case err != nil:
		return p.refuse(v, err)
	case problem != "" && why.Field == "" && why.Text != "": // that a payment has no outcome yet says more than that nothing can be changed meanwhile
		return p.showSubscription(v, status, problem)
	case why.Text != "":
		return p.subscriptionPage(v, http.StatusUnprocessableEntity, why)
	}
	page.portalPage = v.page(v.l.T("plan.title", "plan", page.Named), problem)
	return p.render(v, status, "portal_plan.html", page.frame(), page)
}

// wanted returns the change that a form asks for: another plan in the quantity that there is, or the same plan in another quantity. Why says that it
// cannot be chosen. A page that shows another quantity of another plan is of an older time, and so are its prices.
func (v *visit) wanted(sub *subscription.Subscription, plans []subscription.Plan, field *planPieces) (in store.ChangeSubscription, why ui.Problem) {
	chosen, typed := v.FormValue("plan"), typedQuantity(v)
	in = store.ChangeSubscription{PriceVariant: chosen, Quantity: &sub.Quantity}
	isThere := slices.ContainsFunc(plans, func(plan subscription.Plan) bool { return plan.PriceVariantID == chosen })
	switch {
	case chosen == sub.PriceVariantID && field != nil:
		pieces, problem := field.chosen(typed)
		in.Quantity, why = &pieces, field.says(problem)
	case chosen == sub.PriceVariantID:
		why.Text = v.l.T("error.subscription.no_change")
	case !isThere || typed != "" && typed != strconv.FormatInt(sub.Quantity, 10):
		why.Text = v.l.T("plan.choose_there")
	}
	return in, why
}

// previewPlan finds out what a change to the chosen plan costs at this moment. Why says that it cannot be chosen.
func (p *Pages) previewPlan(v *visit) (page *portalPlan, why ui.Problem, err error) {
	ctx, account := v.ctx(), v.Session.AccountID
	sub, err := p.store.CustomerSubscription(ctx, account, v.Customer.ID, v.Param("subscription"))
	if err != nil {
		return nil, why, err
	}
	plans, field, err := p.plansFor(v, sub)
	if err != nil {
		return nil, why, err
	}
	in, why := v.wanted(sub, plans, field)
	if why.Text != "" {
		return nil, why, nil
	}
	change, err := p.store.PreviewSubscriptionChange(ctx, account, sub.ID, in)
	if said, refused := isInvalid(p.spoken(v), err); refused {
		return nil, field.refused(err, *in.Quantity, said), nil
	}
	if err != nil {
		return nil, why, err
	}
	page = &portalPlan{Subscription: sub, Change: change, Price: periodPrice(v.l, change.Plan, change.Price, sub.Currency)}
	page.Named = tellPlan(v.l, sub, change.Plan, page.Price, append(plans, sub.CurrentPlan())...)
	if page.DueNow() == 0 {
		return page, why, nil
	}
	method, err := p.store.Subscription.Method(ctx, sub)
	if method != nil {
		page.Card = &method.Card
	}
	return page, why, err
}

// isConfirmed reports whether a subscription has the plan that a form confirms, or is going to: the form was sent before.
func (v *visit) isConfirmed(sub *subscription.Subscription) bool {
	plan := sub.CurrentPlan()
	if next := sub.PendingChange.V; next != nil {
		plan = next.Plan
	}
	return isGoing(sub) && v.FormValue("plan") == plan.PriceVariantID && typedQuantity(v) == strconv.FormatInt(plan.Quantity, 10)
}

// changePlan takes the form that confirms a change of plan, or of its quantity. If it would cost more than was shown, or take place at another
// time, that is shown instead, and nothing is charged. Of a form that is sent twice, the page says what has become of it.
func (p *Pages) changePlan(v *visit) error {
	sub, err := p.store.CustomerSubscription(v.ctx(), v.Session.AccountID, v.Customer.ID, v.Param("subscription"))
	if err == nil && v.isConfirmed(sub) {
		return v.done("/subscriptions/"+sub.ID, "changed")
	}
	if err != nil {
		return p.refuse(v, err)
	}
	page, why, err := p.previewPlan(v)
	switch {
	case err != nil:
		return p.refuse(v, err)
	case why.Text != "":
		return p.subscriptionPage(v, http.StatusUnprocessableEntity, why)
	}
	shown := v.shown()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.doing("changeSubscription")), payTime)
	defer cancel()
	return p.change(v, "changed", p.showPlan, func(id string) error {
		chosen := page.Change.Plan
		in := store.ChangeSubscription{PriceVariant: chosen.PriceVariantID, Quantity: &chosen.Quantity, Shown: &shown}
		_, err := p.billing.ChangeSubscription(ctx, v.Session.AccountID, id, in)
		if core.OutcomeOf(err) == core.Unknown {
			slog.WarnContext(ctx, "charge a change of plan", "error", err)
			return explanation(v.l.T("plan.bank_silent"))
		}
		return err
	})
}

// keepPlan takes back a change of plan that the customer asked for, as long as it has not taken place.
func (p *Pages) keepPlan(v *visit) error {
	return p.change(v, "changed", p.showSubscription, func(id string) error {
		_, err := p.store.KeepPlan(v.doing("changeSubscription"), v.Session.AccountID, id)
		return err
	})
}

// changed says what a subscription has become, or what it will be. While that is being paid the page says so, and this says nothing.
func (s *portalSubscription) changed() string {
	switch next := s.PendingChange.V; {
	case next != nil && next.InvoiceID != nil:
		return ""
	case next != nil:
		return s.l.T("mail.plan.later", "plan", s.Becomes, "day", s.Day(next.EffectiveAt))
	}
	return s.l.T("mail.plan.now", "plan", planName(s.Subscription))
}
