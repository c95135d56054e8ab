package outbox

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// attempt sends one delivery for each reason, of which an empty one is a success, and records them in one round.
func (o *outbox) attempt(e *WebhookEndpoint, reasons ...Reason) {
	o.t.Helper()
	o.exchange(o.results(e, reasons...))
}

// results returns what one round would record.
func (o *outbox) results(e *WebhookEndpoint, reasons ...Reason) []DeliveryResult {
	o.t.Helper()
	for range reasons {
		o.emit(EventOrderPaid, core.NewID(core.KindOrder), 1)
	}
	claimed := o.claim(e, len(reasons))
	require.Len(o.t, claimed, len(reasons))
	results := make([]DeliveryResult, len(reasons))
	for i, reason := range reasons {
		results[i] = success(claimed[i])
		results[i].Reason = reason
	}
	return results
}

func (o *outbox) requireStreak(e *WebhookEndpoint, failures int, since *core.Time) {
	o.t.Helper()
	stored, err := o.GetWebhookEndpoint(o.t.Context(), e.AccountID, e.ID)
	require.NoError(o.t, err)
	require.Equal(o.t, failures, stored.ConsecutiveFailures)
	require.Equal(o.t, since, stored.FailingSince)
	require.Equal(o.t, e.UpdatedAt, stored.UpdatedAt, "nobody changed the endpoint")
}

// freeze stops the clock and returns its time.
func (o *outbox) freeze() *core.Time {
	now := time.Now()
	o.db.Options.Now = func() time.Time { return now.Add(o.moved) }
	return new(o.Now())
}

func TestExchangeDeliveries_CountsFailuresInARow(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e, other := o.endpoint(EventAll), o.endpoint(EventInvoicePaid)
		first := o.freeze()
		o.attempt(e, "", "")
		o.requireStreak(e, 0, nil)
		o.attempt(e, ReasonTimeout, ReasonHTTPStatus)
		o.requireStreak(e, 2, first)
		o.moved = time.Hour
		o.attempt(e, ReasonTimeout)
		o.requireStreak(e, 3, first)
		o.attempt(e, ReasonTimeout, "", ReasonTLSError)
		o.requireStreak(e, 1, new(first.Add(time.Hour)))
		o.attempt(e, ReasonEndpointInactive, ReasonAborted)
		o.requireStreak(e, 1, new(first.Add(time.Hour)))
		o.attempt(e, ReasonTimeout, "")
		o.requireStreak(e, 0, nil)
		o.requireStreak(other, 0, nil)
	})
}

func TestExchangeDeliveries_CountsOnlyWhatItRecords(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		late := o.results(e, ReasonTimeout)
		o.expire()
		_, err := o.ReleaseExpiredDeliveries(t.Context())
		require.NoError(t, err)
		o.exchange(late)
		o.requireStreak(e, 0, nil)
		again := o.claim(e, 1)
		require.Len(t, again, 1)
		failed := success(again[0])
		failed.Reason = ReasonTimeout
		since := o.freeze()
		o.exchange([]DeliveryResult{failed})
		o.exchange([]DeliveryResult{failed})
		o.requireStreak(e, 1, since)
	})
}

func TestExchangeDeliveries_OfADeletedEndpointAreRecorded(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		results := o.results(e, ReasonTimeout)
		_, err := o.DeleteWebhookEndpoint(t.Context(), o.account, e.ID)
		require.NoError(t, err)
		o.exchange(results)
		require.Equal(t, DeliveryFailed, o.deliveries()[0].State)
	})
}

func TestUpdateWebhookEndpoint_BeginsAStreakAnew(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		for name, change := range map[string]struct {
			change   func(*WebhookEndpoint)
			failures int
		}{
			"another URL":  {func(e *WebhookEndpoint) { e.URL = "https://example.com/other" }, 0},
			"inactive":     {func(e *WebhookEndpoint) { e.Status = WebhookEndpointInactive }, 2},
			"other events": {func(e *WebhookEndpoint) { e.EnabledEvents = core.JSONOf([]string{EventOrderPaid}) }, 2},
		} {
			e := o.endpoint(EventAll)
			o.attempt(e, ReasonTimeout, ReasonTimeout)
			e, err := o.UpdateWebhookEndpoint(t.Context(), o.account, e.ID, change.change)
			require.NoError(t, err, name)
			require.Equal(t, change.failures, e.ConsecutiveFailures, name)
			require.Equal(t, change.failures > 0, e.FailingSince != nil, name)
			e, err = o.UpdateWebhookEndpoint(t.Context(), o.account, e.ID, func(e *WebhookEndpoint) { e.Status = WebhookEndpointActive })
			require.NoError(t, err, name)
			require.Equal(t, name == "other events", e.ConsecutiveFailures == 2, name)
			_, err = o.DeleteWebhookEndpoint(t.Context(), o.account, e.ID)
			require.NoError(t, err)
		}
	})
}

// failures makes endpoints and rounds of results, each of which says that one delivery to every endpoint failed.
func (o *outbox) failures(rounds int) ([]*WebhookEndpoint, [][]DeliveryResult) {
	o.t.Helper()
	endpoints, batches := make([]*WebhookEndpoint, 8), make([][]DeliveryResult, rounds)
	for i := range endpoints {
		endpoints[i] = o.endpoint(EventAll)
	}
	for i := range rounds {
		o.emit(EventOrderPaid, fmt.Sprint(i), 1)
	}
	for _, e := range endpoints {
		for i, c := range o.claim(e, rounds) {
			result := success(c)
			result.Reason = ReasonTimeout
			batches[i] = append(batches[i], result)
		}
	}
	return endpoints, batches
}

// TestExchangeDeliveries_DoesNotWaitForAnotherRound records results of the same endpoints while the round of another dispatcher
// has not ended. That one goes on only afterwards: a round that waited for it would run out of time.
func TestExchangeDeliveries_DoesNotWaitForAnotherRound(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		if o.db.Engine == core.SQLite { // has one writer, which everybody waits for
			return
		}
		endpoints, batches := o.failures(2)
		since := o.freeze()
		_, err := db.Tx(t.Context(), o.db, func(ctx context.Context, _ *db.Unit) (any, error) {
			if _, err := o.ExchangeDeliveries(ctx, batches[0], nil, testLease); err != nil {
				return nil, err
			}
			_, err := o.ExchangeDeliveries(context.Background(), batches[1], nil, testLease)
			return nil, err
		})
		require.NoError(t, err)
		for _, e := range endpoints {
			o.requireStreak(e, 1, since)
		}
		for _, d := range o.deliveries() {
			require.Equal(t, DeliveryFailed, d.State)
		}
	})
}

// TestExchangeDeliveries_CountsForTwoDispatchersAtOnce records results of the same endpoints from both. What they count is right
// but for what both had at the same moment.
func TestExchangeDeliveries_CountsForTwoDispatchersAtOnce(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		const rounds = 20
		endpoints, batches := o.failures(2 * rounds)
		var group sync.WaitGroup
		for _, half := range [][][]DeliveryResult{batches[:rounds], batches[rounds:]} {
			group.Go(func() {
				for _, batch := range half {
					if _, err := o.ExchangeDeliveries(context.Background(), batch, nil, testLease); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		for _, e := range endpoints {
			stored, err := o.GetWebhookEndpoint(t.Context(), o.account, e.ID)
			require.NoError(t, err)
			require.LessOrEqual(t, stored.ConsecutiveFailures, 2*rounds)
			require.GreaterOrEqual(t, stored.ConsecutiveFailures, rounds)
		}
	})
}

func TestExchangeDeliveries_DoesNotWaitForAnEndpointThatIsBeingChanged(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		if o.db.Engine == core.SQLite { // has one writer, which everybody waits for
			return
		}
		e, other := o.endpoint(EventAll), o.endpoint(EventAll)
		results := append(o.results(e, ReasonTimeout), o.results(other, ReasonTimeout)...)
		_, err := o.UpdateWebhookEndpoint(t.Context(), o.account, e.ID, func(*WebhookEndpoint) {
			if _, err := o.ExchangeDeliveries(context.Background(), results, nil, testLease); err != nil { // it would wait for us, until the lock's time is over
				t.Error(err)
			}
		})
		require.NoError(t, err)
		o.requireStreak(e, 0, nil)
		stored, err := o.GetWebhookEndpoint(t.Context(), o.account, other.ID)
		require.NoError(t, err)
		require.Equal(t, 1, stored.ConsecutiveFailures)
	})
}
