// Package database gives tests fresh, empty databases of both engines. It knows nothing of the program under test.
//
// PostgreSQL is the cluster that TILLWRIGHT_TEST_POSTGRES_URL names; make test starts one for all packages. Without that
// variable, the test process starts one for itself when it is first asked for.
package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tillwright/tillwright/tests/harness/postgres"
)

// Env names the variable that narrows a run to some engines, separated by commas: make quick leaves PostgreSQL out. A whole run has none.
const Env = "TILLWRIGHT_TEST_ENGINES"

var engines = []string{"sqlite", "postgres"}

// Engines are the databases that every promise is tested on, or those that Env leaves of them. It looks each time, because go test sees a variable
// that is read in a test. Otherwise go test would pass off a narrowed result as a whole one.
func Engines() []string {
	only := os.Getenv(Env)
	if only == "" {
		return slices.Clone(engines)
	}
	left := slices.DeleteFunc(slices.Clone(engines), func(engine string) bool { return !slices.Contains(strings.Split(only, ","), engine) })
	if len(left) == 0 { // every test would pass
		panic(fmt.Sprintf("%s=%s leaves no engine of %v", Env, only, engines))
	}
	return left
}

// Each runs a test on a new database of every engine, as parallel subtests named by the engine.
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for _, engine := range Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, URL(t, engine))
		})
	}
}

// PreparedEnv names the variable that carries the addresses of prepared databases, one of each engine, a line each: a path may have spaces.
const PreparedEnv = "TILLWRIGHT_TEST_PREPARED"

// Prepare makes every new database a copy of one that was given to prepare, once for each engine. Making a schema takes longer than most tests. It
// returns something so that the declaration of a variable can call it. The copies are of those that PreparedEnv names, if it is set: whoever runs
// many test processes has them prepared once.
func Prepare(prepare func(url string) error) (prepared struct{}) {
	for _, engine := range engines {
		templates[engine] = sync.OnceValues(func() (string, error) {
			if address := given(engine); address != "" {
				return address, nil
			}
			url, err := create(engine, "")
			if err == nil {
				err = prepare(url)
			}
			return url, err
		})
	}
	return prepared
}

// given returns the address of an engine's prepared database among those that PreparedEnv has, empty if it has none.
func given(engine string) string {
	for address := range strings.SplitSeq(os.Getenv(PreparedEnv), "\n") {
		if strings.HasPrefix(address, engine+"://") {
			return address
		}
	}
	return ""
}

// Prepared returns the addresses of the prepared databases as PreparedEnv has them, and what removes them.
func Prepared() (addresses string, remove func(), err error) {
	var all []string
	remove = func() {
		for _, url := range all {
			_ = removeDatabase(url)
		}
	}
	for _, engine := range engines {
		url, err := templates[engine]()
		if err != nil {
			remove()
			return "", nil, err
		}
		all = append(all, url)
	}
	return strings.Join(all, "\n"), remove, nil
}

var templates = map[string]func() (url string, err error){}

// URL returns the address of a new database, which is removed when the test ends. It is a copy of the prepared one if there is
// one, and empty otherwise. If it cannot be made, the test fails. It is skipped only where Env leaves the engine out.
func URL(t testing.TB, engine string) string {
	t.Helper()
	narrowed(t, engine)
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
	narrowed(t, engine)
	return created(t, engine, "")
}

// Behind opens a database behind the store's back, until the test ends. On SQLite it waits for whoever is writing.
func Behind(t testing.TB, url string) *sql.DB {
	t.Helper()
	driver, source := "postgres", url
	if path, ok := strings.CutPrefix(url, "sqlite://"); ok {
		driver, source = "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// narrowed skips a test of an engine that this run leaves out.
func narrowed(t testing.TB, engine string) {
	t.Helper()
	if slices.Contains(engines, engine) && !slices.Contains(Engines(), engine) {
		t.Skipf("%s leaves %s out", Env, engine)
	}
}

func created(t testing.TB, engine, template string) string {
	t.Helper()
	address, err := create(engine, template)
	if err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		if err := removeDatabase(address); err != nil {
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
	return "", fmt.Errorf("no such engine: %q, one of %v is needed", engine, engines)
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

func removeDatabase(address string) error {
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

// maintenance is a pool of the maintenance database, and its address. To connect to it for each statement would cost more than most statements.
var maintenance = sync.OnceValues(func() (*sql.DB, error) {
	address, err := cluster()
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("postgres", address)
	if err == nil {
		db.SetMaxIdleConns(8) // as many tests run beside each other
	}
	return db, err
})

// inCluster runs a statement in the maintenance database, and returns the address of that.
func inCluster(statement string) (*url.URL, error) {
	db, err := maintenance()
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec(statement); err != nil {
		return nil, err
	}
	address, err := cluster()
	if err != nil {
		return nil, err
	}
	return url.Parse(address)
}
