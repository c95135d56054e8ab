package report

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/internal/db"
)

// SpanOfDays returns the span from the first moment of a day to that of another one, at a place. Days are at midnight in UTC.
func SpanOfDays(from, until time.Time, where *time.Location) Span {
	return Span{Start: dayStart(from, where), Until: dayStart(until, where)}
}

// ByCurrency returns the figures of an account in each of some spans that follow on each other, by currency. It has the currencies in which anything was
// ever counted. MRR and Active are by how much they changed: what they were would take all quarters of the year to find out.
func (s *Store) ByCurrency(ctx context.Context, account string, spans ...Span) (map[string][]Figures, error) {
	// Two looks at an index for each currency.
	currencies, err := db.Select[string](ctx, s.db, `
		WITH RECURSIVE known (currency) AS (
			SELECT min(currency) FROM metric_quarters WHERE account_id = ?
			UNION ALL
			SELECT (SELECT min(m.currency) FROM metric_quarters AS m WHERE m.account_id = ? AND m.currency > known.currency)
			FROM known WHERE currency IS NOT NULL
		) SELECT currency FROM known WHERE currency IS NOT NULL`, account, account)
	if err != nil {
		return nil, fmt.Errorf("read in which currencies there are figures: %w", err)
	}
	all := make(map[string][]Figures, len(currencies))
	for _, currency := range currencies {
		if all[currency], err = s.changes(ctx, account, currency, spans); err != nil {
			return nil, err
		}
	}
	return all, nil
}
