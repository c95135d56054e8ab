package outbox

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// always is a stretch of time that everything is in.
func (o *outbox) always() (after, before core.Time) { return 0, o.Now().Add(24 * time.Hour) }

func (o *outbox) listed(e *WebhookEndpoint, in ListDeliveries) []string {
	o.t.Helper()
	if in.Limit == 0 {
		in.Limit = 100
	}
	rows, more, err := o.ListDeliveries(o.t.Context(), o.account, e.ID, in)
	require.NoError(o.t, err)
	require.False(o.t, more)
	ids := make([]string, len(rows))
	for i, d := range rows {
		ids[i] = d.ID
	}
	return ids
}

// TestListDeliveries_FiltersAndPagesTogether compares every combination with what a program finds that reads the table.
func TestListDeliveries_FiltersAndPagesTogether(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e, other := o.endpoint(EventAll), o.endpoint(EventAll)
		for i := range 12 {
			o.emit([]string{EventOrderPaid, EventOrderCreated}[i%2], fmt.Sprint(i), 1)
			time.Sleep(time.Millisecond) // for ids of different moments
		}
		results := []DeliveryResult{}
		for i, c := range o.claim(e, 8) {
			if result := success(c); i < 6 {
				if i%2 == 0 {
					result.Reason = ReasonTimeout
				}
				results = append(results, result)
			}
		}
		o.exchange(results)
		all := o.deliveries()
		for filter := range deliveryFilters(all) {
			in := ListDeliveries{}
			want := []string{}
			for _, f := range filter {
				f.set(&in)
			}
			for _, d := range slices.Backward(all) {
				if d.EndpointID == e.ID && !slices.ContainsFunc(filter, func(f deliveryFilter) bool { return !f.lets(d) }) {
					want = append(want, d.ID)
				}
			}
			require.Equal(t, want, o.listed(e, in), "%+v", in)
		}
		require.Len(t, o.listed(other, ListDeliveries{}), 12)
	})
}

// deliveryFilter is one value of one filter: how it is asked for, and what it lets through.
type deliveryFilter struct {
	set  func(in *ListDeliveries)
	lets func(d Delivery) bool
}

// deliveryFilters are all combinations of a value of every filter, none among them, and of a position.
func deliveryFilters(all []Delivery) iter.Seq[[]deliveryFilter] {
	none := deliveryFilter{func(*ListDeliveries) {}, func(Delivery) bool { return true }}
	states, kinds, after, before := []deliveryFilter{none}, []deliveryFilter{none}, []deliveryFilter{none}, []deliveryFilter{none}
	for _, state := range []DeliveryState{DeliveryPending, DeliverySending, DeliverySucceeded, DeliveryFailed} {
		states = append(states, deliveryFilter{func(in *ListDeliveries) { in.State = state }, func(d Delivery) bool { return d.State == state }})
	}
	for _, kind := range []string{EventOrderPaid, EventInvoicePaid} {
		kinds = append(kinds, deliveryFilter{func(in *ListDeliveries) { in.Type = kind }, func(d Delivery) bool { return d.Type == kind }})
	}
	for _, moment := range []core.Time{all[6].CreatedAt, all[14].CreatedAt} {
		after = append(after, deliveryFilter{func(in *ListDeliveries) { in.CreatedAfter = &moment }, func(d Delivery) bool { return d.CreatedAt >= moment }})
		before = append(before, deliveryFilter{func(in *ListDeliveries) { in.CreatedBefore = &moment }, func(d Delivery) bool { return d.CreatedAt < moment }})
	}
	event, position := all[4].EventID, all[12].ID
	return combinations([][]deliveryFilter{states, kinds, after, before,
		{none, {func(in *ListDeliveries) { in.Event = event }, func(d Delivery) bool { return d.EventID == event }}},
		{none, {func(in *ListDeliveries) { in.StartingAfter = position }, func(d Delivery) bool { return d.ID < position }},
			{func(in *ListDeliveries) { in.EndingBefore = position }, func(d Delivery) bool { return d.ID > position }}},
	})
}

// combinations takes one of each.
func combinations[T any](each [][]T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		count := 1
		for _, values := range each {
			count *= len(values)
		}
		for n := range count {
			var one []T
			for _, values := range each {
				one = append(one, values[n%len(values)])
				n /= len(values)
			}
			if !yield(one) {
				return
			}
		}
	}
}

func TestListDeliveries_PagesBothWays(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		for i := range 7 {
			o.emit(EventOrderPaid, fmt.Sprint(i), 1)
		}
		o.exchange([]DeliveryResult{success(o.claim(e, 3)[0])})
		want := o.listed(e, ListDeliveries{})
		var forward, back []string
		for in := (ListDeliveries{Page: core.Page{Limit: 3}}); ; {
			rows, more, err := o.ListDeliveries(t.Context(), o.account, e.ID, in)
			require.NoError(t, err)
			for _, d := range rows {
				forward = append(forward, d.ID)
			}
			if in.StartingAfter = forward[len(forward)-1]; !more {
				break
			}
		}
		for in := (ListDeliveries{Page: core.Page{Limit: 3, EndingBefore: want[6]}}); ; {
			rows, more, err := o.ListDeliveries(t.Context(), o.account, e.ID, in)
			require.NoError(t, err)
			page := []string{}
			for _, d := range rows {
				page = append(page, d.ID)
			}
			if back = append(page, back...); !more {
				break
			}
			in.EndingBefore = back[0]
		}
		require.Equal(t, want, forward)
		require.Equal(t, want[:6], back)
	})
}

func TestIDTime_OrdersIDsByTime(t *testing.T) {
	t.Parallel()
	before := core.TimeOf(time.Now().Truncate(time.Millisecond))
	id := core.NewID(core.KindDelivery)
	made := core.IDTime(id)
	require.GreaterOrEqual(t, made, before)
	require.Less(t, core.IDsBefore(core.KindDelivery, made), id)
	require.Greater(t, core.IDsBefore(core.KindDelivery, made+1), id)
	require.Less(t, core.IDsBefore(core.KindDelivery, -1), id)
	require.Greater(t, core.IDsBefore(core.KindDelivery, core.Time(1<<62)), id)
}

func TestRedeliverFailed_SendsEachEventOnceInItsOrder(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e, other := o.endpoint(EventAll), o.endpoint(EventInvoicePaid)
		for i := range 5 {
			o.emit(EventOrderPaid, "order_1", int64(i))
		}
		o.emit(EventOrderCreated, "order_2", 1)
		for range 5 {
			results := []DeliveryResult{}
			for _, c := range o.claim(e, 10) {
				result := success(c)
				result.Reason = ReasonTimeout
				results = append(results, result)
			}
			o.exchange(results)
		}
		first := o.deliveries()
		var made []int
		o.OnEvent = func(_ PendingEndpoint, deliveries int) { made = append(made, deliveries) }
		after, before := o.always()
		redeliver := func(e *WebhookEndpoint) int {
			n, err := o.RedeliverFailed(t.Context(), o.account, e.ID, after, before)
			require.NoError(t, err)
			return n
		}
		require.Equal(t, 6, redeliver(e))
		require.Equal(t, []int{6}, made, "the dispatcher is told once")
		require.Zero(t, redeliver(e), "they are on their way")
		require.Zero(t, redeliver(other))
		again := o.deliveries()[6:]
		for i, d := range again {
			require.Equal(t, []any{first[i].EventID, first[i].OrderingKey, first[i].KeySeq, first[i].Type}, []any{d.EventID, d.OrderingKey, d.KeySeq, d.Type})
			require.Equal(t, DeliveryPending, d.State)
			require.Zero(t, d.Attempts)
		}
		claimed := o.claim(e, 10)
		require.Len(t, claimed, 2, "the first of each key")
		require.Zero(t, redeliver(e))
		failed := success(claimed[1])
		failed.Reason = ReasonTimeout
		o.exchange([]DeliveryResult{success(claimed[0]), failed})
		require.Equal(t, 1, redeliver(e), "of what has failed twice, one more; of what has succeeded, none")
		_, err := o.RedeliverFailed(t.Context(), core.NewID(core.KindAccount), e.ID, after, before)
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}

func TestRedeliverFailed_LooksAtItsStretchOfTimeOnly(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		for range 3 {
			o.attempt(e, ReasonTimeout)
			time.Sleep(time.Millisecond) // for ids of different moments
		}
		all := o.deliveries()
		n, err := o.RedeliverFailed(t.Context(), o.account, e.ID, all[1].CreatedAt, all[2].CreatedAt)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, all[1].EventID, o.deliveries()[3].EventID)
	})
}

func TestRedeliverFailed_AtOnceSendsOnce(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		o.attempt(e, ReasonTimeout, ReasonTimeout)
		after, before := o.always()
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if _, err := o.RedeliverFailed(context.Background(), o.account, e.ID, after, before); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		require.Equal(t, 4, o.count("webhook_deliveries"))
	})
}

func TestRedeliverFailed_AtMostTenThousand(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		for range 4 {
			var events [][3]string
			for range 2501 {
				id := core.NewID(core.KindDelivery)
				events = append(events, [3]string{id, strings.Replace(id, "whd", "whev", 1), fmt.Sprint(int64(core.IDTime(id)))})
			}
			_, err := db.Tx(t.Context(), o.db, func(ctx context.Context, u *db.Unit) (int64, error) {
				if _, err := u.Exec(ctx, `
					INSERT INTO events (account_id, id, type, ordering_key, key_seq, body, created_at)
					SELECT CAST(? AS text), value ->> 1, 'order.paid', value ->> 1, 1, '{}', CAST(value ->> 2 AS BIGINT) FROM `+o.db.JSONRows(), o.account, core.JSONOf(events)); err != nil {
					return 0, err
				}
				return u.Exec(ctx, `
					INSERT INTO webhook_deliveries (account_id, id, endpoint_id, event_id, type, ordering_key, key_seq, state, attempts, created_at, updated_at, finished_at)
					SELECT CAST(? AS text), value ->> 0, CAST(? AS text), value ->> 1, 'order.paid', value ->> 1, 1, 'failed', 1, CAST(value ->> 2 AS BIGINT), 0, 0
					FROM `+o.db.JSONRows(), o.account, e.ID, core.JSONOf(events))
			})
			require.NoError(t, err)
		}
		after, before := o.always()
		_, err := o.RedeliverFailed(t.Context(), o.account, e.ID, after, before)
		dbtest.RequireInvalid(t, err, "created_before")
		require.Equal(t, 10004, o.count("webhook_deliveries"))
		all, _, err := o.ListDeliveries(t.Context(), o.account, e.ID, ListDeliveries{Page: core.Page{Limit: 5}})
		require.NoError(t, err)
		n, err := o.RedeliverFailed(t.Context(), o.account, e.ID, after, all[4].CreatedAt)
		require.NoError(t, err)
		require.Greater(t, n, 5000, "those of one millisecond go together")
		require.Equal(t, 10004+n, o.count("webhook_deliveries"))
	})
}

func TestRedeliverEvent_NeedsAnActiveEndpointOfTheAccount(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventInvoicePaid)
		o.emit(EventOrderPaid, "order_1", 7) // nobody was told
		id, err := db.Get[string](t.Context(), o.Store.db, `SELECT id FROM events WHERE account_id = ?`, o.account)
		require.NoError(t, err)
		d, err := o.RedeliverEvent(t.Context(), o.account, *id, e.ID)
		require.NoError(t, err)
		require.Equal(t, []any{*id, e.ID, EventOrderPaid, "order_1", int64(7), DeliveryPending}, []any{d.EventID, d.EndpointID, d.Type, d.OrderingKey, d.KeySeq, d.State})
		require.Equal(t, core.IDTime(d.ID), d.CreatedAt)
		_, err = o.RedeliverEvent(t.Context(), o.account, core.NewID(core.KindEvent), e.ID)
		dbtest.RequireCode(t, err, core.CodeMissing)
		_, err = o.RedeliverEvent(t.Context(), o.account, *id, core.NewID(core.KindWebhookEndpoint))
		dbtest.RequireCode(t, err, core.CodeMissing)
		_, err = o.UpdateWebhookEndpoint(t.Context(), o.account, e.ID, func(e *WebhookEndpoint) { e.Status = WebhookEndpointInactive })
		require.NoError(t, err)
		_, err = o.RedeliverEvent(t.Context(), o.account, *id, e.ID)
		dbtest.RequireInvalid(t, err, "webhook_endpoint")
		require.Equal(t, 1, o.count("webhook_deliveries"))
	})
}

// TestRedeliverEvent_KeepsItsEventFromRetention sends events again while whoever deletes old ones is at work: no delivery
// may be left without its event.
func TestRedeliverEvent_KeepsItsEventFromRetention(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventInvoicePaid)
		for i := range 60 {
			o.emit(EventOrderPaid, fmt.Sprint(i), 1)
		}
		ids, err := db.Select[string](t.Context(), o.Store.db, `SELECT id FROM events WHERE account_id = ? ORDER BY id`, o.account)
		require.NoError(t, err)
		o.moved = time.Hour
		var group sync.WaitGroup
		group.Go(func() {
			for range 60 {
				if _, err := o.DeleteOldDeliveries(context.Background(), DeliveryRetention{Failed: time.Minute, Succeeded: time.Minute}, 1); err != nil {
					t.Error(err)
				}
			}
		})
		for _, id := range ids {
			if _, err := o.RedeliverEvent(t.Context(), o.account, id, e.ID); err != nil {
				dbtest.RequireCode(t, err, core.CodeMissing)
			}
		}
		group.Wait()
		lost, err := db.Get[int](t.Context(), o.Store.db, `
			SELECT count(*) FROM webhook_deliveries AS d WHERE d.account_id = ? AND NOT EXISTS (SELECT 1 FROM events AS e WHERE e.account_id = d.account_id AND e.id = d.event_id)`,
			o.account)
		require.NoError(t, err)
		require.Zero(t, *lost)
	})
}
