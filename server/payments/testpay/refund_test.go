package testpay_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
)

// giveBack refunds a part of a charge.
func (b *bank) giveBack(charge payments.Charge, token string, amount int64) payments.Refund {
	b.t.Helper()
	refund, err := b.Refund(b.t.Context(), payments.RefundInput{
		Token: token, Account: "acct_1", ChargeRef: charge.Ref, Amount: amount, Currency: "usd",
	})
	require.NoError(b.t, err)
	return refund
}

// look asks what became of a refund.
func (b *bank) look(charge payments.Charge, token string) payments.Refund {
	b.t.Helper()
	refund, found, err := b.GetRefund(b.t.Context(), "acct_1", charge.Ref, token)
	require.NoError(b.t, err)
	require.True(b.t, found)
	return refund
}

func TestRefund_OneTokenIsOneRefund(t *testing.T) {
	each(t, func(t *testing.T, b *bank) {
		charge := b.charge("paid", "4242424242424242")
		_, found, err := b.GetRefund(t.Context(), "acct_1", charge.Ref, "first")
		require.NoError(t, err)
		assert.False(t, found)
		first := b.giveBack(charge, "first", 1000)
		assert.Equal(t, payments.RefundSucceeded, first.Status)
		assert.Equal(t, first, b.giveBack(charge, "first", 1000))
		assert.Equal(t, first, b.look(charge, "first"))
		_, err = b.Refund(t.Context(), payments.RefundInput{Token: "first", Account: "acct_1", ChargeRef: charge.Ref, Amount: 900})
		assert.Error(t, err, "a token belongs to what it was first used for")
		kept, err := b.CancelRefund(t.Context(), "acct_1", first.Ref)
		require.NoError(t, err)
		assert.Equal(t, first, kept, "an outcome never changes")
		_, err = b.CancelRefund(t.Context(), "acct_1", "tre_nonsense")
		assert.Error(t, err)
	})
}

func TestRefund_NeverGivesBackMoreThanWasCharged(t *testing.T) {
	each(t, func(t *testing.T, b *bank) {
		charge := b.charge("paid", "4242424242424242")
		var wait sync.WaitGroup
		var given [6]payments.Refund
		for i := range given {
			wait.Go(func() { given[i] = b.giveBack(charge, string(rune('a'+i)), 500) })
		}
		wait.Wait()
		succeeded := 0
		for _, refund := range given {
			if refund.Status == payments.RefundSucceeded {
				succeeded++
				continue
			}
			assert.Equal(t, payments.RefundFailed, refund.Status)
			assert.NotEmpty(t, refund.FailureReason)
		}
		assert.Equal(t, 3, succeeded)
		declined := b.charge("declined", "4000000000000002")
		assert.Equal(t, payments.RefundFailed, b.giveBack(declined, "of nothing", 1).Status)
		waits := b.charge("refunded later", "4000000000007726")
		assert.Equal(t, payments.RefundPending, b.giveBack(waits, "all of it", 1900).Status)
		assert.Equal(t, payments.RefundFailed, b.giveBack(waits, "and more", 1).Status)
	})
}

func TestGetRefund_LetsTimeDecide(t *testing.T) {
	each(t, func(t *testing.T, b *bank) {
		for number, want := range map[string]payments.Refund{
			"4000000000005126": {Status: payments.RefundFailed, FailureReason: "expired_or_canceled_card"},
			"4000000000007726": {Status: payments.RefundSucceeded},
		} {
			charge := b.charge("paid "+number, number)
			require.Equal(t, payments.ChargeSucceeded, charge.Status)
			first := b.giveBack(charge, number, 1900)
			assert.Equal(t, payments.RefundPending, first.Status)
			assert.Equal(t, payments.RefundPending, b.look(charge, number).Status)
			b.advance.Add(int64(10 * time.Second))
			want.Ref = first.Ref
			assert.Equal(t, want, b.look(charge, number))
			assert.Equal(t, want, b.look(charge, number))
		}
	})
}

func TestCancelRefund_GivesTheMoneyBackToTheCharge(t *testing.T) {
	each(t, func(t *testing.T, b *bank) {
		charge := b.charge("paid", "4000000000007726")
		refund, err := b.CancelRefund(t.Context(), "acct_1", b.giveBack(charge, "first", 1900).Ref)
		require.NoError(t, err)
		assert.Equal(t, payments.RefundCanceled, refund.Status)
		second := b.giveBack(charge, "second", 1900)
		assert.Equal(t, payments.RefundPending, second.Status)
		settled, err := b.test.SettleRefund(t.Context(), "acct_1", second.Ref, payments.RefundSucceeded)
		require.NoError(t, err)
		assert.Equal(t, payments.RefundSucceeded, settled.Status)
	})
}
