package store

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
)

// A key that leaves the list too early closes what it has sealed, and nothing else.
func TestCountClosed_CountsWhatAKeyHasLeftBehind(t *testing.T) {
	eachSender(t, func(t *testing.T, o *sender) {
		s := o.shop
		require.NoError(t, s.own(t, 1))
		e := o.endpoint(outbox.EventOrderCreated)
		require.NoError(t, s.own(t, 2, 1))
		o.endpoint(outbox.EventOrderCreated)
		count := func(want int) {
			closed, err := s.Seal.CountClosed(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, closed)
		}
		count(0)
		require.NoError(t, s.own(t, 2))
		count(1)

		claimed := o.claim(e, 4)
		require.Empty(t, claimed)
		_, err := o.Outbox.RotateWebhookSecret(t.Context(), o.account, e.ID, 0)
		require.NoError(t, err)
		count(0)
	})
}

// The secret before a rotation is in use as long as it signs. When its key has left the list, what is sent is signed with the new
// one alone, and whoever looks finds out.
func TestCountClosed_TheSecretBeforeARotationIsInUse(t *testing.T) {
	eachSender(t, func(t *testing.T, o *sender) {
		s := o.shop
		require.NoError(t, s.own(t, 1))
		e := o.endpoint(outbox.EventOrderCreated)
		require.NoError(t, s.own(t, 2, 1))
		rotated, err := o.Outbox.RotateWebhookSecret(t.Context(), o.account, e.ID, outbox.MaxSecretOverlap)
		require.NoError(t, err)
		closed := func(want ...string) {
			t.Helper()
			var ids []string
			for _, v := range s.closed(t) {
				ids = append(ids, v.Object)
			}
			require.ElementsMatch(t, want, ids)
			n, err := s.Seal.CountClosed(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(want), n)
		}
		closed()

		require.NoError(t, s.own(t, 2))
		closed(e.ID)
		require.False(t, s.adopt(t, false))
		o.emit(outbox.EventOrderCreated, "ord_1", 1)
		claimed := o.claim(e, 4)
		require.Len(t, claimed, 1, "nothing waits for the secret before")
		secret, previous, err := o.Outbox.OpenWebhookSecrets(claimed[0].Endpoint)
		require.NoError(t, err)
		require.Equal(t, []string{rotated.Secret, ""}, []string{secret, previous})

		stored, err := o.Outbox.GetWebhookEndpoint(t.Context(), o.account, e.ID)
		require.NoError(t, err)
		s.db.Options.Sealer = keysOf(t, 2, 1)
		stored.SealedPreviousSecret[len(stored.SealedPreviousSecret)-1] ^= 1
		_, _, err = o.Outbox.OpenWebhookSecrets(stored)
		require.ErrorIs(t, err, core.ErrSealed, "what was tampered with is not over")

		s.db.Options.Sealer = keysOf(t, 2)
		o.moved = outbox.MaxSecretOverlap + time.Second
		closed()
		require.True(t, s.adopt(t, false))
	})
}

// A checkout whose secret is closed gets another one, once, when its seller goes on with it. The one that its buyer has is good as before.
func TestUpdateCheckout_OneWhoseSecretIsClosedGetsAnother(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		require.NoError(t, s.own(t, 1))
		changed, renewed := s.checkout(t, s.onSale(t, fixedPrice(1000))), s.checkout(t, s.onSale(t, fixedPrice(1000)))
		refusesKey(t, s.own(t, 2))
		require.True(t, s.adopt(t, true))

		c, err := s.Checkout.Update(t.Context(), s.account, changed.ID, func(*checkout.Draft) {})
		require.NoError(t, err)
		s.hasBothSecrets(t, changed, c)

		var all sync.WaitGroup
		got := make([]*checkout.Checkout, 4)
		for i := range got {
			all.Go(func() { got[i], _ = s.Checkout.RenewClosedSecret(t.Context(), s.account, renewed.ID) })
		}
		all.Wait()
		for _, c := range got {
			require.NotNil(t, c)
			require.Equal(t, got[0].ClientSecret, c.ClientSecret)
		}
		s.hasBothSecrets(t, renewed, got[0])
	})
}

func (s *shop) hasBothSecrets(t *testing.T, before, after *checkout.Checkout) {
	t.Helper()
	require.NotEmpty(t, after.ClientSecret)
	require.NotEqual(t, before.ClientSecret, after.ClientSecret)
	for _, secret := range []string{before.ClientSecret, after.ClientSecret} {
		_, id, err := s.Checkout.OfSecret(t.Context(), secret)
		require.NoError(t, err)
		require.Equal(t, before.ID, id)
	}
	shown, err := s.Checkout.Get(t.Context(), s.account, before.ID)
	require.NoError(t, err)
	require.Equal(t, []string{after.ClientSecret, after.URL}, []string{shown.ClientSecret, shown.URL})
}
