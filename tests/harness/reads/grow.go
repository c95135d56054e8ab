package reads

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Many is how many rows of each table a big account has. The pages of PostgreSQL hold many rows each. SQLite counts its steps, of which
// every row takes some: with four sevenths of the rows, what a Cost may be is four sevenths, too.
var Many = map[string]int{"sqlite": 8_000, "postgres": 14_000}

// others is how many small accounts there are beside it, with otherRows rows each.
const others, otherRows = 200, 5

// grower makes copies of an account's rows.
type grower struct {
	ctx     context.Context
	conn    *sql.Conn
	engine  string
	account string
}

// Grow gives an account Many rows in each table in which it has one, and 200 small accounts some of each. A copy has its own ids. Each of them stands
// for the same row in all tables: the lines of a copied order belong to it. Statistics are not made. SQLite has no triggers any more then, which
// would call functions of the program. It returns the tables with how many rows they have.
func Grow(ctx context.Context, db *sql.DB, engine, account string, tables []string) (sizes map[string]int, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	before, after, err := bulk(ctx, conn, engine)
	if err != nil {
		return nil, err
	}
	if err := all(ctx, conn, before); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, all(ctx, conn, after)) }()
	g := &grower{ctx, conn, engine, account}
	sizes = map[string]int{}
	for _, table := range tables {
		if sizes[table], err = g.table(table); err != nil {
			return nil, fmt.Errorf("grow %s: %w", table, err)
		}
	}
	return sizes, nil
}

// settings are what a database is told before it takes many rows, and after it. A copied reference may be made before its row. To make an index of
// all rows takes a fraction of the time that it takes to keep it in order. What PostgreSQL thinks of its tables stays as it is.
var settings = map[string]struct{ before, after, indexes string }{
	"sqlite": {`PRAGMA foreign_keys = off; PRAGMA synchronous = off; PRAGMA cache_size = -200000`, `PRAGMA foreign_keys = on`, `
		SELECT 'DROP ' || type || ' ' || name, CASE type WHEN 'index' THEN sql ELSE '' END FROM sqlite_master WHERE type = 'trigger' OR type = 'index' AND sql LIKE 'CREATE INDEX%'`},
	"postgres": {
		`SET session_replication_role = replica; CREATE TEMP TABLE known AS SELECT oid, relpages, reltuples FROM pg_class WHERE relkind = 'r'`,
		`SET session_replication_role = origin; UPDATE pg_class AS c SET relpages = k.relpages, reltuples = k.reltuples FROM known AS k WHERE k.oid = c.oid; DROP TABLE known`, `
		SELECT 'DROP INDEX ' || CAST(i.indexrelid AS regclass), pg_get_indexdef(i.indexrelid) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
		WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND NOT i.indisunique AND i.indexprs IS NULL`, // an expression has statistics of its own
	},
}

// bulk returns the statements that come before many rows, and those that come after them.
func bulk(ctx context.Context, conn *sql.Conn, engine string) (before, after []string, err error) {
	of := settings[engine]
	before = []string{of.before}
	rows, err := conn.QueryContext(ctx, of.indexes)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var drop, again string
		if err := rows.Scan(&drop, &again); err != nil {
			return nil, nil, err
		}
		before = append(before, drop)
		if again != "" {
			after = append(after, again)
		}
	}
	return before, append(after, of.after), rows.Err()
}

// all runs statements one after the other.
func all(ctx context.Context, conn *sql.Conn, statements []string) error {
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// isOfProgram reports whether a table is of the program, not of its accounts.
func isOfProgram(table string) bool { return strings.HasPrefix(table, "schema_") }

// column is a column of a table.
type column struct{ name, kind string }

// table makes the copies of one table, and returns how many rows it has then.
func (g *grower) table(table string) (size int, err error) {
	if isOfProgram(table) {
		return 0, nil
	}
	columns, err := g.columns(table)
	if err != nil {
		return 0, err
	}
	own := `TRUE`
	if slices.ContainsFunc(columns, func(c column) bool { return c.name == "account_id" }) {
		own = `account_id = '` + g.account + `'`
	}
	var rows int
	if err := g.conn.QueryRowContext(g.ctx, `SELECT count(*) FROM `+table+` WHERE `+own).Scan(&rows); err != nil || rows == 0 {
		return 0, err
	}
	counted, err := g.counted(table, own, columns)
	if err != nil {
		return 0, err
	}
	// Those of the small accounts come first and last, as they would in a year.
	last := (Many[g.engine] + rows - 1) / rows
	for _, part := range []struct {
		from, to int
		account  string
	}{{-(others * otherRows / 2) / min(rows, otherRows), -1, `'acct_small' || (abs(n) % 200)`}, {1, last, ``}, {last + 1, last + (others*otherRows/2)/min(rows, otherRows), `'acct_small' || (n % 200)`}} {
		if part.account != "" && own == `TRUE` {
			continue
		}
		if err := g.copy(table, own, columns, counted, part.from, part.to, part.account); err != nil {
			return 0, err
		}
	}
	err = g.conn.QueryRowContext(g.ctx, `SELECT count(*) FROM `+table).Scan(&size)
	return size, err
}

// copy makes copies from..to of the rows of a table. Account is SQL for whose they are, empty for the same as the row's.
func (g *grower) copy(table, own string, columns []column, counted []string, from, to int, account string) error {
	var names, values []string
	for _, c := range columns {
		value := "o." + c.name
		switch {
		case c.name == "account_id":
			if account != "" {
				value = account
			}
		case slices.Contains(counted, c.name):
			value = g.another(c)
		case c.name == "lease_until":
			value = lasting(c)
		case isText(c):
			value = g.anotherID(c)
		}
		names, values = append(names, c.name), append(values, value)
	}
	few := ``
	if account != "" {
		few = fmt.Sprintf(` LIMIT %d`, otherRows)
	}
	// "WHERE TRUE" tells SQLite that ON begins no condition of a join.
	_, err := g.conn.ExecContext(g.ctx, fmt.Sprintf(`
		WITH RECURSIVE numbers (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
		INSERT INTO %s (%s) SELECT %s FROM numbers CROSS JOIN (SELECT * FROM %s WHERE %s%s) AS o WHERE TRUE ON CONFLICT DO NOTHING`,
		from, to, table, strings.Join(names, ", "), strings.Join(values, ", "), table, own, few))
	return err
}

func isText(c column) bool {
	return strings.EqualFold(c.kind, "text") || strings.Contains(strings.ToLower(c.kind), "char")
}

// lasting returns SQL for a lease that does not run out meanwhile. The lease of one row does, but not those of all of its copies at once.
func lasting(c column) string {
	now := time.Now()
	return fmt.Sprintf(`CASE WHEN o.%[1]s > %[2]d THEN o.%[1]s + %[3]d ELSE o.%[1]s END`, c.name, now.UnixMicro(), (24 * time.Hour).Microseconds())
}

// isReference reports whether a column names a row, maybe by an id that somebody else has made, such as an ad network.
func isReference(c column) bool { return isText(c) && strings.HasSuffix(c.name, "_id") }

// anotherID returns SQL for a text which, if it is an id, is that of copy n: its time is another one.
func (g *grower) anotherID(c column) string {
	at, number := `strpos`, `lpad(CAST(n + 500000 AS text), 7, '0')`
	if g.engine == "sqlite" {
		at, number = `instr`, `printf('%07d', n + 500000)`
	}
	here, otherwise := at+`(o.`+c.name+`, '_')`, `o.`+c.name
	if isReference(c) {
		otherwise = `CASE WHEN o.` + c.name + ` <> '' THEN o.` + c.name + ` || '-' || ` + number + ` ELSE '' END`
	}
	return fmt.Sprintf(`CASE WHEN o.%[2]s IS NULL THEN NULL WHEN %[1]s > 1 AND length(o.%[2]s) - %[1]s = 26 THEN substr(o.%[2]s, 1, %[1]s + 3) || %[3]s || substr(o.%[2]s, %[1]s + 11) ELSE %[4]s END`,
		here, c.name, number, otherwise)
}

// another returns SQL for a value of copy n that no other copy has.
func (g *grower) another(c column) string {
	switch {
	case isText(c):
		return `o.` + c.name + ` || '-' || (n + 500000)`
	case g.engine == "sqlite" && strings.EqualFold(c.kind, "blob"):
		return `CAST(substr(o.` + c.name + `, 1, 16) || printf('%07d', n + 500000) AS BLOB)`
	case c.kind == "bytea":
		return `substr(o.` + c.name + `, 1, 16) || convert_to(lpad(CAST(n + 500000 AS text), 7, '0'), 'UTF8')`
	}
	return `o.` + c.name + ` + (n + 500000) * 1000`
}

// counted returns the columns that the copies must count, because they are unique and no id among them is.
func (g *grower) counted(table, own string, columns []column) (counted []string, err error) {
	indexes, err := g.unique(table)
	if err != nil {
		return nil, err
	}
	for _, index := range indexes {
		different := false
		var last column
		for _, name := range index {
			at := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
			if at < 0 || name == "account_id" { // an expression, which is of a column that counts elsewhere, or nothing
				continue
			}
			last = columns[at]
			if slices.Contains(counted, name) || isReference(last) {
				different = true
			} else if isText(last) {
				isID, err := g.isID(table, own, last)
				if err != nil {
					return nil, err
				}
				different = different || isID
			}
		}
		if !different && last.name != "" && !strings.Contains(strings.ToLower(last.kind), "bool") {
			counted = append(counted, last.name)
		}
	}
	return counted, nil
}

// isID reports whether a text of the table is an id wherever it is set.
func (g *grower) isID(table, own string, c column) (is bool, err error) {
	at := `strpos`
	if g.engine == "sqlite" {
		at = `instr`
	}
	err = g.conn.QueryRowContext(g.ctx, fmt.Sprintf(
		`SELECT count(*) = 0 FROM %[1]s WHERE %[2]s AND %[3]s IS NOT NULL AND NOT (%[4]s(%[3]s, '_') > 1 AND length(%[3]s) - %[4]s(%[3]s, '_') = 26)`,
		table, own, c.name, at)).Scan(&is)
	return is, err
}

// columns returns the columns of a table.
func (g *grower) columns(table string) (columns []column, err error) {
	query := `SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position`
	if g.engine == "sqlite" {
		query = `SELECT name, type FROM pragma_table_info($1)` // leaves generated columns out
	}
	rows, err := g.conn.QueryContext(g.ctx, query, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.name, &c.kind); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

// unique returns the columns of each unique index of a table, those of the primary key first.
func (g *grower) unique(table string) (indexes [][]string, err error) {
	query := `
		SELECT CAST(i.indexrelid AS text), coalesce(a.attname, '') FROM pg_index AS i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
		LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
		WHERE i.indrelid = to_regclass($1) AND i.indisunique ORDER BY i.indisprimary DESC, i.indexrelid, k.place`
	if g.engine == "sqlite" {
		query = `SELECT i.name, coalesce(c.name, '') FROM pragma_index_list($1) AS i, pragma_index_info(i.name) AS c WHERE i."unique" ORDER BY i.origin = 'pk' DESC, i.name, c.seqno`
	}
	rows, err := g.conn.QueryContext(g.ctx, query, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	before := ""
	for rows.Next() {
		var index, name string
		if err := rows.Scan(&index, &name); err != nil {
			return nil, err
		}
		if index != before {
			indexes, before = append(indexes, nil), index
		}
		indexes[len(indexes)-1] = append(indexes[len(indexes)-1], name)
	}
	return indexes, rows.Err()
}
