package billing_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
)

// silent is a provider that counts what it is asked about charges, and does not answer while it is away.
type silent struct {
	*flaky
	away  atomic.Bool
	asked atomic.Int64
}

func (s *silent) GetCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	s.asked.Add(1)
	if s.away.Load() {
		return payments.Charge{}, errLine
	}
	return s.flaky.GetCharge(ctx, account, ref)
}

func (s *silent) CancelCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	s.asked.Add(1)
	if s.away.Load() {
		return payments.Charge{}, errLine
	}
	return s.flaky.CancelCharge(ctx, account, ref)
}

// stopped is the world's shop on a server whose clock stands still, with a provider of its own.
func (w *world) stopped(p payments.Provider) (*store.Store, *billing.Billing) {
	w.t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(w.t, err)
	now := time.Now()
	s, err := store.Open(w.t.Context(), store.Options{
		CloseTime: time.Minute,
		URL:       w.url, Sealer: sealer, Synchronous: "normal", PublicURL: "http://shop.test",
		Now:    func() time.Time { return now },
		Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
	})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { assert.NoError(w.t, s.Close()) })
	return s, billing.New(s, payments.NewRegistry(p)).Patient()
}

// A buyer without a key sends the same request again, because nobody knew what became of it. The provider is asked as seldom as for one who looks
// at a page. The seller's own program is not held up.
func TestConfirmCheckout_SentAgainInPublicAsksSeldom(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, isPublic := range []bool{true, false} {
			provider := &silent{flaky: w.provider}
			s, b := w.stopped(provider)
			bought := w.checkout(one(w.handbook()))
			confirm := func() (string, bool, error) {
				key := &core.Key{Account: w.account, Key: "confirm " + bought.ID, External: true, Keyless: isPublic}
				answer, replayed, err := s.Request(t.Context(), key, func(ctx context.Context) (*core.Answer, error) {
					in := with("pm_card_visa")
					in.IsPublic = isPublic
					c, err := b.ConfirmCheckout(ctx, w.account, bought.ID, in)
					if err != nil {
						return nil, err
					}
					return &core.Answer{Status: 200, Body: []byte(c.Status)}, nil
				})
				if answer == nil {
					return "", replayed, err
				}
				return string(answer.Body), replayed, err
			}
			provider.lost.Store(true)
			provider.away.Store(true)
			_, _, err := confirm()
			require.Equal(t, core.Unknown, core.OutcomeOf(err), "%v", err)
			provider.lost.Store(false)
			before := provider.asked.Load()
			for range 20 {
				_, _, err := confirm()
				require.Equal(t, core.Unknown, core.OutcomeOf(err), "%v", err)
			}
			want := map[bool]int64{true: 4, false: 20}[isPublic]
			require.Equal(t, want, provider.asked.Load()-before, "public: %v", isPublic)

			provider.away.Store(false)
			w.due(bought.ID)
			require.NoError(t, w.Reconcile(t.Context()))
			status, _, err := confirm()
			require.NoError(t, err)
			require.Equal(t, string(checkout.StatusCompleted), status, "what is known meanwhile is said at once")
			_, replayed, err := confirm()
			require.NoError(t, err)
			require.True(t, replayed)
		}
		assert.Len(t, w.orders(), 2)
	})
}

// The button by which a buyer gives up a payment has the provider asked as seldom.
func TestLeavePayment_AsksSeldom(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		provider := &silent{flaky: w.provider}
		_, b := w.stopped(provider)
		c := w.checkout(one(w.handbook()))
		_, err := b.ConfirmCheckout(t.Context(), w.account, c.ID, with(consents))
		require.NoError(t, err)
		provider.away.Store(true)
		before := provider.asked.Load()
		for range 20 {
			require.Equal(t, core.Unknown, core.OutcomeOf(b.LeavePayment(t.Context(), w.account, c.ID)))
		}
		require.EqualValues(t, 4, provider.asked.Load()-before)
		provider.away.Store(false)
		require.NoError(t, w.CancelCheckoutPayment(t.Context(), w.account, c.ID))
		require.NoError(t, b.LeavePayment(t.Context(), w.account, c.ID), "there is nothing to give up")
		assert.Equal(t, checkout.StatusOpen, w.get(c.ID).Status)
	})
}
