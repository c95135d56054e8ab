package main

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// answers is a program that answers everything alike.
func answers(t *testing.T, body string) *program {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	t.Cleanup(s.Close)
	return &program{name: "one", url: s.URL}
}

// soldWorld is a world whose databases hold a checkout in a state each.
func soldWorld(t *testing.T, server, floor string) (*world, *sql.DB) {
	t.Helper()
	dir := t.TempDir()
	w := &world{engine: "sqlite", get: filepath.Join(dir, "get"), list: filepath.Join(dir, "list")}
	for _, file := range []string{w.get, w.list} {
		if err := os.WriteFile(file, []byte("key /a\nkey /b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.server, w.floor = "sqlite://"+filepath.Join(dir, "server.db"), "sqlite://"+filepath.Join(dir, "floor.db")
	var first *sql.DB
	for database, status := range map[string]string{w.server: server, w.floor: floor} {
		db, err := sql.Open(w.driver(database))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if _, err := db.Exec(`CREATE TABLE checkouts (status TEXT); INSERT INTO checkouts VALUES ('` + status + `')`); err != nil {
			t.Fatal(err)
		}
		if database == w.server {
			first = db
		}
	}
	return w, first
}

func TestSameAnswers_FindsWhatDiffers(t *testing.T) {
	t.Parallel()
	const one = `{"id":"prod_1","data":[{"sales_count":200},{"sales_count":201}]}`
	for other, said := range map[string]string{
		one: "",
		`{"id":"prod_1","data":[{"sales_count":200},{"sales_count":200}]}`:             ".data[1].sales_count is 201 and 200",
		`{"id":"prod_1","data":[{"sales_count":200}]}`:                                 ".data is ",
		`{"id":"prod_1","data":[{"sales_count":200},{}]}`:                              "no .data[1].sales_count",
		`{"id":"prod_1","data":[{"sales_count":200},{"sales_count":201}],"more":null}`: "no .more",
		`{"id":null,"data":[{"sales_count":200},{"sales_count":201}]}`:                 ".id is prod_1 and <nil>",
	} {
		w, _ := soldWorld(t, "completed", "completed")
		err := w.sameAnswers(answers(t, one), answers(t, other))
		assert.Equal(t, said == "", err == nil, other)
		assert.False(t, err != nil && !strings.Contains(err.Error(), said), other)
	}
}

// What is being paid changes the answers of the server when it ends: they are compared after that.
func TestSameAnswers_WaitsForPurchases(t *testing.T) {
	t.Parallel()
	w, db := soldWorld(t, "processing", "completed")
	ended := make(chan error, 1)
	go func() { ended <- w.sameAnswers(answers(t, `{"sales_count":1}`), answers(t, `{"sales_count":1}`)) }()
	select {
	case err := <-ended:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(200 * time.Millisecond): // on a slow machine it has only begun, and the test proves less
	}
	if _, err := db.Exec(`UPDATE checkouts SET status = 'completed'`); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
