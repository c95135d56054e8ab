package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	_ "github.com/lib/pq" // makes and copies databases

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/postgres"
)

const (
	keys     = 1000 // as many as an account may have; each has its own quota, so the limiter can stay on
	products = 1000

	sellers       = 200 // accounts with a product each, which sell at once
	keysPerSeller = 5
)

// world is one engine's database, filled, and a copy of it for the floor.
type world struct {
	engine        string
	server, floor string // database URLs
	dir           string
	get, list     string // files of requests, "token path" per line
	one           seller
	many          []seller
}

// seller is an account in which purchases are made.
type seller struct {
	tokens []string
	price  string // the price variant that is bought
}

// newWorld fills a database through the API and copies it.
func newWorld(engine, binary, dir string) (*world, error) {
	w := &world{engine: engine, dir: filepath.Join(dir, engine), get: filepath.Join(dir, engine, "get"), list: filepath.Join(dir, engine, "list")}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return nil, err
	}
	if err := w.place(); err != nil {
		return nil, err
	}
	if err := w.fill(binary); err != nil {
		return nil, fmt.Errorf("fill the %s database: %w", engine, err)
	}
	return w, w.copy()
}

// analyse gives both databases statistics of the same rows, because PostgreSQL's plans would depend on when it came to make them by
// itself. SQLite has none, as with a server that nobody tends.
func (w *world) analyse() error {
	if w.engine == "sqlite" {
		return nil
	}
	for _, database := range []string{w.server, w.floor} {
		db, err := sql.Open(w.driver(database))
		if err != nil {
			return err
		}
		_, err = db.ExecContext(context.Background(), "ANALYZE")
		if err := errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	return nil
}

// driver returns what opens one of the databases behind its program's back.
func (w *world) driver(database string) (driver, source string) {
	if w.engine == "sqlite" {
		return "sqlite", "file:" + strings.TrimPrefix(database, "sqlite://") + "?_pragma=busy_timeout(10000)"
	}
	return "postgres", database
}

// env is what the server and its tool run with. The key that seals secrets is the same in development, where the world is made, and in
// production.
func (w *world) env() []string {
	return []string{"TILLWRIGHT_DATABASE_URL=" + w.server, "TILLWRIGHT_DATA_DIR=" + w.dir, "TILLWRIGHT_SECRET_KEY=" + strings.Repeat("A", 43) + "="}
}

// production is what the server runs with whose requests are measured. In development every write reads the account's clock, because
// somebody may have moved it.
func (w *world) production() []string {
	return append(w.env(), "TILLWRIGHT_ENV=production", "TILLWRIGHT_TEST_PAYMENTS=true",
		"TILLWRIGHT_TRUSTED_PROXIES=127.0.0.1") // whose connections may be as many as all together
}

// place decides where the databases are.
func (w *world) place() error {
	if w.engine == "sqlite" {
		w.server, w.floor = "sqlite://"+filepath.Join(w.dir, "server.db"), "sqlite://"+filepath.Join(w.dir, "floor.db")
		return nil
	}
	address, err := url.Parse(os.Getenv(postgres.Env))
	if err != nil || address.Path == "" {
		return fmt.Errorf("%s names no cluster: run make bench", postgres.Env)
	}
	name := "bench_" + strings.ToLower(rand.Text())
	server, floor := *address, *address
	server.Path, floor.Path = "/"+name, "/"+name+"_floor"
	w.server, w.floor = server.String(), floor.String()
	return w.statement("CREATE DATABASE " + name)
}

func (w *world) statement(query string) error {
	db, err := sql.Open("postgres", os.Getenv(postgres.Env))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(context.Background(), query)
	return err
}

// copy gives the floor the same rows.
func (w *world) copy() error {
	if w.engine == "sqlite" {
		data, err := os.ReadFile(strings.TrimPrefix(w.server, "sqlite://"))
		if err != nil {
			return err
		}
		return os.WriteFile(strings.TrimPrefix(w.floor, "sqlite://"), data, 0o600)
	}
	name := func(address string) string {
		return address[strings.LastIndex(address, "/")+1 : strings.Index(address, "?")]
	}
	return w.statement("CREATE DATABASE " + name(w.floor) + " TEMPLATE " + name(w.server))
}

// fill migrates, makes an account with its keys and products, and writes the requests that will read them.
func (w *world) fill(binary string) error {
	if _, err := w.tool(binary, "migrate"); err != nil {
		return err
	}
	account, err := w.tool(binary, "accounts", "create", "--name", "Bench", "--email", "bench@example.com", "--plan", "pro", "--json")
	if err != nil {
		return err
	}
	key, err := w.tool(binary, "keys", "create", "--account", fmt.Sprint(account["id"]), "--json")
	if err != nil {
		return err
	}
	server, err := start("server", binary, w.env(), "serve")
	if err != nil {
		return err
	}
	defer server.stop()
	tokens := []string{fmt.Sprint(key["token"])}
	for len(tokens) < keys {
		made, err := server.post(tokens[len(tokens)/2], "/v1/auth/keys", map[string]any{"name": fmt.Sprint("key ", len(tokens))})
		if err != nil {
			return err
		}
		tokens = append(tokens, fmt.Sprint(made["token"]))
	}
	if err := w.stock(server, tokens); err != nil {
		return err
	}
	if err := w.openSellers(server); err != nil {
		return err
	}
	_, err = buyOnce(server, w.one, "the first one") // of which the floor makes its own
	return err
}

// openSellers makes the accounts that sell at once.
func (w *world) openSellers(server *program) error {
	sealer, err := core.NewSealer(make([]byte, 32))
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{URL: w.server, Sealer: sealer})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	for i := range sellers {
		a, err := s.Tenant.CreateAccount(ctx, tenant.NewAccount{Name: fmt.Sprint("Seller ", i), Email: "seller@example.com"})
		if err != nil {
			return err
		}
		var one seller
		for range keysPerSeller {
			_, token, err := s.Tenant.CreateAPIKey(ctx, a.ID, tenant.Granted{}, tenant.NewAPIKey{})
			if err != nil {
				return err
			}
			one.tokens = append(one.tokens, token)
		}
		if _, one.price, err = sell(server, one.tokens[0], fmt.Sprint("Product of seller ", i)); err != nil {
			return err
		}
		w.many = append(w.many, one)
	}
	return nil
}

// sell makes a product, and returns it and its price variant.
func sell(server *program, token, name string) (product map[string]any, variant string, err error) {
	p, err := server.post(token, "/v1/products", map[string]any{
		"name": name, "headline": "300 pages for working programmers", "status": "active",
		"metadata": map[string]string{"shelf": "1"}, "price_variants": []any{map[string]any{"amount": 1900, "currency": "usd"}},
	})
	if err != nil {
		return nil, "", err
	}
	return p, p["price_variants"].([]any)[0].(string), nil
}

func (w *world) stock(server *program, tokens []string) error {
	var get, list bytes.Buffer
	for i := range products {
		p, price, err := sell(server, tokens[i], fmt.Sprint("Product ", i))
		if err != nil {
			return err
		}
		w.one = seller{tokens, price}
		fmt.Fprintf(&get, "%s /v1/products/%s\n", tokens[2*i%keys], p["id"])
		fmt.Fprintf(&get, "%s /v1/products/%s\n", tokens[(2*i+1)%keys], p["slug"])
	}
	for _, token := range tokens {
		fmt.Fprintf(&list, "%s /v1/products?limit=20\n", token)
	}
	if err := os.WriteFile(w.get, get.Bytes(), 0o600); err != nil {
		return err
	}
	return os.WriteFile(w.list, list.Bytes(), 0o600)
}

// tool runs a command of the binary and decodes what it prints, if that is an object.
func (w *world) tool(binary string, args ...string) (map[string]any, error) {
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), w.env()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", args, err, stderr.Bytes())
	}
	object := map[string]any{}
	_ = json.Unmarshal(out, &object) // migrate prints a sentence
	return object, nil
}
