package stripe_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

func back(token, charge string, amount int64) payments.RefundInput {
	return payments.RefundInput{
		Token: token, Account: account, ChargeRef: charge, Amount: amount, Currency: "usd", Reason: "duplicate",
		Metadata: map[string]string{"refund": token},
	}
}

func (b *bank) refund(token, charge string, amount int64) payments.Refund {
	b.t.Helper()
	refund, err := b.Refund(b.t.Context(), back(token, charge, amount))
	require.NoError(b.t, err)
	return refund
}

// found looks a refund up by its token.
func (b *bank) found(charge, token string) payments.Refund {
	b.t.Helper()
	refund, found, err := b.GetRefund(b.t.Context(), account, charge, token)
	require.NoError(b.t, err)
	require.True(b.t, found)
	return refund
}

func TestRefund_GivesBackOnce(t *testing.T) {
	b := open(t)
	charge := b.charge(input("pay_1", "pm_card_visa")).Ref
	first := b.refund("re_1", charge, 500)
	assert.Equal(t, payments.RefundSucceeded, first.Status)
	assert.Equal(t, first, b.refund("re_1", charge, 500))
	assert.Equal(t, first, b.found(charge, "re_1"))
	assert.EqualValues(t, 1400, b.fake.Taken())
	assert.Equal(t, "duplicate", b.fake.Object(first.Ref)["reason"])

	for reason, told := range map[string]any{"customer_request": "requested_by_customer", "fraudulent": "fraudulent", "satisfaction_guarantee": nil} {
		in := back("re_"+reason, charge, 100)
		in.Reason = reason
		another, err := b.Refund(t.Context(), in)
		require.NoError(t, err)
		assert.Equal(t, told, b.fake.Object(another.Ref)["reason"], reason)
	}
	assert.EqualValues(t, 1100, b.fake.Taken())
	for token, of := range map[string]string{"re_nobody": charge, "re_1": b.charge(input("pay_2", "pm_card_visa")).Ref} {
		_, found, err := b.GetRefund(t.Context(), account, of, token)
		require.NoError(t, err)
		assert.False(t, found, token)
	}
}

func TestRefund_ThatCanNeverBeHasFailed(t *testing.T) {
	b := open(t)
	charge := b.charge(input("pay_1", "pm_card_visa")).Ref
	b.refund("re_1", charge, 1900)
	assert.Equal(t, payments.Refund{Status: payments.RefundFailed, FailureReason: "charge_already_refunded"}, b.refund("re_2", charge, 1))
	assert.Equal(t, "resource_missing", b.refund("re_3", "pi_nobody", 1).FailureReason)
	dinars := back("re_4", charge, 5)
	dinars.Currency = "kwd"
	failed, err := b.Refund(t.Context(), dinars)
	require.NoError(t, err)
	assert.Equal(t, payments.Refund{Status: payments.RefundFailed, FailureReason: "amount_not_supported"}, failed)

	_, err = b.Refund(t.Context(), back("re_1", charge, 5))
	assert.Error(t, err, "that token has given back something else: this is unknown, not failed")
}

func TestRefund_ThatTimesOutIsFound(t *testing.T) {
	b := open(t)
	charge := b.charge(input("pay_1", "pm_card_visa")).Ref
	b.fake.Spoil(stripefake.Fault{Path: "/v1/refunds"})
	_, err := b.Refund(t.Context(), back("re_1", charge, 500))
	require.Error(t, err)
	assert.Equal(t, payments.RefundSucceeded, b.found(charge, "re_1").Status)
	b.fake.Spoil(stripefake.Fault{Path: "/v1/refunds", Status: 500})
	_, err = b.Refund(t.Context(), back("re_2", charge, 500))
	require.Error(t, err)
	_, found, err := b.GetRefund(t.Context(), account, charge, "re_2")
	require.NoError(t, err)
	assert.False(t, found)
	assert.EqualValues(t, 1400, b.fake.Taken())
}

// A hundred newer refunds of the same charge do not hide one.
func TestGetRefund_LooksOnEveryPage(t *testing.T) {
	b := open(t)
	charge := b.charge(input("pay_1", "pm_card_visa")).Ref
	first := b.refund("re_1", charge, 1)
	for i := range 120 {
		b.refund("re_more_"+string(rune('a'+i/26))+string(rune('a'+i%26)), charge, 1)
	}
	assert.Equal(t, first, b.found(charge, "re_1"))
}

func TestRefund_IsWhatTheBankMakesOfIt(t *testing.T) {
	b := open(t)
	charge := b.charge(input("pay_1", "pm_card_pendingRefund")).Ref
	pending := b.refund("re_1", charge, 500)
	assert.Equal(t, payments.RefundPending, pending.Status)
	still, err := b.CancelRefund(t.Context(), account, pending.Ref)
	require.NoError(t, err)
	assert.Equal(t, pending, still, "Stripe cancels only what waits for the buyer")
	b.fake.SettleRefund(pending.Ref, "succeeded")
	assert.Equal(t, payments.RefundSucceeded, b.found(charge, "re_1").Status)

	waiting := b.refund("re_2", charge, 500)
	b.fake.SettleRefund(waiting.Ref, "requires_action")
	assert.Equal(t, payments.RefundPending, b.found(charge, "re_2").Status)
	canceled, err := b.CancelRefund(t.Context(), account, waiting.Ref)
	require.NoError(t, err)
	assert.Equal(t, payments.RefundCanceled, canceled.Status)

	charge = b.charge(input("pay_2", "pm_card_refundFail")).Ref
	late := b.refund("re_3", charge, 500)
	assert.Equal(t, payments.RefundSucceeded, late.Status)
	b.fake.SettleRefund(late.Ref, "failed")
	assert.Equal(t, payments.Refund{Ref: late.Ref, Status: payments.RefundFailed, FailureReason: "expired_or_canceled_card"}, b.found(charge, "re_3"))
}
