// Package database gives tests fresh, empty databases of both engines. It knows nothing of the program under test.
//
// PostgreSQL is the cluster that TILLWRIGHT_TEST_POSTGRES_URL names (make test starts one for all packages), or one
// that the test process starts for itself when it is first asked for.
package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
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

// Each runs a test on a new database of every engine, as parallel subtests named by the engine.
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for _, engine := range Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, URL(t, engine))
		})
	}
}

// Prepare makes every new database a copy of one that was given to prepare, once for each engine: making a schema takes longer
// than most tests. It returns something so that the declaration of a variable can call it.
func Prepare(prepare func(url string) error) (prepared struct{}) {
	for _, engine := range Engines {
		templates[engine] = sync.OnceValues(func() (string, error) {
			url, err := create(engine, "")
			if err == nil {
				err = prepare(url)
			}
			return url, err
		})
	}
	return prepared
}

var templates = map[string]func() (url string, err error){}

// URL returns the address of a new database, which is removed when the test ends. It is a copy of the prepared one if there is
// one, and empty otherwise. If it cannot be made, the test fails; it is never skipped.
func URL(t testing.TB, engine string) string {
	t.Helper()
	var template string
	if prepared := templates[engine]; prepared != nil {
		var err error
		if template, err = prepared(); err != nil {
			t.Fatalf("prepare a database: %v", err)
		}
	}
	return created(t, engine, template)
}

// Empty returns the address of a new database without anything in it, even if there is a prepared one.
func Empty(t testing.TB, engine string) string {
	t.Helper()
	return created(t, engine, "")
}

func created(t testing.TB, engine, template string) string {
	t.Helper()
	address, err := create(engine, template)
	if err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		if err := remove(address); err != nil {
			t.Errorf("remove a database: %v", err)
		}
	})
	return address
}

// cluster returns the maintenance database of the PostgreSQL cluster that this process uses. A cluster that is started here
// needs no stopping: it ends with the process.
var cluster = sync.OnceValues(func() (string, error) {
	if given := os.Getenv(postgres.Env); given != "" {
		return given, nil
	}
	c, err := postgres.Start(context.Background(), postgres.OutlivesProcesses)
	if err != nil {
		return "", err
	}
	return c.URL, nil
})

const sqliteScheme = "sqlite://"

// create makes a database, which is empty or a copy of template.
func create(engine, template string) (string, error) {
	switch engine {
	case "sqlite":
		return createFile(template)
	case "postgres":
		return createInCluster(template)
	}
	return "", fmt.Errorf("no such engine: %q, one of %v is needed", engine, Engines)
}

// createFile makes an SQLite database, which is empty or a copy of template.
func createFile(template string) (string, error) {
	dir, err := os.MkdirTemp("", "tillwright-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "tillwright.db")
	if template != "" {
		content, err := os.ReadFile(strings.TrimPrefix(template, sqliteScheme))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return "", err
		}
	}
	return sqliteScheme + path, nil
}

func createInCluster(template string) (string, error) {
	name := "test_" + strings.ToLower(rand.Text())
	statement := "CREATE DATABASE " + name
	if template != "" {
		statement += " TEMPLATE " + databaseOf(template) + " STRATEGY file_copy" // half the work of one that is written twice
	}
	address, err := inCluster(statement)
	if err != nil {
		return "", err
	}
	address.Path = "/" + name
	return address.String(), nil
}

func remove(address string) error {
	if path, ok := strings.CutPrefix(address, sqliteScheme); ok {
		return os.RemoveAll(filepath.Dir(path))
	}
	_, err := inCluster("DROP DATABASE " + databaseOf(address) + " WITH (FORCE)")
	return err
}

// databaseOf returns the name of the database in an address that createInCluster has made.
func databaseOf(address string) string {
	name, _, _ := strings.Cut(address[strings.LastIndex(address, "/test_")+1:], "?")
	return name
}

// inCluster runs a statement in the maintenance database, and returns the address of that.
func inCluster(statement string) (*url.URL, error) {
	maintenance, err := cluster()
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("postgres", maintenance)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		return nil, err
	}
	return url.Parse(maintenance)
}
