package advert

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// SandboxConversion is an event that a pixel of the sandbox was told of.
type SandboxConversion struct {
	PixelID string                     `db:"pixel_id"`
	Kind    ConversionKind             `db:"kind"`
	EventID string                     `db:"event_id"`
	Told    int64                      `db:"told"`    // how often
	Counted int64                      `db:"counted"` // how often it was another one to the network
	Event   core.JSON[ConversionEvent] `db:"detail"`  // as it was told last
}

// TellSandbox tells a pixel of events, no two of them the same. One that it was told of less than dedupe ago is not counted again.
func (s *Store) TellSandbox(ctx context.Context, account, channel, pixel string, events []ConversionEvent, dedupe time.Duration, now core.Time) error {
	rows := make([][]any, len(events))
	for i, e := range events {
		rows[i] = []any{e.Kind, e.EventID, core.JSONText(e)}
	}
	_, err := sandboxTx(ctx, s, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			INSERT INTO sandbox_conversions AS t (account_id, channel_id, pixel_id, kind, event_id, told, counted, counted_at, detail)
			SELECT CAST(? AS text), CAST(? AS text), CAST(? AS text), value ->> 0, value ->> 1, 1, 1, CAST(? AS BIGINT), value ->> 2 FROM `+s.db.JSONRows()+` WHERE true
			ON CONFLICT (account_id, channel_id, pixel_id, kind, event_id) DO UPDATE SET told = t.told + 1, detail = excluded.detail,
				counted = CASE WHEN t.counted_at > ? THEN t.counted ELSE t.counted + 1 END,
				counted_at = CASE WHEN t.counted_at > ? THEN t.counted_at ELSE excluded.counted_at END`,
			account, channel, pixel, now, core.JSONOf(rows), now.Add(-dedupe), now.Add(-dedupe))
	})
	if err != nil {
		return fmt.Errorf("tell the sandbox: %w", err)
	}
	return nil
}

// ListSandboxConversions returns what the pixels behind a channel were told of.
func (s *Store) ListSandboxConversions(ctx context.Context, account, channel string) ([]SandboxConversion, error) {
	ctx, err := elsewhere(ctx)
	if err != nil {
		return nil, err
	}
	return db.Select[SandboxConversion](ctx, s.db, `SELECT pixel_id, kind, event_id, told, counted, detail FROM sandbox_conversions
		WHERE account_id = ? AND channel_id = ? ORDER BY pixel_id, kind, event_id`, account, channel)
}
