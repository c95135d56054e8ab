package reads

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/tillwright/tillwright/store/core"
)

// Postgres measures on one connection to PostgreSQL.
type Postgres struct {
	conn *sql.Conn
	way  Way
}

// Way is one of the ways in which PostgreSQL comes to a plan for a statement of the program.
type Way struct {
	Name     string
	anew     bool // for statements that are core.PlannedAnew, else for all others
	settings []string
}

const (
	kept     = `plan_cache_mode = force_generic_plan` // made for any arguments
	own      = `plan_cache_mode = force_custom_plan`  // made for a call
	indexes  = `enable_seqscan = off`
	oneByOne = `enable_hashjoin = off; SET enable_mergejoin = off`
)

// Ways are all of them. A statement that is prepared has plans of its own for the first calls, and may have a kept one from then on. A pooler has no
// settings of ours, and each call is planned there.
var Ways = []Way{
	{"kept plan", false, []string{kept, indexes}},
	{"own plan", false, []string{own, indexes}},
	{"behind a pooler", false, []string{own}},
	{"planned anew", true, []string{own, indexes, oneByOne}},
	{"planned anew behind a pooler", true, []string{own, oneByOne}},
}

// NewPostgres returns a meter with a connection that plans in one way.
func NewPostgres(ctx context.Context, db *sql.DB, way Way) (*Postgres, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for _, setting := range append([]string{`jit = off`, `statement_timeout = '10s'`}, way.settings...) {
		if _, err := conn.ExecContext(ctx, `SET `+setting); err != nil {
			return nil, err
		}
	}
	return &Postgres{conn, way}, nil
}

// Runs implements Meter.
func (p *Postgres) Runs(statement string) bool {
	return strings.HasSuffix(statement, core.PlannedAnew) == p.way.anew
}

// Close gives the connection back.
func (p *Postgres) Close() error { return p.conn.Close() }

// node is a part of a plan that has run.
type node struct {
	Type  string  `json:"Node Type"`
	Hit   int     `json:"Shared Hit Blocks"`
	Read  int     `json:"Shared Read Blocks"`
	Rows  float64 `json:"Actual Rows"`
	Loops float64 `json:"Actual Loops"`
	Plans []node
}

// rows is how many rows a statement returns or changes: a change that returns nothing has them below.
func (n node) rows() int {
	rows := n.Rows * n.Loops
	if n.Type == "ModifyTable" {
		for _, p := range n.Plans {
			rows = max(rows, float64(p.rows()))
		}
	}
	return int(rows)
}

// Measure implements Meter.
func (p *Postgres) Measure(statement string, calls [][]any) (cost Cost, err error) {
	ctx := context.Background()
	tx, err := p.conn.BeginTx(ctx, nil)
	if err != nil {
		return cost, err
	}
	defer p.conn.ExecContext(ctx, `DEALLOCATE ALL`)
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `PREPARE measured AS `+sqlx.Rebind(sqlx.DOLLAR, statement)+`; SAVEPOINT before`); err != nil {
		return cost, err
	}
	for _, args := range calls {
		call := executing(args)
		for range 2 { // one that reads too much is run again: the first run may have stepped over what others took back
			if cost, err = run(ctx, tx, call); err != nil || !cost.Excessive("postgres") {
				break
			}
		}
		if err != nil {
			return cost, err
		}
		if cost.Excessive("postgres") {
			cost.Plan, err = plan(ctx, tx, call)
			return cost, err
		}
	}
	return cost, nil
}

// executing returns the call of what is measured with some arguments.
func executing(args []any) string {
	if len(args) == 0 {
		return `EXECUTE measured`
	}
	literals := make([]string, len(args))
	for i, arg := range args {
		literals[i] = literal(arg)
	}
	return `EXECUTE measured(` + strings.Join(literals, ", ") + `)`
}

// run measures one call, and takes back what it changes.
func run(ctx context.Context, tx *sql.Tx, call string) (cost Cost, err error) {
	var text []byte
	if err := tx.QueryRowContext(ctx, `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) `+call).Scan(&text); err != nil {
		return cost, err
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) == 0 {
		return cost, fmt.Errorf("read the plan %s: %w", text, err)
	}
	root := plans[0].Plan
	_, err = tx.ExecContext(ctx, `ROLLBACK TO before`)
	return Cost{Read: root.Hit + root.Read, Rows: root.rows()}, err
}

// plan returns the plan of a call that is run once more.
func plan(ctx context.Context, tx *sql.Tx, call string) (text string, err error) {
	rows, err := tx.QueryContext(ctx, `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, COSTS OFF) `+call)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return "", err
		}
		text += line + "\n"
	}
	return text, rows.Err()
}

// literal returns an argument as SQL.
func literal(arg any) string {
	switch v := arg.(type) {
	case nil:
		return "NULL"
	case string:
		return pq.QuoteLiteral(v)
	case []byte:
		return fmt.Sprintf(`'\x%x'`, v)
	case time.Time:
		return pq.QuoteLiteral(v.Format(time.RFC3339Nano))
	}
	return fmt.Sprintf("'%v'", arg)
}
