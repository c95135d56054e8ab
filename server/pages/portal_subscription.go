package pages

import (
	"context"
	"net/http"
	"slices"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// portalSubscription is the data of portal_subscription.html, the page on which a subscription is managed.
type portalSubscription struct {
	portalPage
	*subscription.Subscription
	Next   *money // amount of the next payment, nil if there is none
	Last   *money // what is charged when it ends, nil for nothing
	Unpaid *invoice.Invoice
	Method *payment.SavedMethod // the saved card that it is charged to, nil if it is none of those
	Cards  []payment.SavedMethod
	Once   string
	Plans  []pricedPlan // that it can be changed to
	Pieces *planPieces  // nil if the customer has no choice
	Price  string       // of each period of its plan, with its tax and without discounts

	Becomes string // the plan to which it will be changed, told apart from the one that it has
}

// frame returns what stands around the page.
func (s *portalSubscription) frame() ui.Frame {
	frame := s.portalPage.frame()
	if s.Pieces != nil && s.Pieces.Problem != "" {
		frame.Problems = []ui.Problem{s.Pieces.says(s.Pieces.Problem)}
	}
	return frame
}

// goingFirst is an order of subscriptions: those that have ended come after the others.
func goingFirst(a, b subscription.Subscription) int {
	switch endedA, endedB := a.EndedAt != nil, b.EndedAt != nil; {
	case endedA == endedB:
		return 0
	case endedA:
		return 1
	}
	return -1
}

// planName returns in words what is subscribed to, such as "2 × Newsletter (yearly)".
func planName(s *subscription.Subscription) string { return planOf(s, s.CurrentPlan()) }

// Day returns the date of a moment in the seller's time zone.
func (v *visit) Day(at core.Time) string { return v.l.Day(v.Seller.Local(at)) }

// Standing returns the sentence that says how a subscription stands, and what comes next.
func (v *visit) Standing(s *subscription.Subscription) string {
	l, end := v.l, s.CurrentPeriodEnd
	on := func(key string, at core.Time) string { return l.T(key, "day", v.Day(at)) }
	switch {
	case s.EndedAt != nil && s.Status == subscription.StatusCompleted:
		return on("subscription.complete_since", *s.EndedAt)
	case s.EndedAt != nil:
		return on("subscription.ended_on", *s.EndedAt)
	case s.CancelAtPeriodEnd:
		return on("subscription.cancelled_until", end)
	case s.Status == subscription.StatusPastDue && s.ExtraAttempt:
		return l.T("subscription.payment_failed") + l.Gap() + l.T("subscription.tried_now")
	case s.Status == subscription.StatusPastDue && s.NextAttemptAt != nil:
		return l.T("subscription.payment_failed") + l.Gap() + on("subscription.tried_on", *s.NextAttemptAt)
	case s.Status == subscription.StatusPastDue:
		return l.T("subscription.payment_failed")
	case s.Status == subscription.StatusPaused && s.ResumesAt != nil:
		return on("subscription.paused_until", *s.ResumesAt)
	case s.Status == subscription.StatusPaused:
		return l.T("subscription.paused")
	case s.PauseAtPeriodEnd:
		return on("subscription.active_then_paused", end)
	case s.Status == subscription.StatusTrialing:
		return on("subscription.free_until", end)
	}
	return on("subscription.active_next", end)
}

// Others returns the customer's cards that the subscription is not charged to.
func (s *portalSubscription) Others() []payment.SavedMethod {
	return slices.DeleteFunc(slices.Clone(s.Cards), func(m payment.SavedMethod) bool { return s.Method != nil && m.ID == s.Method.ID })
}

// Ends reports whether the subscription is going to end by itself.
func (s *portalSubscription) Ends() bool { return s.CancelAt() != nil }

// Rests reports whether the customer has paused the subscription, and may end that.
func (s *portalSubscription) Rests() bool { return s.IsTheirPause() }

func (p *Pages) portalSubscription(v *visit) error {
	return p.showSubscription(v, http.StatusOK, "")
}

// showSubscription answers with the page of a subscription. Problem says why something could not be done, and may be empty.
func (p *Pages) showSubscription(v *visit, status int, problem string) error {
	return p.subscriptionPage(v, status, ui.Problem{Text: problem})
}

// subscriptionPage does what showSubscription does. The problem may be about the field of the quantity.
func (p *Pages) subscriptionPage(v *visit, status int, problem ui.Problem) error {
	ctx, account := v.ctx(), v.Session.AccountID
	sub, err := p.store.CustomerSubscription(ctx, account, v.Customer.ID, v.Param("subscription"))
	if err != nil {
		return p.refuse(v, err)
	}
	page := &portalSubscription{portalPage: v.page(planName(sub), problem.Text), Subscription: sub, Once: newOnce()}
	if page.Cards, _, err = p.store.Payment.ListMethods(ctx, account, v.Customer.ID, core.Page{Limit: portalAll}); err != nil {
		return err
	}
	if err := p.charged(ctx, page); err != nil {
		return err
	}
	if err := p.foresee(v, page); err != nil {
		return err
	}
	if err := p.offerChanges(v, page); err != nil {
		return err
	}
	if page.Done == "" && problem.Text == "" && v.QueryParam("done") == "changed" {
		page.Done = page.changed()
	}
	if page.Pieces != nil && problem.Field != "" {
		page.Pieces.Value, page.Pieces.Problem = typedQuantity(v), problem.Text
	}
	return p.render(v, status, "portal_subscription.html", page.frame(), page)
}

// charged finds which of the saved cards the subscription is charged to. Method stays nil if it is charged to the card that it
// was bought with, which is not among them, or to none.
func (p *Pages) charged(ctx context.Context, page *portalSubscription) error {
	method, err := p.store.Subscription.Method(ctx, page.Subscription)
	if err != nil || method == nil {
		return err
	}
	if at := slices.IndexFunc(page.Cards, func(m payment.SavedMethod) bool { return m.ID == text(method.ID) }); at >= 0 {
		page.Method = &page.Cards[at]
	}
	return nil
}

// foresee fills in what is to be paid: the invoice that is past due, or else the amount of the next period.
func (p *Pages) foresee(v *visit, page *portalSubscription) error {
	ctx, sub := v.ctx(), page.Subscription
	if sub.Status == subscription.StatusPastDue && sub.LatestInvoiceID != nil {
		unpaid, err := p.store.Invoice.Get(ctx, sub.AccountID, *sub.LatestInvoiceID)
		if err == nil && isDue(unpaid) {
			page.Unpaid = unpaid
		}
		return err
	}
	if goes := sub.Status == subscription.StatusActive || sub.Status == subscription.StatusTrialing; !sub.CancelAtPeriodEnd && (!goes || sub.PauseAtPeriodEnd) {
		return nil
	}
	renewal, err := p.store.Subscription.PreviewRenewal(ctx, sub.AccountID, sub.ID)
	if _, invalid := isInvalid(p.spoken(v), err); invalid { // there is no next payment
		page.Last, err = p.lastBill(v, sub)
		return err
	}
	if err == nil {
		page.Next = &money{renewal.Amounts.Total - renewal.Balance, sub.Currency}
	}
	return err
}

// lastBill returns what a subscription charges when it ends with its period, nil for nothing.
func (p *Pages) lastBill(v *visit, sub *subscription.Subscription) (*money, error) {
	amount, err := p.store.Subscription.LastBillAmount(v.ctx(), sub.AccountID, sub.ID)
	if err != nil || amount == 0 {
		return nil, err
	}
	return &money{amount, sub.Currency}, nil
}

// keepSubscription takes back a cancellation, as long as the subscription has not ended.
func (p *Pages) keepSubscription(v *visit) error {
	return p.change(v, "kept", p.showSubscription, func(id string) error {
		_, err := p.store.KeepSubscription(v.doing("uncancelSubscription"), v.Session.AccountID, v.Customer.ID, id)
		return err
	})
}

// chargeSubscription takes the form that charges a subscription to another card: one that is saved, or one that is typed in.
func (p *Pages) chargeSubscription(v *visit) error {
	card := v.FormValue("card")
	return p.change(v, "charged", p.showSubscription, func(id string) error {
		if card == "" {
			saved, problem, err := p.saveCard(v, false)
			if err != nil {
				return err
			}
			if problem != "" {
				return explanation(problem)
			}
			card = saved.ID
		}
		_, err := p.store.UpdateSubscription(v.doing("updateSubscription"), v.Session.AccountID, id, store.SubscriptionPatch{
			Change: func(*subscription.Subscription) {}, PaymentMethod: &card,
		})
		return err
	})
}

// change calls do for the customer's subscription that the address names, and sends them back to its page, which tells them
// what they have done. If do was refused, the page that show answers with says why.
func (p *Pages) change(v *visit, what string, show func(v *visit, status int, problem string) error, do func(id string) error) error {
	sub, err := p.store.CustomerSubscription(v.ctx(), v.Session.AccountID, v.Customer.ID, v.Param("subscription"))
	if err == nil {
		err = do(sub.ID)
	}
	if problem, invalid := p.whyNot(v, err); invalid {
		return show(v, http.StatusUnprocessableEntity, problem)
	}
	if err != nil {
		return p.refuse(v, err)
	}
	return v.done("/subscriptions/"+sub.ID, what)
}
