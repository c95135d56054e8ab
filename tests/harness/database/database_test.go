package database_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	_ "github.com/lib/pq"
	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestURL_GivesEachTestItsOwnEmptyDatabase(t *testing.T) {
	t.Parallel()
	first, second := database.URL(t, "postgres"), database.URL(t, "postgres")
	if first == second {
		t.Fatalf("two tests share %s", first)
	}
	db, err := sql.Open("postgres", first)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != 0 {
		t.Errorf("a new database has %d tables", tables)
	}
	var durable string
	if err := db.QueryRow("SHOW synchronous_commit").Scan(&durable); err != nil {
		t.Fatal(err)
	}
	if durable != "on" { // the fault tests kill the program and no machine: what fsync is for is not theirs
		t.Errorf("synchronous_commit is %s: a commit may be told of before it is written", durable)
	}
}

// It has no exception for a run that is narrowed. A whole run in which the variable is left over fails here, and make quick skips this test.
func TestEach_RunsOnBothEngines(t *testing.T) {
	t.Parallel()
	var schemes = make(chan string, 2)
	t.Run("engines", func(t *testing.T) {
		database.Each(t, func(_ *testing.T, url string) {
			scheme, _, _ := strings.Cut(url, ":")
			schemes <- scheme
		})
	})
	close(schemes)
	seen := map[string]bool{}
	for s := range schemes {
		seen[s] = true
	}
	assert.True(t, seen["sqlite"])
	assert.True(t, seen["postgres"])
}

func TestEngines_AreThoseThatTheRunNames(t *testing.T) {
	for given, want := range map[string][]string{
		"": {"sqlite", "postgres"}, "sqlite": {"sqlite"}, "postgres": {"postgres"}, "postgres,sqlite": {"sqlite", "postgres"},
	} {
		t.Setenv(database.Env, given)
		if got := database.Engines(); !slices.Equal(got, want) {
			t.Errorf("%q leaves %v, not %v", given, got, want)
		}
		for _, engine := range []string{"sqlite", "postgres"} {
			t.Run(given+" "+engine, func(t *testing.T) {
				left := slices.Contains(want, engine)
				t.Cleanup(func() {
					if t.Skipped() == left {
						t.Errorf("%q skips %s: %v", given, engine, t.Skipped())
					}
				})
				database.URL(t, engine)
			})
		}
	}
}
