package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/report"
	"github.com/tillwright/tillwright/store/tenant"
)

// CustomersOfWeek is how many new customers of a week are counted at most.
const CustomersOfWeek = 10_000

// mondayOf returns the first day of the week of a day.
func mondayOf(day time.Time) time.Time { return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) }

// weekOf returns what a team is told of the week before a Monday, compared with the one before that. It is nil if nothing was sold in either.
func (s *Store) weekOf(ctx context.Context, seller *tenant.Account, monday time.Time, where *time.Location) (*person.LetterDetail, error) {
	spans := []report.Span{report.SpanOfDays(monday.AddDate(0, 0, -14), monday.AddDate(0, 0, -7), where), report.SpanOfDays(monday.AddDate(0, 0, -7), monday, where)}
	figures, err := s.Report.ByCurrency(ctx, seller.ID, spans...)
	if err != nil {
		return nil, err
	}
	var weeks [2]person.Week
	hasSold := false
	for i := range weeks {
		sales, refunds := map[string]person.Sum{}, map[string]person.Sum{}
		for currency, of := range figures {
			f := of[i]
			if f.Orders > 0 {
				sales[currency], hasSold = person.Sum{Currency: currency, Count: f.Orders, Amount: f.Revenue}, true
			}
			if f.Refunds > 0 {
				refunds[currency] = person.Sum{Currency: currency, Amount: f.Refunds}
			}
			weeks[i].Started, weeks[i].Ended = weeks[i].Started+f.Started, weeks[i].Ended+f.Churned
		}
		weeks[i].Sales, weeks[i].Refunds = inOrder(sales), inOrder(refunds)
	}
	if !hasSold {
		return nil, nil
	}
	for i, span := range spans {
		if weeks[i].Customers, err = s.countCustomers(ctx, seller.ID, span); err != nil {
			return nil, err
		}
	}
	return &person.LetterDetail{WeekBefore: &weeks[0], Week: &weeks[1]}, nil
}

// countCustomers counts the customers that were made in a span, CustomersOfWeek at most.
func (s *Store) countCustomers(ctx context.Context, account string, span report.Span) (int64, error) {
	count, err := db.Get[int64](ctx, s.db, `SELECT count(*) FROM (SELECT 1 FROM customers WHERE account_id = ? AND id >= ? AND id < ? LIMIT ?) AS made`,
		account, core.IDsBefore(core.KindCustomer, span.Start), core.IDsBefore(core.KindCustomer, span.Until), CustomersOfWeek)
	if err != nil {
		return 0, fmt.Errorf("count new customers: %w", err)
	}
	return core.Deref(count), nil
}
