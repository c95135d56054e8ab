package pages

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// maxCancelComment is how many characters a comment may have, as in the API.
const maxCancelComment = 1000

// cancelReason is a reason for cancelling that a customer may choose.
type cancelReason struct {
	Reason store.CancellationReason
	Label  string
}

// cancelReasons are the API's reasons in the customer's words.
var cancelReasons = []cancelReason{
	{"too_expensive", "It is too expensive"}, {"unused", "I do not use it enough"}, {"missing_features", "Something is missing"},
	{"switched_service", "I use something else now"}, {"low_quality", "It is not good enough"}, {"too_complex", "It is too complicated"},
	{"customer_service", "I am not happy with the service"}, {"other", "Something else"},
}

// portalSubscription is the data of portal_subscription.html, the page on which a subscription is managed.
type portalSubscription struct {
	portalPage
	*store.Subscription
	Next       *money // amount of the next payment, nil if there is none
	Unpaid     *store.Invoice
	Method     *store.SavedMethod // the saved card that it is charged to, nil if it is none of those
	Cards      []store.SavedMethod
	Once       string
	EndsAtOnce bool
	Reasons    []cancelReason
	Reason     string // the one that was chosen
	Comment    string
}

// goingFirst is an order of subscriptions: those that have ended come after the others.
func goingFirst(a, b store.Subscription) int {
	switch endedA, endedB := a.EndedAt != nil, b.EndedAt != nil; {
	case endedA == endedB:
		return 0
	case endedA:
		return 1
	}
	return -1
}

// planName returns in words what is subscribed to, such as "2 × Newsletter (yearly)".
func planName(s *store.Subscription) string {
	name := s.ProductName
	if s.PriceVariantName != nil {
		name += " (" + *s.PriceVariantName + ")"
	}
	if s.Quantity > 1 {
		name = fmt.Sprintf("%d × %s", s.Quantity, name)
	}
	return name
}

// planPrice returns what a subscription costs, such as "USD 9.00 every month".
func planPrice(s *store.Subscription) string {
	return core.FormatAmount(s.Amount(), s.Currency) + " " + every(s.Interval, s.IntervalCount)
}

// standing returns the sentence that says how a subscription stands, and what comes next.
func standing(s *store.Subscription) string {
	end := day(s.CurrentPeriodEnd)
	switch {
	case s.EndedAt != nil && s.Status == store.SubscriptionStatusCompleted:
		return "Complete since " + day(*s.EndedAt) + "."
	case s.EndedAt != nil:
		return "Ended on " + day(*s.EndedAt) + "."
	case s.CancelAtPeriodEnd:
		return "Cancelled. It goes on until " + end + "."
	case s.Status == store.SubscriptionStatusPastDue:
		return "A payment has failed." + nextAttempt(s)
	case s.Status == store.SubscriptionStatusPaused && s.ResumesAt != nil:
		return "Paused until " + day(*s.ResumesAt) + "."
	case s.Status == store.SubscriptionStatusPaused:
		return "Paused."
	case s.PauseAtPeriodEnd:
		return "Active until " + end + ", and paused then."
	case s.Status == store.SubscriptionStatusTrialing:
		return "Free until " + end + "."
	}
	return "Active. The next period begins on " + end + "."
}

// nextAttempt returns the sentence that says when a failed payment is tried again, empty if it is not.
func nextAttempt(s *store.Subscription) string {
	switch {
	case s.ExtraAttempt:
		return " It is being tried again now: reload this page in a moment."
	case s.NextAttemptAt != nil:
		return " It is tried again on " + day(*s.NextAttemptAt) + "."
	}
	return ""
}

// day returns the date of a moment.
func day(t core.Time) string { return invoicepdf.Date(t.Time()) }

// endsAtOnce reports whether the subscription ends as soon as it is cancelled, because the time that was paid for is over.
func endsAtOnce(s *store.Subscription, now core.Time) bool {
	return s.Status == store.SubscriptionStatusPastDue || s.CurrentPeriodEnd <= now
}

// Others returns the customer's cards that the subscription is not charged to.
func (s *portalSubscription) Others() []store.SavedMethod {
	return slices.DeleteFunc(slices.Clone(s.Cards), func(m store.SavedMethod) bool { return s.Method != nil && m.ID == s.Method.ID })
}

// Ends reports whether the subscription is going to end by itself.
func (s *portalSubscription) Ends() bool { return s.CancelAt() != nil }

func (p *Pages) portalSubscription(v *visit) error {
	return p.showSubscription(v, http.StatusOK, "", nil)
}

// showSubscription answers with the page of a subscription. Problem says why something could not be done, and may be empty.
// Typed is what was entered into the form that cancels it.
func (p *Pages) showSubscription(v *visit, status int, problem string, typed form) error {
	ctx, account := v.ctx(), v.Session.AccountID
	sub, err := p.store.CustomerSubscription(ctx, account, v.Customer.ID, v.Param("subscription"))
	if err != nil {
		return p.refuse(v, err)
	}
	page := &portalSubscription{
		portalPage: v.page(planName(sub), problem), Subscription: sub, Once: newOnce(), Reasons: cancelReasons, Reason: typed["reason"], Comment: typed["comment"],
		EndsAtOnce: endsAtOnce(sub, p.store.Now()),
	}
	if page.Cards, _, err = p.store.ListCustomerPaymentMethods(ctx, account, v.Customer.ID, core.Page{Limit: portalAll}); err != nil {
		return err
	}
	if err := p.charged(ctx, page); err != nil {
		return err
	}
	if err := p.foresee(v, page); err != nil {
		return err
	}
	return p.render(v, status, "portal_subscription.html", page)
}

// charged finds which of the saved cards the subscription is charged to. Method stays nil if it is charged to the card that it
// was bought with, which is not among them, or to none.
func (p *Pages) charged(ctx context.Context, page *portalSubscription) error {
	method, err := p.store.MethodForSubscription(ctx, page.Subscription)
	if err != nil || method == nil {
		return err
	}
	if at := slices.IndexFunc(page.Cards, func(m store.SavedMethod) bool { return m.ID == text(method.ID) }); at >= 0 {
		page.Method = &page.Cards[at]
	}
	return nil
}

// foresee fills in what is to be paid: the invoice that is past due, or else the amount of the next period.
func (p *Pages) foresee(v *visit, page *portalSubscription) error {
	ctx, sub := v.ctx(), page.Subscription
	if sub.Status == store.SubscriptionStatusPastDue && sub.LatestInvoiceID != nil {
		unpaid, err := p.store.GetInvoice(ctx, sub.AccountID, *sub.LatestInvoiceID)
		if err == nil && isDue(unpaid) {
			page.Unpaid = unpaid
		}
		return err
	}
	if sub.Status != store.SubscriptionStatusActive && sub.Status != store.SubscriptionStatusTrialing || sub.PauseAtPeriodEnd {
		return nil
	}
	renewal, err := p.store.PreviewSubscriptionRenewal(ctx, sub.AccountID, sub.ID)
	if _, invalid := isInvalid(err); invalid {
		return nil // there is no next payment
	}
	if err == nil {
		page.Next = &money{renewal.Amounts.Total - renewal.Balance, sub.Currency}
	}
	return err
}

// cancelSubscription takes the form that cancels a subscription, with the reason that the customer gives. They choose neither
// when it ends nor whether anything is refunded.
func (p *Pages) cancelSubscription(v *visit) error {
	typed := form{"reason": v.FormValue("reason"), "comment": strings.TrimSpace(textOnly(v.FormValue("comment")))}
	in := store.CancelSubscription{Customer: v.Customer.ID}
	if at := slices.IndexFunc(cancelReasons, func(r cancelReason) bool { return string(r.Reason) == typed["reason"] }); at >= 0 {
		in.Reason = &cancelReasons[at].Reason
	} else if typed["reason"] != "" {
		return p.showSubscription(v, http.StatusUnprocessableEntity, "Choose one of the reasons.", typed)
	}
	if comment := typed["comment"]; comment != "" {
		in.Comment = &comment
		if utf8.RuneCountInString(comment) > maxCancelComment {
			return p.showSubscription(v, http.StatusUnprocessableEntity, fmt.Sprintf("Say it in at most %d characters.", maxCancelComment), typed)
		}
	}
	return p.change(v, "canceled", typed, func(id string) error {
		_, err := p.store.CancelSubscription(v.ctx(), v.Session.AccountID, id, in)
		return err
	})
}

// keepSubscription takes back a cancellation, as long as the subscription has not ended.
func (p *Pages) keepSubscription(v *visit) error {
	return p.change(v, "kept", nil, func(id string) error {
		_, err := p.store.KeepSubscription(v.ctx(), v.Session.AccountID, v.Customer.ID, id)
		return err
	})
}

// chargeSubscription takes the form that charges a subscription to another card: one that is saved, or one that is typed in.
func (p *Pages) chargeSubscription(v *visit) error {
	card := v.FormValue("card")
	return p.change(v, "charged", nil, func(id string) error {
		if card == "" {
			saved, problem, err := p.saveCard(v, false)
			if err != nil {
				return err
			}
			if problem != "" {
				return core.Invalid("payment_method", problem)
			}
			card = saved.ID
		}
		_, err := p.store.UpdateSubscription(v.ctx(), v.Session.AccountID, id, store.SubscriptionPatch{
			Change: func(*store.Subscription) {}, PaymentMethod: &card,
		})
		return err
	})
}

// change calls do for the customer's subscription that the address names, and sends them back to its page, which tells them
// what they have done. If do was refused, the page says why.
func (p *Pages) change(v *visit, what string, typed form, do func(id string) error) error {
	sub, err := p.store.CustomerSubscription(v.ctx(), v.Session.AccountID, v.Customer.ID, v.Param("subscription"))
	if err == nil {
		err = do(sub.ID)
	}
	if problem, invalid := whyNot(v, err); invalid {
		return p.showSubscription(v, http.StatusUnprocessableEntity, problem, typed)
	}
	if err != nil {
		return p.refuse(v, err)
	}
	return v.done("/subscriptions/"+sub.ID, what)
}
