package db

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

const (
	// leastPages is the size from which on it matters how PostgreSQL reads a table: below, all ways cost about the same.
	leastPages = 16
	// tableGrowth is by how much a table grows until it is analysed again. A plan is at most that much too dear.
	tableGrowth = 2
	// analyzeTimeout is how long looking at a table may take. It is less than AnswerTimeout.
	analyzeTimeout = 10 * time.Second
	// analyzeWait is how long the table itself is waited for. Autovacuum, which may be at it, gives way to who has waited for a second.
	analyzeWait = 2 * time.Second
	// statisticsLock is the key of the advisory lock under which one replica analyses.
	statisticsLock = 7_461_636_301
)

// looks remembers, by the name of a table, how many pages it had when this process last did something about its plans.
type looks struct {
	mu    sync.Mutex
	pages map[string]int64
}

// isNew reports whether the table has grown since.
func (l *looks) isNew(t core.StaleTable) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.Pages >= tableGrowth*l.pages[t.Name]
}

func (l *looks) note(t core.StaleTable) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pages == nil {
		l.pages = map[string]int64{}
	}
	l.pages[t.Name] = t.Pages
}

// StaleTables returns the tables that have grown to twice their size since PostgreSQL last looked at what is in them. Those at which it never looked,
// as after a restore, are among them. It costs a look at the sizes of the files. SQLite has none: its plans do not depend on what is in the tables.
func (d *DB) StaleTables(ctx context.Context) ([]core.StaleTable, error) {
	if d.Engine == core.SQLite {
		return nil, nil
	}
	tables, err := Select[core.StaleTable](ctx, d, `
		SELECT t.name, t.pages, `+mayAnalyze+` AS allowed
		FROM (
			SELECT c.oid, CAST(CAST(c.oid AS regclass) AS text) AS name, c.relpages, c.relowner, pg_relation_size(c.oid) / CAST(current_setting('block_size') AS bigint) AS pages,
				pg_stat_get_last_analyze_time(c.oid) IS NULL AND pg_stat_get_last_autoanalyze_time(c.oid) IS NULL AS never
			FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = current_schema()) AS t, pg_database AS d
		WHERE d.datname = current_database() AND t.pages >= ? AND (t.never OR t.pages >= ? * t.relpages)
		ORDER BY t.pages`, leastPages, tableGrowth)
	if err != nil {
		return nil, fmt.Errorf("look at the sizes of tables: %w", err)
	}
	return tables, nil
}

// mayAnalyze is SQL for whether this role may analyse the table t in the database d. The owners of both may. From PostgreSQL 17 on so may who is
// granted it, with a privilege that earlier versions do not know.
const mayAnalyze = `(pg_has_role(t.relowner, 'USAGE') OR pg_has_role(d.datdba, 'USAGE')
	OR CASE WHEN CAST(current_setting('server_version_num') AS int) >= 170000 THEN has_table_privilege(t.oid, 'MAINTAIN') ELSE FALSE END)`

// Analyze has PostgreSQL look at the tables that have grown, the smallest first, so that it plans statements by what is in them.
// Autovacuum does the same, but minutes later, or not at all. Until then a statement that was planned while its table was empty may read all that an
// account has in it. Plans that are kept anywhere are made anew by that. Of several replicas one does it. A table that this role may not analyse
// makes this process plan its own statements anew, by the table's size alone. Denied are those that are new since the last call.
func (d *DB) Analyze(ctx context.Context) (analyzed, denied []core.StaleTable, err error) {
	tables, err := d.StaleTables(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range tables {
		if !d.looks.isNew(t) {
			continue
		}
		if !t.Allowed {
			denied = append(denied, t)
			d.looks.note(t)
			continue
		}
		done, err := d.analyze(ctx, t.Name)
		if err != nil {
			d.looks.note(t) // not again every second
			return analyzed, denied, fmt.Errorf("analyse %s: %w", t.Name, err)
		}
		if done {
			analyzed = append(analyzed, t)
			d.looks.note(t)
		}
	}
	if len(denied) > 0 {
		d.Write.forget()
	}
	return analyzed, denied, nil
}

// analyze looks at one table, in little time: if that is not enough, at a tenth of the rows. It reports false if another replica,
// or somebody else who does not give way, is at it.
func (d *DB) analyze(ctx context.Context, table string) (done bool, err error) {
	for _, target := range []int{100, 10} {
		done, err = d.analyzeWith(ctx, table, target)
		switch sqlState(err) {
		case lockNotAvailable:
			return false, nil
		case queryCanceled:
			continue
		}
		return done, err
	}
	return done, err
}

func (d *DB) analyzeWith(ctx context.Context, table string, target int) (done bool, err error) {
	tx, err := d.Write.DB.BeginTxx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	if err := tx.GetContext(ctx, &done, fmt.Sprintf(`SELECT pg_try_advisory_xact_lock(%d)`, statisticsLock)); err != nil || !done {
		return false, err
	}
	for _, statement := range []string{
		fmt.Sprintf(`SET LOCAL statement_timeout = %d`, analyzeTimeout.Milliseconds()),
		fmt.Sprintf(`SET LOCAL lock_timeout = %d`, analyzeWait.Milliseconds()),
		fmt.Sprintf(`SET LOCAL default_statistics_target = %d`, target),
		`ANALYZE ` + table,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return false, err
		}
	}
	return true, tx.Commit()
}
