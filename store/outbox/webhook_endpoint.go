package outbox

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// WebhookEndpointStatus says whether an endpoint is sent events.
type WebhookEndpointStatus string

// An inactive endpoint receives nothing; active again, it receives what happens from then on.
const (
	WebhookEndpointActive   WebhookEndpointStatus = "active"
	WebhookEndpointInactive WebhookEndpointStatus = "inactive"
)

// WebhookFormat says what an endpoint is sent.
type WebhookFormat string

// WebhookFormatRaw is the event itself; the other two are messages for people, in the form that the chat services take.
const (
	WebhookFormatRaw     WebhookFormat = "raw"
	WebhookFormatSlack   WebhookFormat = "slack"
	WebhookFormatDiscord WebhookFormat = "discord"
)

// maxWebhookEndpoints is how many endpoints an account may have.
const maxWebhookEndpoints = 50

// WebhookEndpoint is a URL that events of an account are sent to.
type WebhookEndpoint struct {
	AccountID     string                `db:"account_id"`
	ID            string                `db:"id"`
	URL           string                `db:"url"`
	APIVersion    string                `db:"api_version"`
	Status        WebhookEndpointStatus `db:"status"`
	Format        WebhookFormat         `db:"format"`
	EnabledEvents core.JSON[[]string]   `db:"enabled_events"`
	Description   *string               `db:"description"`
	SealedSecret  []byte                `db:"secret"`
	Secret        string                `db:"-"` // set where it is new, by CreateWebhookEndpoint and RotateWebhookSecret

	SealedPreviousSecret []byte     `db:"previous_secret"`
	PreviousSecretUntil  *core.Time `db:"previous_secret_until"`

	ConsecutiveFailures int        `db:"consecutive_failures"` // since the last delivery that succeeded
	FailingSince        *core.Time `db:"failing_since"`        // when the first of them failed

	Metadata  core.Metadata `db:"metadata"`
	CreatedAt core.Time     `db:"created_at"`
	UpdatedAt core.Time     `db:"updated_at"`
}

var webhookEndpointColumns = db.ColumnsOf[WebhookEndpoint]("webhook_endpoints")

// pending returns the endpoint as the dispatcher names it.
func (e *WebhookEndpoint) pending() PendingEndpoint {
	return PendingEndpoint{AccountID: e.AccountID, EndpointID: e.ID, Format: e.Format}
}

// check returns CodeInvalid, with every field at fault, for an endpoint that cannot be stored. Whether the URL may be
// called has to be checked by the caller.
func (e *WebhookEndpoint) check() error {
	var p core.Problems
	p.Check(len(e.EnabledEvents.V) > 0, "enabled_events", `Send at least one event type, or ["*"] for all.`)
	for _, name := range e.EnabledEvents.V {
		p.Check(isEventType(name), "enabled_events", notAnEventType(name))
	}
	p.Check(e.Status == WebhookEndpointActive || e.Status == WebhookEndpointInactive, "status", "Send active or inactive.")
	p.Check(slices.Contains([]WebhookFormat{WebhookFormatRaw, WebhookFormatSlack, WebhookFormatDiscord}, e.Format), "format", "Send raw, slack or discord.")
	e.Metadata.Check(&p)
	return p.Err()
}

// normalize removes repetitions from enabled_events. If EventAll is among them, it removes all others, which EventAll includes. It does not if
// one of them is no event type, so that check still reports it.
func (e *WebhookEndpoint) normalize() {
	if slices.Contains(e.EnabledEvents.V, EventAll) && !slices.ContainsFunc(e.EnabledEvents.V, func(name string) bool { return !isEventType(name) }) {
		e.EnabledEvents.V = []string{EventAll}
	}
	e.EnabledEvents.V = core.Distinct(e.EnabledEvents.V)
}

// ListWebhookEndpoints holds the filters of a list of endpoints. An empty one does not filter.
type ListWebhookEndpoints struct {
	core.Page
	core.ListFilter
	Status WebhookEndpointStatus
}

// GetWebhookEndpoint returns an endpoint without its secret, or CodeMissing.
func (s *Store) GetWebhookEndpoint(ctx context.Context, account, ref string) (*WebhookEndpoint, error) {
	return findWebhookEndpoint(ctx, s.db, account, ref, "")
}

// ListWebhookEndpoints returns a page of endpoints without their secrets, newest first, and whether there are more.
func (s *Store) ListWebhookEndpoints(ctx context.Context, account string, in ListWebhookEndpoints) ([]WebhookEndpoint, bool, error) {
	var f db.Filter
	f.OrderedIfSet("status", string(in.Status))
	f.List(s.db, "webhook_endpoints", core.KindWebhookEndpoint, in.ListFilter, "url", "description")
	return db.Page(ctx, s.db, webhookEndpointColumns, core.KindWebhookEndpoint, account, in.Page, &f)
}

// CreateWebhookEndpoint makes an endpoint and returns it with its new Secret, which cannot be read again later. Without
// EnabledEvents it is subscribed to everything. An unknown event type and the 51st endpoint of an account are
// CodeInvalid.
func (s *Store) CreateWebhookEndpoint(ctx context.Context, account string, e WebhookEndpoint) (*WebhookEndpoint, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*WebhookEndpoint, error) {
		e := e
		e.AccountID, e.ID, e.APIVersion, e.CreatedAt = account, core.NewID(core.KindWebhookEndpoint), APIVersion, s.Now()
		e.UpdatedAt = e.CreatedAt
		if e.EnabledEvents.V == nil {
			e.EnabledEvents.V = []string{EventAll}
		}
		if e.Status == "" {
			e.Status = WebhookEndpointActive
		}
		if e.Format == "" {
			e.Format = WebhookFormatRaw
		}
		e.normalize()
		if err := e.check(); err != nil {
			return nil, err
		}
		if err := s.roomForWebhookEndpoint(ctx, u, account); err != nil {
			return nil, err
		}
		s.renewSecret(&e)
		return &e, u.Insert(ctx, webhookEndpointColumns, &e)
	})
}

// UpdateWebhookEndpoint locks the endpoint, applies change and stores it. If it is inactive then, what waits for it ends
// as failed, so that it is not sent once the endpoint is active again. If the URL changes, or the endpoint becomes
// active, its count of failures starts again at 0.
func (s *Store) UpdateWebhookEndpoint(ctx context.Context, account, ref string, change func(*WebhookEndpoint)) (*WebhookEndpoint, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*WebhookEndpoint, error) {
		e, err := s.lockWebhookEndpoint(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		before := *e
		change(e)
		e.normalize()
		if err := e.check(); err != nil || core.SameJSON(before, *e) {
			return e, err
		}
		if e.Status == WebhookEndpointInactive {
			if err := s.failPending(ctx, u, account, e.ID, math.MaxInt32); err != nil {
				return nil, err
			}
		}
		if e.URL != before.URL || e.Status != before.Status && e.Status == WebhookEndpointActive {
			e.ConsecutiveFailures, e.FailingSince = 0, nil
		}
		e.UpdatedAt = s.Now()
		return e, u.Update(ctx, webhookEndpointColumns, e)
	})
}

// DeleteWebhookEndpoint deletes an endpoint for good and returns it. What waits for it ends as failed. The endpoint is
// locked first.
func (s *Store) DeleteWebhookEndpoint(ctx context.Context, account, ref string) (*WebhookEndpoint, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*WebhookEndpoint, error) {
		e, err := s.lockWebhookEndpoint(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		if err := s.failPending(ctx, u, account, e.ID, math.MaxInt32); err != nil {
			return nil, err
		}
		_, err = u.Exec(ctx, `DELETE FROM webhook_endpoints WHERE account_id = ? AND id = ?`, account, e.ID)
		return e, err
	})
}

// BeginWebhookTest returns an active endpoint, for the caller to send a test event of a type to it. It commits the
// transaction of the request, because none may be open during that call. An endpoint that is not active and an unknown
// event type are CodeInvalid.
func (s *Store) BeginWebhookTest(ctx context.Context, account, ref, kind string) (*WebhookEndpoint, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*WebhookEndpoint, error) {
		e, err := findWebhookEndpoint(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		var p core.Problems
		p.Check(kind != EventAll && isEventType(kind), "type", notAnEventType(kind))
		p.Check(e.Status == WebhookEndpointActive, "status", "The endpoint is inactive. Make it active first.")
		return e, p.Err()
	})
}

// lockWebhookEndpoint does what GetWebhookEndpoint does, and locks the row until the transaction ends.
func (s *Store) lockWebhookEndpoint(ctx context.Context, u *db.Unit, account, ref, param string) (*WebhookEndpoint, error) {
	return findWebhookEndpoint(ctx, u.Locked(), account, ref, param)
}

// findWebhookEndpoint returns an endpoint, or CodeMissing on param.
func findWebhookEndpoint(ctx context.Context, r db.Reader, account, ref, param string) (*WebhookEndpoint, error) {
	id, ok := core.ParseID(core.KindWebhookEndpoint, ref)
	if !ok {
		return nil, core.Missing("webhook endpoint", param, ref)
	}
	e, err := db.Get[WebhookEndpoint](ctx, r, webhookEndpointColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && e == nil {
		err = core.Missing("webhook endpoint", param, ref)
	}
	return e, err
}

// roomForWebhookEndpoint returns CodeInvalid if the account has as many endpoints as it may have. It locks the account,
// so that two requests cannot both take the last place.
func (s *Store) roomForWebhookEndpoint(ctx context.Context, u *db.Unit, account string) error {
	if err := u.LockAccount(ctx, account); err != nil {
		return err
	}
	count, err := db.Get[int](ctx, u, `SELECT count(*) FROM webhook_endpoints WHERE account_id = ?`, account)
	if err == nil && *count >= maxWebhookEndpoints {
		err = core.Invalid("base", fmt.Sprintf("An account has at most %d webhook endpoints. Delete one first.", maxWebhookEndpoints))
	}
	return err
}
