package mail

import (
	"fmt"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
)

// manages leads the reader to where they change what becomes of their subscriptions.
func manages(l *locale.Locale, told *store.LetterContent) []action {
	return []action{{l.T("mail.manage"), told.PortalURL, l.T("portal.title")}}
}

func subscriptionKept(l *locale.Locale, told *store.LetterContent) content {
	return content{
		subject: l.T("mail.kept.subject", "seller", nameOf(told.Seller)),
		opening: []string{l.T("mail.kept.opening", "plan", oneLine(told.Subscription.Describe()))},
		actions: manages(l, told),
	}
}

// planChanged tells of the plan that there is now, or of the one that begins with the next period. It names the day, unless that waits until somebody
// resumes the subscription.
func planChanged(l *locale.Locale, told *store.LetterContent) content {
	sub, next := told.Subscription, told.Subscription
	day := ""
	if told.Renewal != nil && !sub.RestsOpen() {
		day = date(l, told.Seller, told.Renewal.Subscription.CurrentPeriodStart)
	}
	says := l.T("mail.plan.now", "plan", oneLine(sub.Describe()))
	if sub.PendingChange.V != nil && told.Renewal != nil {
		next = told.Renewal.Subscription
		plan := oneLine(next.Describe())
		if day != "" && next.CurrentPlan().HasNameOf(sub.CurrentPlan()) { // without a day, the letter names no price
			plan = l.List(plan, l.Money(periodPrice(told.Renewal), next.Currency)+" "+l.Every(next.Interval, next.IntervalCount))
		}
		says = l.T("mail.plan.later", "plan", plan, "day", day)
		if day == "" {
			says = l.T("mail.plan.resumed", "plan", plan)
		}
	}
	c := content{subject: l.T("mail.plan.subject", "seller", nameOf(told.Seller)), opening: []string{says}, actions: manages(l, told)}
	if next.Quantity > 1 || sub.HasPieces() {
		c.facts = append(c.facts, l.T("mail.plan.count", "count", next.Quantity))
	}
	if day != "" {
		c.facts = append(c.facts, nextPrices(l, told.Renewal, day)...)
	}
	return c
}

func renewalUpcoming(l *locale.Locale, told *store.LetterContent) content {
	r, end := told.Renewal, date(l, told.Seller, told.Subscription.CurrentPeriodEnd)
	c := content{
		subject: l.T("mail.renewal.subject", "seller", nameOf(told.Seller), "day", end),
		opening: []string{l.T("mail.renewal.opening", "plan", oneLine(r.Subscription.Describe()), "day", end)},
		facts:   nextPrices(l, r, end),
		actions: manages(l, told),
	}
	if m := told.Method; m != nil && m.Card.Last4 != "" && r.Amounts.Total > r.Balance {
		c.facts = append(c.facts, l.T("mail.renewal.card", "brand", brandOf(m.Card), "last4", m.Card.Last4))
	}
	return c
}

func cardExpiring(l *locale.Locale, told *store.LetterContent) content {
	card := told.Method.Card
	return content{
		subject: l.T("mail.card.subject", "seller", nameOf(told.Seller)),
		opening: []string{l.T("mail.card.opening", "brand", brandOf(card), "last4", card.Last4, "plan", oneLine(told.Subscription.Describe()),
			"month", fmt.Sprintf("%02d", card.ExpMonth), "year", fmt.Sprint(card.ExpYear))},
		actions: []action{{l.T("mail.card.change"), told.PortalURL, l.T("portal.title")}},
	}
}

// invoiceReminder reminds the reader of an invoice that is not paid.
func invoiceReminder(l *locale.Locale, told *store.LetterContent) content {
	i := told.Invoice
	day := date(l, told.Seller, *i.DueAt)
	title := l.T("mail.reminder.due", "number", *i.Number, "seller", nameOf(told.Seller), "day", day)
	if told.IsLate {
		title = l.T("mail.reminder.late", "number", *i.Number, "seller", nameOf(told.Seller), "day", day)
	}
	return content{
		subject: title,
		opening: []string{title},
		facts:   []string{l.T("mail.due", "amount", l.Money(i.AmountDue(), i.Currency))},
		actions: []action{{l.T("mail.invoice.pay"), i.HostedURL, l.T("mail.invoice.pay_button")}},
		closing: []string{l.T("mail.reminder.paid")},
	}
}
