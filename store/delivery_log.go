package store

import (
	"context"
	"errors"
	"fmt"
)

// ListDeliveries holds the filters of the log of an endpoint. An empty one does not filter.
type ListDeliveries struct {
	Page
	CreatedAfter  *Time // inclusive
	CreatedBefore *Time // exclusive
	State         DeliveryState
	Type          string
	Event         string
}

// maxRedelivered is how many events one call sends again.
const maxRedelivered = 10_000

var deliveryColumns = columnsOf[Delivery]("webhook_deliveries")

// ListDeliveries returns a page of what was sent, or waits to be sent, to an endpoint, newest first, and whether there
// is more. An event that does not exist is CodeMissing.
func (s *Store) ListDeliveries(ctx context.Context, account, endpoint string, in ListDeliveries) ([]Delivery, bool, error) {
	var f filter
	if in.Event != "" {
		event, err := s.findEvent(ctx, account, in.Event, "event", "")
		if err != nil {
			return nil, false, err
		}
		f.is("event_id", event.ID)
	}
	e, err := s.findWebhookEndpoint(ctx, account, endpoint, "", "")
	if err != nil {
		return nil, false, err
	}
	f.is("endpoint_id", e.ID)
	f.is("state", string(in.State))
	f.is("type", in.Type)
	f.list(s, ListFilter{CreatedAfter: in.CreatedAfter, CreatedBefore: in.CreatedBefore})
	return page(ctx, s, deliveryColumns, KindDelivery, account, in.Page, &f)
}

// RedeliverEvent sends an event to an active endpoint, whatever became of its earlier deliveries. What is inactive is
// CodeInvalid on webhook_endpoint.
func (s *Store) RedeliverEvent(ctx context.Context, account, ref, endpoint string) (*Delivery, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*Delivery, error) {
		e, err := s.findWebhookEndpoint(ctx, account, endpoint, "webhook_endpoint", u.lock())
		if err != nil {
			return nil, err
		}
		event, err := s.findEvent(ctx, account, ref, "", u.lock())
		if err != nil {
			return nil, err
		}
		if e.Status != WebhookEndpointActive {
			return nil, Invalid("webhook_endpoint", "The endpoint is inactive. Make it active, or name another one.")
		}
		if err := u.redeliver(ctx, e, []string{event.ID}); err != nil {
			return nil, err
		}
		return get[Delivery](ctx, s, deliveryColumns.selectSQL+`
			WHERE account_id = ? AND event_id = ? AND endpoint_id = ? ORDER BY id DESC LIMIT 1`, account, event.ID, e.ID)
	})
}

// RedeliverFailed sends every event again of which a delivery to the endpoint, created from after until before, has
// failed, unless the log shows that it has succeeded there or is on its way; and returns how many events these are.
// They go in the order in which they happened. An inactive endpoint and more than 10,000 events are CodeInvalid.
func (s *Store) RedeliverFailed(ctx context.Context, account, ref string, after, before Time) (int, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (int, error) {
		e, err := s.findWebhookEndpoint(ctx, account, ref, "", u.lock()) // two calls would each send everything
		if err != nil {
			return 0, err
		}
		if e.Status != WebhookEndpointActive {
			return 0, Invalid("status", "The endpoint is inactive. Make it active first.")
		}
		if after >= before {
			return 0, Invalid("created_before", "created_before must be later than created_after.")
		}
		events, err := selectAll[string](ctx, s, `
			SELECT id FROM events WHERE account_id = ? AND id IN (
				SELECT event_id FROM webhook_deliveries
				WHERE account_id = ? AND endpoint_id = ? AND state = 'failed' AND created_at >= ? AND created_at < ?)
			AND NOT EXISTS (
				SELECT 1 FROM webhook_deliveries AS d
				WHERE d.account_id = events.account_id AND d.event_id = events.id AND d.endpoint_id = ? AND d.state <> 'failed')
			ORDER BY id LIMIT ? + 1`+u.lock(),
			account, account, e.ID, after, before, e.ID, maxRedelivered)
		if err != nil {
			return 0, fmt.Errorf("find failed deliveries: %w", err)
		}
		if len(events) > maxRedelivered {
			return 0, Invalid("created_before", fmt.Sprintf("More than %d events failed in this time. Send a shorter one.", maxRedelivered))
		}
		return len(events), u.redeliver(ctx, e, events)
	})
}

// redeliver stores one more pending delivery of each of the events, which the caller has locked.
func (u *unit) redeliver(ctx context.Context, e *WebhookEndpoint, events []string) error {
	if len(events) == 0 {
		return nil
	}
	deliveries := make([][2]string, len(events)) // id, event
	for i, event := range events {
		deliveries[i] = [2]string{NewID(KindDelivery), event}
	}
	now := u.store.Now()
	rows, err := u.exec(ctx, `
		INSERT INTO webhook_deliveries (account_id, id, endpoint_id, event_id, type, ordering_key, key_seq, state, attempts, created_at, updated_at)
		SELECT e.account_id, value ->> 0, CAST(? AS text), e.id, e.type, e.ordering_key, e.key_seq, 'pending', 0, CAST(? AS bigint), CAST(? AS bigint)
		FROM `+u.store.jsonRows()+`, events AS e WHERE e.account_id = ? AND e.id = value ->> 1`,
		e.ID, now, now, JSONOf(deliveries), e.AccountID)
	if err == nil && int(rows) != len(events) {
		err = errors.New("an event is gone")
	}
	if err != nil {
		return fmt.Errorf("store deliveries: %w", err)
	}
	u.wakeDispatcher()
	return nil
}
