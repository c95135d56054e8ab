package outbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// APIVersion is the version of the API that every payload names.
const APIVersion = "v1"

// Event is something that happened and that webhook endpoints are told about. Body is the payload, sent byte for byte as
// it is stored.
type Event struct {
	AccountID   string    `db:"account_id"`
	ID          string    `db:"id"`
	Type        string    `db:"type"`
	OrderingKey string    `db:"ordering_key"`
	KeySeq      int64     `db:"key_seq"`
	Body        string    `db:"body"`
	CreatedAt   core.Time `db:"created_at"`

	Status    DeliveryState // empty if no endpoint was to be told; what is being sent counts as pending. Set where an event is read.
	ExpiresAt *core.Time    // when a failed one is deleted
}

var eventColumns = db.ColumnsOf[Event]("events")

// GetEvent returns an event that is still kept, or CodeMissing.
func (s *Store) GetEvent(ctx context.Context, account, ref string) (*Event, error) {
	e, err := s.getEvent(ctx, account, ref, "")
	if err != nil {
		return nil, err
	}
	return e, s.judgeEvents(ctx, account, map[string]*Event{e.ID: e})
}

// ListEvents holds the filters of a list of events. An empty one does not filter.
type ListEvents struct {
	core.Page
	core.ListFilter
	Type string
}

// mostListed is how many bytes the bodies of a page of events have, but for those of one.
const mostListed = 4 << 20

// eventSize says how many bytes the body of an event has.
type eventSize struct {
	ID   string `db:"id"`
	Size int64  `db:"size"`
}

var eventSizes = db.ColumnsOf[eventSize]("events").Selecting("id", "octet_length(body) AS size")

// ListEvents returns a page of the events that are kept, newest first, and whether there are more. It reads no body that it does not return.
func (s *Store) ListEvents(ctx context.Context, account string, in ListEvents) ([]Event, bool, error) {
	var f db.Filter
	f.OrderedIfSet("type", in.Type)
	f.List(s.db, "events", core.KindEvent, in.ListFilter)
	listed, more, err := db.Page(ctx, s.db, eventSizes, core.KindEvent, account, in.Page, &f)
	if err != nil {
		return nil, false, err
	}
	if in.Ascends() { // those next to the position come last
		slices.Reverse(listed)
	}
	var ids []string
	var size int64
	for i, e := range listed {
		if size += e.Size; size > mostListed && i > 0 {
			more = true
			break
		}
		ids = append(ids, e.ID)
	}
	if in.Ascends() {
		slices.Reverse(ids)
	}
	byID, err := s.EventsByID(ctx, account, ids)
	if err != nil {
		return nil, false, err
	}
	var events []Event
	for _, id := range ids {
		if e := byID[id]; e != nil { // it was not deleted meanwhile
			events = append(events, *e)
		}
	}
	if len(events) == 0 && more { // whoever asks would not know from where to go on
		if in.Ascends() {
			in.EndingBefore = ids[0]
		} else {
			in.StartingAfter = ids[len(ids)-1]
		}
		return s.ListEvents(ctx, account, in)
	}
	return events, more, nil
}

// EventsByID returns the events with the ids, by id. One that is not kept any more is not in the map.
func (s *Store) EventsByID(ctx context.Context, account string, ids []string) (map[string]*Event, error) {
	events, err := db.ByID(ctx, s.db, eventColumns, account, ids)
	if err != nil {
		return nil, err
	}
	return events, s.judgeEvents(ctx, account, events)
}

// judgeEvents sets the Status of each event, and of a failed one ExpiresAt, from its deliveries. An event without
// deliveries is left without a status.
func (s *Store) judgeEvents(ctx context.Context, account string, events map[string]*Event) error {
	if len(events) == 0 {
		return nil
	}
	condition, ids := s.db.In("d.event_id", slices.Collect(maps.Keys(events)))
	outcomes, err := db.Select[eventOutcome](ctx, s.db, `
		SELECT d.event_id, SUM(CASE WHEN d.finished_at IS NULL THEN 1 ELSE 0 END) AS under_way,
			MAX(CASE WHEN d.state = 'failed' AND NOT EXISTS (
				SELECT 1 FROM webhook_deliveries AS later WHERE later.account_id = ? AND later.event_id = d.event_id AND later.state = 'succeeded' AND `+
		madeUp("later", "d")+`) THEN d.finished_at END) AS failed_at
		FROM webhook_deliveries AS d WHERE d.account_id = ? AND `+condition+` GROUP BY d.event_id`, account, account, ids)
	if err != nil {
		return fmt.Errorf("read how events were told: %w", err)
	}
	for _, o := range outcomes {
		o.judge(events[o.EventID])
	}
	return nil
}

// madeUp returns the SQL condition that a delivery which succeeded made up for a failed one of the same event. It did if
// it was created after the failure, or reached the same endpoint after it. A delivery that was sent to another endpoint
// at the same time as the failed one did not.
func madeUp(succeeded, failed string) string {
	return `(` + succeeded + `.created_at >= ` + failed + `.finished_at
		OR ` + succeeded + `.endpoint_id = ` + failed + `.endpoint_id AND ` + succeeded + `.finished_at >= ` + failed + `.finished_at)`
}

// eventOutcome sums up all deliveries of an event.
type eventOutcome struct {
	EventID  string     `db:"event_id"`
	UnderWay int        `db:"under_way"`
	FailedAt *core.Time `db:"failed_at"` // the last failure that nothing has made up for
}

// judge sets the status of an event. It is failed while a failure was not made up for, else pending while a delivery is not finished, else
// succeeded. A failed event expires FailedRetention after its last such failure.
func (o *eventOutcome) judge(e *Event) {
	switch {
	case o.FailedAt != nil:
		e.Status, e.ExpiresAt = DeliveryFailed, new(o.FailedAt.Add(FailedRetention))
	case o.UnderWay > 0:
		e.Status = DeliveryPending
	default:
		e.Status = DeliverySucceeded
	}
}

// getEvent returns an event, or CodeMissing on param.
func (s *Store) getEvent(ctx context.Context, account, ref, param string) (*Event, error) {
	return findEvent(ctx, s.db, account, ref, param)
}

// lockEvent does what getEvent does, and locks the row until the transaction ends.
func (s *Store) lockEvent(ctx context.Context, u *db.Unit, account, ref string) (*Event, error) {
	return findEvent(ctx, u.Locked(), account, ref, "")
}

func findEvent(ctx context.Context, r db.Reader, account, ref, param string) (*Event, error) {
	id, ok := core.ParseID(core.KindEvent, ref)
	if !ok {
		return nil, core.Missing("webhook event", param, ref)
	}
	e, err := db.Get[Event](ctx, r, eventColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && e == nil {
		err = core.Missing("webhook event", param, ref)
	}
	return e, err
}

// NewEvent is what a use case tells of. Emit makes an event of it.
type NewEvent struct {
	Kind    string // the event type
	Account string
	Key     string // ordering key: id of the root object
	Seq     int64  // the root row's event_seq, counted up under its lock
	Data    any    // what Render is given: a row with what the payload inlines
}

// subscriber is an active endpoint with the event types that it has subscribed to.
type subscriber struct {
	ID     string              `db:"id"`
	Format WebhookFormat       `db:"format"`
	Events core.JSON[[]string] `db:"enabled_events"`
}

// Emit renders an event with the data as it is now. Just before the transaction commits, it is stored, with a pending delivery for every active
// endpoint that subscribed to its type. After the commit the dispatcher is woken. If the transaction fails, there is no event.
func (s *Store) Emit(ctx context.Context, u *db.Unit, e NewEvent) error {
	if s.render == nil {
		return errors.New("store: Options.Render is required to emit events")
	}
	if data, ok := e.Data.(db.Linked); ok {
		data.Link(s.db)
	}
	data, err := s.render(e.Kind, e.Data)
	if err != nil {
		return fmt.Errorf("render %s: %w", e.Kind, err)
	}
	row := &Event{AccountID: e.Account, ID: core.NewID(core.KindEvent), Type: e.Kind, OrderingKey: e.Key, KeySeq: e.Seq, CreatedAt: s.Now()}
	row.Body = EventBody(row, data)
	deliveries, err := s.deliveriesOf(ctx, u, row)
	if err != nil {
		return err
	}
	emitted := db.Kept[emitted](u)
	if len(emitted.events) == 0 {
		u.BeforeCommit(func(ctx context.Context) error { return s.storeEvents(ctx, u) })
	}
	emitted.events = append(emitted.events, *row)
	emitted.size += len(row.Body)
	if len(deliveries) > 0 {
		if emitted.deliveries == nil {
			emitted.deliveries = map[string][]newDelivery{}
		}
		emitted.deliveries[row.AccountID] = append(emitted.deliveries[row.AccountID], deliveries...)
	}
	return nil
}

// MostInBulk is how many bytes of event bodies one bulk write emits, and the last event of it besides. They are held in memory until the commit.
const MostInBulk = 8 << 20

// Expect counts bytes of event bodies that a bulk write will emit when all its items are written.
func (s *Store) Expect(u *db.Unit, size int) { db.Kept[emitted](u).expected += size }

// CheckBulk returns CodeTooLarge if a bulk write has emitted, or will emit, all that it may. The item that it is about to write has to wait for another request.
func (s *Store) CheckBulk(u *db.Unit) error {
	if emitted := db.Kept[emitted](u); emitted.size+emitted.expected < MostInBulk {
		return nil
	}
	return &core.Error{Code: core.CodeTooLarge, Message: "The items before this one have events, or read products, of 8 MiB, which is the most in one request. Send this item in another request."}
}

// emitted holds what a transaction has emitted so far, which is stored with the commit.
type emitted struct {
	events      []Event
	size        int                      // of their bodies
	expected    int                      // of those that Expect was told of
	deliveries  map[string][]newDelivery // of the events, by account
	subscribers map[string][]subscriber  // by account, once an event was emitted
}

// storeEvents stores all that the transaction emitted, just before the commit. A purchase emits several events, and other purchases wait while it
// holds the account's numbers locked. So this is done in few statements and as late as possible.
func (s *Store) storeEvents(ctx context.Context, u *db.Unit) error {
	emitted := db.Kept[emitted](u)
	if err := db.InsertAll(ctx, u, eventColumns, emitted.events); err != nil {
		return err
	}
	for account, deliveries := range emitted.deliveries {
		if err := s.insertDeliveries(ctx, u, account, deliveries); err != nil {
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

// deliveriesOf makes the deliveries of an event: one for every active endpoint that subscribed to its type.
func (s *Store) deliveriesOf(ctx context.Context, u *db.Unit, e *Event) ([]newDelivery, error) {
	subscribers, err := s.subscribersOf(ctx, u, e.AccountID)
	var deliveries []newDelivery
	for _, subscriber := range subscribers {
		if slices.Contains(subscriber.Events.V, e.Type) || slices.Contains(subscriber.Events.V, EventAll) {
			deliveries = append(deliveries, deliveryTo(PendingEndpoint{AccountID: e.AccountID, EndpointID: subscriber.ID, Format: subscriber.Format}, e))
		}
	}
	return deliveries, err
}

// ReadSubscribers reads what Emit would have to read about an account's endpoints. A use case calls it before it locks a row for
// which others wait.
func (s *Store) ReadSubscribers(ctx context.Context, u *db.Unit, account string) error {
	_, err := s.subscribersOf(ctx, u, account)
	return err
}

// subscribersOf returns the active endpoints of an account. It reads them only once in a transaction, because a purchase
// emits several events.
func (s *Store) subscribersOf(ctx context.Context, u *db.Unit, account string) ([]subscriber, error) {
	emitted := db.Kept[emitted](u)
	if known, ok := emitted.subscribers[account]; ok {
		return known, nil
	}
	found, err := db.Select[subscriber](ctx, u, `
		SELECT id, format, enabled_events FROM webhook_endpoints WHERE account_id = ? AND status = 'active' ORDER BY id`, account)
	if err != nil {
		return nil, fmt.Errorf("read subscribers: %w", err)
	}
	if emitted.subscribers == nil {
		emitted.subscribers = map[string][]subscriber{}
	}
	emitted.subscribers[account] = found
	return found, nil
}
