package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// sender is a shop that sends its events to endpoints, and whose clock can be moved.
type sender struct {
	*shop
	t     *testing.T
	moved time.Duration
}

func eachSender(t *testing.T, test func(t *testing.T, o *sender)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) { test(t, newSender(t, url)) })
}

func newSender(t *testing.T, url string) *sender {
	t.Helper()
	o := &sender{t: t}
	o.shop = newShop(t, url)
	o.db.Options.Now = func() time.Time { return time.Now().Add(o.moved) }
	return o
}

func (o *sender) endpoint(events ...string) *outbox.WebhookEndpoint {
	o.t.Helper()
	e, err := o.Outbox.CreateWebhookEndpoint(o.t.Context(), o.account, outbox.WebhookEndpoint{URL: "https://example.com/", EnabledEvents: core.JSON[[]string]{V: events}})
	require.NoError(o.t, err)
	return e
}

func (o *sender) emit(kind, key string, seq int64) {
	o.t.Helper()
	_, err := db.Tx(o.t.Context(), o.db, func(ctx context.Context, u *db.Unit) (any, error) {
		return nil, o.Outbox.Emit(ctx, u, outbox.NewEvent{Kind: kind, Account: o.account, Key: key, Seq: seq, Data: key})
	})
	require.NoError(o.t, err)
}

func (o *sender) claim(e *outbox.WebhookEndpoint, limit int) []outbox.ClaimedDelivery {
	o.t.Helper()
	return o.exchange(nil, outbox.DeliveryClaim{PendingEndpoint: outbox.PendingEndpoint{AccountID: e.AccountID, EndpointID: e.ID}, Limit: limit, AtMost: 1000})
}

func (o *sender) exchange(results []outbox.DeliveryResult, claims ...outbox.DeliveryClaim) []outbox.ClaimedDelivery {
	o.t.Helper()
	e, err := o.Outbox.ExchangeDeliveries(o.t.Context(), results, claims, 15*time.Second)
	require.NoError(o.t, err)
	return e.Claimed
}

// deliveries returns the states of all deliveries.
func (o *sender) deliveries() []outbox.DeliveryState {
	o.t.Helper()
	states, err := db.Select[outbox.DeliveryState](o.t.Context(), o.Store.db, `SELECT state FROM webhook_deliveries WHERE account_id = ?`, o.account)
	require.NoError(o.t, err)
	return states
}

func success(c outbox.ClaimedDelivery) outbox.DeliveryResult {
	return outbox.DeliveryResult{Account: c.AccountID, Endpoint: c.EndpointID, ID: c.ID, Lease: c.Lease, StatusCode: 204, DurationMS: 7}
}

func TestOpen_ExclusiveReleasesDeliveries(t *testing.T) {
	t.Parallel()
	url := database.URL(t, core.SQLite)
	o := newSender(t, url)
	e := o.endpoint(outbox.EventAll)
	o.emit(outbox.EventOrderPaid, "order_1", 1)
	lost := o.claim(e, 1)
	require.Len(t, lost, 1)
	released, err := openStore(t, url).Outbox.ReleaseExpiredDeliveries(t.Context())
	require.NoError(t, err)
	require.Zero(t, released, "who only looks at the database takes nothing from its server")
	next, err := Open(t.Context(), Options{URL: url, Sealer: o.db.Options.Sealer, Exclusive: true})
	require.NoError(t, err)
	defer next.Close()
	released, err = next.Outbox.ReleaseExpiredDeliveries(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, released)
	again := o.claim(e, 1)
	require.Equal(t, [2]any{lost[0].Body, 2}, [2]any{again[0].Body, again[0].Attempt})
}
