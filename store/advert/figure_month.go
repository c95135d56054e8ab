package advert

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// FigureState says how far the figures of a month are.
type FigureState string

// The states of a month.
const (
	FigureWaiting FigureState = "waiting"
	FigureDone    FigureState = "done"
	FigureFailed  FigureState = "failed"
)

const (
	// figureLease is how long a month is left to whoever asks the network for it.
	figureLease = 2 * time.Minute
	// figureRest is how long a month that was given up is left alone, whoever asks for it.
	figureRest = time.Hour
)

// FigurePlace is one level of an ad account as a channel sees it.
type FigurePlace struct {
	ChannelID   string
	AdAccountID string // platform id
	Level       Level
}

// FigureMonth is the figures of a month that a network tells in a report alone. They are fetched whole, and kept for good.
type FigureMonth struct {
	AccountID   string      `db:"account_id"`
	ChannelID   string      `db:"channel_id"`
	AdAccountID string      `db:"ad_account_id"` // platform id
	Level       Level       `db:"level"`
	Month       string      `db:"month"` // 2026-05
	State       FigureState `db:"state"`
	FirstDay    string      `db:"first_day"` // of what is there; "" until it is
	ReportID    string      `db:"report_id"` // the network's; "" while none is being made
	OrderedAt   *core.Time  `db:"ordered_at"`
	Tries       int         `db:"tries"`  // that have failed
	Reason      string      `db:"reason"` // why the last one has
	AskedAt     core.Time   `db:"asked_at"`
	UpdatedAt   core.Time   `db:"updated_at"`
}

// Place returns of what its figures are.
func (m *FigureMonth) Place() FigurePlace { return FigurePlace{m.ChannelID, m.AdAccountID, m.Level} }

const figureMonthSelect = `
	SELECT account_id, channel_id, ad_account_id, level, month, state, first_day, report_id, ordered_at, tries, reason, asked_at, updated_at
	FROM ad_figure_months`

// ListFigureMonths returns what there is of some months of an ad account, both included, in their order.
func (s *Store) ListFigureMonths(ctx context.Context, account string, at FigurePlace, from, to string) ([]FigureMonth, error) {
	months, err := db.Select[FigureMonth](ctx, s.db, figureMonthSelect+`
		WHERE account_id = ? AND channel_id = ? AND ad_account_id = ? AND level = ? AND month >= ? AND month <= ? ORDER BY month`,
		account, at.ChannelID, at.AdAccountID, at.Level, from, to)
	if err != nil {
		return nil, fmt.Errorf("list months of figures: %w", err)
	}
	return months, nil
}

// WantFigureMonths notes that somebody wants the figures of some months. One that is waited for or there stays as it is, and so does one
// that was given up within the last hour.
func (s *Store) WantFigureMonths(ctx context.Context, account string, at FigurePlace, months []string) error {
	now := s.Now()
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			INSERT INTO ad_figure_months AS t (account_id, channel_id, ad_account_id, level, month, state, first_day, report_id, due_at, tries, reason, asked_at, updated_at)
			SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), value ->> 0, 'waiting', '', '', CAST(? AS BIGINT), 0, '', CAST(? AS BIGINT), CAST(? AS BIGINT)
			FROM `+s.db.JSONRows()+` WHERE TRUE
			ON CONFLICT (account_id, channel_id, ad_account_id, level, month) DO UPDATE SET
				state = 'waiting', report_id = '', ordered_at = NULL, due_at = excluded.due_at, tries = 0, reason = '', asked_at = excluded.asked_at, updated_at = excluded.updated_at
			WHERE t.state = 'failed' AND t.updated_at < ?`,
			account, at.ChannelID, at.AdAccountID, at.Level, now, now, now, core.JSONOf(rowsOfOne(months)), now.Add(-figureRest))
	})
	if err != nil {
		return fmt.Errorf("want months of figures: %w", err)
	}
	return nil
}

// rowsOfOne makes a row of one column of each text.
func rowsOfOne(texts []string) [][]string {
	rows := make([][]string, len(texts))
	for i, text := range texts {
		rows[i] = []string{text}
	}
	return rows
}

// DueFigureMonths returns at most limit months, of all accounts, that have to be fetched now. One of each account comes before the second
// of any. They are only candidates: the caller claims each with ClaimFigureMonth.
func (s *Store) DueFigureMonths(ctx context.Context, limit int) ([]FigureMonth, error) {
	return db.Select[FigureMonth](ctx, s.db, `
		SELECT account_id, channel_id, ad_account_id, level, month FROM (
			SELECT account_id, channel_id, ad_account_id, level, month, due_at,
				ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY due_at, channel_id, ad_account_id, level, month) AS turn
			FROM ad_figure_months WHERE due_at <= ?) AS due
		ORDER BY turn, due_at, account_id LIMIT ?`, s.Now(), limit)
}

// ClaimFigureMonth claims a month for the caller and returns it; nil if somebody else has claimed it. If nothing is heard of the caller,
// it is due again two minutes later. It commits at once.
func (s *Store) ClaimFigureMonth(ctx context.Context, due *FigureMonth) (*FigureMonth, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*FigureMonth, error) {
		now := s.Now()
		claimed, err := u.Exec(ctx, `UPDATE ad_figure_months SET due_at = ? WHERE `+figureKey+` AND due_at <= ?`, append(append([]any{now.Add(figureLease)}, due.key()...), now)...)
		if err != nil || claimed == 0 {
			return nil, err
		}
		return db.Get[FigureMonth](ctx, u, figureMonthSelect+` WHERE `+figureKey, due.key()...)
	})
}

// figureKey is the condition for one month, with the values of key.
const figureKey = `account_id = ? AND channel_id = ? AND ad_account_id = ? AND level = ? AND month = ?`

func (m *FigureMonth) key() []any {
	return []any{m.AccountID, m.ChannelID, m.AdAccountID, m.Level, m.Month}
}

// YieldFigureMonth stores how far a claimed month is, and leaves it for later. It commits at once.
func (s *Store) YieldFigureMonth(ctx context.Context, m *FigureMonth, pause time.Duration) error {
	return s.settleFigureMonth(ctx, m, `report_id = ?, ordered_at = ?, tries = ?, reason = ?, due_at = ?`, m.ReportID, m.OrderedAt, m.Tries, m.Reason, s.Now().Add(pause))
}

// FailFigureMonth stores that a claimed month is given up, and why. It commits at once.
func (s *Store) FailFigureMonth(ctx context.Context, m *FigureMonth, reason string) error {
	return s.settleFigureMonth(ctx, m, `state = 'failed', report_id = '', ordered_at = NULL, due_at = NULL, reason = ?`, reason)
}

// FinishFigureMonth stores that all figures of a claimed month are there from a day on. It commits at once.
func (s *Store) FinishFigureMonth(ctx context.Context, m *FigureMonth, first string) error {
	return s.settleFigureMonth(ctx, m, `state = 'done', report_id = '', ordered_at = NULL, due_at = NULL, reason = '', first_day = ?`, first)
}

// settleFigureMonth changes a month that has not ended.
func (s *Store) settleFigureMonth(ctx context.Context, m *FigureMonth, change string, args ...any) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ad_figure_months SET `+change+`, updated_at = ? WHERE `+figureKey+` AND state = 'waiting'`,
			append(append(args, s.Now()), m.key()...)...)
	})
	if err != nil {
		return fmt.Errorf("settle a month of figures: %w", err)
	}
	return nil
}
