package db

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// Invariant is a promise about what is stored, and the query that finds the rows which break it. The query names each table that it reads
// after FROM or JOIN.
type Invariant struct{ Promise, Query string }

// CheckAll checks the promises one after the other. It calls checked for each of them with the rows that break it, also if there are none. Args are
// the arguments of every query. A promise about tables that are all empty is kept: to ask would cost more than to see that they are empty.
func (d *DB) CheckAll(ctx context.Context, promised []Invariant, checked func(string, []core.Violation), args ...any) error {
	empty, err := d.empty(ctx, promised)
	if err != nil {
		return fmt.Errorf("look which tables have rows: %w", err)
	}
	for _, i := range promised {
		if err := ctx.Err(); err != nil {
			return err
		}
		var broken []core.Violation
		if tables := i.tables(); len(tables) == 0 || slices.ContainsFunc(tables, func(table string) bool { return !empty[table] }) {
			if broken, err = Select[core.Violation](ctx, d, i.Query, args...); err != nil {
				return fmt.Errorf("check that %s: %w", i.Promise, err)
			}
		}
		for j := range broken {
			broken[j].Promise = i.Promise
		}
		checked(i.Promise, broken)
	}
	return nil
}

// empty returns which of the tables that promises are about have no row. Of PostgreSQL's these are the tables without a page: to plan a look into each
// of a hundred tables would cost more than most checks.
func (d *DB) empty(ctx context.Context, promised []Invariant) (map[string]bool, error) {
	query := `SELECT CAST(relname AS text) FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid) AND pg_relation_size(oid) = 0`
	if d.Engine == core.SQLite {
		query = asksWhichAreEmpty(promised)
	}
	names, err := Select[string](ctx, d, query)
	empty := make(map[string]bool, len(names))
	for _, name := range names {
		empty[name] = true
	}
	return empty, err
}

// asksWhichAreEmpty returns the query that looks into each table that promises are about.
func asksWhichAreEmpty(promised []Invariant) string {
	looks := map[string]bool{}
	for _, i := range promised {
		for _, table := range i.tables() {
			looks["SELECT '"+table+"' AS name WHERE NOT EXISTS (SELECT 1 FROM "+table+")"] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(looks)), " UNION ALL ")
}

// named finds what follows FROM and JOIN, unless it is a function or a query in brackets.
var named = regexp.MustCompile(`\b(?:FROM|JOIN)\s+([a-z_]+\b)\s*([(]?)`)

// tables returns the tables that the query reads, each as often as it names them.
func (i Invariant) tables() (tables []string) {
	for _, match := range named.FindAllStringSubmatch(i.Query, -1) {
		if match[2] == "" {
			tables = append(tables, match[1])
		}
	}
	return tables
}
