package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// APIVersion stands in every payload.
const APIVersion = "v1"

// Event is something that happened, told to webhook endpoints. Body is what is sent, byte for byte.
type Event struct {
	AccountID   string `db:"account_id"`
	ID          string `db:"id"`
	Type        string `db:"type"`
	OrderingKey string `db:"ordering_key"`
	KeySeq      int64  `db:"key_seq"`
	Body        string `db:"body"`
	CreatedAt   Time   `db:"created_at"`
}

var eventColumns = columnsOf[Event]("events")

// GetEvent returns an event that is still kept, or CodeMissing.
func (s *Store) GetEvent(ctx context.Context, account, ref string) (*Event, error) {
	return s.findEvent(ctx, account, ref, "", "")
}

// EventsByID returns the events among ids.
func (s *Store) EventsByID(ctx context.Context, account string, ids []string) (map[string]*Event, error) {
	return byID(ctx, s, eventColumns, account, ids)
}

func (s *Store) findEvent(ctx context.Context, account, ref, param, lock string) (*Event, error) {
	id, ok := ParseID(KindEvent, ref)
	if !ok {
		return nil, Missing("webhook event", param, ref)
	}
	e, err := get[Event](ctx, s, eventColumns.selectSQL+` WHERE account_id = ? AND id = ?`+lock, account, id)
	if err == nil && e == nil {
		err = Missing("webhook event", param, ref)
	}
	return e, err
}

// event is what a use case gives to emit.
type event struct {
	Kind    string // the event type
	Account string
	Key     string // ordering key: id of the root object
	Seq     int64  // the root row's event_seq, counted up under its lock
	Data    any    // store type, with what the payload inlines
}

// subscriber is an active endpoint as emit sees it.
type subscriber struct {
	ID     string         `db:"id"`
	Format WebhookFormat  `db:"format"`
	Events JSON[[]string] `db:"enabled_events"`
}

// emit renders an event as things stand now. It is stored with the commit, with a pending delivery for every active endpoint
// that asked for its type, and exists exactly if that succeeds; then the dispatcher is woken.
func (u *unit) emit(ctx context.Context, e event) error {
	if u.store.options.Render == nil {
		return errors.New("store: Options.Render is required to emit events")
	}
	if data, ok := e.Data.(linked); ok {
		data.link(u.store)
	}
	data, err := u.store.options.Render(e.Kind, e.Data)
	if err != nil {
		return fmt.Errorf("render %s: %w", e.Kind, err)
	}
	row := &Event{AccountID: e.Account, ID: NewID(KindEvent), Type: e.Kind, OrderingKey: e.Key, KeySeq: e.Seq, CreatedAt: u.store.Now()}
	row.Body = EventBody(row, data)
	deliveries, err := u.deliveriesOf(ctx, row)
	if err != nil {
		return err
	}
	u.events = append(u.events, *row)
	if len(deliveries) > 0 {
		if u.deliveries == nil {
			u.deliveries = map[string][]newDelivery{}
		}
		u.deliveries[row.AccountID] = append(u.deliveries[row.AccountID], deliveries...)
	}
	return nil
}

// storeEvents stores what was emitted, just before the commit: a purchase emits several events while others wait for the
// account's numbers.
func (u *unit) storeEvents(ctx context.Context) error {
	if err := insertAll(ctx, u, eventColumns, u.events); err != nil {
		return err
	}
	for account, deliveries := range u.deliveries {
		if err := u.insertDeliveries(ctx, account, deliveries); err != nil {
			return err
		}
	}
	return nil
}

// EventBody returns the payload of an event around its rendered data.
func EventBody(e *Event, data []byte) string {
	return `{"id":` + strconv.Quote(e.ID) + `,"created_at":` + strconv.Quote(e.CreatedAt.String()) +
		`,"type":` + strconv.Quote(e.Type) + `,"api_version":` + strconv.Quote(APIVersion) + `,"data":` + string(data) + `}`
}

// deliveriesOf are the deliveries of an event: one for every endpoint that wants it.
func (u *unit) deliveriesOf(ctx context.Context, e *Event) ([]newDelivery, error) {
	subscribers, err := u.subscribersOf(ctx, e.AccountID)
	var deliveries []newDelivery
	for _, subscriber := range subscribers {
		if slices.Contains(subscriber.Events.V, e.Type) || slices.Contains(subscriber.Events.V, EventAll) {
			deliveries = append(deliveries, deliveryTo(PendingEndpoint{AccountID: e.AccountID, EndpointID: subscriber.ID, Format: subscriber.Format}, e.ID))
		}
	}
	return deliveries, err
}

// subscribersOf reads the active endpoints of an account once in a transaction: a purchase emits several events.
func (u *unit) subscribersOf(ctx context.Context, account string) ([]subscriber, error) {
	if known, ok := u.subscribers[account]; ok {
		return known, nil
	}
	found, err := selectAll[subscriber](ctx, u.store, `
		SELECT id, format, enabled_events FROM webhook_endpoints WHERE account_id = ? AND status = 'active' ORDER BY id`, account)
	if err != nil {
		return nil, fmt.Errorf("read subscribers: %w", err)
	}
	if u.subscribers == nil {
		u.subscribers = map[string][]subscriber{}
	}
	u.subscribers[account] = found
	return found, nil
}
