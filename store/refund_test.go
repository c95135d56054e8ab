package store

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
)

// Refunds that come and fail in any order never give back more than was paid, to the card or to the balance. They give back all of the tax once
// nothing is left.
func TestRefund_AnySequenceEndsExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, 50_000).Draw(t, "total")
		applied := rapid.Int64Range(0, total).Draw(t, "applied")
		o := &order.Order{TotalAmount: total, PaidAmount: total - applied, BalanceApplied: applied, BalanceTaken: applied, PaidAt: new(core.Time(1)), CustomerVerified: true, RefundProvider: new("test"), TaxAmount: rapid.Int64Range(0, total).Draw(t, "tax"), BillingReason: order.BillingReasonPurchase}
		var made []*Refund
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(made) > 0 && rapid.Bool().Draw(t, "fails") {
				i := rapid.IntRange(0, len(made)-1).Draw(t, "which")
				o.GiveBack(-made[i].ChargedAmount(), -made[i].BalanceAmount, -made[i].TaxAmount)
				made = append(made[:i], made[i+1:]...)
			} else if r := (&Refund{PaymentID: "pay_1"}); r.reserve(o, NewRefund{Amount: new(rapid.Int64Range(0, total+1).Draw(t, "amount"))}) == nil {
				made = append(made, r)
			}
			holds(t, o, made)
		}
		if o.RefundableAmount() > 0 {
			last := &Refund{PaymentID: "pay_1"}
			require.NoError(t, last.reserve(o, NewRefund{}))
			require.True(t, last.RevokeAccess)
			holds(t, o, append(made, last))
		}
		require.Zero(t, o.RefundableAmount())
		require.Equal(t, o.TaxAmount, o.RefundedTaxAmount)
		require.Equal(t, order.StatusRefunded, o.Status)
		require.Error(t, (&Refund{PaymentID: "pay_1"}).reserve(o, NewRefund{}))
	})
}

// holds checks an order against its refunds.
func holds(t *rapid.T, o *order.Order, refunds []*Refund) {
	var amount, balance, tax int64
	for _, r := range refunds {
		require.Positive(t, r.Amount)
		require.LessOrEqual(t, r.TaxAmount, r.Amount)
		amount, balance, tax = amount+r.Amount, balance+r.BalanceAmount, tax+r.TaxAmount
	}
	require.Equal(t, amount, o.GivenBack())
	require.Equal(t, balance, o.RefundedBalance)
	require.LessOrEqual(t, balance, o.BalanceApplied)
	require.LessOrEqual(t, o.RefundedAmount, o.PaidAmount)
	require.Equal(t, tax, o.RefundedTaxAmount)
	require.LessOrEqual(t, tax, o.TaxAmount)
}

// Whoever paid an order, and by which means, what is shown as refundable is not refused, and nothing more is given back.
func TestRefundableAmount_IsNeverRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, 50_000).Draw(t, "total")
		applied := rapid.SampledFrom([]int64{0, total, rapid.Int64Range(0, total).Draw(t, "applied")}).Draw(t, "of it")
		o := &order.Order{
			TotalAmount: total, PaidAmount: total - applied, BalanceApplied: applied, PaidAt: new(core.Time(1)), Status: order.StatusPaid,
			Currency: rapid.SampledFrom([]string{"usd", "kwd"}).Draw(t, "currency"), CustomerVerified: rapid.Bool().Draw(t, "verified"),
			RefundProvider: rapid.SampledFrom([]*string{nil, new("test"), new("stripe")}).Draw(t, "provider"),
			BalanceGone:    rapid.Bool().Draw(t, "gone"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			if o.KeptAmount() > 0 && rapid.Bool().Draw(t, "credits") {
				o.CreditedAmount += rapid.Int64Range(0, o.KeptAmount()).Draw(t, "credit")
				continue
			}
			r := &Refund{PaymentID: "pay_1", Provider: core.Deref(o.RefundProvider), Currency: o.Currency}
			_ = r.reserve(o, NewRefund{Amount: new(rapid.Int64Range(1, total).Draw(t, "amount"))})
		}
		most := o.RefundableAmount()
		require.LessOrEqual(t, most, max(o.KeptAmount(), 0))
		require.Equal(t, most < o.KeptAmount(), o.Unreturnable() != "", "what cannot be refunded says why")
		r := &Refund{PaymentID: "pay_1", Provider: core.Deref(o.RefundProvider), Currency: o.Currency}
		require.Error(t, r.reserve(o, NewRefund{Amount: new(most + 1)}))
		err := r.reserve(o, NewRefund{Amount: &most})
		require.Equal(t, most == 0, err != nil, "%v", err)
		require.Zero(t, o.RefundableAmount())
	})
}
