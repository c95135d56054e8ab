package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/migrations"
	"github.com/tillwright/tillwright/tests/harness/outbox"
)

// notCopied are tables whose rows belong to a request, name one thing on the whole server, or follow from others.
var notCopied = []string{"idempotency_keys", "global_names", "filter_entries", "metric_quarters", "metric_years"}

// referredTo are the tables to which foreign keys of others lead.
var referredTo = []string{"customers", "products"}

// sample is a row of what the API has made, of which copies are made behind the server's back.
type sample struct {
	table   string
	columns []string
	types   []string
	values  []any
}

// samples are the rows of one account, in two sets: those of its one purchase, and those of the product that was bought.
type samples struct {
	engine, account   string
	purchase, product []sample
	created           sample   // the event of the product's creation
	purchaseIDs       []string // all ids that a purchase has made
	productIDs        []string
	email, number     string // of the buyer, of the invoice
	at                int64  // when the order was made, in microseconds
}

// readSamples returns the rows of an account in which one purchase was made.
func readSamples(ctx context.Context, db *sql.DB, engine, account string) (*samples, error) {
	s := &samples{engine: engine, account: account}
	if err := db.QueryRowContext(ctx, `
		SELECT o.customer_email, i.number, o.created_at FROM orders AS o JOIN invoices AS i ON i.account_id = o.account_id AND i.order_id = o.id
		WHERE o.account_id = $1`, account).Scan(&s.email, &s.number, &s.at); err != nil {
		return nil, fmt.Errorf("the one purchase: %w", err)
	}
	tables, err := accountTables(ctx, db, engine)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(tables, func(a, b string) int { // what others refer to comes first
		return cmp.Compare(slices.Index(referredTo, b), slices.Index(referredTo, a))
	})
	var all []sample
	for _, table := range tables {
		rows, err := readTable(ctx, db, table, "account_id", account)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", table, err)
		}
		all = append(all, rows...)
	}
	ids := func(tables ...string) (ids []string) {
		for _, row := range all {
			if slices.Contains(tables, row.table) {
				ids = append(ids, row.text("id"))
			}
		}
		return ids
	}
	s.purchaseIDs = ids("customers", "checkouts", "line_items", "payments", "orders", "invoices")
	s.productIDs = ids("products", "price_variants")
	for _, row := range all { // an event about what was bought, or about the purchase
		if row.table == "events" && row.names(s.purchaseIDs) {
			s.purchaseIDs = append(s.purchaseIDs, row.text("id"))
		}
	}
	for _, row := range all {
		switch {
		case row.names(s.purchaseIDs):
			s.purchase = append(s.purchase, row)
		case row.table == "events":
			s.created = row
		case row.names(s.productIDs):
			s.product = append(s.product, row)
		}
	}
	return s, nil
}

// accountTables returns the tables whose rows belong to an account.
func accountTables(ctx context.Context, db *sql.DB, engine string) (tables []string, err error) {
	query := `SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'account_id' ORDER BY 1`
	if engine == "sqlite" {
		query = `SELECT t.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND c.name = 'account_id' ORDER BY 1`
	}
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return nil, err
		}
		if !slices.Contains(notCopied, table) {
			tables = append(tables, table)
		}
	}
	return tables, rows.Err()
}

// readTable returns the rows of a table in which a column names the account.
func readTable(ctx context.Context, db *sql.DB, table, owner, account string) (found []sample, err error) {
	rows, err := db.QueryContext(ctx, `SELECT * FROM `+table+` WHERE `+owner+` = $1`, account)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row := sample{table: table, values: make([]any, len(columns))}
		into := make([]any, len(columns))
		for i, c := range columns {
			row.columns, row.types, into[i] = append(row.columns, c.Name()), append(row.types, c.DatabaseTypeName()), &row.values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i, value := range row.values {
			if data, ok := value.([]byte); ok && row.types[i] != "BYTEA" && row.types[i] != "BLOB" {
				row.values[i] = string(data)
			}
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// text returns a column's value if it is a text.
func (r sample) text(column string) string {
	value, _ := r.values[slices.Index(r.columns, column)].(string)
	return value
}

// names reports whether one of the ids stands in the row.
func (r sample) names(ids []string) bool {
	return slices.ContainsFunc(r.values, func(value any) bool {
		text, ok := value.(string)
		return ok && slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(text, id) })
	})
}

// copies says how the copies of a set of samples differ from them. Each text is a piece of SQL that stands for the text in copy n.
type copies struct {
	engine  string
	rows    []sample
	replace map[string]string
	numbers map[string]string // of the columns that count
	at      int64             // the time of the samples, for which each copy has its own
}

// purchases are copies of the purchase, for account, which is SQL. Number is SQL for the number of the order.
func (s *samples) purchases(account, number string) copies {
	c := copies{s.engine, s.purchase, map[string]string{s.account: account}, map[string]string{"number": number, "sequence": number}, s.at}
	s.renew(c.replace, s.purchaseIDs)
	c.replace[s.email] = `'grown-' || n || '@example.com'`
	c.replace[s.number] = `'INV-' || ` + pad(s.engine, number, 6)
	return c
}

// products are copies of the product.
func (s *samples) products() copies {
	c := copies{s.engine, s.product, map[string]string{}, map[string]string{"sales_count": "0", "sold_count": "0"}, s.at}
	s.renew(c.replace, s.productIDs)
	for _, row := range s.product {
		if row.table == "slugs" {
			c.replace[row.text("slug")] = `'guide-' || n`
		}
	}
	return c
}

// renew gives each of the ids a place of its own in every copy. They sort like the copies' numbers, and carry their times.
func (s *samples) renew(replace map[string]string, ids []string) {
	for i, id := range ids {
		prefix, _, _ := strings.Cut(id, "_")
		replace[id] = fmt.Sprintf("'%s_' || head || %s", prefix, pad(s.engine, fmt.Sprintf("(n * 20 + %d)", i), 16))
	}
}

// pad returns SQL for a number with so many digits, or more if it has them.
func pad(engine, number string, digits int) string {
	if engine == "sqlite" {
		return fmt.Sprintf("printf('%%0%dd', %s)", digits, number)
	}
	return fmt.Sprintf("lpad(CAST(%s AS text), greatest(%d, length(CAST(%s AS text))), '0')", number, digits, number)
}

// insert returns the statement that makes copies of a sample, for the rows of the table steps that a condition chooses.
func (c copies) insert(row sample) string {
	selected := make([]string, len(row.columns))
	for i, column := range row.columns {
		selected[i] = c.column(row.table, column, row.values[i])
		if c.engine != "sqlite" {
			selected[i] = "CAST(" + selected[i] + " AS " + row.types[i] + ")"
		}
	}
	return "INSERT INTO " + row.table + " (" + strings.Join(row.columns, ", ") + ") SELECT " + strings.Join(selected, ", ") + " FROM steps WHERE n BETWEEN $1 AND $2"
}

// column returns SQL for a column of a copy. Events stay as young as the sample, because they would be deleted otherwise.
func (c copies) column(table, column string, value any) string {
	const isTime = 1_000_000_000_000_000 // any count of microseconds since 1970 is greater, and nothing else here is
	switch v := value.(type) {
	case nil:
		return "NULL"
	case int64:
		if number, ok := c.numbers[column]; ok {
			return number
		}
		if v > isTime && table != "events" {
			return fmt.Sprintf("at + (%d)", v-c.at)
		}
		return strconv.FormatInt(v, 10)
	case bool:
		return strings.ToUpper(strconv.FormatBool(v))
	case string:
		return c.text(v)
	case []byte: // what is sealed is so for its row alone: a copy is as if the key were lost
		if c.engine == "sqlite" {
			return fmt.Sprintf("zeroblob(%d)", len(v))
		}
		return fmt.Sprintf("'\\x%x'", make([]byte, len(v)))
	}
	return fmt.Sprint(value)
}

// text returns SQL for a text in which everything that differs is replaced.
func (c copies) text(text string) string {
	var pieces []string
	for text != "" {
		first, which := len(text), ""
		for old := range c.replace {
			if at := strings.Index(text, old); at >= 0 && (at < first || at == first && len(old) > len(which)) {
				first, which = at, old
			}
		}
		if first > 0 {
			pieces = append(pieces, "'"+strings.ReplaceAll(text[:first], "'", "''")+"'")
		}
		if which != "" {
			pieces = append(pieces, c.replace[which])
		}
		text = text[min(len(text), first+len(which)):]
	}
	if pieces == nil {
		return "''"
	}
	return strings.Join(pieces, " || ")
}

// fillBatch is how many copies a transaction makes.
const fillBatch = 50_000

// steps makes a table of the numbers from one to another on a connection. Each has its time, in equal steps over the two years before the samples,
// and the beginning of the ids of that time.
func (s *samples) steps(ctx context.Context, conn *sql.Conn, many int) error {
	const twoYears = 2 * 365 * 24 * 3600 * 1_000_000
	at := fmt.Sprintf("(%d + n * CAST(%d AS BIGINT))", s.at-twoYears, twoYears/(many+1))
	for _, statement := range []string{
		`DROP TABLE IF EXISTS steps`,
		`CREATE TEMPORARY TABLE steps (n BIGINT PRIMARY KEY, at BIGINT, head TEXT)`,
		`INSERT INTO steps SELECT n, ` + at + `, substr(` + outbox.IDAt(s.engine, "", at, "n") + `, 1, 10) FROM ` + outbox.Numbers(s.engine, 1, many),
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// fill makes so many copies.
func (s *samples) fill(ctx context.Context, conn *sql.Conn, c copies, many int) error {
	if err := s.steps(ctx, conn, many); err != nil {
		return err
	}
	for from := 1; from <= many; from += fillBatch {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for _, row := range c.rows {
			if _, err := tx.ExecContext(ctx, c.insert(row), from, min(from+fillBatch-1, many)); err != nil {
				_ = tx.Rollback()
				return fmt.Errorf("copies of %s: %w", row.table, err)
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// countAnew makes the metrics of all orders that there are, as the migration did that first counted them.
func countAnew(ctx context.Context, conn *sql.Conn, engine string) error {
	files, err := migrations.FS(engine)
	if err != nil {
		return err
	}
	step, err := fs.ReadFile(files, "00099_metric.sql")
	if err != nil {
		return err
	}
	_, counting, _ := strings.Cut(string(step), "-- What there was.")
	_, err = conn.ExecContext(ctx, "DELETE FROM metric_quarters; DELETE FROM metric_years; --"+counting)
	return err
}

// readAccount returns an account's own row.
func readAccount(ctx context.Context, db *sql.DB, id string) (sample, error) {
	rows, err := readTable(ctx, db, "accounts", "id", id)
	if err != nil || len(rows) != 1 {
		return sample{}, fmt.Errorf("%d rows of the account: %w", len(rows), err)
	}
	return rows[0], nil
}

// moreEvents makes copies of the product's first event, as of a product that was changed as many times.
func (s *samples) moreEvents(ctx context.Context, conn *sql.Conn, row sample, many int) error {
	c := copies{s.engine, []sample{row}, map[string]string{}, map[string]string{"key_seq": "(n + 1)"}, s.at}
	s.renew(c.replace, []string{row.text("id")})
	return s.fill(ctx, conn, c, many)
}

// expire puts so many idempotency keys into the database whose time is over.
func (g *grower) expire(ctx context.Context, many int) error {
	for from := 1; from <= many; from += fillBatch {
		if _, err := g.db.ExecContext(ctx, `
			INSERT INTO idempotency_keys (account_id, key, fingerprint, token, effect, status, lease_until, expires_at)
			SELECT $1, `+pad(g.engine, "n", 36)+`, `+map[string]string{"sqlite": `X'00'`, "postgres": `''`}[g.engine]+`, '', '', 200, 1, 1
			FROM `+outbox.Numbers(g.engine, from, min(from+fillBatch-1, many)), g.account); err != nil {
			return fmt.Errorf("expired keys: %w", err)
		}
	}
	return nil
}
