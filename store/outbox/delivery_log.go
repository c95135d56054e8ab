package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// ListDeliveries holds the filters of an endpoint's log. An empty one does not filter.
type ListDeliveries struct {
	core.Page
	CreatedAfter  *core.Time // inclusive
	CreatedBefore *core.Time // exclusive
	State         DeliveryState
	Type          string
	Event         string
}

// maxRedelivered is how many events one call may send again.
const maxRedelivered = 10_000

var deliveryColumns = db.ColumnsOf[Delivery]("webhook_deliveries")

// ListDeliveries returns a page of the deliveries to an endpoint, newest first, and whether there are more. If the
// endpoint, or the event of the filter, does not exist, the error is CodeMissing.
func (s *Store) ListDeliveries(ctx context.Context, account, endpoint string, in ListDeliveries) ([]Delivery, bool, error) {
	var event *Event
	if in.Event != "" {
		var err error
		if event, err = s.getEvent(ctx, account, in.Event, "event"); err != nil {
			return nil, false, err
		}
	}
	e, err := s.GetWebhookEndpoint(ctx, account, endpoint)
	if err != nil {
		return nil, false, err
	}
	sending, err := s.sendingTo(ctx, e)
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.OrderedIfSet("type", in.Type)
	switch condition, ids := s.db.In("id", sending); in.State {
	case DeliverySending:
		in.State = DeliveryPending
		f.And(condition, ids)
	case DeliveryPending:
		f.And("NOT "+condition, ids)
	case DeliverySucceeded, DeliveryFailed:
	}
	list := s.listDeliveriesTo
	if event != nil {
		list = func(ctx context.Context, e *WebhookEndpoint, in ListDeliveries, f *db.Filter) ([]Delivery, bool, error) {
			return s.listDeliveriesOf(ctx, event, e, in, f)
		}
	}
	rows, more, err := list(ctx, e, in, &f)
	markSending(rows, sending)
	return rows, more, err
}

// sendingTo returns the ids of the deliveries that are being sent to an endpoint at this moment. They are few.
func (s *Store) sendingTo(ctx context.Context, e *WebhookEndpoint) ([]string, error) {
	ids, err := db.Select[string](ctx, s.db, `SELECT delivery_id FROM webhook_claims WHERE account_id = ? AND endpoint_id = ?`, e.AccountID, e.ID)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	return ids, nil
}

// markSending gives the deliveries that are being sent the state sending, and counts the attempt that is under way.
func markSending(rows []Delivery, sending []string) {
	for i := range rows {
		if rows[i].State == DeliveryPending && slices.Contains(sending, rows[i].ID) {
			rows[i].State = DeliverySending
			rows[i].Attempts++
		}
	}
}

// listDeliveriesOf returns a page of the deliveries of one event to an endpoint. An event has few deliveries, so their ids are looked up first.
// Both engines would rather walk the whole log in its order and look for them there.
func (s *Store) listDeliveriesOf(ctx context.Context, event *Event, e *WebhookEndpoint, in ListDeliveries, f *db.Filter) ([]Delivery, bool, error) {
	ids, err := db.Select[string](ctx, s.db, `SELECT id FROM webhook_deliveries WHERE account_id = ? AND event_id = ?`, event.AccountID, event.ID)
	if err != nil {
		return nil, false, fmt.Errorf("list deliveries: %w", err)
	}
	f.Among(s.db, ids)
	f.OrderedIfSet("endpoint_id", e.ID)
	f.OrderedIfSet("state", string(in.State))
	f.List(s.db, "webhook_deliveries", core.KindDelivery, core.ListFilter{CreatedAfter: in.CreatedAfter, CreatedBefore: in.CreatedBefore})
	return db.Page(ctx, s.db, deliveryColumns, core.KindDelivery, e.AccountID, in.Page, f)
}

// listDeliveriesTo returns a page of all deliveries to an endpoint. It walks one index for each state. So a page costs the same however many
// deliveries there are and however few of them the filters let through.
//
// The statement is written for PostgreSQL. The endpoint is part of the order because PostgreSQL does not know how many deliveries an endpoint
// has. It would rather walk the primary key, which can be long. The program drops what lies beyond the end, because PostgreSQL would not stop
// there. And the id is compared on its own as well, because the index of pending deliveries has the account between endpoint and id.
func (s *Store) listDeliveriesTo(ctx context.Context, e *WebhookEndpoint, in ListDeliveries, f *db.Filter) ([]Delivery, bool, error) {
	if err := in.Resolve(core.KindDelivery); err != nil {
		return nil, false, err
	}
	states := []DeliveryState{DeliveryPending, DeliverySucceeded, DeliveryFailed}
	if in.State != "" {
		states = []DeliveryState{in.State}
	}
	above, below := in.bounds()
	start, end, direction := " AND endpoint_id >= ? AND (endpoint_id, id) < (?, ?) AND id < ?", below, " DESC"
	if in.EndingBefore != "" {
		start, end, direction = " AND endpoint_id <= ? AND (endpoint_id, id) > (?, ?) AND id > ?", above, ""
	}
	where, conditions := f.SQL()
	var walks []string
	var args []any
	for _, state := range states {
		finished := ""
		if state != DeliveryPending {
			finished = " AND finished_at IS NOT NULL"
		}
		walks = append(walks, `SELECT * FROM (`+deliveryColumns.SelectSQL+` WHERE account_id = ? AND state = '`+string(state)+`'`+finished+start+where+
			` ORDER BY endpoint_id`+direction+`, id`+direction+` LIMIT ? + 1) AS `+string(state))
		args = append(append(append(args, e.AccountID, e.ID, e.ID, end, end), conditions...), in.Limit)
	}
	rows, err := db.Select[Delivery](db.Abortable(ctx), s.db, strings.Join(walks, " UNION ALL ")+` ORDER BY id`+direction+` LIMIT ? + 1`, append(args, in.Limit)...)
	if err != nil {
		return nil, false, fmt.Errorf("list deliveries: %w", err)
	}
	rows = slices.DeleteFunc(rows, func(d Delivery) bool { return d.ID <= above || d.ID >= below })
	rows, more := db.PageOf(in.Page, rows)
	return rows, more, nil
}

// bounds returns the ids that a page lies between, both excluded. They come from its position in the list and, because
// an id contains the time of its creation, from its times.
func (l *ListDeliveries) bounds() (above, below string) {
	above, below = l.EndingBefore, core.KindDelivery.Prefix()+strings.Repeat("z", core.IDLength)
	if l.StartingAfter != "" {
		below = l.StartingAfter
	}
	if l.CreatedAfter != nil {
		above = max(above, core.IDsBefore(core.KindDelivery, *l.CreatedAfter))
	}
	if l.CreatedBefore != nil {
		below = min(below, core.IDsBefore(core.KindDelivery, *l.CreatedBefore))
	}
	return above, below
}

// RedeliverEvent stores a new delivery of an event to an active endpoint, whatever became of earlier ones. It locks the
// endpoint and then the event. An inactive endpoint is CodeInvalid on webhook_endpoint.
func (s *Store) RedeliverEvent(ctx context.Context, account, ref, endpoint string) (*Delivery, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Delivery, error) {
		e, err := s.lockWebhookEndpoint(ctx, u, account, endpoint, "webhook_endpoint")
		if err != nil {
			return nil, err
		}
		event, err := s.lockEvent(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if e.Status != WebhookEndpointActive {
			return nil, core.Invalid("webhook_endpoint", "The endpoint is inactive. Make it active, or name another one.")
		}
		made := deliveryTo(e.pending(), event)
		if err := s.insertDeliveries(ctx, u, account, []newDelivery{made}); err != nil {
			return nil, err
		}
		return db.Get[Delivery](ctx, u, deliveryColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, made.ID)
	})
}

// RedeliverFailed sends events to an endpoint again: all of which a delivery to it, created from `after` until before `before`, has failed. It
// leaves out those of which one has succeeded there or is on its way. It returns how many they are. They are sent in the order in which they
// happened. An inactive endpoint and more than 10,000 events are CodeInvalid. It locks the endpoint and then the events.
func (s *Store) RedeliverFailed(ctx context.Context, account, ref string, after, before core.Time) (int, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int, error) {
		e, err := s.lockWebhookEndpoint(ctx, u, account, ref, "") // two calls would each send everything
		if err != nil {
			return 0, err
		}
		if e.Status != WebhookEndpointActive {
			return 0, core.Invalid("status", "The endpoint is inactive. Make it active first.")
		}
		if after >= before {
			return 0, core.Invalid("created_before", "created_before must be later than created_after.")
		}
		failed, err := s.failedEvents(ctx, u, e, core.IDsBefore(core.KindDelivery, after), core.IDsBefore(core.KindDelivery, before))
		if err != nil {
			return 0, fmt.Errorf("find failed deliveries: %w", err)
		}
		if len(failed) > maxRedelivered {
			return 0, core.Invalid("created_before", fmt.Sprintf("More than %d events failed in this time. Send a shorter one.", maxRedelivered))
		}
		condition, ids := s.db.In("id", failed)
		events, err := db.Select[Event](ctx, u.Locked(), `
			SELECT id, type, ordering_key, key_seq FROM events WHERE account_id = ? AND `+condition+` ORDER BY id`, account, ids)
		if err != nil {
			return 0, fmt.Errorf("lock failed events: %w", err)
		}
		deliveries := make([]newDelivery, len(events))
		for i := range events {
			deliveries[i] = deliveryTo(e.pending(), &events[i])
		}
		return len(events), s.insertDeliveries(ctx, u, account, deliveries)
	})
}

// failedEvents returns the events that RedeliverFailed has to send again, from the deliveries between two ids. It
// returns at most one more than may be sent again, so that the caller notices when there are too many. If several
// deliveries of an event failed, only the last one counts, so that an event is returned once.
func (s *Store) failedEvents(ctx context.Context, u *db.Unit, e *WebhookEndpoint, above, below string) ([]string, error) {
	return db.Select[string](ctx, u, `
		SELECT event_id FROM webhook_deliveries
		WHERE account_id = ? AND state = 'failed' AND finished_at IS NOT NULL AND (endpoint_id, id) > (?, ?) AND (endpoint_id, id) < (?, ?) AND NOT EXISTS (
			SELECT 1 FROM webhook_deliveries AS d
			WHERE d.account_id = webhook_deliveries.account_id AND d.event_id = webhook_deliveries.event_id AND d.endpoint_id || '' = ?
				AND (d.state <> 'failed' OR d.id > webhook_deliveries.id AND d.id < ?))
		ORDER BY endpoint_id, id LIMIT ? + 1`,
		e.AccountID, e.ID, above, e.ID, below, e.ID, below, maxRedelivered)
}
