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
// ever counted.
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
		read, err := s.read(ctx, account, currency, spans)
		if err != nil {
			return nil, err
		}
		all[currency] = read.spans
	}
	return all, nil
}
