package advert

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// BeginRemoval begins to take people out of an audience, as BeginAction does. It gives their identifiers to the action in the same transaction. It
// does so whether the audience is known to have them or not, because somebody else may have uploaded them. Fresh of the result holds all of them.
func (s *Store) BeginRemoval(ctx context.Context, account string, in BeginAction, audience string, members []Member) (*BegunUpload, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*BegunUpload, error) {
		begun, err := s.beginAction(ctx, u, account, in)
		if err != nil {
			return nil, err
		}
		if !begun.Resumed {
			if err := s.holdLeaving(ctx, u, begun.Action, audience, members); err != nil {
				return nil, err
			}
		}
		leaving, err := s.membersIn(ctx, u, account, begun.Action.ID)
		return &BegunUpload{*begun, leaving}, err
	})
}

// holdLeaving gives identifiers that are to leave an audience to an action. Those that an upload is about to send are taken over from it. They are
// forgotten here even if the network gets them a moment later than it is told to remove them.
func (s *Store) holdLeaving(ctx context.Context, u *db.Unit, action *Action, audience string, members []Member) error {
	_, err := u.Exec(ctx, `
		INSERT INTO ad_audience_members AS t (account_id, audience_id, kind, hash, user_index, action_id)
		SELECT CAST(? AS TEXT), CAST(? AS TEXT), value ->> 0, value ->> 1, CAST(value ->> 2 AS BIGINT), CAST(? AS TEXT) FROM `+s.db.JSONRows()+` WHERE TRUE
		ON CONFLICT (account_id, audience_id, kind, hash) DO UPDATE SET action_id = excluded.action_id, user_index = excluded.user_index`,
		action.AccountID, audience, action.ID, core.JSONOf(rowsOf(members)))
	if err != nil {
		return fmt.Errorf("hold members: %w", err)
	}
	return nil
}

// settleRemoval ends the removal of identifiers: they are deleted. If the network has not removed them, those that were in
// the audience stay, unless they are to be forgotten all the same.
func (s *Store) settleRemoval(ctx context.Context, u *db.Unit, action *Action, out Outcome) error {
	query := `DELETE FROM ad_audience_members WHERE account_id = ? AND action_id = ?`
	if out.State != ActionDone && !out.ForgetMembers {
		query += ` AND uploaded_at IS NULL`
	}
	if _, err := u.Exec(ctx, query, action.AccountID, action.ID); err != nil {
		return fmt.Errorf("settle a removal of members: %w", err)
	}
	return nil
}
