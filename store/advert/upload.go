package advert

import (
	"context"

	"github.com/tillwright/tillwright/store/internal/db"
)

// BegunUpload is an upload whose network may be asked now. Fresh holds the identifiers that still have to be sent: those
// that were not uploaded to the audience before.
type BegunUpload struct {
	BegunAction
	Fresh []Member
}

// BeginUpload begins the upload of identifiers to an audience, as BeginAction does. It stores those that the audience does not have yet in the same
// transaction.
func (s *Store) BeginUpload(ctx context.Context, account string, in BeginAction, audience string, members []Member) (*BegunUpload, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*BegunUpload, error) {
		begun, err := s.beginAction(ctx, u, account, in)
		if err != nil {
			return nil, err
		}
		if !begun.Resumed {
			if err := s.holdMembers(ctx, u, begun.Action, audience, members); err != nil {
				return nil, err
			}
		}
		fresh, err := s.membersIn(ctx, u, account, begun.Action.ID)
		detail(fresh, members)
		return &BegunUpload{*begun, fresh}, err
	})
}
