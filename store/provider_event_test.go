package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/payment"
)

// What was told is known for longer than a provider tries, and not for ever.
func TestDeleteOldProviderEvents_ForgetsWhatNobodyTellsAgain(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		applied := 0
		tell := func(id string) {
			t.Helper()
			require.NoError(t, s.Payment.ApplyProviderEvent(t.Context(), payment.ProviderEvent{AccountID: s.account, Provider: "stripe", ID: id},
				func(context.Context) error { applied++; return nil }))
		}
		now := time.Now()
		s.db.Options.Now = func() time.Time { return now.Add(-payment.ProviderEventLife - time.Minute) }
		for _, id := range []string{"evt_1", "evt_2", "evt_3"} {
			tell(id)
		}
		s.db.Options.Now = func() time.Time { return now.Add(-payment.ProviderEventLife + time.Minute) }
		tell("evt_4")
		s.db.Options.Now = func() time.Time { return now }
		for _, want := range []int64{2, 1, 0} {
			deleted, err := s.Payment.DeleteOldProviderEvents(t.Context(), 2)
			require.NoError(t, err)
			require.Equal(t, want, deleted)
		}
		require.Equal(t, 4, applied)
		tell("evt_4")
		require.Equal(t, 4, applied, "it is not so old")
	})
}
