package stripe_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// bank is the driver before a Stripe that remembers.
type bank struct {
	*stripe.Provider
	t    *testing.T
	fake *stripefake.Fake
	keys payments.Credentials

	refusedKeys []string
}

const (
	account = "acct_1"
	page    = "https://shop.test/checkout/1"
)

func open(t *testing.T) *bank {
	t.Parallel()
	b := &bank{t: t, fake: stripefake.New(t)}
	b.keys = payments.Credentials{SecretKey: b.fake.Key, WebhookSecret: b.fake.WebhookSecret}
	b.Provider = stripe.New(stripe.Options{
		Client: b.fake.Client(), BaseURL: b.fake.URL, Credentials: b.credentials,
		KeyRefused: func(_ context.Context, of, key string) {
			assert.Equal(t, account, of)
			b.refusedKeys = append(b.refusedKeys, key)
		},
	})
	return b
}

func (b *bank) credentials(_ context.Context, of string) (payments.Credentials, error) {
	if of != account {
		return payments.Credentials{}, core.Missing("account", "", of)
	}
	return b.keys, nil
}

func input(token, method string) payments.ChargeInput {
	return payments.ChargeInput{
		Token: token, Account: account, Amount: 1900, Currency: "usd", MethodRef: method,
		Metadata: map[string]string{"payment": token},
	}
}

// prepare announces a charge that can be made.
func (b *bank) prepare(in payments.ChargeInput) string {
	b.t.Helper()
	ref, err := b.PrepareCharge(b.t.Context(), in)
	require.NoError(b.t, err)
	return ref
}

// charge makes one from beginning to end.
func (b *bank) charge(in payments.ChargeInput) payments.Charge {
	b.t.Helper()
	ref := b.prepare(in)
	prepared, err := b.GetCharge(b.t.Context(), account, ref)
	require.NoError(b.t, err)
	require.Equal(b.t, payments.ChargePrepared, prepared.Status)
	charge, err := b.ConfirmCharge(b.t.Context(), account, ref, page)
	require.NoError(b.t, err)
	require.Equal(b.t, ref, charge.Ref)
	return charge
}

func (b *bank) get(ref string) payments.Charge {
	b.t.Helper()
	charge, err := b.GetCharge(b.t.Context(), account, ref)
	require.NoError(b.t, err)
	return charge
}

// refused asserts a CodeInvalid on payment_method.
func refused(t *testing.T, err error) *core.Error {
	t.Helper()
	var e *core.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, core.CodeInvalid, e.Code)
	assert.Contains(t, e.Fields, "payment_method")
	return e
}
