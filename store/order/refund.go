package order

import (
	"strings"

	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/tenant"
)

// MaxRefunds bounds the refunds of an order, because the order lists them.
const MaxRefunds = 100

// Unreturnable says what of the rest of an order cannot be refunded, and what to do instead. It is empty if all of it can, from whichever source.
func (o *Order) Unreturnable() string {
	if o.RefundableAmount() >= o.KeptAmount() {
		return ""
	}
	var why []string
	switch charged := o.ChargedLeft(); {
	case o.RefundProvider == nil && charged > 0:
		why = append(why, "What was paid out of band goes back the way it came.")
	case charged > o.Returnable():
		why = append(why, tenant.PaymentsProvider(*o.RefundProvider).Refuses(charged, o.Currency)+" Give the rest back another way.")
	}
	if o.BalanceGone && o.appliedLeft() > 0 {
		why = append(why, "The customer was deleted: there is no balance to which what it paid could go back.")
	}
	return strings.Join(why, " ")
}

// Pricing returns the figures from which the tax in a refund of the order is computed.
func (o *Order) Pricing() pricing.Refundable {
	return pricing.Refundable{Total: o.TotalAmount, Tax: o.TaxAmount, Refunded: o.GivenBack(), RefundedTax: o.RefundedTaxAmount}
}

// GiveBack adds what a refund gives back, to the payment method and to the balance, to what is refunded of the order. It does the same with the
// tax in it, and sets the order's status. All are below 0 for a refund that has failed. The caller stores the order.
func (o *Order) GiveBack(charged, balance, tax int64) {
	o.RefundedAmount += charged
	o.RefundedBalance += balance
	o.RefundedTaxAmount += tax
	switch o.GivenBack() {
	case 0:
		o.Status = StatusPaid
	case o.TakenAmount():
		o.Status = StatusRefunded
	default:
		o.Status = StatusPartiallyRefunded
	}
}
