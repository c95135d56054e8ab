package payments_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// far is a provider that notes whether it was given a deadline.
type far struct {
	payments.Provider
	bounded bool
}

func (f *far) PrepareCharge(ctx context.Context, _ payments.ChargeInput) (string, error) {
	_, f.bounded = ctx.Deadline()
	return "ref", nil
}

func (f *far) ConfirmCharge(context.Context, string, string, string) (payments.Charge, error) {
	return payments.Charge{}, nil
}

func (f *far) GetCharge(context.Context, string, string) (payments.Charge, error) {
	return payments.Charge{}, nil
}

func (f *far) CancelCharge(context.Context, string, string) (payments.Charge, error) {
	return payments.Charge{}, nil
}

func (f *far) CreateCustomer(context.Context, payments.CustomerInput) (string, error) { return "", nil }

func (f *far) AttachMethod(context.Context, payments.AttachInput) (payments.Method, error) {
	return payments.Method{}, nil
}

func (f *far) DetachMethod(context.Context, string, string) error { return nil }

func (f *far) Refund(context.Context, payments.RefundInput) (payments.Refund, error) {
	return payments.Refund{}, nil
}

func (f *far) GetRefund(context.Context, string, string, string) (payments.Refund, bool, error) {
	return payments.Refund{}, false, nil
}

func (f *far) CancelRefund(context.Context, string, string) (payments.Refund, error) {
	return payments.Refund{}, nil
}

func (f *far) Authenticate(ctx context.Context, _, _ string) (payments.Charge, error) {
	_, f.bounded = ctx.Deadline()
	return payments.Charge{}, nil
}

func TestOutsideAuthenticator_BoundsTheCall(t *testing.T) {
	t.Parallel()
	f := &far{}
	_, err := payments.OutsideAuthenticator(f).Authenticate(t.Context(), "acct_1", "ref")
	require.NoError(t, err)
	assert.True(t, f.bounded)
}

func TestOutside_BoundsEveryCall(t *testing.T) {
	t.Parallel()
	f := &far{}
	_, err := payments.Outside(f).PrepareCharge(t.Context(), payments.ChargeInput{})
	require.NoError(t, err)
	assert.True(t, f.bounded)
}

func TestOutside_PanicsInsideATransaction(t *testing.T) {
	t.Parallel()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{URL: database.URL(t, "sqlite"), Sealer: sealer, CloseTime: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	p, a := payments.Outside(&far{}), payments.OutsideAuthenticator(&far{})
	_, _, err = s.Request(t.Context(), nil, func(ctx context.Context) (*core.Answer, error) {
		assert.Panics(t, func() { _, _ = p.CreateCustomer(ctx, payments.CustomerInput{}) })
		assert.Panics(t, func() { _, _ = p.AttachMethod(ctx, payments.AttachInput{}) })
		assert.Panics(t, func() { _ = p.DetachMethod(ctx, "acct_1", "pm_1") })
		assert.Panics(t, func() { _, _ = p.PrepareCharge(ctx, payments.ChargeInput{}) })
		assert.Panics(t, func() { _, _ = p.ConfirmCharge(ctx, "acct_1", "ref", "") })
		assert.Panics(t, func() { _, _ = p.GetCharge(ctx, "acct_1", "ref") })
		assert.Panics(t, func() { _, _ = p.CancelCharge(ctx, "acct_1", "ref") })
		assert.Panics(t, func() { _, _ = p.Refund(ctx, payments.RefundInput{}) })
		assert.Panics(t, func() { _, _, _ = p.GetRefund(ctx, "acct_1", "ref", "token") })
		assert.Panics(t, func() { _, _ = p.CancelRefund(ctx, "acct_1", "ref") })
		assert.Panics(t, func() { _, _ = a.Authenticate(ctx, "acct_1", "ref") })
		return &core.Answer{Status: 200}, nil
	})
	require.NoError(t, err)
}
