package main

import (
	"context"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
)

// done is what a command did to an account.
type done struct {
	account, operation string
	object             core.Kind
	id                 string
}

// logged runs what a command changes in one transaction, together with the line of it in the account's list of what was done. Change may
// run several times. What changes nothing has no line.
func logged(ctx context.Context, s *store.Store, change func(context.Context) (done, error)) error {
	_, _, err := s.Request(ctx, nil, func(ctx context.Context) (*core.Answer, error) {
		s.Activity.Watch(ctx, func(context.Context) error { return nil })
		d, err := change(ctx)
		if err != nil || !s.Activity.HasChanged(ctx) {
			return nil, err
		}
		return nil, s.Activity.Record(ctx, activity.Activity{AccountID: d.account, ActorType: activity.ActorCLI, Operation: d.operation, TargetObject: string(d.object), TargetID: &d.id})
	})
	return err
}
