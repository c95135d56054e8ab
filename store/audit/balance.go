package audit

import "github.com/tillwright/tillwright/store/internal/db"

// The promises that Repair mends where a server of an older version has broken them.
const (
	PromiseBalance   = "a balance is the sum of what changed it"
	PromiseTaken     = "what an order took off a balance is written down, and went back if the order became void"
	PromiseGivers    = "an order knows who can give back what was paid for it"
	PromiseDelivered = "a product says how many things of each kind it delivers"
	PromiseNews      = "news counts what became of each of its letters once"
)

// balanceInvariants are further invariants, about what customers have to their credit.
func balanceInvariants(d *db.DB) []db.Invariant {
	members := d.JSONMembers("c.balance")
	return []db.Invariant{
		{Promise: PromiseBalance, Query: `
			SELECT account_id, id FROM (
				SELECT c.account_id, c.id, b.key AS currency, CAST(b.value AS BIGINT) AS amount FROM customers c JOIN ` + members + ` b ON TRUE
				UNION ALL SELECT account_id, customer_id, currency, -amount FROM balance_transactions) AS moved
			GROUP BY account_id, id, currency HAVING SUM(amount) <> 0`},
		{Promise: "what an order gave to a balance is written down", Query: `
			SELECT account_id, id FROM (
				SELECT account_id, id, credited_amount AS amount FROM orders WHERE credited_amount <> 0
				UNION ALL SELECT account_id, source_id, -amount FROM balance_transactions WHERE reason = 'credit') AS moved
			GROUP BY account_id, id HAVING SUM(amount) <> 0`},
		{Promise: "what refunds gave to a balance is written down", Query: `
			SELECT account_id, id FROM (
				SELECT account_id, id, balance_amount AS amount FROM refunds WHERE status = 'succeeded' AND balance_amount <> 0
				UNION ALL SELECT account_id, source_id, -amount FROM balance_transactions WHERE reason = 'refunded') AS moved
			GROUP BY account_id, id HAVING SUM(amount) <> 0`},
		{Promise: "what an order gave back, to a card or a balance, was paid for it", Query: `
			SELECT account_id, id FROM orders WHERE credited_amount < 0 OR refunded_amount + refunded_balance + credited_amount >
				CASE WHEN paid_at IS NULL OR voided_at IS NOT NULL THEN 0 ELSE paid_amount + balance_taken END`},
		{Promise: PromiseTaken, Query: `
			SELECT account_id, id FROM (
				SELECT account_id, id, balance_taken AS amount FROM orders WHERE balance_taken <> 0
				UNION ALL SELECT account_id, source_id, amount FROM balance_transactions WHERE reason = 'applied') AS moved
			GROUP BY account_id, id HAVING SUM(amount) <> 0
			UNION ALL SELECT account_id, id FROM orders WHERE balance_taken < 0 OR balance_taken > balance_applied
				OR NOT customer_verified AND balance_taken <> 0 OR paid_amount > 0 AND balance_taken <> balance_applied
			UNION ALL SELECT account_id, id FROM (
				SELECT account_id, id, balance_taken AS amount FROM orders WHERE voided_at IS NOT NULL AND balance_taken <> 0
				UNION ALL SELECT account_id, source_id, -amount FROM balance_transactions WHERE reason = 'returned') AS moved
			GROUP BY account_id, id HAVING SUM(amount) <> 0`},
		{Promise: "a customer has no more to their credit than they paid or were given, and did not get back", Query: `
			SELECT account_id, id FROM (
				SELECT c.account_id, c.id, b.key AS currency, CAST(b.value AS BIGINT) AS amount FROM customers c JOIN ` + members + ` b ON TRUE
				UNION ALL SELECT account_id, customer_id, currency, refunded_amount - paid_amount FROM orders
				UNION ALL SELECT account_id, customer_id, currency, -amount FROM balance_transactions WHERE reason = 'manual') AS moved
			GROUP BY account_id, id, currency HAVING SUM(amount) > 0`},
	}
}
