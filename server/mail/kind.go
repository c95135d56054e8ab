package mail

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// write returns what a letter tells of, and what it says unless it is void.
func (p *Post) write(ctx context.Context, l *store.Letter) (*store.LetterContent, content, error) {
	told, err := p.store.ReadLetter(ctx, l)
	if err != nil || told.Void != "" || told.Wait > 0 {
		return told, content{}, err
	}
	var c content
	switch l.Kind {
	case tenant.LetterReceipt:
		c, err = p.receipt(ctx, told.Seller, told.Order, told.Deliveries)
	case tenant.LetterPaymentFailed:
		c = paymentFailed(told)
	case tenant.LetterTrialEnding:
		c = trialEnding(told)
	case tenant.LetterSubscriptionCanceled:
		c = subscriptionCanceled(told)
	case tenant.LetterSubscriptionEnded:
		c = subscriptionEnded(told)
	case tenant.LetterAccessGiven:
		c = accessGiven(told, l.Period != "")
	case tenant.LetterRefund:
		c = refunded(told)
	default:
		err = fmt.Errorf("nobody has said what a letter of kind %q says", l.Kind)
	}
	return told, c, err
}

func paymentFailed(told *store.LetterContent) content {
	i, sub := told.Invoice, told.Subscription
	c := content{
		subject: "Your payment to " + nameOf(told.Seller) + " did not go through",
		opening: []string{"There is no card that could be charged for " + oneLine(sub.Describe()) + "."},
		facts:   []string{"Amount due: " + core.FormatAmount(i.AmountDue(), i.Currency)},
		actions: []action{{"Pay it now, with another card too:", i.HostedURL, "Pay now"}},
		closing: []string{"If it cannot be charged in the end, your subscription is over."},
	}
	if told.Payment != nil {
		c.opening = []string{"We could not charge your " + card(told.Payment.PaymentMethod.V) + " for " + oneLine(sub.Describe()) + "."}
		if failure := told.Payment.Failure.V; failure != nil {
			c.facts = append(c.facts, "Reason: "+oneLine(failure.Message))
		}
	}
	if sub.NextAttemptAt == nil { // it has ended, and this is its last invoice
		c.closing = []string{"Your subscription is over. This is what was still to be billed, and it is not charged again by itself."}
		return c
	}
	c.facts = append(c.facts, "Next attempt: "+date(told.Seller, *sub.NextAttemptAt))
	return c
}

func trialEnding(told *store.LetterContent) content {
	sub, end := told.Renewal.Subscription, date(told.Seller, *told.Subscription.TrialEnd)
	return content{
		subject: fmt.Sprintf("Your trial at %s ends on %s", nameOf(told.Seller), end),
		opening: []string{fmt.Sprintf("Your free trial of %s ends on %s.", oneLine(sub.Describe()), end)},
		facts:   trialPrices(told.Renewal, end),
		closing: []string{"If you do not want to go on, cancel before that day. Answer this letter if you need help with it."},
	}
}

// trialPrices says what is paid when a trial is over, and then for each period: nothing that a discount for some months makes untrue.
func trialPrices(r *store.SubscriptionRenewal, end string) []string {
	sub, first := r.Subscription, r.Items[0]
	prices := []string{fmt.Sprintf("On %s: %s", end, core.FormatAmount(r.Amounts.Total, sub.Currency))}
	if r.Balance > 0 {
		prices = append(prices, "Your credit pays "+core.FormatAmount(r.Balance, sub.Currency)+" of it.")
	}
	if r.IsLast() {
		return append(prices, "There are no payments after that one.")
	}
	each := every(sub.Interval, sub.IntervalCount)
	if r.Recurs() {
		return append(prices, fmt.Sprintf("From then on: %s %s", core.FormatAmount(r.Amounts.Total, sub.Currency), each))
	}
	tax := ""
	if first.TaxRateBps > 0 && !first.TaxInclusive {
		tax = ", plus tax"
	}
	return append(prices, fmt.Sprintf("The price without discounts: %s %s%s", core.FormatAmount(first.SubtotalAmount, sub.Currency), each, tax))
}

func subscriptionCanceled(told *store.LetterContent) content {
	sub := told.Subscription
	charged := "and you are not charged for it any more."
	if told.LastBill > 0 {
		charged = "when a last bill charges " + core.FormatAmount(told.LastBill, sub.Currency) + " for changes that were not billed yet."
	}
	return content{
		subject: "Your subscription at " + nameOf(told.Seller) + " is cancelled",
		opening: []string{fmt.Sprintf("Your subscription to %s is cancelled. It goes on until %s, %s", oneLine(sub.Describe()), date(told.Seller, *sub.CancelAt()), charged)},
		closing: []string{"If you would rather keep it, answer this letter before that day."},
	}
}

func subscriptionEnded(told *store.LetterContent) content {
	sub, end := told.Subscription, date(told.Seller, *told.Subscription.EndedAt)
	c := content{subject: "Your subscription at " + nameOf(told.Seller) + " has ended"}
	if sub.Status == store.SubscriptionStatusCompleted {
		c.subject = "Your subscription at " + nameOf(told.Seller) + " is complete"
		c.opening = []string{"Your subscription to " + oneLine(sub.Describe()) + " has run to its end. It is not renewed any more."}
		if sub.HasProduct() {
			c.opening = append(c.opening, "You keep your access to it.")
		}
		return c
	}
	why := ""
	if sub.CancellationReason != nil && *sub.CancellationReason == store.CancellationReasonPaymentFailed {
		why = ", because it could not be charged"
	}
	c.opening = []string{fmt.Sprintf("Your subscription to %s ended on %s%s.", oneLine(sub.Describe()), end, why)}
	if sub.HasProduct() {
		c.facts = []string{"Your access ended on " + end + "."}
	}
	if site := told.Seller.WebsiteURL; site != nil {
		c.actions = []action{{"You can come back at any time:", *site, "Visit " + nameOf(told.Seller)}}
	}
	return c
}

// accessGiven tells of a grant, or of its licence key alone, for which the reader had to wait.
func accessGiven(told *store.LetterContent, isKey bool) content {
	seller, product := nameOf(told.Seller), oneLine(told.Product)
	c := content{
		subject: fmt.Sprintf("You have access to %s from %s", product, seller),
		opening: []string{fmt.Sprintf("%s has given you access to %s.", seller, product)},
	}
	if isKey {
		c.subject, c.opening = fmt.Sprintf("Your licence key for %s from %s", product, seller), []string{"Your licence key for " + product + " is here."}
	}
	if told.Grant.ExpiresAt != nil {
		c.facts = []string{"You have it until " + date(told.Seller, *told.Grant.ExpiresAt) + "."}
	}
	var hasFiles bool
	if c.items, hasFiles = itemsOf(told.Deliveries); hasFiles {
		c.closing = append(c.closing, filesEnd)
	}
	return c
}

func refunded(told *store.LetterContent) content {
	seller, amount := nameOf(told.Seller), core.FormatAmount(told.Refund.Amount, told.Refund.Currency)
	where := "It goes to the card that you paid with, and may take some days to be seen there."
	switch credit := told.Refund.BalanceAmount; {
	case credit == told.Refund.Amount:
		where = "It is credit of yours now, which pays your next invoices."
	case credit > 0:
		where = core.FormatAmount(credit, told.Refund.Currency) + " of it is credit of yours now, which pays your next invoices. The rest goes to the card that you paid with, and may take some days to be seen there."
	}
	return content{
		subject: fmt.Sprintf("Your refund from %s: order %d", seller, told.Order.Number),
		opening: []string{fmt.Sprintf("%s has given you back %s of your order %d.", seller, amount, told.Order.Number), where},
		actions: []action{{"Your receipt, also as PDF:", told.Order.ReceiptURL, "See the receipt"}},
	}
}

// card names a card, such as "visa card ending in 4242".
func card(m store.PaymentMethod) string {
	if m.Last4 == "" {
		return "card"
	}
	return m.Brand + " card ending in " + m.Last4
}

// date returns the day of a moment where the seller is.
func date(seller *tenant.Account, at core.Time) string {
	return seller.Local(at).Format("2 January 2006")
}

// every returns an interval in words, such as "every month" or "every 3 weeks".
func every(interval string, count int64) string {
	if count == 1 {
		return "every " + interval
	}
	return "every " + strconv.FormatInt(count, 10) + " " + interval + "s"
}
