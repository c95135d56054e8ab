package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	_ "modernc.org/sqlite" // fills the outbox behind the server's back

	"github.com/tillwright/tillwright/tests/harness/outbox"
)

const (
	shops            = 20 // accounts that take webhooks, each on a port of its own
	endpointsPerShop = 10
	settleTime       = 3 * time.Minute
)

// outlet is the shops of one engine, with a second way into the database.
type outlet struct {
	*world
	program     *program
	floorPath   string
	db          *sql.DB
	shops       []shop
	body        string // of an event
	filled      int    // numbers that are taken in every shop's outbox
	shortMemory int64  // the most that the server took with a short backlog, in MiB
}

type shop struct {
	*inbox
	account, token string
}

// newOutlet makes the shops with their endpoints, and one event in each, which is what their backlogs are copies of.
func newOutlet(w *world, binary string, server, floor *program) (*outlet, error) {
	driver, source := "postgres", w.server
	if w.engine == "sqlite" {
		driver, source = "sqlite", "file:"+strings.TrimPrefix(source, "sqlite://")+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	o := &outlet{world: w, program: server, floorPath: floor.cmd.Path, db: db}
	for range shops {
		if err := o.open(binary); err != nil {
			o.close()
			return nil, err
		}
	}
	if err := o.settled(shops * endpointsPerShop); err != nil {
		o.close()
		return nil, err
	}
	return o, db.QueryRow(`SELECT body FROM events WHERE account_id = $1`, o.shops[0].account).Scan(&o.body)
}

func (o *outlet) close() {
	for _, s := range o.shops {
		_ = s.server.Close()
	}
	o.db.Close()
}

func (o *outlet) open(binary string) error {
	account, err := o.tool(binary, "accounts", "create", "--name", "Shop", "--email", "shop@example.com", "--json")
	if err != nil {
		return err
	}
	s := shop{account: fmt.Sprint(account["id"])}
	key, err := o.tool(binary, "keys", "create", "--account", s.account, "--json")
	if err != nil {
		return err
	}
	s.token = fmt.Sprint(key["token"])
	if s.inbox, err = newInbox(); err != nil {
		return err
	}
	o.shops = append(o.shops, s)
	for n := range endpointsPerShop {
		if _, err := o.program.post(s.token, "/v1/webhook_endpoints", map[string]any{"url": fmt.Sprintf("%s/%d", s.url, n)}); err != nil {
			return err
		}
	}
	return o.sell(s)
}

// sell makes an event for all endpoints of a shop, with a body of about 2 KB.
func (o *outlet) sell(s shop) error {
	_, err := o.program.post(s.token, "/v1/products", map[string]any{"name": "Guide", "description": strings.Repeat("All that you need. ", 80)})
	return err
}

// fill puts n events with a delivery each into the outboxes.
func (o *outlet) fill(ctx context.Context, n int) error {
	from, to := o.filled+1, o.filled+n/shops
	o.filled = to
	accounts := make([]string, len(o.shops))
	for i, s := range o.shops {
		accounts[i] = s.account
	}
	return outbox.Fill(ctx, o.db, o.engine, from, to, accounts...)
}

// forget makes the inboxes count anew.
func (o *outlet) forget() {
	for _, s := range o.shops {
		s.forget()
	}
}

// settled returns when n webhooks have come and the result of each is in the database: success. It leaves the database
// alone until they have come.
func (o *outlet) settled(n int) error {
	for deadline := time.Now().Add(settleTime); ; time.Sleep(20 * time.Millisecond) {
		came := 0
		for _, s := range o.shops {
			came += s.count()
		}
		late := time.Now().After(deadline)
		if came < n && !late {
			continue
		}
		open, failed, err := o.unsettled()
		switch {
		case err != nil:
			return err
		case failed || came > n:
			return fmt.Errorf("%d webhooks have come, %d were to, and some have failed: %v", came, n, failed)
		case came == n && !open:
			return nil
		case late:
			return fmt.Errorf("%d webhooks have come, not %d", came, n)
		}
	}
}

// unsettled reports whether a delivery is under way, and whether one has failed.
func (o *outlet) unsettled() (open, failed bool, err error) {
	err = o.db.QueryRow(`
		SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE state = 'pending'), EXISTS (SELECT 1 FROM webhook_deliveries WHERE state = 'failed')`).Scan(&open, &failed)
	return open, failed, err
}
