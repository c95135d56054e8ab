package advert

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// DayFigures is what came of a campaign, an ad group or an ad on a day. There are no counts by the network's own names in it.
type DayFigures struct {
	PlatformID    string  `db:"platform_id"`
	Day           string  `db:"day"` // 2026-05-31
	Spend         *Amount `db:"spend"`
	Impressions   *int64  `db:"impressions"`
	Reach         *int64  `db:"reach"`
	Clicks        *int64  `db:"clicks"`
	Engagement    *int64  `db:"engagement"`
	Conversions   *int64  `db:"conversions"`
	PurchaseValue *Amount `db:"purchase_value"`
	VideoViews    *int64  `db:"video_views"`
}

// DayFiguresOf returns the figures of a thing on a day.
func DayFiguresOf(id, day string, m Metrics) DayFigures {
	return DayFigures{id, day, m.Spend, m.Impressions, m.Reach, m.Clicks, m.Engagement, m.Conversions, m.PurchaseValue, m.VideoViews}
}

// Metrics returns the figures.
func (f *DayFigures) Metrics() Metrics {
	return Metrics{
		Spend: f.Spend, Impressions: f.Impressions, Reach: f.Reach, Clicks: f.Clicks, Engagement: f.Engagement, Conversions: f.Conversions,
		PurchaseValue: f.PurchaseValue, VideoViews: f.VideoViews,
	}
}

// figureRows is how many rows one statement of PutDayFigures stores, which commits them.
const figureRows = 2_000

// PutDayFigures stores figures of days. They are shown once their month is done.
func (s *Store) PutDayFigures(ctx context.Context, account string, at FigurePlace, figures []DayFigures) error {
	for some := range slices.Chunk(figures, figureRows) {
		rows := make([][]any, len(some))
		for i, f := range some {
			rows[i] = []any{f.PlatformID, f.Day, f.Spend, f.Impressions, f.Reach, f.Clicks, f.Engagement, f.Conversions, f.PurchaseValue, f.VideoViews}
		}
		_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
			return u.Exec(ctx, `
				INSERT INTO ad_figure_days (account_id, channel_id, level, platform_id, day, spend, impressions, reach, clicks, engagement, conversions, purchase_value, video_views)
				SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), value ->> 0, value ->> 1, CAST(value ->> 2 AS BIGINT), CAST(value ->> 3 AS BIGINT),
					CAST(value ->> 4 AS BIGINT), CAST(value ->> 5 AS BIGINT), CAST(value ->> 6 AS BIGINT), CAST(value ->> 7 AS BIGINT), CAST(value ->> 8 AS BIGINT),
					CAST(value ->> 9 AS BIGINT)
				FROM `+s.db.JSONRows()+` WHERE TRUE
				ON CONFLICT (account_id, channel_id, level, platform_id, day) DO UPDATE SET spend = excluded.spend, impressions = excluded.impressions,
					reach = excluded.reach, clicks = excluded.clicks, engagement = excluded.engagement, conversions = excluded.conversions,
					purchase_value = excluded.purchase_value, video_views = excluded.video_views`,
				account, at.ChannelID, at.Level, core.JSONOf(rows))
		})
		if err != nil {
			return fmt.Errorf("store figures of days: %w", err)
		}
	}
	return nil
}

// ListDayFigures returns the figures of a thing on those of some days, both included, on which something came of it, in their order.
func (s *Store) ListDayFigures(ctx context.Context, account string, at FigurePlace, id, from, to string) ([]DayFigures, error) {
	figures, err := db.Select[DayFigures](ctx, s.db, `
		SELECT platform_id, day, spend, impressions, reach, clicks, engagement, conversions, purchase_value, video_views FROM ad_figure_days
		WHERE account_id = ? AND channel_id = ? AND level = ? AND platform_id = ? AND day >= ? AND day <= ? ORDER BY day`,
		account, at.ChannelID, at.Level, id, from, to)
	if err != nil {
		return nil, fmt.Errorf("list figures of days: %w", err)
	}
	return figures, nil
}

// SumDayFigures adds up the figures of things in some days, both included, by platform id. That of which nothing came is not in the map.
// A figure that is unknown of one of its days is unknown, and so is the reach of several days.
func (s *Store) SumDayFigures(ctx context.Context, account string, at FigurePlace, ids []string, from, to string) (map[string]Metrics, error) {
	condition, arg := s.db.In("platform_id", core.Distinct(ids))
	sums, err := db.Select[DayFigures](ctx, s.db, `
		SELECT platform_id, '' AS day, `+sumSQL("spend")+`, `+sumSQL("impressions")+`, CASE WHEN count(*) = 1 THEN MAX(reach) END AS reach, `+
		sumSQL("clicks")+`, `+sumSQL("engagement")+`, `+sumSQL("conversions")+`, `+sumSQL("purchase_value")+`, `+sumSQL("video_views")+`
		FROM ad_figure_days WHERE account_id = ? AND channel_id = ? AND level = ? AND `+condition+` AND day >= ? AND day <= ? GROUP BY platform_id`,
		account, at.ChannelID, at.Level, arg, from, to)
	if err != nil {
		return nil, fmt.Errorf("add up figures of days: %w", err)
	}
	byID := map[string]Metrics{}
	for i := range sums {
		byID[sums[i].PlatformID] = sums[i].Metrics()
	}
	return byID, nil
}

// sumSQL returns SQL for the sum of a column, NULL if it is of one of the rows.
func sumSQL(column string) string {
	return `CASE WHEN count(*) = count(` + column + `) THEN CAST(SUM(` + column + `) AS BIGINT) END AS ` + column
}
