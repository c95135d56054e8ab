package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/report"
)

// failuresOfDay is how many failed payments of a day are looked at, and how many invoices that became past due.
const failuresOfDay = 5000

// failedInvoice is what a team is told of an invoice that could not be collected.
type failedInvoice struct {
	Status        invoice.Status `db:"status"`
	Currency      string         `db:"currency"`
	Unpaid        int64          `db:"unpaid"`
	NextAttemptAt *core.Time     `db:"next_payment_attempt_at"`
}

// failuresOf returns what a team is told of the invoices that could not be collected in a span, and are neither paid nor void. It is nil if there are none.
// It looks at most failed payments, and at as many invoices that became past due. If there are more, it says so.
func (s *Store) failuresOf(ctx context.Context, account string, span report.Span, most int) (*person.LetterDetail, error) {
	declined, err := db.Select[string](ctx, s.db, `
		SELECT invoice_id FROM payments WHERE account_id = ? AND status = 'failed' AND invoice_id IS NOT NULL AND created_at >= ? AND created_at < ? ORDER BY created_at LIMIT ?`,
		account, span.Start, span.Until, most+1)
	if err != nil {
		return nil, fmt.Errorf("read failed payments: %w", err)
	}
	// Without a payment method there is no payment that could fail.
	overdue, err := db.Select[string](ctx, s.db, `
		SELECT id FROM invoices WHERE account_id = ? AND subscription_id IS NOT NULL AND past_due_at >= ? AND past_due_at < ? ORDER BY past_due_at LIMIT ?`,
		account, span.Start, span.Until, most+1)
	if err != nil {
		return nil, fmt.Errorf("read invoices that became past due: %w", err)
	}
	hasMore := len(declined) > most || len(overdue) > most
	ids := slices.Compact(slices.Sorted(slices.Values(slices.Concat(declined[:min(len(declined), most)], overdue[:min(len(overdue), most)]))))
	if len(ids) == 0 {
		return nil, nil
	}
	are, arg := s.db.In("id", ids)
	failed, err := db.Select[failedInvoice](ctx, s.db, `
		SELECT status, currency, total_amount - amount_paid - balance_applied AS unpaid, next_payment_attempt_at FROM invoices WHERE account_id = ? AND `+are, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read invoices that were not collected: %w", err)
	}
	detail := person.LetterDetail{HasMore: hasMore}
	sums := map[string]person.Sum{}
	for _, i := range failed {
		if i.Status == invoice.StatusPaid || i.Status == invoice.StatusVoid {
			continue
		}
		sum := sums[i.Currency]
		sums[i.Currency] = person.Sum{Currency: i.Currency, Count: sum.Count + 1, Amount: sum.Amount + i.Unpaid}
		if i.NextAttemptAt == nil {
			continue
		}
		detail.Retried++
		if detail.Next == nil || *i.NextAttemptAt < *detail.Next {
			detail.Next = i.NextAttemptAt
		}
	}
	if len(sums) == 0 {
		return nil, nil
	}
	detail.Sums = inOrder(sums)
	return &detail, nil
}
