package report

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Span is a stretch of time, whose end is exclusive.
type Span struct{ Start, Until core.Time }

// spanned are the figures of an account in spans that follow on each other. MRR and Active are what they were at the end of each, and in
// before at the start of the first.
type spanned struct {
	before Figures
	spans  []Figures
}

// sums adds up the columns of metric_quarters. PostgreSQL would have sums of another type.
const sums = `CAST(SUM(m.revenue) AS bigint) AS revenue, CAST(SUM(m.refunds) AS bigint) AS refunds, CAST(SUM(m.net_revenue) AS bigint) AS net_revenue,
	CAST(SUM(m.orders) AS bigint) AS orders, CAST(SUM(m.mrr) AS bigint) AS mrr, CAST(SUM(m.active) AS bigint) AS active,
	CAST(SUM(m.started) AS bigint) AS started, CAST(SUM(m.renewed) AS bigint) AS renewed, CAST(SUM(m.churned) AS bigint) AS churned,
	CAST(SUM(m.checkouts) AS bigint) AS checkouts, CAST(SUM(m.completed) AS bigint) AS completed`

// read returns the figures of spans in one currency. There is one at least.
func (s *Store) read(ctx context.Context, account, currency string, spans []Span) (*spanned, error) {
	ctx = db.Abortable(ctx)
	before, err := s.before(ctx, account, currency, spans[0].Start)
	if err != nil {
		return nil, err
	}
	changes, err := s.changes(ctx, account, currency, spans)
	if err != nil {
		return nil, err
	}
	m := &spanned{before: *before, spans: changes}
	at := *before
	for i := range changes {
		f := &changes[i]
		at.MRR, at.Active = at.MRR+f.MRR, at.Active+f.Active
		f.MRR, f.Active = at.MRR, at.Active
	}
	return m, nil
}

// changes returns what was counted in spans in one currency. MRR and Active are by how much they changed in each.
func (s *Store) changes(ctx context.Context, account, currency string, spans []Span) ([]Figures, error) {
	asked := make([]map[string]int64, len(spans))
	for i, span := range spans {
		asked[i] = map[string]int64{"start": int64(span.Start), "until": int64(span.Until)}
	}
	found, err := db.Select[Figures](ctx, s.db, `
		SELECT p.start, `+sums+`
		FROM `+s.db.JSONTable("start bigint", "until bigint")+` AS p `+
		s.db.LookUp("metric_quarters", "m", "m.account_id = ? AND m.currency = ? AND m.start >= p.start AND m.start < p.until")+`
		GROUP BY p.start`, core.JSONText(asked), account, currency)
	if err != nil {
		return nil, fmt.Errorf("add up metrics: %w", err)
	}
	of := make(map[core.Time]Figures, len(found))
	for _, f := range found {
		of[f.Start] = f
	}
	all := make([]Figures, len(spans))
	for i, span := range spans {
		all[i] = of[span.Start]
		all[i].Start = span.Start
	}
	return all, nil
}

// before returns MRR and Active as they were at a moment.
func (s *Store) before(ctx context.Context, account, currency string, at core.Time) (*Figures, error) {
	begun := at - at%year
	f, err := db.Get[Figures](ctx, s.db, `
		SELECT CAST(COALESCE(SUM(mrr), 0) AS bigint) AS mrr, CAST(COALESCE(SUM(active), 0) AS bigint) AS active FROM (
			SELECT mrr, active FROM metric_years WHERE account_id = ? AND currency = ? AND start < ?
			UNION ALL SELECT mrr, active FROM metric_quarters WHERE account_id = ? AND currency = ? AND start >= ? AND start < ?) AS changes`,
		account, currency, begun, account, currency, begun, at)
	if err != nil {
		return nil, fmt.Errorf("add up subscriptions: %w", err)
	}
	return f, nil
}
