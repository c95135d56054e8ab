package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/outbox"
)

// yearGate is the least that the clock must do in a second, dueGate the most that a look-up among so many due renewals may
// take.
const (
	yearGate = 15
	dueRows  = 100_000
	dueGate  = 10 * time.Millisecond
)

// subscriptions lets a club live through a year, and compares what everybody says about its money. Then it looks up what is due of a hundred thousand
// others. It returns what is below its gate.
func subscriptions(ctx context.Context, engine, binary, dir string) ([]string, error) {
	c, server, err := newClub(engine, binary, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.db.Close() }()
	slow, err := c.year(ctx)
	server.stop()
	if err != nil {
		return nil, fmt.Errorf("a year of subscriptions on %s: %w", engine, err)
	}
	if out, err := c.tool(binary, "doctor"); err != nil {
		return nil, fmt.Errorf("after a year of subscriptions on %s: %v %w", engine, out, err)
	}
	late, err := c.lookUps(ctx)
	return append(slow, late...), err
}

// year sells a thousand subscriptions, moves the clock by a year and gives some of the money back.
func (c *club) year(ctx context.Context) ([]string, error) {
	all := memberships()
	if err := c.sell(ctx, all); err != nil {
		return nil, err
	}
	begun := time.Now()
	clock, done, err := c.pass(ctx, yearOfClub)
	if err != nil {
		return nil, err
	}
	took := time.Since(begun)
	if err := c.refund(ctx); err != nil {
		return nil, err
	}
	sums, err := c.agree(ctx, all, clock.Target.Time())
	if err != nil {
		return nil, err
	}
	perSecond := float64(done) / took.Seconds()
	fmt.Printf("%-9s %-15s %9.0f   %d steps of 1,000 subscriptions in %.0f s (gate %d/s); %s\n", c.engine, "a year", perSecond, done, took.Seconds(), yearGate, sums)
	if perSecond < yearGate {
		return []string{fmt.Sprintf("%s, a year of subscriptions: %.0f steps a second, the gate is %d", c.engine, perSecond, yearGate)}, nil
	}
	return nil, nil
}

// refund gives back one order of many, and half of as many others.
func (c *club) refund(ctx context.Context) error {
	n := 0
	for o, err := range sdk.All(ctx, c.clients[0].Orders.List, &sdk.ListOrdersParams{Status: new(sdk.OrderStatusPaid)}) {
		if err != nil {
			return err
		}
		if n++; n%97 > 1 || o.PaidAmount == 0 {
			continue
		}
		amount := o.PaidAmount / int64(1+n%97)
		if _, err := c.clients[1].Refunds.Create(ctx, &sdk.RefundCreate{Order: o.ID, Amount: &amount}); err != nil {
			return err
		}
	}
	return nil
}

// money is what somebody says, by currency.
type money map[string]int64

func (m money) String() string {
	var said []string
	for _, currency := range slices.Sorted(maps.Keys(m)) {
		said = append(said, fmt.Sprintf("%s %d", currency, m[currency]))
	}
	return strings.Join(said, ", ")
}

// ledger is all that is said of one side of the money, by who says it.
type ledger map[string]money

// agree returns an error unless all say the same.
func (l ledger) agree(what string) (said money, err error) {
	names := slices.Sorted(maps.Keys(l))
	said = l[names[0]]
	for _, name := range names {
		if !maps.Equal(l[name], said) {
			return nil, fmt.Errorf("%s: %s says %s, and %s says %s", what, names[0], said, name, l[name])
		}
	}
	return said, nil
}

// agree compares what was to be paid with what the orders, the invoices, the payments and the provider say. It does the
// same with what was given back.
func (c *club) agree(ctx context.Context, all []membership, until time.Time) (string, error) {
	paid, returned := ledger{}, ledger{}
	var err error
	if paid["the calendar"], err = c.expected(ctx, all, until); err != nil {
		return "", err
	}
	paid["orders"], returned["orders"] = money{}, money{}
	for o, err := range sdk.All(ctx, c.clients[1].Orders.List, &sdk.ListOrdersParams{}) {
		if err != nil {
			return "", err
		}
		paid["orders"].add(o.Currency, o.PaidAmount)
		returned["orders"].add(o.Currency, o.RefundedAmount)
	}
	paid["invoices"] = money{}
	for i, err := range sdk.All(ctx, c.clients[2].Invoices.List, &sdk.ListInvoicesParams{}) {
		if err != nil {
			return "", err
		}
		paid["invoices"].add(i.Currency, i.AmountPaid)
	}
	returned["refunds"] = money{}
	for r, err := range sdk.All(ctx, c.clients[3].Refunds.List, &sdk.ListRefundsParams{Status: new(sdk.RefundStatusSucceeded)}) {
		if err != nil {
			return "", err
		}
		returned["refunds"].add(r.Currency, r.Amount)
	}
	if err := c.ask(ctx, paid, returned); err != nil {
		return "", err
	}
	in, err := paid.agree("paid")
	if err != nil {
		return "", err
	}
	out, err := returned.agree("given back")
	return fmt.Sprintf("paid %s; given back %s", in, out), err
}

func (m money) add(currency string, amount int64) {
	if amount != 0 {
		m[currency] += amount
	}
}

// expected is what every subscription is to have been paid. It makes sure that each is where it is to be.
func (c *club) expected(ctx context.Context, all []membership, until time.Time) (money, error) {
	kinds, sum := map[string]membership{}, money{}
	for _, m := range all {
		kinds[m.variant] = m
	}
	n := 0
	for sub, err := range sdk.All(ctx, c.clients[0].Subscriptions.List, &sdk.ListSubscriptionsParams{}) {
		if err != nil {
			return nil, err
		}
		m, want := kinds[sub.PriceVariant.ID], sdk.SubscriptionStatusActive
		if m.fails {
			want = sdk.SubscriptionStatusCanceled
		}
		if sub.Status != want {
			return nil, fmt.Errorf("%s: subscription %s is %s, not %s", m.name, sub.ID, sub.Status, want)
		}
		sum.add(m.currency, m.amount*m.paid(sub.StartedAt.Time(), until))
		n++
	}
	if n != 1000 {
		return nil, fmt.Errorf("there are %d subscriptions", n)
	}
	return sum, nil
}

// ask reads what the payments, and the provider's own books, say.
func (c *club) ask(ctx context.Context, paid, returned ledger) error {
	for _, q := range []struct {
		of    ledger
		who   string
		query string
	}{
		{paid, "payments", `SELECT currency, sum(amount) FROM payments WHERE account_id = $1 AND status = 'succeeded' AND amount > 0 GROUP BY currency`},
		{paid, "the provider", `SELECT currency, sum(amount) FROM test_charges WHERE account_id = $1 AND status = 'succeeded' AND amount > 0 GROUP BY currency`},
		{returned, "the provider", `
			SELECT c.currency, sum(r.amount) FROM test_refunds r JOIN test_charges c ON c.account_id = r.account_id AND c.id = r.charge_id
			WHERE r.account_id = $1 AND r.status = 'succeeded' GROUP BY c.currency`},
	} {
		rows, err := c.db.QueryContext(ctx, q.query, c.account)
		if err != nil {
			return err
		}
		q.of[q.who] = money{}
		for rows.Next() {
			var currency string
			var amount int64
			if err := rows.Scan(&currency, &amount); err != nil {
				return err
			}
			q.of[q.who].add(currency, amount)
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}

// lookUps measures how the worker finds what is due, among many renewals that are.
func (c *club) lookUps(ctx context.Context) ([]string, error) {
	if err := c.fall(ctx); err != nil {
		return nil, err
	}
	sealer, err := core.NewSealer(make([]byte, 32))
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, store.Options{URL: c.server, Sealer: sealer})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	accounts := timed(func() error { _, err := s.Subscription.DueAccounts(ctx); return err })
	ofAll := timed(func() error { _, err := s.Subscription.Due(ctx, "", 100); return err })
	ofOne := timed(func() error { _, err := s.Subscription.Due(ctx, c.account, 100); return err })
	fmt.Printf("%-9s %-15s %9s   a look-up takes %.1f ms, of one account %.1f ms (gate %d ms), whose they are %.1f ms\n",
		c.engine, "100,000 due", "", ms(ofAll), ms(ofOne), dueGate.Milliseconds(), ms(accounts))
	if max(ofAll, ofOne) > dueGate {
		return []string{fmt.Sprintf("%s, 100,000 due: a look-up takes %s, the gate is %s", c.engine, max(ofAll, ofOne), dueGate)}, nil
	}
	return nil, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// timed is the median time of a call, a minute if it fails.
func timed(call func() error) time.Duration {
	var took []time.Duration
	for range 21 {
		begun := time.Now()
		if err := call(); err != nil {
			return time.Minute
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// fall makes renewals due behind the server's back: copies of a subscription, as far as a look-up sees.
func (c *club) fall(ctx context.Context) error {
	const columns = `status, customer_id, product_id, price_variant_id, product_name, quantity, unit_amount, currency, interval, interval_count, anchor_day,
		current_period_start, current_period_end, period_amount, started_at, cancel_at_period_end, pause_at_period_end, attempt_count, extra_attempt,
		cycles_billed, prorations, custom_field_data, metadata, created_at, updated_at`
	if _, err := c.db.ExecContext(ctx, `
		INSERT INTO subscriptions (account_id, id, due_at, `+columns+`)
		SELECT account_id, `+outbox.ID(c.engine, "sub_", "n")+`, n, `+columns+`
		FROM subscriptions, `+outbox.Numbers(c.engine, 1, dueRows)+`
		WHERE account_id = $1 AND id = (SELECT min(id) FROM subscriptions WHERE account_id = $1 AND status = 'active')`, c.account); err != nil {
		return err
	}
	_, err := c.db.ExecContext(ctx, `ANALYZE subscriptions`)
	return err
}
