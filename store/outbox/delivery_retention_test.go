package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/internal/db"
)

func TestDeleteOldDeliveries_KeepsFailedOnesSevenDays(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		good, bad := o.endpoint(EventAll), o.endpoint(EventAll)
		o.emit(EventOrderPaid, "a", 1)
		done := success(o.claim(good, 1)[0])
		failed := success(o.claim(bad, 1)[0])
		failed.Reason = ReasonTimeout
		o.exchange([]DeliveryResult{done, failed})
		keep := DeliveryRetention{Failed: 7 * 24 * time.Hour, Succeeded: 24 * time.Hour}
		left := func(after time.Duration) [2]int {
			o.moved = after
			_, err := o.DeleteOldDeliveries(t.Context(), keep, 1000)
			require.NoError(t, err)
			return [2]int{o.count("webhook_deliveries"), o.count("events")}
		}
		require.Equal(t, [2]int{2, 1}, left(23*time.Hour))
		require.Equal(t, [2]int{1, 1}, left(25*time.Hour), "the event stays with its failed delivery")
		require.Equal(t, [2]int{1, 1}, left(7*24*time.Hour-time.Hour))
		require.Equal(t, [2]int{0, 0}, left(7*24*time.Hour+time.Hour))
	})
}

// An event has failed as long as no delivery that began after the failure has succeeded, and for seven days.
func TestGetEvent_KnowsWhetherItHasFailed(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		keep := DeliveryRetention{Failed: FailedRetention, Succeeded: 24 * time.Hour}
		var id string
		is := func(want DeliveryState, why string) *Event {
			e, err := o.GetEvent(t.Context(), o.account, id)
			require.NoError(t, err)
			require.Equal(t, want, e.Status, why)
			require.Equal(t, want == DeliveryFailed, e.ExpiresAt != nil, why)
			all, err := o.EventsByID(t.Context(), o.account, []string{id})
			require.NoError(t, err)
			require.Equal(t, e, all[id])
			return e
		}
		o.emit(EventOrderPaid, "nobody", 1)
		nobody, err := db.Get[string](t.Context(), o.Store.db, `SELECT id FROM events WHERE account_id = ?`, o.account)
		require.NoError(t, err)
		id = *nobody
		is("", "nobody was to be told")

		good, bad := o.endpoint(EventAll), o.endpoint(EventAll)
		o.emit(EventOrderPaid, "a", 1)
		failed := success(o.claim(bad, 1)[0])
		failed.Reason = ReasonTimeout
		id = o.deliveries()[0].EventID
		is(DeliveryPending, "both are on their way")
		o.moved = time.Hour
		o.exchange([]DeliveryResult{failed})
		e := is(DeliveryFailed, "one has failed, the other is still on its way")
		require.WithinDuration(t, o.Now().Time().Add(7*24*time.Hour), e.ExpiresAt.Time(), time.Minute)
		o.moved = 2 * time.Hour
		o.exchange([]DeliveryResult{success(o.claim(good, 1)[0])})
		is(DeliveryFailed, "what was sent beside it does not make up for it")

		_, err = o.RedeliverEvent(t.Context(), o.account, id, bad.ID)
		require.NoError(t, err)
		is(DeliveryFailed, "it is sent again")
		o.moved = 3 * time.Hour
		o.exchange([]DeliveryResult{success(o.claim(bad, 1)[0])})
		is(DeliverySucceeded, "sent again, it has come")
		o.moved = 3 * 24 * time.Hour
		_, err = o.DeleteOldDeliveries(t.Context(), keep, 1000)
		require.NoError(t, err)
		is(DeliverySucceeded, "and that is not forgotten before the failure is")
		require.Equal(t, 2, o.count("webhook_deliveries"))

		_, err = o.RedeliverEvent(t.Context(), o.account, id, good.ID)
		require.NoError(t, err)
		is(DeliveryPending, "it is told once more")
		failed = success(o.claim(good, 1)[0])
		failed.Reason = ReasonTimeout
		o.exchange([]DeliveryResult{failed})
		e = is(DeliveryFailed, "and fails")
		require.WithinDuration(t, o.Now().Time().Add(7*24*time.Hour), e.ExpiresAt.Time(), time.Minute)
		o.moved = 11 * 24 * time.Hour
		for range 3 {
			_, err = o.DeleteOldDeliveries(t.Context(), keep, 1000)
			require.NoError(t, err)
		}
		require.Zero(t, o.count("webhook_deliveries"))
		_, err = o.GetEvent(t.Context(), o.account, id)
		require.Error(t, err)
	})
}

func TestDeleteOldDeliveries_EventsThatNobodyAskedFor(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		o.emit(EventOrderPaid, "a", 1)
		o.emit(EventOrderPaid, "a", 2)
		keep := DeliveryRetention{Failed: 7 * 24 * time.Hour, Succeeded: 24 * time.Hour}
		o.moved = 25 * time.Hour
		deleted, err := o.DeleteOldDeliveries(t.Context(), keep, 1)
		require.NoError(t, err)
		require.Equal(t, int64(1), deleted, "never more than the limit at once")
		require.Equal(t, 1, o.count("events"))
	})
}
