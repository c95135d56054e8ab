package advert

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// SandboxAudience is an audience as the sandbox has it. Detail is text that only the driver of the sandbox reads.
type SandboxAudience struct {
	AccountID   string     `db:"account_id"`
	ChannelID   string     `db:"channel_id"`
	ID          string     `db:"id"`
	AdAccountID string     `db:"ad_account_id"`
	Seq         int64      `db:"seq"`
	Token       string     `db:"token"` // what it was made with; empty for what was made in the ad manager
	Detail      string     `db:"detail"`
	Members     int64      `db:"members"`     // people uploaded, each counted once
	Matched     int64      `db:"matched"`     // those of them that the network knows
	UploadedAt  *core.Time `db:"uploaded_at"` // when people were last added
	DeletedAt   *core.Time `db:"deleted_at"`
	CreatedAt   core.Time  `db:"created_at"`
	UpdatedAt   core.Time  `db:"updated_at"`
}

var sandboxAudienceColumns = db.ColumnsOf[SandboxAudience]("sandbox_audiences")

// ListSandboxAudiences returns the audiences of an ad account that are not deleted, in the order in which they were made.
func (s *Store) ListSandboxAudiences(ctx context.Context, account, channel, adAccount string) ([]SandboxAudience, error) {
	return s.selectSandboxAudiences(ctx, `ad_account_id = ? AND deleted_at IS NULL`, account, channel, adAccount)
}

// GetSandboxAudience returns an audience, even a deleted one, or nil if there is none.
func (s *Store) GetSandboxAudience(ctx context.Context, account, channel, id string) (*SandboxAudience, error) {
	found, err := s.selectSandboxAudiences(ctx, `id = ?`, account, channel, id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

func (s *Store) selectSandboxAudiences(ctx context.Context, condition, account, channel, arg string) ([]SandboxAudience, error) {
	ctx, err := elsewhere(ctx)
	if err != nil {
		return nil, err
	}
	found, err := db.Select[SandboxAudience](ctx, s.db, sandboxAudienceColumns.SelectSQL+`
		WHERE account_id = ? AND channel_id = ? AND `+condition+` ORDER BY seq`, account, channel, arg)
	if err != nil {
		return nil, fmt.Errorf("read sandbox audiences: %w", err)
	}
	return found, nil
}

// CreateSandboxAudience locks the channel and stores the audience that create returns for the next sequence number. The function create must be pure,
// because it may be called again.
func (s *Store) CreateSandboxAudience(ctx context.Context, account, channel string, create func(seq int64) SandboxAudience) (SandboxAudience, error) {
	return sandboxTx(ctx, s, func(ctx context.Context, u *db.Unit) (SandboxAudience, error) {
		last, err := s.lockSandbox(ctx, u, account, channel)
		if err != nil {
			return SandboxAudience{}, err
		}
		made := create(last + 1)
		if err := u.Insert(ctx, sandboxAudienceColumns, &made); err != nil {
			return SandboxAudience{}, err
		}
		return made, s.advanceSandbox(ctx, u, account, channel, made.Seq)
	})
}

// DeleteSandboxAudience marks an audience as deleted, and reports whether there was one that was not.
func (s *Store) DeleteSandboxAudience(ctx context.Context, account, channel, id string, now core.Time) (bool, error) {
	return sandboxTx(ctx, s, func(ctx context.Context, u *db.Unit) (bool, error) {
		rows, err := u.Exec(ctx, `
			UPDATE sandbox_audiences SET deleted_at = ?, updated_at = ?
			WHERE account_id = ? AND channel_id = ? AND id = ? AND deleted_at IS NULL`, now, now, account, channel, id)
		if err != nil {
			return false, fmt.Errorf("delete sandbox audience: %w", err)
		}
		return rows == 1, nil
	})
}

// AddSandboxMembers locks an audience, adds people to it by their hashes, and returns it as it is afterwards, or nil if
// there is none. People who are in it already are not counted again. isKnown says whether the network knows the person
// with a hash.
func (s *Store) AddSandboxMembers(ctx context.Context, account, channel, id string, hashes []string, isKnown func(hash string) bool, now core.Time) (*SandboxAudience, error) {
	return s.changeSandboxMembers(ctx, account, channel, id, now, func(ctx context.Context, u *db.Unit, audience *SandboxAudience) error {
		added, err := db.Select[string](ctx, u, `
			INSERT INTO sandbox_members (account_id, channel_id, audience_id, hash)
			SELECT CAST(? AS text), CAST(? AS text), CAST(? AS text), value ->> 0 FROM `+s.db.JSONRows()+` WHERE true
			ON CONFLICT (account_id, channel_id, audience_id, hash) DO NOTHING RETURNING hash`, account, channel, id, core.JSONOf(rowOfEach(hashes)))
		if err != nil {
			return fmt.Errorf("add sandbox members: %w", err)
		}
		audience.Members += int64(len(added))
		audience.Matched += count(added, isKnown)
		audience.UploadedAt = &now
		return nil
	})
}

// RemoveSandboxMembers locks an audience, takes people out of it by their hashes, and returns it as it is afterwards, or nil
// if there is none.
func (s *Store) RemoveSandboxMembers(ctx context.Context, account, channel, id string, hashes []string, isKnown func(hash string) bool, now core.Time) (*SandboxAudience, error) {
	return s.changeSandboxMembers(ctx, account, channel, id, now, func(ctx context.Context, u *db.Unit, audience *SandboxAudience) error {
		condition, arg := s.db.In("hash", hashes)
		removed, err := db.Select[string](ctx, u, `
			DELETE FROM sandbox_members WHERE account_id = ? AND channel_id = ? AND audience_id = ? AND `+condition+` RETURNING hash`, account, channel, id, arg)
		if err != nil {
			return fmt.Errorf("remove sandbox members: %w", err)
		}
		audience.Members -= int64(len(removed))
		audience.Matched -= count(removed, isKnown)
		return nil
	})
}

// count returns how many texts are as is wanted.
func count(texts []string, wanted func(string) bool) (n int64) {
	for _, text := range texts {
		if wanted(text) {
			n++
		}
	}
	return n
}

// changeSandboxMembers locks an audience, lets change change who is in it, and stores its numbers. It returns nil if there
// is none.
func (s *Store) changeSandboxMembers(ctx context.Context, account, channel, id string, now core.Time, change func(context.Context, *db.Unit, *SandboxAudience) error) (*SandboxAudience, error) {
	return sandboxTx(ctx, s, func(ctx context.Context, u *db.Unit) (*SandboxAudience, error) {
		audience, err := db.Get[SandboxAudience](ctx, u, sandboxAudienceColumns.SelectSQL+`
			WHERE account_id = ? AND channel_id = ? AND id = ? AND deleted_at IS NULL`+u.Lock(), account, channel, id)
		if err != nil || audience == nil {
			return nil, err
		}
		if err := change(ctx, u, audience); err != nil {
			return nil, err
		}
		audience.UpdatedAt = now
		_, err = u.Exec(ctx, `
			UPDATE sandbox_audiences SET members = ?, matched = ?, uploaded_at = ?, updated_at = ?
			WHERE account_id = ? AND channel_id = ? AND id = ?`, audience.Members, audience.Matched, audience.UploadedAt, now, account, channel, id)
		return audience, err
	})
}

// rowOfEach makes a row of each text, because SQLite and PostgreSQL read the elements of a plain JSON array of texts
// differently.
func rowOfEach(texts []string) [][1]string {
	rows := make([][1]string, len(texts))
	for i, text := range texts {
		rows[i] = [1]string{text}
	}
	return rows
}
