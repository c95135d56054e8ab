package reads

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// AnalyzeSmall has PostgreSQL look at each table while it has a single row, and then puts all rows back. Nothing else may look at the tables from then on.
func AnalyzeSmall(ctx context.Context, db *sql.DB, tables []string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	g := &grower{ctx: ctx, conn: conn, engine: "postgres"}
	tables = slices.DeleteFunc(slices.Clone(tables), isOfProgram)
	statements := []string{`SET session_replication_role = replica`} // what refers to a row may be there before it
	for _, table := range tables {
		statements = append(statements, fmt.Sprintf(`CREATE TEMP TABLE all_%[1]s AS TABLE %[1]s`, table))
	}
	statements = append(statements, `TRUNCATE `+strings.Join(tables, ", "))
	for _, table := range tables {
		columns, err := g.columns(table)
		if err != nil {
			return err
		}
		names := make([]string, len(columns))
		for i, c := range columns {
			names[i] = c.name
		}
		back := fmt.Sprintf(`INSERT INTO %[1]s (%[2]s) SELECT %[2]s FROM all_%[1]s`, table, strings.Join(names, ", "))
		statements = append(statements, back+` LIMIT 1`, `ANALYZE `+table, `DELETE FROM `+table, back, `DROP TABLE all_`+table)
	}
	for _, statement := range append(statements, `SET session_replication_role = origin`) {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// Forget takes from PostgreSQL all that it knows of the tables, as if it had never looked at them.
func Forget(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{
		`DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace))`,
		`UPDATE pg_class SET relpages = 0, reltuples = -1, relallvisible = 0 WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'i')`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// Clean clears away the versions of rows that were changed and taken back, in the tables that a statement names. Whoever looks for the rows steps over
// them, and each statement that was measured has left some. What PostgreSQL thinks of its tables stays as it is.
func Clean(ctx context.Context, db *sql.DB, tables []string, statement string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	named := slices.DeleteFunc(slices.Clone(tables), func(table string) bool { return !strings.Contains(statement, table) })
	if len(named) == 0 {
		return nil
	}
	for _, statement := range []string{
		`CREATE TEMP TABLE known AS SELECT oid, relpages, reltuples, relallvisible FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace)`,
		`VACUUM (PARALLEL 0) ` + strings.Join(named, ", "),
		`UPDATE pg_class AS c SET relpages = k.relpages, reltuples = k.reltuples, relallvisible = k.relallvisible FROM known AS k WHERE k.oid = c.oid
			AND (c.relpages, c.reltuples, c.relallvisible) IS DISTINCT FROM (k.relpages, k.reltuples, k.relallvisible)`,
		`DROP TABLE known`,
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
