package activity

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/tillwright/tillwright/store/internal/db"
)

// Actor is who does something without a write request of the API. It is a customer on a page, a person on the dashboard, or the
// operator on the command line.
type Actor struct {
	Type      ActorType
	ID        string // of a person, or of a customer who is known
	Name      string // of a person
	IP        string // from which a person came
	Operation string // what they do, by its name in the API; empty: what the use case calls it
	RequestID string
}

// actorKey is the key under which a context holds the Actor.
type actorKey struct{}

// As returns a context in which somebody acts. Without one it is the server itself.
func As(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, actorKey{}, a) }

// Doing returns a context in which a customer who is known does an operation, in the request of ctx.
func Doing(ctx context.Context, customer, operation string) context.Context {
	a := actorOf(ctx)
	a.Type, a.ID, a.Operation = ActorCustomer, customer, operation
	return As(ctx, a)
}

func actorOf(ctx context.Context) Actor {
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	return Actor{Type: ActorSystem}
}

// Note stores a line of what the transaction did, unless it is of a write request of the API, whose own line says so. Who did it, and what
// they call it, is what the context says, or else that of a. What has neither name is no news, and is not stored.
func (s *Store) Note(ctx context.Context, in *db.Unit, a Activity) error {
	by := actorOf(ctx)
	if a.Operation = cmp.Or(by.Operation, a.Operation); a.Operation == "" || db.IsWatched(ctx) {
		return nil
	}
	a.ActorType, a.ActorID = by.Type, by.ID
	for field, value := range map[**string]*string{&a.ActorName: &by.Name, &a.IP: &by.IP, &a.RequestID: &by.RequestID} {
		if *value != "" {
			*field = value
		}
	}
	return s.Record(ctx, a)
}

// Became returns the changes of fields, each given by its name, what it was and what it became. What is the same is left out.
func Became(fields map[string][2]any) *Changes {
	before, after := Fields{}, Fields{}
	for field, values := range fields {
		for i, shown := range []Fields{before, after} {
			text, err := json.Marshal(values[i])
			if err != nil { // these are texts, numbers, booleans and times
				panic(err)
			}
			shown[field] = text
		}
	}
	return Diff(before, after)
}
