package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

// What a grown shop has at -scale 1, in one account; beside it there are small ones with ten orders each.
const (
	grownOrders   = 1_000_000 // each with lines, invoice, payment, checkout, customer and five events
	grownProducts = 100_000
	grownEvents   = 10_000_000
	smallAccounts = 2_000
	smallOrders   = 10

	// growthFactor is how much longer than in a new shop anything may take. What takes less than readGate passes in any case.
	growthFactor = 1.5
	readGate     = 50 * time.Millisecond
)

// growth measures what a shop that has sold a million times waits for, beside the same in one that has sold once. It returns what is
// beyond its gate.
func growth(ctx context.Context, engine, binary, dir string) ([]string, error) {
	var shops []*grower
	for _, name := range []string{"new", "grown"} {
		g, err := newGrower(ctx, name, engine, binary, dir)
		if err != nil {
			return nil, fmt.Errorf("the %s shop on %s: %w", name, engine, err)
		}
		defer g.close()
		shops = append(shops, g)
	}
	begun := time.Now()
	size, err := shops[1].grow(ctx)
	if err != nil {
		return nil, fmt.Errorf("let a shop grow on %s: %w", engine, err)
	}
	fmt.Printf("\n%-9s filled at scale %g in %.0f s: %.1f GB\n", engine, *scale, time.Since(begun).Seconds(), size/1e9)
	for _, g := range shops {
		if err := g.open(binary); err != nil {
			return nil, err
		}
	}
	missed, err := compareReads(shops[0], shops[1])
	if err != nil {
		return nil, err
	}
	for _, measure := range []func(context.Context, *grower, *grower) ([]string, error){compareSales, compareChores, leave} {
		m, err := measure(ctx, shops[0], shops[1])
		if err != nil {
			return nil, err
		}
		missed = append(missed, m...)
	}
	return missed, nil
}

// grower is an account that has sold once, and may then be made to have sold a million times.
type grower struct {
	*club
	binary string
	server *program
	tokens []string
	price  string // the price variant that is sold
	known  map[string]string
	inbox  *inbox
	orders int
	waited []time.Duration // of posts
	asked  int             // how many requests were made, so that the keys take turns
}

// newGrower makes one.
func newGrower(ctx context.Context, name, engine, binary, dir string) (g *grower, err error) {
	g = &grower{binary: binary, orders: 1, club: &club{world: &world{engine: engine, dir: filepath.Join(dir, engine+"-"+name)}}}
	if err := os.MkdirAll(g.dir, 0o700); err != nil {
		return nil, err
	}
	if err := g.place(); err != nil {
		return nil, err
	}
	if _, err := g.tool(binary, "migrate"); err != nil {
		return nil, err
	}
	account, err := g.tool(binary, "accounts", "create", "--name", "Shop", "--email", "shop@example.com", "--plan", "pro", "--json")
	if err != nil {
		return nil, err
	}
	g.account = fmt.Sprint(account["id"])
	for range clubKeys {
		key, err := g.tool(binary, "keys", "create", "--account", g.account, "--json")
		if err != nil {
			return nil, err
		}
		g.tokens = append(g.tokens, fmt.Sprint(key["token"]))
	}
	if g.db, err = sql.Open(g.driver(g.world.server)); err != nil {
		return nil, err
	}
	if err := g.open(binary); err != nil {
		return nil, err
	}
	defer g.shut()
	return g, g.sellOnce()
}

// open starts the server.
func (g *grower) open(binary string) (err error) {
	if g.server, err = start("server", binary, g.env(), "serve"); err != nil {
		return err
	}
	g.clients = nil
	for _, token := range g.tokens {
		g.clients = append(g.clients, sdk.New(token, sdk.WithBaseURL(g.server.url+"/v1")))
	}
	return nil
}

// shut stops the server.
func (g *grower) shut() {
	if g.server != nil {
		g.server.stop()
		g.server = nil
	}
}

func (g *grower) close() {
	g.shut()
	if g.inbox != nil {
		_ = g.inbox.server.Close()
	}
	_ = g.db.Close()
}

// token is the key whose turn it is.
func (g *grower) token() string {
	g.asked++
	return g.tokens[g.asked%len(g.tokens)]
}

// sellOnce makes the purchase of which the others are copies, and remembers what filters can ask for.
func (g *grower) sellOnce() error {
	product, price, err := sell(g.server, g.token(), "Guide")
	if err != nil {
		return err
	}
	g.price = price
	order, err := buyOnce(g.server, seller{tokens: g.tokens, price: price}, "the first one")
	if err != nil {
		return err
	}
	sold, err := g.server.get(g.token(), "/v1/orders/"+order)
	if err != nil {
		return err
	}
	g.known = map[string]string{"product": fmt.Sprint(product["id"]), "slug": "guide", "price_variant": price, "order": order, "number": "1"}
	for _, name := range []string{"customer", "customer_email", "checkout"} {
		g.known[name] = fmt.Sprint(sold[name])
	}
	g.known["email"] = g.known["customer_email"]
	return nil
}

// scaled is a part of what a shop has at scale 1.
func scaled(n int) int { return max(1, int(float64(n)**scale)) }

// grow fills the account, and returns how many bytes the database has then.
func (g *grower) grow(ctx context.Context) (size float64, err error) {
	s, err := readSamples(ctx, g.db, g.engine, g.account)
	if err != nil {
		return 0, err
	}
	conn, err := g.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	orders := scaled(grownOrders)
	if err := s.fill(ctx, conn, s.purchases("'"+g.account+"'", "(n + 1)"), orders); err != nil {
		return 0, err
	}
	if err := s.fill(ctx, conn, s.products(), scaled(grownProducts)); err != nil {
		return 0, err
	}
	events := scaled(grownEvents) - 5*orders
	if err := s.moreEvents(ctx, conn, s.created, events); err != nil {
		return 0, err
	}
	if err := g.neighbours(ctx, conn, s); err != nil {
		return 0, err
	}
	g.orders += orders
	for _, statement := range []string{
		fmt.Sprintf(`UPDATE counters SET value = value + %d WHERE account_id = '%s' AND name IN ('order_number', 'invoice_number')`, orders, g.account),
		fmt.Sprintf(`UPDATE products SET sales_count = sales_count + %d, event_seq = event_seq + %d WHERE account_id = '%s' AND id = '%s'`, orders, events, g.account, g.known["product"]),
		fmt.Sprintf(`UPDATE price_variants SET sold_count = sold_count + %d WHERE account_id = '%s' AND id = '%s'`, orders, g.account, g.price),
		`DROP TABLE steps`,
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return 0, fmt.Errorf("%s: %w", statement, err)
		}
	}
	if err := countAnew(ctx, conn, g.engine); err != nil {
		return 0, err
	}
	if _, err := g.tool(g.binary, "migrate"); err != nil { // as whoever restores a database does
		return 0, err
	}
	query := `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	if g.engine != "sqlite" {
		query = `SELECT pg_database_size(current_database())`
	}
	return size, conn.QueryRowContext(ctx, query).Scan(&size)
}

// neighbours makes the small accounts.
func (g *grower) neighbours(ctx context.Context, conn *sql.Conn, s *samples) error {
	many := scaled(smallAccounts)
	account := fmt.Sprintf("'acct_' || %s", pad(g.engine, fmt.Sprintf("((n - 1) %% %d)", many), 26))
	row, err := readAccount(ctx, g.db, g.account)
	if err != nil {
		return err
	}
	own := copies{g.engine, []sample{row}, map[string]string{g.account: account}, nil, s.at}
	if handle := row.text("handle"); handle != "" {
		own.replace[handle] = "'shop-' || n"
	}
	if err := s.fill(ctx, conn, own, many); err != nil {
		return err
	}
	ofEach := s.purchases(account, fmt.Sprintf("((n - 1) / %d + 1)", many))
	if err := s.fill(ctx, conn, ofEach, many*smallOrders); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf(`
		INSERT INTO counters (account_id, name, value) SELECT %s, name, %d FROM steps, counters WHERE account_id = $1 AND n <= %d`, account, smallOrders, many), g.account)
	return err
}

// few is the median time of a call that is made a few times.
func few(times int, call func() error) (time.Duration, error) {
	var took []time.Duration
	for range times {
		begun := time.Now()
		if err := call(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// judge prints a line, and returns what is beyond its gate.
func (g *grower) judge(what string, before, after time.Duration, note string) []string {
	fmt.Printf("%-9s %-60s %9.1f %9.1f %7.2f  %s\n", g.engine, what, ms(before), ms(after), float64(after)/float64(before), note)
	if float64(after) > growthFactor*float64(before) && after > readGate {
		return []string{fmt.Sprintf("%s, %s: %.1f ms in a new shop and %.1f ms in a grown one", g.engine, what, ms(before), ms(after))}
	}
	return nil
}

// download reads a file to its end without keeping it.
func download(address string) (int64, error) {
	resp, err := http.Get(address)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", address, resp.Status)
	}
	return io.Copy(io.Discard, resp.Body)
}

// doctor runs the doctor, and returns how long it took and how much memory.
func (g *grower) doctor(ctx context.Context) (time.Duration, float64, error) {
	cmd := exec.CommandContext(ctx, g.binary, "doctor")
	cmd.Env = append(os.Environ(), g.env()...)
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("doctor: %w\n%s", err, out)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, 0, errors.New("doctor: no usage")
	}
	return time.Since(begun), float64(usage.Maxrss) / 1024, nil
}
