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
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

const testLease = 15 * time.Second

// outbox is the room of a database with one account, whose clock can be moved.
type outbox struct {
	*Store
	t       *testing.T
	account string
	moved   time.Duration
}

func eachOutbox(t *testing.T, test func(t *testing.T, o *outbox)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) { test(t, newOutbox(t, url)) })
}

func newOutbox(t *testing.T, url string) *outbox {
	t.Helper()
	o := &outbox{t: t}
	d := dbtest.Open(t, url, func() time.Time { return time.Now().Add(o.moved) })
	o.Store = New(d, func(_ string, v any) ([]byte, error) { return []byte(fmt.Sprint(v)), nil })
	o.account = dbtest.Account(t, d)
	return o
}

func (o *outbox) endpoint(events ...string) *WebhookEndpoint {
	o.t.Helper()
	e, err := o.CreateWebhookEndpoint(o.t.Context(), o.account, WebhookEndpoint{URL: "https://example.com/", EnabledEvents: core.JSON[[]string]{V: events}})
	require.NoError(o.t, err)
	return e
}

func (o *outbox) emit(kind, key string, seq int64) {
	o.t.Helper()
	_, err := db.Tx(o.t.Context(), o.db, func(ctx context.Context, u *db.Unit) (any, error) {
		return nil, o.Emit(ctx, u, NewEvent{Kind: kind, Account: o.account, Key: key, Seq: seq, Data: fmt.Sprintf(`{"key":%q,"seq":%d}`, key, seq)})
	})
	require.NoError(o.t, err)
}

func (o *outbox) claim(e *WebhookEndpoint, limit int) []ClaimedDelivery {
	o.t.Helper()
	return o.exchange(nil, claimOf(e, limit))
}

func claimOf(e *WebhookEndpoint, limit int) DeliveryClaim {
	return DeliveryClaim{PendingEndpoint: PendingEndpoint{AccountID: e.AccountID, EndpointID: e.ID}, Limit: limit, AtMost: 1000}
}

func (o *outbox) exchange(results []DeliveryResult, claims ...DeliveryClaim) []ClaimedDelivery {
	o.t.Helper()
	e, err := o.ExchangeDeliveries(o.t.Context(), results, claims, testLease)
	require.NoError(o.t, err)
	return e.Claimed
}

func (o *outbox) deliveries() []Delivery {
	o.t.Helper()
	rows, err := db.Select[Delivery](o.t.Context(), o.Store.db, db.ColumnsOf[Delivery]("webhook_deliveries").SelectSQL+` WHERE account_id = ? ORDER BY id`, o.account)
	require.NoError(o.t, err)
	sending, err := db.Select[string](o.t.Context(), o.Store.db, `SELECT delivery_id FROM webhook_claims WHERE account_id = ?`, o.account)
	require.NoError(o.t, err)
	markSending(rows, sending)
	return rows
}

func (o *outbox) count(table string) int {
	o.t.Helper()
	return dbtest.Count(o.t, o.db, `SELECT count(*) FROM `+table+` WHERE account_id = ?`, o.account)
}

// expire lets every lease run out.
func (o *outbox) expire() {
	o.t.Helper()
	_, err := db.Tx(o.t.Context(), o.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE webhook_claims SET lease_until = 1 WHERE account_id = ?`, o.account)
	})
	require.NoError(o.t, err)
}

func success(c ClaimedDelivery) DeliveryResult {
	return DeliveryResult{Account: c.AccountID, Endpoint: c.EndpointID, ID: c.ID, Lease: c.Lease, StatusCode: 204, DurationMS: 7}
}

func TestExchangeDeliveries_CarriesTheFrozenBytes(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventOrderPaid)
		o.emit(EventOrderPaid, "order_1", 1)
		o.emit(EventOrderCreated, "order_2", 1) // not subscribed
		claimed := o.claim(e, 4)
		require.Len(t, claimed, 1)
		c := claimed[0]
		require.Equal(t, 1, c.Attempt)
		require.Equal(t, e.URL, c.Endpoint.URL)
		stored, err := o.GetEvent(t.Context(), o.account, c.EventID)
		require.NoError(t, err)
		require.JSONEq(t, fmt.Sprintf(`{"id":%q,"created_at":%q,"type":"order.paid","api_version":"v1","data":{"key":"order_1","seq":1}}`,
			c.EventID, stored.CreatedAt), c.Body)
		secret, _, err := o.OpenWebhookSecrets(c.Endpoint)
		require.NoError(t, err)
		require.Equal(t, e.Secret, secret)
		require.Empty(t, o.claim(e, 4), "it is being sent")
	})
}

func TestExchangeDeliveries_RecordsResults(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		o.emit(EventOrderPaid, "a", 1)
		o.emit(EventOrderPaid, "b", 1)
		claimed := o.claim(e, 4)
		require.Len(t, claimed, 2)
		failure := success(claimed[1])
		failure.Reason, failure.StatusCode, failure.Response = ReasonHTTPStatus, 500, `<b> "é" \ `+"\u2028"
		require.Empty(t, o.exchange([]DeliveryResult{success(claimed[0]), failure}))
		byID := map[string]Delivery{}
		for _, d := range o.deliveries() {
			byID[d.ID] = d
		}
		good, bad := byID[claimed[0].ID], byID[claimed[1].ID]
		require.Equal(t, DeliverySucceeded, good.State)
		require.Equal(t, 204, *good.StatusCode)
		require.Equal(t, int64(7), *good.DurationMS)
		require.NotNil(t, good.FinishedAt)
		require.Nil(t, good.Reason)
		require.Nil(t, good.Response)
		require.Equal(t, DeliveryFailed, bad.State)
		require.Equal(t, ReasonHTTPStatus, *bad.Reason)
		require.Equal(t, failure.Response, *bad.Response)
	})
}

func TestExchangeDeliveries_KeepsTheOrderOfOneKey(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		for seq := range int64(3) {
			o.emit(EventOrderPaid, "a", seq)
		}
		o.emit(EventOrderPaid, "b", 0)
		first := o.claim(e, 10)
		require.Len(t, first, 2, "the earliest of each key")
		require.Empty(t, o.claim(e, 10), "the next ones wait for a result")
		claim := claimOf(e, 10)
		second := o.exchange([]DeliveryResult{success(first[0]), success(first[1])}, claim)
		require.Len(t, second, 1)
		require.Contains(t, second[0].Body, `{"key":"a","seq":1}`)
		failed := success(second[0])
		failed.Reason = ReasonTimeout
		third := o.exchange([]DeliveryResult{failed}, claim)
		require.Len(t, third, 1, "a failure lets the next one go, too")
		require.Contains(t, third[0].Body, `{"key":"a","seq":2}`)
	})
}

func TestExchangeDeliveries_ManyOfOneKeyDoNotHideTheirOrder(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		for seq := range int64(claimWindow + 5) {
			o.emit(EventOrderPaid, "hot", seq)
		}
		o.emit(EventOrderPaid, "other", 0)
		seen := 0
		claimed := o.claim(e, 4)
		for ; len(claimed) > 0; claimed = o.claim(e, 4) {
			for _, c := range claimed {
				o.exchange([]DeliveryResult{success(c)})
				seen++
			}
		}
		require.Equal(t, claimWindow+6, seen)
	})
}

func TestExchangeDeliveries_ARedeliveredOneIsNotTooFarAwayToGoFirst(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		o.emit(EventOrderPaid, "hot", 0)
		failed := success(o.claim(e, 1)[0])
		failed.Reason = ReasonTimeout
		o.exchange([]DeliveryResult{failed})
		for seq := range int64(claimWindow + 5) {
			o.emit(EventOrderPaid, "hot", seq+1)
		}
		o.emit(EventOrderPaid, "other", 0)
		first := o.deliveries()[0].EventID
		_, err := o.RedeliverEvent(t.Context(), o.account, first, e.ID)
		require.NoError(t, err)

		var order []string
		for claimed := o.claim(e, 4); len(claimed) > 0; claimed = o.claim(e, 4) {
			for _, c := range claimed {
				order = append(order, c.EventID)
				o.exchange([]DeliveryResult{success(c)})
			}
		}
		require.Len(t, order, claimWindow+7)
		require.Equal(t, first, order[0])
	})
}

func TestExchangeDeliveries_LateResultChangesNothing(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		o.emit(EventOrderPaid, "a", 1)
		lost := o.claim(e, 1)[0]
		o.expire()
		released, err := o.ReleaseExpiredDeliveries(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(1), released)
		o.exchange([]DeliveryResult{success(lost)})
		require.Equal(t, DeliveryPending, o.deliveries()[0].State)
		again := o.claim(e, 1)[0]
		require.Equal(t, lost.Body, again.Body)
		require.Equal(t, lost.EventID, again.EventID)
		require.Equal(t, 2, again.Attempt)
		o.exchange([]DeliveryResult{success(lost)})
		require.Equal(t, DeliverySending, o.deliveries()[0].State)
	})
}

func TestReleaseExpiredDeliveries_GivesUpAfterTheLastAttempt(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		o.emit(EventOrderPaid, "a", 1)
		for attempt := range maxAttempts {
			require.Equal(t, attempt+1, o.claim(e, 1)[0].Attempt)
			held, err := o.ReleaseExpiredDeliveries(t.Context())
			require.NoError(t, err)
			require.Zero(t, held, "the lease is held")
			o.expire()
			_, err = o.ReleaseExpiredDeliveries(t.Context())
			require.NoError(t, err)
		}
		require.Empty(t, o.claim(e, 1))
		d := o.deliveries()[0]
		require.Equal(t, DeliveryFailed, d.State)
		require.Equal(t, ReasonAborted, *d.Reason)
		require.NotNil(t, d.FinishedAt)
	})
}

func TestExchangeDeliveries_InactiveEndpointGetsNothing(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e := o.endpoint(EventAll)
		o.emit(EventOrderPaid, "a", 1)
		set := func(status WebhookEndpointStatus) {
			_, err := o.UpdateWebhookEndpoint(t.Context(), o.account, e.ID, func(e *WebhookEndpoint) { e.Status = status })
			require.NoError(t, err)
		}
		set(WebhookEndpointInactive)
		o.emit(EventOrderPaid, "a", 2)
		set(WebhookEndpointActive)
		require.Empty(t, o.claim(e, 4), "what waited when it was deactivated is not sent")
		require.Len(t, o.deliveries(), 1, "what happened meanwhile is not for it")
		require.Equal(t, ReasonEndpointInactive, *o.deliveries()[0].Reason)
		o.emit(EventOrderPaid, "a", 3)
		require.Len(t, o.claim(e, 4), 1)
	})
}

func TestExchangeDeliveries_ChecksTheEndpointAgain(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		deactivated, deleted := o.endpoint(EventAll), o.endpoint(EventAll)
		_, err := o.UpdateWebhookEndpoint(t.Context(), o.account, deactivated.ID, func(e *WebhookEndpoint) { e.Status = WebhookEndpointInactive })
		require.NoError(t, err)
		_, err = o.DeleteWebhookEndpoint(t.Context(), o.account, deleted.ID)
		require.NoError(t, err)
		// An event whose transaction saw the endpoints active and committed after they were not.
		for i, id := range []string{deactivated.ID, deleted.ID} {
			_, err = db.Tx(t.Context(), o.db, func(ctx context.Context, u *db.Unit) (int64, error) {
				return u.Exec(ctx, `INSERT INTO webhook_deliveries (account_id, id, endpoint_id, event_id, ordering_key, key_seq, state, attempts, created_at, updated_at)
					VALUES (?, ?, ?, 'whev_x', 'a', ?, 'pending', 0, 1, 1)`, o.account, core.NewID(core.KindDelivery), id, i)
			})
			require.NoError(t, err)
		}
		require.Empty(t, o.claim(deactivated, 4))
		require.Empty(t, o.claim(deleted, 4))
		for _, d := range o.deliveries() {
			require.Equal(t, ReasonEndpointInactive, *d.Reason)
		}
	})
}

func TestExchangeDeliveries_ParallelClaimsDoNotOverlap(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		endpoints := []*WebhookEndpoint{o.endpoint(EventAll), o.endpoint(EventAll), o.endpoint(EventAll)}
		const events = 60
		for i := range events {
			o.emit(EventOrderPaid, fmt.Sprint("key", i), 0)
		}
		var mu sync.Mutex
		seen := map[string]int{}
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				for range 10 {
					var claims []DeliveryClaim
					for _, e := range endpoints {
						claims = append(claims, claimOf(e, 4))
					}
					e, err := o.ExchangeDeliveries(context.Background(), nil, claims, testLease)
					mu.Lock()
					if err != nil {
						t.Error(err)
					}
					for _, c := range e.Claimed {
						seen[c.ID]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		require.NotEmpty(t, seen)
		for id, times := range seen {
			require.Equal(t, 1, times, id)
		}
	})
}

func TestExchangeDeliveries_ReplicasShareTheLimitOfAnEndpoint(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		e, other := o.endpoint(EventAll), o.endpoint(EventAll)
		for i := range 10 {
			o.emit(EventOrderPaid, fmt.Sprint("key", i), 0)
		}
		claim := func(e *WebhookEndpoint) []ClaimedDelivery {
			c := claimOf(e, 3)
			c.AtMost = 4
			return o.exchange(nil, c)
		}
		first := claim(e)
		require.Len(t, first, 3)
		if o.db.Engine == core.SQLite { // nobody else can be there
			return
		}
		second := claim(e)
		require.Len(t, second, 1)
		require.Empty(t, claim(e))
		require.Len(t, claim(other), 3)
		o.exchange([]DeliveryResult{success(first[0]), success(second[0])})
		require.Len(t, claim(e), 2)
	})
}

func TestPendingEndpoints_WalksThemInOrder(t *testing.T) {
	eachOutbox(t, func(t *testing.T, o *outbox) {
		var want []PendingEndpoint
		for range 5 {
			want = append(want, PendingEndpoint{o.account, o.endpoint(EventAll).ID, WebhookFormatRaw})
		}
		for i := range 3 {
			o.emit(EventOrderPaid, fmt.Sprint("key", i), 0)
		}
		first, err := o.PendingEndpoints(t.Context(), "", 3)
		require.NoError(t, err)
		require.Equal(t, want[:3], first)
		rest, err := o.PendingEndpoints(t.Context(), first[2].EndpointID, 3)
		require.NoError(t, err)
		require.Equal(t, want[3:], rest)
		none, err := o.PendingEndpoints(t.Context(), want[4].EndpointID, 3)
		require.NoError(t, err)
		require.Empty(t, none)
	})
}
