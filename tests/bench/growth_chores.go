package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

// compareSales compares what a buyer, a member and a receiver of webhooks wait for.
func compareSales(ctx context.Context, before, after *grower) (missed []string, err error) {
	for _, what := range []struct {
		name string
		do   func(context.Context, *grower) (time.Duration, error)
	}{
		{"a purchase", purchases}, {"a webhook, from the event to its arrival", webhooks}, {"a renewal", renewals},
	} {
		name, do := what.name, what.do
		one, err := do(ctx, before)
		if err != nil {
			return nil, fmt.Errorf("%s in a new shop: %w", name, err)
		}
		other, err := do(ctx, after)
		if err != nil {
			return nil, fmt.Errorf("%s in a grown shop: %w", name, err)
		}
		missed = append(missed, after.judge(name, one, other, "")...)
	}
	return missed, nil
}

// purchases is how long one takes, one after the other.
func purchases(_ context.Context, g *grower) (time.Duration, error) {
	return few(50, func() error {
		g.orders++
		_, err := buyOnce(g.server, seller{tokens: g.tokens, price: g.price}, "growth")
		return err
	})
}

// webhooks is how long one takes from the event to its arrival.
func webhooks(_ context.Context, g *grower) (time.Duration, error) {
	if g.inbox == nil {
		var err error
		if g.inbox, err = newInbox(); err != nil {
			return 0, err
		}
		if _, err := g.server.post(g.token(), "/v1/webhook_endpoints", map[string]any{"url": g.inbox.url}); err != nil {
			return 0, err
		}
	}
	g.inbox.forget()
	for n := range 30 {
		if _, _, err := sell(g.server, g.token(), "Leaflet"); err != nil {
			return 0, err
		}
		if err := g.inbox.await(n + 1); err != nil {
			return 0, err
		}
	}
	slices.Sort(g.inbox.delays)
	return g.inbox.delays[len(g.inbox.delays)/2], nil
}

// renewals is how long one of twenty takes, when the account's clock moves by a month.
func renewals(ctx context.Context, g *grower) (time.Duration, error) {
	m := membership{name: "Membership", currency: "usd", amount: 900, interval: sdk.PriceVariantIntervalMonth, card: "pm_card_visa", members: 20}
	all := []membership{m}
	if err := g.sell(ctx, all); err != nil {
		return 0, err
	}
	begun := time.Now()
	_, done, err := g.pass(ctx, 32*24*time.Hour)
	if err == nil && done == 0 {
		err = fmt.Errorf("nothing was renewed")
	}
	return time.Since(begun) / time.Duration(max(done, 1)), err
}

// compareChores says how long what reads everything takes for a row, and how much memory: an export, and the doctor.
func compareChores(ctx context.Context, before, after *grower) ([]string, error) {
	for _, g := range []*grower{before, after} {
		export, err := g.server.get(g.token(), "/v1/orders/export")
		if err != nil {
			return nil, err
		}
		held := watchMemory(g.server.cmd.Process.Pid)
		begun := time.Now()
		size, err := download(fmt.Sprint(export["url"]))
		peak := held()
		if err != nil {
			return nil, err
		}
		took := time.Since(begun)
		fmt.Printf("%-9s export of %d orders: %.1f s, %.1f MB, %.0f orders/s; the server held at most %d MiB\n",
			g.engine, g.orders, took.Seconds(), float64(size)/1e6, float64(g.orders)/took.Seconds(), peak)
		took, mib, err := g.doctor(ctx)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%-9s doctor over %d orders: %.1f s, at most %.0f MiB\n", g.engine, g.orders, took.Seconds(), mib)
	}
	return nil, nil
}

// leave lets rows end, and says how long others waited while they left, and before.
func leave(ctx context.Context, _, g *grower) ([]string, error) {
	many := scaled(grownOrders)
	before, err := g.posts(func() (bool, error) { return len(g.waited) < 1000, nil })
	if err != nil {
		return nil, err
	}
	if err := g.expire(ctx, many); err != nil {
		return nil, err
	}
	begun := time.Now()
	meanwhile, err := g.posts(func() (left bool, err error) {
		if len(g.waited)%50 > 0 && time.Since(begun) < 20*time.Minute {
			return true, nil
		}
		return left, g.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE expires_at = 1)`).Scan(&left)
	})
	if err != nil {
		return nil, err
	}
	at := func(waited []time.Duration, of1000 int) float64 { return ms(waited[(len(waited)-1)*of1000/1000]) }
	fmt.Printf("%-9s %d idempotency keys left within %.0f s; posts meanwhile (before) took p50 %.1f (%.1f), p99 %.1f (%.1f), at most %.1f (%.1f) ms\n",
		g.engine, many, time.Since(begun).Seconds(), at(meanwhile, 500), at(before, 500), at(meanwhile, 990), at(before, 990), at(meanwhile, 1000), at(before, 1000))
	if slowest := at(meanwhile, 1000); slowest > ms(readGate) && slowest > growthFactor*at(before, 1000) {
		return []string{fmt.Sprintf("%s, rows that leave: a post waited for %.1f ms", g.engine, slowest)}, nil
	}
	return nil, nil
}

// posts makes customers for as long as more says so, and returns how long each took, in order.
func (g *grower) posts(more func() (bool, error)) ([]time.Duration, error) {
	g.waited = nil
	for {
		if goOn, err := more(); err != nil || !goOn {
			slices.Sort(g.waited)
			return g.waited, err
		}
		begun := time.Now()
		if _, err := g.server.post(g.token(), "/v1/customers", map[string]any{"email": fmt.Sprintf("waits-%d@example.com", g.asked)}); err != nil {
			return nil, err
		}
		g.waited = append(g.waited, time.Since(begun))
		time.Sleep(15 * time.Millisecond)
	}
}
