package activity

import (
	"cmp"
	"context"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// ActorType says what kind of actor somebody is.
type ActorType string

// The types of actors.
const (
	ActorAPIKey   ActorType = "api_key"
	ActorPerson   ActorType = "person"   // signed in to the dashboard
	ActorCustomer ActorType = "customer" // on a page, or by a request without a key
	ActorSystem   ActorType = "system"
	ActorCLI      ActorType = "cli"
)

// Activity is one change, and who made it.
type Activity struct {
	AccountID    string              `db:"account_id"`
	ID           string              `db:"id"`
	ActorType    ActorType           `db:"actor_type"`
	ActorID      string              `db:"actor_id"` // the type, if nobody knows who it was
	ActorName    *string             `db:"actor_name"`
	Operation    string              `db:"operation"`
	TargetObject string              `db:"target_object"`
	TargetID     *string             `db:"target_id"`
	CustomerID   *string             `db:"customer_id"` // whom it is about, so that Forget finds it
	Scope        string              `db:"scope"`       // what a key needs to see the changes
	Changes      core.JSON[*Changes] `db:"changes"`     // nil: they are not known
	RequestID    *string             `db:"request_id"`
	IP           *string             `db:"ip"`
	CreatedAt    core.Time           `db:"created_at"`
}

var columns = db.ColumnsOf[Activity]("activities")

// ListActivities are the filters of a list. An empty one does not filter.
type ListActivities struct {
	core.Page
	core.ListFilter
	Actor     string // an id, or a type for all without one
	Operation string
	Target    string // an id
}

// ListActivities returns a page of what was done, newest first, and whether there is more.
func (s *Store) ListActivities(ctx context.Context, account string, in ListActivities) ([]Activity, bool, error) {
	var f db.Filter
	f.OrderedIfSet("actor_id", in.Actor)
	f.OrderedIfSet("operation", in.Operation)
	f.OrderedIfSet("target_id", in.Target)
	f.List(s.db, "activities", core.KindActivity, in.ListFilter)
	return db.Page(ctx, s.db, columns, core.KindActivity, account, in.Page, &f)
}

// Record stores a line in the open transaction, together with the change that it tells of.
func (s *Store) Record(ctx context.Context, a Activity) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		a.ID, a.CreatedAt = core.NewID(core.KindActivity), s.db.Now()
		a.ActorID = cmp.Or(a.ActorID, string(a.ActorType))
		if s.forgets(u, a) {
			a.Changes.V = nil
		}
		return nil, u.Insert(ctx, columns, &a)
	})
	return err
}

// DeleteOld deletes at most limit lines that are older than keep, of all accounts, and returns how many.
func (s *Store) DeleteOld(ctx context.Context, keep time.Duration, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.ExecBatch(ctx, `DELETE FROM activities`, `activities WHERE created_at < ? ORDER BY created_at LIMIT ?`, s.db.Now().Add(-keep), limit)
	})
}

// Watch has look called once in a write request, just before the request changes something for the first time. It is called in the request's
// transaction, so it finds what is about to be changed as it was.
func (s *Store) Watch(ctx context.Context, look func(context.Context) error) { db.Watch(ctx, look) }

// HasChanged reports whether a write request has changed something.
func (s *Store) HasChanged(ctx context.Context) bool { return db.HasChanged(ctx) }
