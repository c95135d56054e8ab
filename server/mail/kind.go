package mail

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// write returns what a letter tells of, and what it says unless it is void.
func (p *Post) write(ctx context.Context, l *store.Letter) (*store.LetterContent, content, error) {
	told, err := p.store.ReadLetter(ctx, l)
	if err != nil || told.Void != "" || told.Wait > 0 {
		return told, content{}, err
	}
	var c content
	spoken := speaks(told.Locale, told.Seller)
	switch l.Kind {
	case tenant.LetterReceipt:
		c, err = p.receipt(ctx, spoken, told)
	case tenant.LetterPaymentFailed:
		c = paymentFailed(spoken, told)
	case tenant.LetterTrialEnding:
		c = trialEnding(spoken, told)
	case tenant.LetterSubscriptionCanceled:
		c = subscriptionCanceled(spoken, told)
	case tenant.LetterSubscriptionEnded:
		c = subscriptionEnded(spoken, told)
	case tenant.LetterAccessGiven:
		c = accessGiven(spoken, told, l.Period != "")
	case tenant.LetterRefund:
		c = refunded(spoken, told)
	case tenant.LetterSubscriptionKept:
		c = subscriptionKept(spoken, told)
	case tenant.LetterPlanChanged:
		c = planChanged(spoken, told)
	case tenant.LetterRenewalUpcoming:
		c = renewalUpcoming(spoken, told)
	case tenant.LetterCardExpiring:
		c = cardExpiring(spoken, told)
	case tenant.LetterInvoiceReminder:
		c = invoiceReminder(spoken, told)
	case tenant.LetterInvoice:
		c = invoiceSent(spoken, told)
	case tenant.LetterFileUpdated:
		c = fileUpdated(spoken, told)
	case tenant.LetterCheckoutAbandoned:
		c = checkoutAbandoned(spoken, told)
	case tenant.LetterProductNews:
		c = productNews(spoken, told)
	default:
		err = fmt.Errorf("nobody has said what a letter of kind %q says", l.Kind)
	}
	c.spoken = spoken
	return told, c, err
}

func paymentFailed(l *locale.Locale, told *store.LetterContent) content {
	i, sub := told.Invoice, told.Subscription
	plan := oneLine(sub.Describe())
	c := content{
		subject: l.T("mail.failed.subject", "seller", nameOf(told.Seller)),
		opening: []string{l.T("mail.failed.no_card", "plan", plan)},
		facts:   []string{l.T("mail.due", "amount", l.Money(i.AmountDue(), i.Currency))},
		actions: []action{{l.T("mail.failed.pay"), i.HostedURL, l.T("mail.failed.button")}},
		closing: []string{l.T("mail.failed.end")},
	}
	if told.Payment != nil {
		c.opening = []string{notCharged(l, told.Payment.PaymentMethod.V, plan)}
		switch failure := told.Payment.Failure.V; {
		case asksReader(failure):
			c.subject, c.opening = l.T("mail.bank.subject", "seller", nameOf(told.Seller)), []string{l.T("mail.bank.opening", "plan", plan)}
			c.actions[0].label = l.T("mail.bank.pay")
		case failure != nil:
			c.facts = append(c.facts, l.T("mail.failed.reason", "reason", declined(l, failure)))
		}
	}
	if sub.NextAttemptAt == nil { // it has ended, and this is its last invoice
		c.closing = []string{l.T("mail.failed.last")}
		return c
	}
	c.facts = append(c.facts, l.T("mail.failed.next", "day", date(l, told.Seller, *sub.NextAttemptAt)))
	return c
}

// asksReader reports whether a charge failed because the bank wants its customer to confirm it, who was away.
func asksReader(why *payment.Failure) bool {
	return why != nil && (why.Code == "payment_canceled" || why.Code == "authentication_required" || core.Deref(why.DeclineCode) == "authentication_required")
}

// declined says why a card was refused.
func declined(l *locale.Locale, why *payment.Failure) string {
	return oneLine(l.Declined(why.Message, why.Reason(), why.Code))
}

// notCharged says of which card a plan could not be charged to.
func notCharged(l *locale.Locale, m payment.Method, plan string) string {
	if m.Last4 == "" {
		return l.T("mail.failed.some_card", "plan", plan)
	}
	return l.T("mail.failed.card", "brand", brandOf(m), "last4", m.Last4, "plan", plan)
}

// brandOf writes the brand of a card as it stands on it.
func brandOf(m payment.Method) string {
	if m.Brand == "" {
		return ""
	}
	return strings.ToUpper(m.Brand[:1]) + m.Brand[1:]
}

func trialEnding(l *locale.Locale, told *store.LetterContent) content {
	sub, end := told.Renewal.Subscription, date(l, told.Seller, *told.Subscription.TrialEnd)
	return content{
		subject: l.T("mail.trial.subject", "seller", nameOf(told.Seller), "day", end),
		opening: []string{l.T("mail.trial.opening", "plan", oneLine(sub.Describe()), "day", end)},
		facts:   nextPrices(l, told.Renewal, end),
		actions: manages(l, told),
		closing: []string{l.T("mail.trial.closing")},
	}
}

// nextPrices says what is paid when the next period begins, and then for each period: nothing that a discount for some months makes untrue.
func nextPrices(l *locale.Locale, r *subscription.Renewal, end string) []string {
	sub, first := r.Subscription, r.Items[0]
	prices := []string{l.T("mail.next.first", "day", end, "amount", l.Money(r.Amounts.Total, sub.Currency))}
	if r.Balance > 0 {
		prices = append(prices, l.T("mail.next.credit", "amount", l.Money(r.Balance, sub.Currency)))
	}
	if r.IsLast() {
		return append(prices, l.T("mail.next.last"))
	}
	each, usual := l.Every(sub.Interval, sub.IntervalCount), l.Money(periodPrice(r), sub.Currency)
	if r.Recurs() {
		return append(prices, l.T("mail.next.then", "amount", usual, "every", each))
	}
	if first.TaxRateBps > 0 && !first.TaxInclusive {
		return append(prices, l.T("mail.next.usual_taxed", "amount", usual, "every", each))
	}
	return append(prices, l.T("mail.next.usual", "amount", usual, "every", each))
}

// periodPrice returns what each period costs after the next one, as far as that is known now: with tax, unless a discount ends before.
func periodPrice(r *subscription.Renewal) int64 {
	if r.Recurs() {
		return r.Items[0].TotalAmount
	}
	return r.Items[0].SubtotalAmount
}

func subscriptionCanceled(l *locale.Locale, told *store.LetterContent) content {
	sub := told.Subscription
	plan, end := oneLine(sub.Describe()), date(l, told.Seller, *sub.CancelAt())
	says := l.T("mail.canceled.opening", "plan", plan, "day", end)
	if told.LastBill > 0 {
		says = l.T("mail.canceled.last_bill", "plan", plan, "day", end, "amount", l.Money(told.LastBill, sub.Currency))
	}
	c := content{subject: l.T("mail.canceled.subject", "seller", nameOf(told.Seller)), opening: []string{says}}
	if sub.IsCustomersToKeep() {
		c.actions = []action{{l.T("mail.canceled.here"), told.PortalURL, l.T("portal.title")}}
	} else {
		c.closing = []string{l.T("mail.canceled.keep")}
	}
	return c
}

func subscriptionEnded(l *locale.Locale, told *store.LetterContent) content {
	sub, seller := told.Subscription, nameOf(told.Seller)
	plan, end := oneLine(sub.Describe()), date(l, told.Seller, *sub.EndedAt)
	if sub.Status == subscription.StatusCompleted {
		c := content{subject: l.T("mail.complete.subject", "seller", seller), opening: []string{l.T("mail.complete.opening", "plan", plan)}}
		if sub.HasProduct() {
			c.opening = append(c.opening, l.T("mail.complete.keep"))
		}
		return c
	}
	c := content{subject: l.T("mail.ended.subject", "seller", seller), opening: []string{l.T("mail.ended.opening", "plan", plan, "day", end)}}
	if sub.CancellationReason != nil && *sub.CancellationReason == subscription.CancellationReasonPaymentFailed {
		c.opening = []string{l.T("mail.ended.unpaid", "plan", plan, "day", end)}
	}
	if sub.HasProduct() {
		c.facts = []string{l.T("mail.ended.access", "day", end)}
	}
	if site := told.Seller.WebsiteURL; site != nil {
		c.actions = []action{{l.T("mail.ended.back"), *site, l.T("mail.ended.button", "seller", seller)}}
	}
	return c
}

// accessGiven tells of a grant, or of its licence key alone, for which the reader had to wait.
func accessGiven(l *locale.Locale, told *store.LetterContent, isKey bool) content {
	seller, product := nameOf(told.Seller), oneLine(told.Product)
	c := content{
		subject: l.T("mail.access.subject", "product", product, "seller", seller),
		opening: []string{l.T("mail.access.opening", "seller", seller, "product", product)},
	}
	if isKey {
		c.subject, c.opening = l.T("mail.key.subject", "product", product, "seller", seller), []string{l.T("mail.key.opening", "product", product)}
	}
	if told.Grant.ExpiresAt != nil {
		c.facts = []string{l.T("mail.access.until", "day", date(l, told.Seller, *told.Grant.ExpiresAt))}
	}
	var hasFiles bool
	if c.items, hasFiles = itemsOf(l, told.Deliveries); hasFiles {
		c.closing = append(c.closing, l.T("mail.files_end"))
	}
	return c
}

// fileUpdated leads to the new version of a file that the reader has.
func fileUpdated(l *locale.Locale, told *store.LetterContent) content {
	seller, file := nameOf(told.Seller), oneLine(told.Deliveries[0].FileName)
	items, _ := itemsOf(l, told.Deliveries[:1])
	return content{
		subject: l.T("mail.file.subject", "file", file, "seller", seller),
		opening: []string{l.T("mail.file.opening", "file", file, "seller", seller)},
		actions: []action{{l.T("mail.purchases"), told.PortalURL, l.T("portal.title")}},
		items:   items,
		closing: []string{l.T("mail.files_end")},
	}
}

// checkoutAbandoned leads back to a checkout that its reader did not finish, and to where they end such letters.
func checkoutAbandoned(l *locale.Locale, told *store.LetterContent) content {
	seller := nameOf(told.Seller)
	return content{
		subject: l.T("mail.abandoned.subject", "seller", seller),
		opening: []string{l.T("mail.abandoned.opening", "product", oneLine(told.Product), "seller", seller)},
		actions: []action{
			{l.T("mail.abandoned.go_on"), told.GoOnURL, l.T("mail.abandoned.button")},
			{l.T("mail.news.leave", "seller", seller), told.UnsubscribeURL, l.T("unsubscribe.button")},
		},
		leave: told.UnsubscribeURL,
	}
}

func refunded(l *locale.Locale, told *store.LetterContent) content {
	seller, number, amount := nameOf(told.Seller), orderNumber(told.Order), l.Money(told.Refund.Amount, told.Refund.Currency)
	where := l.T("mail.refund.card")
	switch credit := told.Refund.BalanceAmount; {
	case credit == told.Refund.Amount:
		where = l.T("mail.refund.credit")
	case credit > 0:
		where = l.T("mail.refund.both", "amount", l.Money(credit, told.Refund.Currency))
	}
	return content{
		subject: l.T("mail.refund.subject", "seller", seller, "number", number),
		opening: []string{l.T("mail.refund.opening", "seller", seller, "amount", amount, "number", number), where},
		actions: []action{{l.T("mail.receipt.see"), told.Order.ReceiptURL, l.T("mail.receipt.button")}},
	}
}

// orderNumber writes the number of an order as its receipt does.
func orderNumber(o *order.Order) string { return strconv.FormatInt(o.Number, 10) }

// date returns the day of a moment where the seller is.
func date(l *locale.Locale, seller *tenant.Account, at core.Time) string {
	return l.Day(seller.Local(at))
}
