package outbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// DeliveryState is how far a delivery has come.
type DeliveryState string

// A delivery goes pending, sending, succeeded or failed. It returns from sending to pending only if nobody ever
// learned what became of the attempt. One that is being sent is stored as pending, with a claim.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliverySending   DeliveryState = "sending"
	DeliverySucceeded DeliveryState = "succeeded"
	DeliveryFailed    DeliveryState = "failed"
)

// Delivery is one event on its way to one endpoint, with the result of the last attempt.
type Delivery struct {
	AccountID   string        `db:"account_id"`
	ID          string        `db:"id"`
	EndpointID  string        `db:"endpoint_id"`
	EventID     string        `db:"event_id"`
	Type        string        `db:"type"` // the event's
	OrderingKey string        `db:"ordering_key"`
	KeySeq      int64         `db:"key_seq"`
	State       DeliveryState `db:"state"`
	Attempts    int           `db:"attempts"`
	Reason      *Reason       `db:"reason"`
	StatusCode  *int          `db:"status_code"`
	DurationMS  *int64        `db:"duration_ms"`
	Response    *string       `db:"response"`
	CreatedAt   core.Time     `db:"created_at"` // core.IDTime of its id, so that the id filters by time
	UpdatedAt   core.Time     `db:"updated_at"`
	FinishedAt  *core.Time    `db:"finished_at"`
}

// newDelivery is a delivery that is about to be stored, as insertDeliveries hands it to the database.
type newDelivery struct {
	PendingEndpoint
	ID          string `json:"id"`
	Event       string `json:"event"`
	Type        string `json:"type"`
	OrderingKey string `json:"ordering_key"`
	KeySeq      int64  `json:"key_seq"`
	CreatedAt   int64  `json:"created_at"`
}

// deliveryTo makes a delivery of an event to an endpoint. Its creation time is the one in its id.
func deliveryTo(endpoint PendingEndpoint, e *Event) newDelivery {
	id := core.NewID(core.KindDelivery)
	return newDelivery{endpoint, id, e.ID, e.Type, e.OrderingKey, e.KeySeq, int64(core.IDTime(id))}
}

// insertDeliveries stores pending deliveries, however many in one statement, and wakes the dispatcher after the commit. Their events are
// stored by the same transaction, or locked.
func (s *Store) insertDeliveries(ctx context.Context, u *db.Unit, account string, deliveries []newDelivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	s.announce(u, deliveries)
	return u.Later(ctx, db.Change{
		Table: "webhook_deliveries",
		Query: `
			INSERT INTO webhook_deliveries (account_id, id, endpoint_id, event_id, type, ordering_key, key_seq, state, attempts, created_at, updated_at)
			SELECT ?, id, endpoint, event, type, ordering_key, key_seq, 'pending', 0, created_at, created_at
			FROM ` + s.db.JSONTable("id text", "endpoint text", "event text", "type text", "ordering_key text", "key_seq bigint", "created_at bigint") + ` AS d`,
		Args: []any{account, core.JSONOf(deliveries)}, Rows: int64(len(deliveries)),
	})
}

// announce tells the dispatcher after the commit, through OnEvent, how many new deliveries wait for each endpoint.
func (s *Store) announce(u *db.Unit, deliveries []newDelivery) {
	if s.OnEvent == nil {
		return
	}
	counts := map[PendingEndpoint]int{}
	for _, d := range deliveries {
		counts[d.PendingEndpoint]++
	}
	u.AfterCommit(func() {
		for endpoint, n := range counts {
			s.OnEvent(endpoint, n)
		}
	})
}

// DeliveryResult is the result of one attempt to send a delivery. An empty Reason means that it succeeded.
type DeliveryResult struct {
	Account    string `json:"account"`
	Endpoint   string `json:"-"`
	ID         string `json:"id"`
	Lease      string `json:"-"`
	Reason     Reason `json:"reason"`
	StatusCode int    `json:"status_code"` // 0: no answer
	DurationMS int64  `json:"duration_ms"`
	Response   string `json:"response"`
}

// Exchange is the result of a dispatcher's round: the deliveries that it has claimed, and some endpoints (Closed). It must leave these to another
// replica because our keys do not open their secret.
type Exchange struct {
	Claimed []ClaimedDelivery
	Closed  map[string]bool
}

// ExchangeDeliveries is the one write of a dispatcher's round. In one transaction it records the results of attempts and then claims deliveries
// of the endpoints asked for. What it returns is being sent, under a lease that the caller's results must carry; a result whose lease was lost
// changes nothing.
//
// Of the deliveries of one endpoint with the same ordering key only the earliest unfinished one is claimed. The
// pending deliveries of an endpoint that is inactive or gone end as failed, endpoint_inactive. Those of an endpoint whose
// signing secret our keys do not open stay as they are, for somebody who has its key.
func (s *Store) ExchangeDeliveries(ctx context.Context, results []DeliveryResult, claims []DeliveryClaim, lease time.Duration) (Exchange, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (Exchange, error) {
		if err := u.PlanAnew(ctx); err != nil {
			return Exchange{}, err
		}
		if err := s.recordDeliveries(ctx, u, results); err != nil {
			return Exchange{}, err
		}
		return s.claimDeliveries(ctx, u, claims, lease)
	})
}

// recordDeliveries ends the claims of the results and stores the results, and counts the failures of the endpoints. A
// result whose claim was lost is dropped: another sender may be at work on that delivery.
func (s *Store) recordDeliveries(ctx context.Context, u *db.Unit, results []DeliveryResult) error {
	if len(results) == 0 {
		return nil
	}
	keys := make([]claimKey, len(results))
	for i, r := range results {
		keys[i] = claimKey{AccountID: r.Account, EndpointID: r.Endpoint, DeliveryID: r.ID, Lease: r.Lease}
	}
	held, err := s.endClaims(ctx, u, keys)
	if err != nil {
		return err
	}
	inTime := slices.DeleteFunc(slices.Clone(results), func(r DeliveryResult) bool { return !held[r.ID] })
	if len(inTime) == 0 {
		return nil
	}
	now := s.Now()
	if _, err := u.Exec(ctx, `
		UPDATE webhook_deliveries SET
			state = CASE WHEN r.reason = '' THEN 'succeeded' ELSE 'failed' END, attempts = attempts + 1,
			reason = NULLIF(r.reason, ''), status_code = NULLIF(r.status_code, 0), duration_ms = r.duration_ms,
			response = NULLIF(r.response, ''), updated_at = ?, finished_at = ?
		FROM `+s.db.JSONTable("account text", "id text", "reason text", "status_code bigint", "duration_ms bigint", "response text")+` AS r
		WHERE webhook_deliveries.account_id = r.account AND webhook_deliveries.id = r.id`,
		now, now, core.JSONOf(inTime)); err != nil {
		return fmt.Errorf("record deliveries: %w", err)
	}
	return s.countFailures(ctx, u, inTime, now)
}

// failPending ends at most limit deliveries that wait for an endpoint as failed, endpoint_inactive. What is being sent
// at this moment is left alone: its sender records the result.
func (s *Store) failPending(ctx context.Context, u *db.Unit, account, endpointID string, limit int) error {
	now := s.Now()
	_, err := u.Exec(ctx, `
		UPDATE webhook_deliveries SET state = 'failed', reason = 'endpoint_inactive', updated_at = ?, finished_at = ?
		WHERE account_id = ? AND state = 'pending' AND `+s.db.InSelected("id", `
			SELECT id FROM webhook_deliveries WHERE account_id = ? AND endpoint_id = ? AND state = 'pending' AND NOT EXISTS (
				SELECT 1 FROM webhook_claims AS c
				WHERE c.account_id = webhook_deliveries.account_id AND c.endpoint_id = webhook_deliveries.endpoint_id AND c.delivery_id = webhook_deliveries.id)
			LIMIT ?`+u.Lock()),
		now, now, account, account, endpointID, limit)
	if err != nil {
		return fmt.Errorf("fail deliveries of %s: %w", endpointID, err)
	}
	return nil
}
