package advert

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// erasureBatch is how many identifiers one action takes out of an audience.
const erasureBatch = 1_000

// ErasePerson notes that somebody is to leave all audiences of an account that have them, by their address or their number; nil is none.
// What networks were to be told of them, whoever told it here, is deleted.
// Whoever tells the networks finds that with DueErasures. It is part of the transaction that erases them.
func (s *Store) ErasePerson(ctx context.Context, account string, email, phone *string) error {
	hashes := hashesOf(email, phone)
	if len(hashes) == 0 {
		return nil
	}
	condition, arg := s.db.In("hash", hashes)
	now := s.Now()
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		if err := s.forgetHashes(ctx, u, account, hashes); err != nil {
			return 0, err
		}
		return u.Exec(ctx, `UPDATE ad_audience_members SET erase_since = COALESCE(erase_since, ?), erase_due = ? WHERE account_id = ? AND `+condition, now, now, account, arg)
	})
	if err != nil {
		return fmt.Errorf("note who leaves audiences: %w", err)
	}
	return nil
}

// forgetHashes deletes what waits to be told of whoever has one of the hashes. What came by the API knows no customer.
func (s *Store) forgetHashes(ctx context.Context, u *db.Unit, account string, hashes []string) error {
	for _, hash := range hashes {
		_, err := u.Exec(ctx, `DELETE FROM ad_conversions WHERE account_id = ? AND due_at IS NOT NULL AND user_data LIKE ?`, account, `%"`+hash+`"%`)
		if err != nil {
			return fmt.Errorf("forget what waits to be told: %w", err)
		}
	}
	return nil
}

// hashesOf returns the hashes by which networks know somebody. What cannot be an address or a number was never uploaded.
func hashesOf(email, phone *string) []string {
	var hashes []string
	note := func(plain, problem string) {
		if problem == "" {
			hashes = append(hashes, HashOf(plain))
		}
	}
	if email != nil {
		note(NormalizeEmail(*email))
	}
	if phone != nil {
		note(NormalizePhone(*phone, PhoneE164))
		note(NormalizePhone(*phone, PhoneDigits))
	}
	return hashes
}

// DueErasure names an audience that somebody who was erased is to leave now.
type DueErasure struct {
	AccountID  string `db:"account_id"`
	AudienceID string `db:"audience_id"`
}

// DueErasures returns at most limit audiences, of all accounts, that somebody is to leave now. One of each account comes before the second
// of any. They are only candidates: the caller claims those who leave with BeginErasure. Who is only being uploaded leaves after that.
func (s *Store) DueErasures(ctx context.Context, limit int) ([]DueErasure, error) {
	return db.Select[DueErasure](ctx, s.db, `
		SELECT account_id, audience_id FROM (
			SELECT account_id, audience_id, MIN(erase_due) AS since,
				ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY MIN(erase_due), audience_id) AS turn
			FROM ad_audience_members WHERE erase_due <= ? AND uploaded_at IS NOT NULL GROUP BY account_id, audience_id) AS due
		ORDER BY turn, since, audience_id LIMIT ?`, s.Now(), limit)
}

// Erasure is an audience that somebody is to leave, and since when. Its channel need not be activated.
type Erasure struct {
	Audience Audience
	Since    core.Time
}

// GetErasure returns an audience that somebody is to leave, nil if there is nobody any more.
func (s *Store) GetErasure(ctx context.Context, due DueErasure) (*Erasure, error) {
	since, err := db.Get[core.Time](ctx, s.db, `
		SELECT erase_since FROM ad_audience_members WHERE account_id = ? AND audience_id = ? AND erase_due IS NOT NULL ORDER BY erase_since LIMIT 1`,
		due.AccountID, due.AudienceID)
	if err != nil || since == nil {
		return nil, err
	}
	a, err := db.Get[Audience](ctx, s.db, audienceColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND deleted_at IS NULL`, due.AccountID, due.AudienceID)
	if err != nil || a == nil {
		return nil, err
	}
	return &Erasure{*a, *since}, nil
}

// BeginErasure begins to take those who are to leave an audience now out of it. It does so as an action that nobody has asked for by a request, and
// that no limit blocks. It claims them: who is still there after the pause leaves with another action. Fresh holds them. It is empty, and the action
// nil, if there is nobody, because somebody else has claimed them or is at work on them. It commits at once.
func (s *Store) BeginErasure(ctx context.Context, a *Audience, pause time.Duration) (*BegunUpload, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*BegunUpload, error) {
		now := s.Now()
		// Whoever is still being uploaded belongs to an action, too.
		leaving, err := db.Select[Member](ctx, u, `
			SELECT kind, hash, user_index, uploaded_at FROM ad_audience_members AS m
			WHERE account_id = ? AND audience_id = ? AND erase_due <= ? AND NOT EXISTS (
				SELECT 1 FROM ad_actions AS a WHERE a.account_id = m.account_id AND a.id = m.action_id AND a.state IN ('begun', 'unknown'))
			ORDER BY erase_due LIMIT ?`+u.Lock(), a.AccountID, a.ID, now, erasureBatch)
		if err != nil || len(leaving) == 0 {
			return &BegunUpload{}, err
		}
		for i := range leaving {
			leaving[i].Index = i
		}
		action, err := s.insertAction(ctx, u, a.AccountID, core.NewID(core.KindAdAction), BeginAction{
			Op: OpRemoveAudience, Approval: "allow", TargetID: a.ID, Plan: NewObject(map[string]any{"users": len(leaving), "because": "customer_deleted"}),
			AdAccount: &Account{ChannelID: a.ChannelID, Platform: a.Platform, PlatformID: a.AdAccountID},
		}, 0)
		if err != nil {
			return nil, err
		}
		if err := s.holdLeaving(ctx, u, action, a.ID, leaving); err != nil {
			return nil, err
		}
		_, err = u.Exec(ctx, `UPDATE ad_audience_members SET erase_due = ? WHERE account_id = ? AND action_id = ?`, now.Add(pause), a.AccountID, action.ID)
		return &BegunUpload{BegunAction{Action: action}, leaving}, err
	})
}

// PostponeErasure leaves those who are to leave an audience now for later. It commits at once.
func (s *Store) PostponeErasure(ctx context.Context, a *Audience, pause time.Duration) error {
	now := s.Now()
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ad_audience_members SET erase_due = ? WHERE account_id = ? AND audience_id = ? AND erase_due <= ?`, now.Add(pause), a.AccountID, a.ID, now)
	})
	return err
}
