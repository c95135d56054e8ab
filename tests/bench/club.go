package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

const (
	yearOfClub = 365 * 24 * time.Hour
	clubKeys   = 8 // each has a quota of its own, and is used by one client
)

// club is an account that sells subscriptions, with a clock of its own.
type club struct {
	*world
	account string
	clients []*sdk.Client
	db      *sql.DB // what its provider knows
}

// membership is a kind of subscription: how many there are of it, what is charged, and what becomes of it.
type membership struct {
	name     string
	members  int
	currency string
	amount   int64
	interval sdk.PriceVariantInterval
	trial    int64 // in days
	card     string
	fails    bool // no renewal is ever paid
	variant  string
}

// memberships are a thousand subscriptions.
func memberships() []membership {
	month, year := sdk.PriceVariantIntervalMonth, sdk.PriceVariantIntervalYear
	return []membership{
		{name: "Monthly", members: 400, currency: "usd", amount: 900, interval: month, card: "pm_card_visa"},
		{name: "Monthly in yen", members: 100, currency: "jpy", amount: 980, interval: month, card: "pm_card_mastercard"},
		{name: "Yearly", members: 150, currency: "usd", amount: 9000, interval: year, card: "pm_card_visa"},
		{name: "With a trial", members: 150, currency: "eur", amount: 700, interval: month, trial: 14, card: "pm_card_visa"},
		{name: "Recovers", members: 100, currency: "eur", amount: 1100, interval: month, card: "tok_recover_on_3rd"},
		{name: "Fails", members: 100, currency: "usd", amount: 1300, interval: month, card: "tok_fail_on_renewal", fails: true},
	}
}

// paid is how often a subscription that began then is paid until a time. It counts months by the calendar, as nothing of the
// server's does.
func (m membership) paid(began, until time.Time) int64 {
	if m.fails {
		return 1
	}
	first, months := began.AddDate(0, 0, int(m.trial)), 1
	if m.interval == sdk.PriceVariantIntervalYear {
		months = 12
	}
	n := int64(0)
	for !first.AddDate(0, int(n)*months, 0).After(until) {
		n++
	}
	return n
}

// newClub makes the account on a server of its own database.
func newClub(engine, binary, dir string) (*club, *program, error) {
	c := &club{world: &world{engine: engine, dir: filepath.Join(dir, engine+"-club")}}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, nil, err
	}
	if err := c.place(); err != nil {
		return nil, nil, err
	}
	if _, err := c.tool(binary, "migrate"); err != nil {
		return nil, nil, err
	}
	account, err := c.tool(binary, "accounts", "create", "--name", "Club", "--email", "club@example.com", "--json")
	if err != nil {
		return nil, nil, err
	}
	c.account = fmt.Sprint(account["id"])
	server, err := start("server", binary, c.env(), "serve")
	if err != nil {
		return nil, nil, err
	}
	if err := c.join(binary, server); err != nil {
		server.stop()
		return nil, nil, err
	}
	return c, server, nil
}

// join makes the clients, and the second way into the database.
func (c *club) join(binary string, server *program) (err error) {
	for range clubKeys {
		key, err := c.tool(binary, "keys", "create", "--account", c.account, "--json")
		if err != nil {
			return err
		}
		c.clients = append(c.clients, sdk.New(fmt.Sprint(key["token"]), sdk.WithBaseURL(server.url+"/v1")))
	}
	driver, source := "postgres", c.server
	if c.engine == "sqlite" {
		driver, source = "sqlite", "file:"+strings.TrimPrefix(source, "sqlite://")+"?_pragma=busy_timeout(10000)"
	}
	c.db, err = sql.Open(driver, source)
	return err
}

// sell makes every subscription, several at once.
func (c *club) sell(ctx context.Context, all []membership) error {
	for i, m := range all {
		product, err := c.clients[0].Products.Create(ctx, &sdk.ProductCreate{
			Name: m.name, Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{
				Type: new(sdk.PriceVariantTypeRecurring), Amount: &m.amount, Currency: &m.currency, Interval: &m.interval, TrialDays: &m.trial,
			}},
		})
		if err != nil {
			return err
		}
		all[i].variant = product.PriceVariants[0].ID
	}
	return c.together(func(client *sdk.Client, turn int) error {
		for _, m := range all {
			for n := turn; n < m.members; n += clubKeys {
				if err := m.subscribe(ctx, client, n); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
		}
		return nil
	})
}

func (m membership) subscribe(ctx context.Context, client *sdk.Client, n int) error {
	customer, err := client.Customers.Create(ctx, &sdk.CustomerCreate{Email: fmt.Sprintf("member-%s-%d@example.com", m.variant, n)})
	if err != nil {
		return err
	}
	_, err = client.Subscriptions.Create(ctx, &sdk.SubscriptionCreate{Customer: customer.ID, PriceVariant: m.variant, PaymentMethod: &m.card})
	return err
}

// together lets every client do its part.
func (c *club) together(part func(client *sdk.Client, turn int) error) error {
	errs := make([]error, len(c.clients))
	var group sync.WaitGroup
	for i, client := range c.clients {
		group.Go(func() { errs[i] = part(client, i) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// pass moves the club's clock, and returns what was done on its way.
func (c *club) pass(ctx context.Context, by time.Duration) (clock *sdk.TestClock, done int64, err error) {
	in := sdk.TestClockCreate{AdvanceSeconds: new(int64(by / time.Second))}
	for {
		if clock, err = c.clients[0].TestHelpers.AdvanceClock(ctx, &in); err != nil {
			return nil, 0, err
		}
		if done += clock.Processed; clock.Done {
			return clock, done, nil
		}
		in = sdk.TestClockCreate{Now: &clock.Target}
	}
}
