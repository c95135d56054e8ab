package store

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// due returns the ids of the payments that a worker for the provider finds.
func (s *shop) due(t *testing.T, provider string, limit int) []string {
	t.Helper()
	found, err := s.Payment.Due(t.Context(), provider, limit)
	require.NoError(t, err)
	ids := []string{}
	for _, payment := range found {
		require.Equal(t, s.account, payment.AccountID)
		ids = append(ids, payment.ID)
	}
	return ids
}

// databaseNow is the time by the database's clock.
func (s *shop) databaseNow(t *testing.T) core.Time {
	t.Helper()
	now, err := db.Get[core.Time](t.Context(), s.db, `SELECT `+s.db.NowSQL())
	require.NoError(t, err)
	return *now
}

// Replicas' clocks differ. Whoever begins leases for a minute of the database's clock, with an Idempotency-Key and without.
func TestBeginConfirm_LeasesByTheClockOfTheDatabase(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900))
		for _, wrong := range []time.Duration{-2 * time.Hour, 2 * time.Hour} {
			s.db.Options.Now = func() time.Time { return time.Now().Add(wrong) }
			for _, key := range []*core.Key{nil, s.key(wrong.String(), "confirm")} {
				open := s.checkout(t, guide).ID
				before := s.databaseNow(t)
				_, _, err := s.Request(t.Context(), key, func(ctx context.Context) (*core.Answer, error) {
					begun, err := s.BeginConfirm(ctx, s.account, open, byCard)
					require.NoError(t, err)
					require.WithinRange(t, begun.Payment.LeaseUntil.Add(-db.ProviderLease).Time(), before.Time(), s.databaseNow(t).Time().Add(time.Second), "SQLite's clock leaves out what is less than a millisecond")
					require.NotContains(t, s.due(t, "test", 100), begun.Payment.ID)
					return &core.Answer{Status: http.StatusOK}, nil
				})
				require.NoError(t, err)
			}
		}
	})
}

// A request that lost against another after it began to pay is run again, and goes on with the payment that it began.
func TestBeginConfirm_GoesOnWhenItsRequestIsRunAgain(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900))
		for _, key := range []*core.Key{nil, s.key("k", "confirm")} {
			open := s.checkout(t, guide).ID
			var runs []*PaymentProgress
			_, _, err := s.Request(t.Context(), key, func(ctx context.Context) (*core.Answer, error) {
				begun, err := s.BeginConfirm(ctx, s.account, open, byCard)
				require.NoError(t, err)
				if runs = append(runs, begun); len(runs) == 1 {
					return nil, db.ErrOvertaken
				}
				return &core.Answer{Status: http.StatusOK}, nil
			})
			require.NoError(t, err)
			require.Len(t, runs, 2)
			assert.False(t, runs[0].Again)
			assert.True(t, runs[1].Again)
			assert.Equal(t, runs[0].Payment.ID, runs[1].Payment.ID)
		}
	})
}

func TestDuePayments_AreThoseOfTheProvider(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide, ids := s.onSale(t, fixedPrice(1900)), map[string]string{}
		for i, provider := range []string{"other", "other", "other", "test"} {
			begun, err := s.BeginConfirm(t.Context(), s.account, s.checkout(t, guide).ID, checkout.Confirm{Provider: provider, MethodRef: "pm_card_visa"})
			require.NoError(t, err)
			require.NoError(t, s.Payment.Yield(t.Context(), s.account, begun.Payment.ID, time.Duration(i-10)*time.Second))
			ids[provider] = begun.Payment.ID
		}
		require.Equal(t, []string{ids["test"]}, s.due(t, "test", 2), "older ones of another provider are in nobody's way")
		require.Len(t, s.due(t, "other", 2), 2)
	})
}
