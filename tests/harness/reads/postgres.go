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
)

// Postgres measures on one connection to PostgreSQL.
type Postgres struct{ conn *sql.Conn }

// NewPostgres returns a meter with a connection as the program has it. A kept plan is one that was made for any arguments; else each call is planned for its
// own, as behind a pooler.
func NewPostgres(ctx context.Context, db *sql.DB, keptPlan bool) (*Postgres, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	settings := []string{`SET jit = off`, `SET statement_timeout = '10s'`, `SET plan_cache_mode = force_custom_plan`, `SET enable_seqscan = on`}
	if keptPlan {
		settings = append(settings[:2], `SET plan_cache_mode = force_generic_plan`, `SET enable_seqscan = off`)
	}
	for _, setting := range settings {
		if _, err := conn.ExecContext(ctx, setting); err != nil {
			return nil, err
		}
	}
	return &Postgres{conn}, nil
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

// Measure implements Meter. A statement that reads too much is run again: the first run may have stepped over what others took back.
func (p *Postgres) Measure(statement string, args []any) (cost Cost, err error) {
	cost, err = p.measure(statement, args)
	if err == nil && cost.Excessive("postgres") {
		cost, err = p.measure(statement, args)
	}
	return cost, err
}

func (p *Postgres) measure(statement string, args []any) (cost Cost, err error) {
	ctx := context.Background()
	tx, err := p.conn.BeginTx(ctx, nil)
	if err != nil {
		return cost, err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `PREPARE measured AS `+sqlx.Rebind(sqlx.DOLLAR, statement)); err != nil {
		return cost, err
	}
	defer p.conn.ExecContext(ctx, `DEALLOCATE ALL`)
	call := `EXECUTE measured`
	if len(args) > 0 {
		literals := make([]string, len(args))
		for i, arg := range args {
			literals[i] = literal(arg)
		}
		call += `(` + strings.Join(literals, ", ") + `)`
	}
	var text []byte
	if err := tx.QueryRowContext(ctx, `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) `+call).Scan(&text); err != nil {
		return cost, err
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) == 0 {
		return cost, fmt.Errorf("read the plan %s: %w", text, err)
	}
	root := plans[0].Plan
	cost = Cost{Read: root.Hit + root.Read, Rows: root.rows()}
	if !cost.Excessive("postgres") {
		return cost, nil
	}
	rows, err := tx.QueryContext(ctx, `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, COSTS OFF) `+call)
	if err != nil {
		return cost, err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return cost, err
		}
		cost.Plan += line + "\n"
	}
	return cost, rows.Err()
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
