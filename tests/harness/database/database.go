// Package database gives tests fresh, empty databases of both engines. It knows nothing of the program under test.
//
// PostgreSQL is the cluster that TILLWRIGHT_TEST_POSTGRES_URL names (make test starts one for all packages), or one
// that the test process starts for itself when it is first asked for.
package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tillwright/tillwright/tests/harness/postgres"
)

// Engines are the databases that every promise is tested on.
var Engines = []string{"sqlite", "postgres"}

// Each runs a test on an empty database of every engine, as parallel subtests named by the engine.
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for _, engine := range Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, URL(t, engine))
		})
	}
}

// URL returns the address of a new and empty database that is removed when the test ends.
// What cannot be provided fails the test; it is never skipped.
func URL(t testing.TB, engine string) string {
	t.Helper()
	switch engine {
	case "sqlite":
		return "sqlite://" + filepath.Join(t.TempDir(), "tillwright.db")
	case "postgres":
		return create(t)
	}
	t.Fatalf("no such engine: %q, one of %v is needed", engine, Engines)
	return ""
}

// cluster returns the maintenance database of the cluster that this process uses.
// A cluster started here needs no stopping: it ends with the process.
var cluster = sync.OnceValues(func() (string, error) {
	if given := os.Getenv(postgres.Env); given != "" {
		return given, nil
	}
	c, err := postgres.Start(context.Background())
	if err != nil {
		return "", err
	}
	return c.URL, nil
})

func create(t testing.TB) string {
	t.Helper()
	maintenance, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("postgres", maintenance)
	if err != nil {
		t.Fatal(err)
	}
	name := "test_" + strings.ToLower(rand.Text())
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		_, err := db.Exec("DROP DATABASE " + name + " WITH (FORCE)")
		if err != nil {
			t.Errorf("drop a database: %v", err)
		}
		_ = db.Close()
	})
	address, err := url.Parse(maintenance)
	if err != nil {
		t.Fatal(err)
	}
	address.Path = "/" + name
	return address.String()
}
