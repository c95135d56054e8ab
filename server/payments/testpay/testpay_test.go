package testpay_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// bank is a provider and what it needs for a charge.
type bank struct {
	payments.Provider
	t       *testing.T
	test    *testpay.Provider
	store   *store.Store
	advance *atomic.Int64
}

func each(t *testing.T, test func(t *testing.T, b *bank)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) { test(t, open(t, url)) })
}

func open(t *testing.T, url string) *bank {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	var advance atomic.Int64
	s, err := store.Open(t.Context(), store.Options{
		CloseTime: time.Minute,
		URL:       url, Sealer: sealer, Synchronous: "normal",
		Now: func() time.Time { return time.Now().Add(time.Duration(advance.Load())) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	provider := testpay.New(s.TestBank)
	return &bank{Provider: payments.Outside(provider), t: t, test: provider, store: s, advance: &advance}
}

func input(token, number string) payments.ChargeInput {
	method, err := accept(payments.Card{Number: number, ExpMonth: 12, ExpYear: 2030, CVC: "123"})
	if err != nil {
		panic(err)
	}
	return payments.ChargeInput{
		Token: token, Account: "acct_1", Amount: 1900, Currency: "usd", MethodRef: method.Ref,
	}
}

func (b *bank) charge(token, number string) payments.Charge {
	b.t.Helper()
	ref, err := b.PrepareCharge(b.t.Context(), input(token, number))
	require.NoError(b.t, err)
	prepared, err := b.GetCharge(b.t.Context(), "acct_1", ref)
	require.NoError(b.t, err)
	assert.Equal(b.t, payments.ChargePrepared, prepared.Status)
	charge, err := b.ConfirmCharge(b.t.Context(), "acct_1", ref, "")
	require.NoError(b.t, err)
	return charge
}

func TestConfirmCharge_DoesWhatTheCardSays(t *testing.T) {
	each(t, func(t *testing.T, b *bank) {
		for number, want := range map[string]string{
			"4242424242424242": "", "5555555555554444": "", "6011111111111117": "", "4000000000005126": "", "4000000000007726": "",
			"4000000000000002": "generic_decline", "4000000000009995": "insufficient_funds", "4000000000009987": "lost_card",
			"4000000000000069": "expired_card", "4000000000000127": "incorrect_cvc", "4000000000000119": "processing_error",
			"4000000000000341": "generic_decline",
		} {
			charge := b.charge("token_"+number, number)
			if want == "" {
				assert.Equal(t, payments.ChargeSucceeded, charge.Status, number)
				continue
			}
			require.Equal(t, payments.ChargeDeclined, charge.Status, number)
			assert.Equal(t, want, charge.Decline.DeclineCode)
			assert.NotEmpty(t, charge.Decline.Message)
		}
	})
}

func TestPrepareCharge_OneTokenIsOneCharge(t *testing.T) {
	each(t, func(t *testing.T, b *bank) {
		first := b.charge("token", "4242424242424242")
		again, err := b.PrepareCharge(t.Context(), input("token", "4242424242424242"))
		require.NoError(t, err)
		assert.Equal(t, first.Ref, again)
		other, err := b.PrepareCharge(t.Context(), input("token", "4000000000000002"))
		require.NoError(t, err)
		_, err = b.ConfirmCharge(t.Context(), "acct_1", other, "")
		assert.Error(t, err, "a token belongs to what it was first used for")
		foreign, err := b.GetCharge(t.Context(), "acct_2", first.Ref)
		require.NoError(t, err)
		assert.Equal(t, payments.ChargePrepared, foreign.Status, "accounts do not share charges")
		_, err = b.GetCharge(t.Context(), "acct_1", "tch_nonsense")
		assert.Error(t, err)
	})
}

func TestCharge_AnOutcomeNeverChanges(t *testing.T) {
	each(t, func(t *testing.T, b *bank) {
		paid, declined := b.charge("paid", "4242424242424242"), b.charge("declined", "4000000000000002")
		for _, call := range []func(ref string) (payments.Charge, error){
			func(ref string) (payments.Charge, error) { return b.ConfirmCharge(t.Context(), "acct_1", ref, "") },
			func(ref string) (payments.Charge, error) { return b.CancelCharge(t.Context(), "acct_1", ref) },
			func(ref string) (payments.Charge, error) { return b.test.Authenticate(t.Context(), "acct_1", ref) },
			func(ref string) (payments.Charge, error) { return b.GetCharge(t.Context(), "acct_1", ref) },
		} {
			for _, want := range []payments.Charge{paid, declined} {
				got, err := call(want.Ref)
				require.NoError(t, err)
				assert.Equal(t, want, got)
			}
		}
	})
}

func TestCharge_WaitsForTheBuyer(t *testing.T) {
	each(t, func(t *testing.T, b *bank) {
		waiting := b.charge("goes on", "4000002500003155")
		assert.Equal(t, payments.ChargeRequiresAction, waiting.Status)
		done, err := b.test.Authenticate(t.Context(), "acct_1", waiting.Ref)
		require.NoError(t, err)
		assert.Equal(t, payments.ChargeSucceeded, done.Status)

		given := b.charge("is given up", "4000002500003155")
		done, err = b.CancelCharge(t.Context(), "acct_1", given.Ref)
		require.NoError(t, err)
		assert.Equal(t, payments.ChargeCanceled, done.Status)
		done, err = b.ConfirmCharge(t.Context(), "acct_1", given.Ref, "")
		require.NoError(t, err)
		assert.Equal(t, payments.ChargeCanceled, done.Status)
	})
}
