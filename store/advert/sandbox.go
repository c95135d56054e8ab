package advert

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// The sandbox is an ad network that is built in. These are its own tables: it stands for another company's system, so
// nothing else in the store looks at them. What it writes it commits on its own, whatever becomes of the request
// that called it.

// SandboxChannel is one connection to the sandbox: what the network keeps of a channel that may call it.
type SandboxChannel struct {
	AccountID string    `db:"account_id"`
	ID        string    `db:"id"` // sacct_
	Platform  Platform  `db:"platform"`
	LastSeq   int64     `db:"last_seq"`   // the last sequence number that was given to a thing made behind it
	LimitedAt core.Time `db:"limited_at"` // when its bucket of calls is full again
	CreatedAt core.Time `db:"created_at"`
}

// SandboxEntity is a campaign, an ad group or an ad as the sandbox has it. Detail is text that only the driver of the
// sandbox reads.
type SandboxEntity struct {
	AccountID   string    `db:"account_id"`
	ChannelID   string    `db:"channel_id"`
	ID          string    `db:"id"`
	Kind        Level     `db:"kind"`
	AdAccountID string    `db:"ad_account_id"`
	CampaignID  string    `db:"campaign_id"` // a campaign's is its own id
	AdGroupID   string    `db:"ad_group_id"` // an ad's group, a group's own id, empty for a campaign
	Seq         int64     `db:"seq"`         // in the order in which things were made behind the channel
	Token       string    `db:"token"`       // what it was made with; empty for what was made in the ad manager
	Detail      string    `db:"detail"`
	CreatedAt   core.Time `db:"created_at"`
	UpdatedAt   core.Time `db:"updated_at"`
}

// SandboxSegment is a stretch of time in which nothing changed about the delivery of one budget. The owner is the
// campaign or ad group that has the budget.
type SandboxSegment struct {
	AccountID   string                   `db:"account_id"`
	ChannelID   string                   `db:"channel_id"`
	CampaignID  string                   `db:"campaign_id"`
	OwnerID     string                   `db:"owner_id"`
	AdAccountID string                   `db:"ad_account_id"`
	FromAt      core.Time                `db:"from_at"`
	ToAt        *core.Time               `db:"to_at"` // nil: it goes on
	Budget      Amount                   `db:"budget"`
	Lifetime    bool                     `db:"lifetime"` // else the budget is one of a day
	StartAt     core.Time                `db:"start_at"`
	EndAt       *core.Time               `db:"end_at"` // a lifetime budget always has one
	Ads         core.JSON[[]SandboxSlot] `db:"ads"`
}

// SandboxSlot says from when on an ad may deliver, in Unix microseconds.
type SandboxSlot struct {
	Ad     string `json:"ad"`
	FromAt int64  `json:"from"`
}

// SandboxCampaigns holds campaigns with all that is in them, deleted things too, in the order in which they were made.
// It also holds their segments; those of one owner are in the order of time.
type SandboxCampaigns struct {
	Entities []SandboxEntity
	Segments []SandboxSegment
}

// SandboxChange is what a change stores. An entity is new or replaces the one with its id. A segment without an end begins where the open segment of
// the same owner ends. If it has no ads, it is not stored and only ends that one. A segment with an end is history and is stored as it is.
type SandboxChange struct {
	Entities []SandboxEntity
	Segments []SandboxSegment
}

var (
	sandboxChannelColumns = db.ColumnsOf[SandboxChannel]("sandbox_channels")
	sandboxEntityColumns  = db.ColumnsOf[SandboxEntity]("sandbox_entities")
	sandboxSegmentColumns = db.ColumnsOf[SandboxSegment]("sandbox_segments")
)

// elsewhere returns a context for a call to the sandbox, which knows nothing of our request, as another company's system
// would not. It fails if one of our transactions is open, because that would wait for the network.
func elsewhere(ctx context.Context) (context.Context, error) {
	if db.InTx(ctx) {
		return nil, errors.New("store: the sandbox was called while a transaction is open")
	}
	return db.Detached(ctx), nil
}

// sandboxTx runs a transaction of the sandbox's own, which commits whatever becomes of the request that called it.
func sandboxTx[T any](ctx context.Context, s *Store, fn func(context.Context, *db.Unit) (T, error)) (T, error) {
	ctx, err := elsewhere(ctx)
	if err != nil {
		var zero T
		return zero, err
	}
	return db.Tx(ctx, s.db, fn)
}

// OpenSandbox connects a channel to the sandbox, together with what its ad manager has from the beginning, which seed
// makes. A channel that is connected already stays as it is.
func (s *Store) OpenSandbox(ctx context.Context, c SandboxChannel, seed func() SandboxChange) error {
	ctx, err := elsewhere(ctx)
	if err != nil {
		return err
	}
	known, err := db.Get[int](ctx, s.db, `SELECT 1 FROM sandbox_channels WHERE account_id = ? AND id = ?`, c.AccountID, c.ID)
	if known != nil || err != nil {
		return err
	}
	_, err = sandboxTx(ctx, s, func(ctx context.Context, u *db.Unit) (int64, error) {
		rows, err := u.Exec(ctx, sandboxChannelColumns.InsertSQL+` ON CONFLICT (account_id, id) DO NOTHING`,
			sandboxChannelColumns.Values(&c)...)
		if err != nil || rows == 0 {
			return 0, err
		}
		return 0, s.saveSandbox(ctx, u, c.AccountID, c.ID, seed())
	})
	if err != nil {
		return fmt.Errorf("open sandbox: %w", err)
	}
	return nil
}

// GetSandboxCampaigns returns the whole campaigns that the ids belong to. An id may be of a campaign, an ad group or an
// ad; one that is not known is left out. It takes three statements for any number of ids.
func (s *Store) GetSandboxCampaigns(ctx context.Context, account, channel string, ids []string) (SandboxCampaigns, error) {
	ctx, err := elsewhere(ctx)
	if err != nil {
		return SandboxCampaigns{}, err
	}
	return s.sandboxCampaigns(ctx, s.db, account, channel, ids)
}

// sandboxCampaigns does the work of GetSandboxCampaigns, in the caller's transaction if there is one.
func (s *Store) sandboxCampaigns(ctx context.Context, r db.Reader, account, channel string, ids []string) (SandboxCampaigns, error) {
	condition, arg := s.db.In("id", ids)
	campaigns, err := db.Select[string](ctx, r, `
		SELECT DISTINCT campaign_id FROM sandbox_entities WHERE account_id = ? AND channel_id = ? AND `+condition, account, channel, arg)
	if err != nil {
		return SandboxCampaigns{}, fmt.Errorf("read sandbox campaigns: %w", err)
	}
	return s.wholeSandboxCampaigns(ctx, r, account, channel, campaigns)
}

// NextSandboxCampaigns returns at most limit whole campaigns of an ad account, those that come next after the sequence
// number `after`. It takes three statements.
func (s *Store) NextSandboxCampaigns(ctx context.Context, account, channel, adAccount string, after int64, limit int) (SandboxCampaigns, error) {
	ctx, err := elsewhere(ctx)
	if err != nil {
		return SandboxCampaigns{}, err
	}
	campaigns, err := db.Select[string](ctx, s.db, `
		SELECT id FROM sandbox_entities
		WHERE account_id = ? AND channel_id = ? AND ad_account_id = ? AND kind = 'campaign' AND seq > ? ORDER BY seq LIMIT ?`,
		account, channel, adAccount, after, limit)
	if err != nil {
		return SandboxCampaigns{}, fmt.Errorf("read sandbox campaigns: %w", err)
	}
	return s.wholeSandboxCampaigns(ctx, s.db, account, channel, campaigns)
}

// wholeSandboxCampaigns reads campaigns with all that is in them, by their ids. The ids are not a subquery, because
// PostgreSQL would run that for every row as long as it has no statistics of the table.
func (s *Store) wholeSandboxCampaigns(ctx context.Context, r db.Reader, account, channel string, campaigns []string) (SandboxCampaigns, error) {
	condition, arg := s.db.In("campaign_id", campaigns)
	entities, err := db.Select[SandboxEntity](ctx, r, sandboxEntityColumns.SelectSQL+`
		WHERE account_id = ? AND channel_id = ? AND `+condition+` ORDER BY seq`, account, channel, arg)
	if err != nil {
		return SandboxCampaigns{}, fmt.Errorf("read sandbox entities: %w", err)
	}
	segments, err := db.Select[SandboxSegment](ctx, r, sandboxSegmentColumns.SelectSQL+`
		WHERE account_id = ? AND channel_id = ? AND `+condition+` ORDER BY owner_id, from_at`, account, channel, arg)
	if err != nil {
		return SandboxCampaigns{}, fmt.Errorf("read sandbox segments: %w", err)
	}
	return SandboxCampaigns{Entities: entities, Segments: segments}, nil
}

// GetSandboxSegments returns all segments behind a channel. Those of one owner are in the order of time.
func (s *Store) GetSandboxSegments(ctx context.Context, account, channel string) ([]SandboxSegment, error) {
	ctx, err := elsewhere(ctx)
	if err != nil {
		return nil, err
	}
	return db.Select[SandboxSegment](ctx, s.db, sandboxSegmentColumns.SelectSQL+`
		WHERE account_id = ? AND channel_id = ? ORDER BY owner_id, from_at`, account, channel)
}

// FindSandboxToken returns the ids of the entities and audiences that were made with a token. It locks the channel, so
// it waits for a call that is making something at this moment.
func (s *Store) FindSandboxToken(ctx context.Context, account, channel, token string) (entities, audiences []string, err error) {
	_, err = sandboxTx(ctx, s, func(ctx context.Context, u *db.Unit) (any, error) {
		if _, err = s.lockSandbox(ctx, u, account, channel); err != nil {
			return nil, err
		}
		if entities, err = db.Select[string](ctx, u, `
			SELECT id FROM sandbox_entities WHERE account_id = ? AND channel_id = ? AND token = ? AND token <> '' ORDER BY seq`, account, channel, token); err != nil {
			return nil, err
		}
		audiences, err = db.Select[string](ctx, u, `
			SELECT id FROM sandbox_audiences WHERE account_id = ? AND channel_id = ? AND token = ? AND token <> '' ORDER BY seq`, account, channel, token)
		return nil, err
	})
	return entities, audiences, err
}

// ChangeSandbox makes or changes campaigns, with the channel locked, so that nobody else changes anything behind it. It calls change with the last
// sequence number and the whole campaigns that the ids belong to. It stores what change returns, all of it or nothing. The function change must be
// pure, because it may be called again.
func (s *Store) ChangeSandbox(ctx context.Context, account, channel string, ids []string, change func(last int64, c SandboxCampaigns) (SandboxChange, error)) error {
	_, err := sandboxTx(ctx, s, func(ctx context.Context, u *db.Unit) (any, error) {
		last, err := s.lockSandbox(ctx, u, account, channel)
		if err != nil {
			return nil, err
		}
		campaigns, err := s.sandboxCampaigns(ctx, u, account, channel, ids)
		if err != nil {
			return nil, err
		}
		changed, err := change(last, campaigns)
		if err != nil {
			return nil, err
		}
		return nil, s.saveSandbox(ctx, u, account, channel, changed)
	})
	return err
}

// lockSandbox locks a channel of the sandbox until the commit and returns its last sequence number. A channel that is
// not connected is an error.
func (s *Store) lockSandbox(ctx context.Context, u *db.Unit, account, channel string) (int64, error) {
	last, err := db.Get[int64](ctx, u, `SELECT last_seq FROM sandbox_channels WHERE account_id = ? AND id = ?`+u.Lock(), account, channel)
	if err != nil || last == nil {
		return 0, errors.Join(err, errors.New("store: the sandbox does not know the channel"))
	}
	return *last, nil
}

// saveSandbox stores a change, in a few statements for any number of rows. The channel must be locked, or made in this
// transaction.
func (s *Store) saveSandbox(ctx context.Context, u *db.Unit, account, channel string, c SandboxChange) error {
	last := int64(0)
	entities := make([][]any, 0, len(c.Entities))
	for _, e := range c.Entities {
		last = max(last, e.Seq)
		entities = append(entities, []any{e.ID, e.Kind, e.AdAccountID, e.CampaignID, e.AdGroupID, e.Seq, e.Token, e.Detail, int64(e.CreatedAt), int64(e.UpdatedAt)})
	}
	if err := s.saveSandboxEntities(ctx, u, account, channel, entities); err != nil {
		return fmt.Errorf("store sandbox entities: %w", err)
	}
	if err := s.saveSandboxSegments(ctx, u, account, channel, c.Segments); err != nil {
		return fmt.Errorf("store sandbox segments: %w", err)
	}
	return s.advanceSandbox(ctx, u, account, channel, last)
}

// advanceSandbox stores the last sequence number that was given, unless a later one is stored.
func (s *Store) advanceSandbox(ctx context.Context, u *db.Unit, account, channel string, last int64) error {
	_, err := u.Exec(ctx, `UPDATE sandbox_channels SET last_seq = ? WHERE account_id = ? AND id = ? AND last_seq < ?`, last, account, channel, last)
	if err != nil {
		return fmt.Errorf("advance sandbox: %w", err)
	}
	return nil
}

// saveSandboxEntities stores entities in one statement. Of one that is there already only the detail and the time of the
// update are replaced.
func (s *Store) saveSandboxEntities(ctx context.Context, u *db.Unit, account, channel string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := u.Exec(ctx, `
		INSERT INTO sandbox_entities (account_id, channel_id, id, kind, ad_account_id, campaign_id, ad_group_id, seq, token, detail, created_at, updated_at)
		SELECT CAST(? AS text), CAST(? AS text), value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, CAST(value ->> 5 AS BIGINT),
			value ->> 6, value ->> 7, CAST(value ->> 8 AS BIGINT), CAST(value ->> 9 AS BIGINT)
		FROM `+s.db.JSONRows()+` WHERE true
		ON CONFLICT (account_id, channel_id, id) DO UPDATE SET detail = excluded.detail, updated_at = excluded.updated_at`,
		account, channel, core.JSONOf(rows))
	return err
}

// saveSandboxSegments ends the open segments of the owners that get a new open one, and then stores the segments that
// have ads.
func (s *Store) saveSandboxSegments(ctx context.Context, u *db.Unit, account, channel string, segments []SandboxSegment) error {
	var ends, begins [][]any
	for _, segment := range segments {
		if segment.ToAt == nil {
			ends = append(ends, []any{segment.CampaignID, segment.OwnerID, int64(segment.FromAt)})
		}
		if len(segment.Ads.V) > 0 {
			begins = append(begins, []any{segment.CampaignID, segment.OwnerID, segment.AdAccountID, int64(segment.FromAt), (*int64)(segment.ToAt), int64(segment.Budget), segment.Lifetime,
				int64(segment.StartAt), (*int64)(segment.EndAt), core.JSONText(segment.Ads.V)})
		}
	}
	if len(ends) > 0 {
		if _, err := u.Exec(ctx, `
			UPDATE sandbox_segments SET to_at = ended
			FROM (SELECT value ->> 0 AS campaign, value ->> 1 AS owner, CAST(value ->> 2 AS BIGINT) AS ended FROM `+s.db.JSONRows()+`) AS r
			WHERE account_id = ? AND channel_id = ? AND campaign_id = campaign AND owner_id = owner AND to_at IS NULL`,
			core.JSONOf(ends), account, channel); err != nil {
			return err
		}
	}
	if len(begins) == 0 {
		return nil
	}
	_, err := u.Exec(ctx, `
		INSERT INTO sandbox_segments (account_id, channel_id, campaign_id, owner_id, ad_account_id, from_at, to_at, budget, lifetime, start_at, end_at, ads)
		SELECT CAST(? AS text), CAST(? AS text), value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS BIGINT), CAST(value ->> 4 AS BIGINT),
			CAST(value ->> 5 AS BIGINT), CAST(value ->> 6 AS BOOLEAN), CAST(value ->> 7 AS BIGINT), CAST(value ->> 8 AS BIGINT), value ->> 9
		FROM `+s.db.JSONRows()+` WHERE true
		ON CONFLICT (account_id, channel_id, campaign_id, owner_id, from_at) DO UPDATE SET
			to_at = excluded.to_at, budget = excluded.budget, lifetime = excluded.lifetime, start_at = excluded.start_at, end_at = excluded.end_at, ads = excluded.ads`,
		account, channel, core.JSONOf(begins))
	return err
}

// TakeSandboxCall takes one call from a channel's bucket, which holds at most burst calls and gets one more every
// interval. It returns 0 if there was one, and otherwise how long to wait for it.
func (s *Store) TakeSandboxCall(ctx context.Context, account, channel string, now core.Time, interval time.Duration, burst int) (time.Duration, error) {
	return sandboxTx(ctx, s, func(ctx context.Context, u *db.Unit) (time.Duration, error) {
		latest := now.Add(time.Duration(burst-1) * interval) // an emptier bucket is full again later than this
		rows, err := u.Exec(ctx, `
			UPDATE sandbox_channels SET limited_at = ? + CASE WHEN limited_at > ? THEN limited_at ELSE ? END
			WHERE account_id = ? AND id = ? AND limited_at <= ?`, interval.Microseconds(), now, now, account, channel, latest)
		if err != nil || rows == 1 {
			return 0, err
		}
		full, err := db.Get[core.Time](ctx, u, `SELECT limited_at FROM sandbox_channels WHERE account_id = ? AND id = ?`, account, channel)
		if err != nil || full == nil {
			return 0, err
		}
		return time.Duration(*full-latest) * time.Microsecond, nil
	})
}
