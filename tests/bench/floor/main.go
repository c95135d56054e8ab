// Command floor is what the server is measured against. It makes the same rows in the same database, behind the least HTTP that could serve them, in as
// few transactions as the promises allow. No validation, no error envelope, no conventions; JSON is
// appended by hand. Nobody could use it. It only says how fast the machine is today.
package main

import (
	"database/sql"
	"flag"
	"log"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	_ "github.com/lib/pq"

	"github.com/tillwright/tillwright/store"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8081", "where to listen")
	url := flag.String("database-url", "", "sqlite:///path/file.db or postgres://...")
	webhooks := flag.Int("post", 0, "post so many webhooks, with the body on standard input, to the URLs that follow, and end")
	connections := flag.Int("connections", 1, "to each of the URLs")
	flag.Parse()
	debug.SetGCPercent(400) // as the server
	if *webhooks > 0 {
		if err := post(*webhooks, *connections, flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	f, err := open(*url)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v1/products/{ref}", f.authenticated(f.get))
	mux.HandleFunc("GET /v1/products", f.authenticated(f.list))
	mux.HandleFunc("POST /v1/products", f.authenticated(f.post))
	mux.HandleFunc("POST /v1/checkouts", f.authenticated(f.openCheckout))
	mux.HandleFunc("POST /v1/checkouts/{id}/confirm", f.authenticated(f.confirm))
	mux.HandleFunc("GET /v1/orders/{id}", f.authenticated(f.getOrder))
	log.Fatal(http.ListenAndServe(*addr, mux))
}

// floor is the database with its prepared statements.
type floor struct {
	shared                        bool // PostgreSQL: the quota is counted in the database
	write, read                   *sql.DB
	byID, bySlug, list20          *sql.Stmt
	claim, slug, insert, event    *sql.Stmt
	activity                      *sql.Stmt
	subscribers, record, keyQuota *sql.Stmt
	quota                         quota
	shelf                         shelf
}

func open(url string) (*floor, error) {
	f := &floor{shared: !strings.HasPrefix(url, "sqlite://")}
	var err error
	if f.shared {
		f.write, err = sql.Open("postgres", url)
		f.read = f.write
	} else {
		file := "file:" + strings.TrimPrefix(url, "sqlite://") +
			"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(true)&_pragma=cache_size(-16000)"
		if err = store.RegisterFunctions(); err != nil {
			return nil, err
		}
		if f.write, err = sql.Open("sqlite", file+"&_txlock=immediate"); err == nil {
			f.read, err = sql.Open("sqlite", file+"&_pragma=query_only(true)")
		}
	}
	if err != nil {
		return nil, err
	}
	if f.shared {
		f.write.SetMaxOpenConns(12)
		f.write.SetMaxIdleConns(12)
	} else {
		f.write.SetMaxOpenConns(1)
		f.read.SetMaxOpenConns(8)
		f.read.SetMaxIdleConns(8)
	}
	f.quota.floor = f
	return f, f.prepare()
}

func (f *floor) prepare() error {
	for _, p := range []struct {
		statement **sql.Stmt
		db        *sql.DB
		query     string
	}{
		{&f.byID, f.read, selectProduct + ` WHERE account_id = ? AND id = ?`},
		{&f.bySlug, f.read, selectProduct + ` WHERE account_id = ? AND id = (SELECT object_id FROM slugs WHERE account_id = ? AND kind = ? AND slug = ?)`},
		{&f.list20, f.read, selectProduct + ` WHERE account_id = ? ORDER BY account_id DESC, id DESC LIMIT ? + 1`},
		{&f.claim, f.write, claimKey},
		{&f.slug, f.write, insertSlug},
		{&f.insert, f.write, insertProduct},
		{&f.event, f.write, insertEvent},
		{&f.activity, f.write, insertActivity},
		{&f.subscribers, f.write, selectSubscribers},
		{&f.record, f.write, recordAnswer},
		{&f.keyQuota, f.read, f.quotaQuery()},
	} {
		var err error
		if *p.statement, err = p.db.Prepare(f.rebind(p.query)); err != nil {
			return err
		}
	}
	return f.stock()
}

// rebind numbers the placeholders for PostgreSQL.
func (f *floor) rebind(query string) string {
	if !f.shared {
		return query
	}
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}
