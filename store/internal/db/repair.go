package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/migrations"
)

// Repair sets right what a server of an older version leaves behind that goes on running beside this one, or after a migration. It mends balances
// that such a server changed without writing it down, and orders that do not know who can give back what was paid. It also mends products that say
// wrongly what they deliver, pictures that are not those of their owners, and keys of addresses that it wrote. News is told of letters that such a server
// ended or deleted. What is right it does not touch, so that it may be repeated at any time.
func (d *DB) Repair(ctx context.Context) (core.Repaired, error) {
	if d.Engine == core.PostgreSQL {
		var done core.Repaired
		err := d.underSchemaLock(ctx, func(db *sqlx.DB) (err error) {
			done, err = repairAll(ctx, d.Engine, db.DB)
			return err
		})
		return done, err
	}
	tx, err := d.Write.DB.BeginTx(ctx, nil)
	if err != nil {
		return core.Repaired{}, err
	}
	defer tx.Rollback()
	done, err := repairAll(ctx, d.Engine, tx)
	if err != nil {
		return core.Repaired{}, err
	}
	return done, errors.Join(tx.Commit(), d.flushed())
}

// WrongKeys returns how many keys of addresses Repair would write.
func (d *DB) WrongKeys(ctx context.Context) (int, error) {
	s := &dataStep{engine: d.Engine, conn: d.Read.DB, counts: true}
	err := s.mendKeys(ctx)
	return s.done.Addresses, err
}

// repairs is the step migrations.Repair: what Repair does with the columns that there are by then.
func repairs(engine string) *goose.Migration {
	up := &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		_, err := repair(ctx, engine, tx)
		return err
	}}
	if engine == core.PostgreSQL {
		up = &goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error {
			_, err := repair(ctx, engine, db)
			return err
		}}
	}
	return goose.NewGoMigration(migrations.Repair, up, nil)
}

// repairAll is Repair on a connection.
func repairAll(ctx context.Context, engine string, conn conn) (core.Repaired, error) {
	s := &dataStep{engine: engine, conn: conn}
	return s.mend(ctx, s.noteTaken, s.enterOpenings, s.mendKeys, s.noteRefundable, s.noteDelivered, s.notePictures, s.noteNews)
}

// repair is repairAll before the steps 171, 183 and 193, which made what noteRefundable, noteDelivered and notePictures write.
func repair(ctx context.Context, engine string, conn conn) (core.Repaired, error) {
	s := &dataStep{engine: engine, conn: conn}
	return s.mend(ctx, s.noteTaken, s.enterOpenings, s.mendKeys)
}

func (s *dataStep) mend(ctx context.Context, mends ...func(context.Context) error) (core.Repaired, error) {
	for _, mend := range mends {
		if err := mend(ctx); err != nil {
			return s.done, fmt.Errorf("repair: %w", err)
		}
	}
	return s.done, nil
}

// conn is a connection, or a transaction.
type conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// dataStep changes rows in a way that SQL alone cannot. On SQLite it is one transaction. On PostgreSQL each statement stands alone, and all may be
// repeated.
type dataStep struct {
	engine string
	conn   conn
	counts bool // it only counts what it would change
	done   core.Repaired
}

// stepBatch is how many rows a step reads at a time.
const stepBatch = 1000

// appliedOrder is an order which counts as paid by a balance, as a whole or in part.
type appliedOrder struct {
	Account  string    `db:"account_id"`
	ID       string    `db:"id"`
	Customer string    `db:"customer_id"`
	Currency string    `db:"currency"`
	Total    int64     `db:"total_amount"`
	Applied  int64     `db:"balance_applied"`
	Taken    int64     `db:"balance_taken"`
	GaveBack int64     `db:"gave_back"` // to the balance, or more than was paid in another way
	IsVoid   bool      `db:"is_void"`
	Entered  int64     `db:"entered"`  // what is written down that it took off the balance
	Returned int64     `db:"returned"` // and that went back when it became void
	Created  core.Time `db:"created_at"`
}

// taken returns how much of the order was taken off the balance. Of a total that is too little to be charged nobody knows, if that is not written
// down. Then it is no more than was given back already, so that nothing is given that nobody paid.
func (o *appliedOrder) taken() int64 {
	switch {
	case o.IsVoid:
		return max(o.Entered, o.Returned)
	case o.Total >= core.CurrencyOf(o.Currency).Minimum:
		return o.Applied
	}
	return min(max(o.Entered, o.GaveBack), o.Applied)
}

// noteTaken says of orders what they took off a balance, and writes it down where it is not.
func (s *dataStep) noteTaken(ctx context.Context) error {
	written := func(sign, reason string) string {
		return `COALESCE((SELECT CAST(` + sign + `SUM(t.amount) AS BIGINT) FROM balance_transactions t
			WHERE t.account_id = o.account_id AND t.customer_id = o.customer_id AND t.reason = '` + reason + `' AND t.source_id = o.id), 0)`
	}
	var account, id string
	for {
		orders, err := selected[appliedOrder](ctx, s, `
			SELECT o.account_id, o.id, o.customer_id, o.currency, o.total_amount, o.balance_applied, o.balance_taken, o.created_at, o.voided_at IS NOT NULL AS is_void,
				CASE WHEN o.refunded_amount + o.credited_amount > o.paid_amount THEN o.refunded_amount + o.credited_amount - o.paid_amount ELSE 0 END + o.refunded_balance AS gave_back,
				`+written("-", "applied")+` AS entered, `+written("", "returned")+` AS returned
			FROM orders o WHERE o.balance_taken < o.balance_applied AND o.customer_verified AND (o.account_id, o.id) > (?, ?)
			ORDER BY o.account_id, o.id LIMIT ?`, account, id, stepBatch)
		if err != nil || len(orders) == 0 {
			return err
		}
		for i := range orders {
			if err := s.noteOrder(ctx, &orders[i]); err != nil {
				return err
			}
		}
		account, id = orders[len(orders)-1].Account, orders[len(orders)-1].ID
	}
}

// noteOrder says of an order what it took off a balance.
func (s *dataStep) noteOrder(ctx context.Context, o *appliedOrder) error {
	taken := o.taken()
	if taken == o.Taken && taken == o.Entered {
		return nil
	}
	if missing := taken - o.Entered; missing > 0 {
		if err := s.enter(ctx, o.Account, idBeside(o.ID), o.Customer, o.Currency, -missing, "applied", &o.ID, o.Created); err != nil {
			return err
		}
	}
	s.done.Orders++
	return s.exec(ctx, `
		UPDATE orders SET balance_taken = ?, status = CASE WHEN status = 'partially_refunded' AND refunded_amount + refunded_balance >= paid_amount + ? THEN 'refunded' ELSE status END
		WHERE account_id = ? AND id = ?`, taken, taken, o.Account, o.ID)
}

// enterOpenings writes down, as what there was before, what customers have more or less than the sum of what is written down.
func (s *dataStep) enterOpenings(ctx context.Context) error {
	members := (&DB{Engine: s.engine}).JSONMembers("c.balance")
	wrong, err := selected[struct {
		Account  string    `db:"account_id"`
		Customer string    `db:"id"`
		Currency string    `db:"currency"`
		Missing  int64     `db:"missing"`
		Created  core.Time `db:"created_at"`
	}](ctx, s, `
		SELECT d.account_id, d.id, d.currency, d.missing, c.created_at FROM (
			SELECT account_id, id, currency, CAST(SUM(amount) AS BIGINT) AS missing FROM (
				SELECT c.account_id, c.id, b.key AS currency, CAST(b.value AS BIGINT) AS amount FROM customers c JOIN `+members+` b ON TRUE
				UNION ALL SELECT account_id, customer_id, currency, -amount FROM balance_transactions) AS moved
			GROUP BY account_id, id, currency HAVING SUM(amount) <> 0) AS d
		JOIN customers c ON c.account_id = d.account_id AND c.id = d.id`)
	if err != nil {
		return err
	}
	for _, w := range wrong {
		if err := s.enter(ctx, w.Account, idBeside(w.Customer), w.Customer, w.Currency, w.Missing, "opening", nil, w.Created); err != nil {
			return err
		}
		s.done.Balances++
	}
	return nil
}

// noteRefundable says of orders who can give back what was paid for them, as the step 171 does. It writes down who took the money, and whether the
// balance that paid is gone with its customer.
func (s *dataStep) noteRefundable(ctx context.Context) error {
	const provider = `(SELECT MIN(p.provider) FROM payments p
		WHERE p.account_id = orders.account_id AND p.order_id = orders.id AND p.status = 'succeeded' AND p.amount > 0 AND p.provider <> 'out_of_band')`
	for _, query := range []string{
		`UPDATE orders SET refund_provider = ` + provider + ` WHERE paid_amount > 0 AND COALESCE(refund_provider, '') <> COALESCE(` + provider + `, '')`,
		`UPDATE orders SET balance_gone = TRUE WHERE balance_applied > 0 AND NOT balance_gone AND EXISTS (
			SELECT 1 FROM customers c WHERE c.account_id = orders.account_id AND c.id = orders.customer_id AND c.deleted_at IS NOT NULL)`,
	} {
		result, err := s.conn.ExecContext(ctx, s.rebind(query))
		if err != nil {
			return err
		}
		rows, err := result.RowsAffected()
		if err != nil {
			return err
		}
		s.done.Orders += int(rows)
	}
	return nil
}

// noteDelivered says of products how many things of each kind they deliver, as the step 183 does.
func (s *dataStep) noteDelivered(ctx context.Context) error {
	result, err := s.conn.ExecContext(ctx, `
		UPDATE products SET delivers = d.things > 0, delivered_files = d.files, delivered_keys = d.license_keys, delivered_access = d.access FROM (
			SELECT p.account_id, p.id, COUNT(d.type) AS things, COUNT(CASE WHEN d.type = 'file' THEN 1 END) AS files,
				COUNT(CASE WHEN d.type = 'license_key' THEN 1 END) AS license_keys, COUNT(CASE WHEN d.type IN ('link', 'experience') THEN 1 END) AS access
			FROM products p LEFT JOIN product_deliverables d ON d.account_id = p.account_id AND d.product_id = p.id AND d.removed IS NULL
			GROUP BY p.account_id, p.id) AS d
		WHERE d.account_id = products.account_id AND d.id = products.id AND (delivers <> (d.things > 0)
			OR delivered_files <> d.files OR delivered_keys <> d.license_keys OR delivered_access <> d.access)`)
	if err != nil {
		return err
	}
	rows, err := result.RowsAffected()
	s.done.Products += int(rows)
	return err
}

// noteNews counts letters of news as failed that an older server has ended, or deleted with their customer, and counted nowhere. News of which no other
// waits is sent by that.
func (s *dataStep) noteNews(ctx context.Context) error {
	const waiting = `(SELECT COUNT(*) FROM letters l
		WHERE l.account_id = product_news.account_id AND l.object_id = product_news.id AND l.kind = 'product_news' AND l.status || '' = 'queued')`
	result, err := s.conn.ExecContext(ctx, `
		UPDATE product_news SET failed_count = recipients - sent_count - skipped_count - `+waiting+` WHERE recipients - sent_count - failed_count - skipped_count > `+waiting)
	if err != nil {
		return err
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return err
	}
	s.done.News += int(rows)
	return s.exec(ctx, `
		UPDATE product_news SET status = 'sent', sent_at = updated_at
		WHERE status = 'sending' AND turn_at IS NULL AND sent_count + failed_count + skipped_count = recipients`)
}

// enter writes down a change of a balance.
func (s *dataStep) enter(ctx context.Context, account, id, customer, currency string, amount int64, reason string, source *string, at core.Time) error {
	return s.exec(ctx, `
		INSERT INTO balance_transactions (account_id, id, customer_id, currency, amount, reason, source_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		account, id, customer, currency, amount, reason, source, at, at)
}

// idBeside returns an id of a change of a balance that says it was made when another row was, so that it is listed there.
func idBeside(other string) string {
	const timeLength = 10
	id := core.NewID(core.KindBalanceTransaction)
	_, made, _ := strings.Cut(other, "_")
	random := len(core.KindBalanceTransaction.Prefix()) + timeLength
	if len(made) != len(core.NewULID()) {
		return id
	}
	return core.KindBalanceTransaction.Prefix() + made[:timeLength] + id[random:]
}

func (s *dataStep) exec(ctx context.Context, query string, args ...any) error {
	if s.counts {
		return nil
	}
	_, err := s.conn.ExecContext(ctx, s.rebind(query), args...)
	return err
}

func (s *dataStep) rebind(query string) string { return (&DB{Engine: s.engine}).Rebind(query) }

// selected returns the rows of a query.
func selected[T any](ctx context.Context, s *dataStep, query string, args ...any) ([]T, error) {
	rows, err := s.conn.QueryContext(ctx, s.rebind(query), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []T
	err = sqlx.StructScan(rows, &found)
	return found, errors.Join(err, rows.Err())
}
