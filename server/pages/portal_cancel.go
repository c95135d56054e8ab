package pages

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/subscription"
)

// maxCancelComment is how many characters a comment may have, as in the API.
const maxCancelComment = 1000

// cancelReasons are the API's reasons, in the order in which they are offered.
var cancelReasons = []subscription.CancellationReason{
	"too_expensive", "unused", "missing_features", "switched_service", "low_quality", "too_complex", "customer_service", "other",
}

// portalCancel is the data of portal_cancel.html, on which a customer cancels a subscription, or takes the one offer instead.
type portalCancel struct {
	portalPage
	*subscription.Subscription
	EndsAtOnce bool
	Reasons    []subscription.CancellationReason
	Reason     string     // the one that was chosen
	Comment    string     // what was typed
	Resumes    *core.Time // until when it could be paused instead, nil if it cannot
	Last       *money     // what is charged when it ends, nil for nothing
}

// endsAtOnce reports whether the subscription ends as soon as it is cancelled, because the time that was paid for is over.
func endsAtOnce(s *subscription.Subscription, now core.Time) bool {
	return s.Status == subscription.StatusPastDue || s.CurrentPeriodEnd <= now
}

// resumes returns until when a customer may pause a subscription: for the month after its period. It is nil for one that is not
// being paid for, or only for so many periods.
func resumes(s *subscription.Subscription) *core.Time {
	if s.Status != subscription.StatusActive || s.CancelAt() != nil || s.PauseAtPeriodEnd || s.PendingChange.V != nil || s.BillingCycles != nil {
		return nil
	}
	return new(pauseEnd(s.CurrentPeriodEnd))
}

// askCancel serves the page on which a subscription is cancelled. One that ends already is shown instead.
func (p *Pages) askCancel(v *visit) error { return p.showCancel(nil)(v, http.StatusOK, "") }

// showCancel returns what answers with that page, and with what was typed into its form.
func (p *Pages) showCancel(typed form) func(v *visit, status int, problem string) error {
	return func(v *visit, status int, problem string) error {
		sub, err := p.store.CustomerSubscription(v.ctx(), v.Session.AccountID, v.Customer.ID, v.Param("subscription"))
		if err != nil {
			return p.refuse(v, err)
		}
		if sub.EndedAt != nil || sub.CancelAt() != nil {
			return p.showSubscription(v, status, problem)
		}
		page := &portalCancel{
			portalPage: v.page(v.l.T("cancel.title", "plan", planName(sub)), problem), Subscription: sub, EndsAtOnce: endsAtOnce(sub, p.store.Now()),
			Reasons: cancelReasons, Reason: typed["reason"], Comment: typed["comment"], Resumes: resumes(sub),
		}
		if page.Last, err = p.lastBill(v, sub); err != nil {
			return err
		}
		return p.render(v, status, "portal_cancel.html", page.frame(), page)
	}
}

// cancelSubscription takes the form that cancels a subscription, with the reason that the customer gives. They choose neither
// when it ends nor whether anything is refunded.
func (p *Pages) cancelSubscription(v *visit) error {
	typed := form{"reason": v.FormValue("reason"), "comment": strings.TrimSpace(textOnly(v.FormValue("comment")))}
	show := p.showCancel(typed)
	in := store.CancelSubscription{Customer: v.Customer.ID}
	if at := slices.IndexFunc(cancelReasons, func(r subscription.CancellationReason) bool { return string(r) == typed["reason"] }); at >= 0 {
		in.Reason = &cancelReasons[at]
	} else if typed["reason"] != "" {
		return show(v, http.StatusUnprocessableEntity, v.l.T("cancel.choose"))
	}
	if comment := typed["comment"]; comment != "" {
		in.Comment = &comment
		if utf8.RuneCountInString(comment) > maxCancelComment {
			return show(v, http.StatusUnprocessableEntity, v.l.T("cancel.comment_long", "number", maxCancelComment))
		}
	}
	return p.change(v, "canceled", show, func(id string) error {
		_, err := p.store.CancelSubscription(v.doing("cancelSubscription"), v.Session.AccountID, id, in)
		return err
	})
}

// resumeSubscription ends the pause that a customer took, or takes it back before it begins.
func (p *Pages) resumeSubscription(v *visit) error {
	return p.change(v, "resumed", p.showSubscription, func(id string) error {
		_, err := p.store.EndOwnPause(v.doing("resumeSubscription"), v.Session.AccountID, id)
		return err
	})
}

// pauseEnd returns until when a customer pauses: for the month after a period.
func pauseEnd(period core.Time) core.Time { return core.TimeOf(period.Time().AddDate(0, 1, 0)) }

// pauseSubscription takes the offer: the subscription is paused for the month after its period.
func (p *Pages) pauseSubscription(v *visit) error {
	return p.change(v, "paused", p.showCancel(nil), func(id string) error {
		sub, err := p.store.Subscription.Get(v.ctx(), v.Session.AccountID, id)
		if err != nil || sub.PauseAtPeriodEnd { // the button was pressed twice
			return err
		}
		until := resumes(sub)
		if until == nil {
			return explanation(v.l.T("subscription.no_pause"))
		}
		_, err = p.store.PauseSubscription(v.doing("pauseSubscription"), v.Session.AccountID, id, store.PauseSubscription{ResumesAt: until, ByCustomer: true})
		return err
	})
}
