// Command bench measures the server against the floor program, in alternating rounds on the same machine, and fails when
// a ratio is below its gate. Rates depend on the machine; the ratios are what it is about.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tillwright/tillwright/store"
)

var (
	rounds  = flag.Int("rounds", 5, "how often each program is measured")
	seconds = flag.Int("seconds", 3, "how long a measurement takes")
	engines = flag.String("engines", "sqlite,postgres", "which databases")
	what    = flag.String("what", "requests,webhooks,subscriptions", "what is measured; growth too, if it is named")
	scale   = flag.Float64("scale", 1, "of the growth, how much of it: 1 is a million orders")
	rows    = flag.String("rows", "", "of the requests, only those whose name contains this")
	slow    = flag.Bool("slow", false, "measure a server that is slow on purpose, built without optimisations: the gates must fail")
)

// scenario is one kind of load with the least and the wished-for ratio of server to floor, by engine. A gate of 0 is none. Only what has a gate has one
// for the processor. Gates leave room for another kind of processor, on which the same commit was a fifth dearer beside the floor (README.md).
type scenario struct {
	name        string
	connections int
	gate, aim   map[string]float64
	cpuGate     float64 // the most that the server may spend per request, in the floor's
	put         func(ctx context.Context, w *world, dir string, p *program, connections int, d time.Duration, name string) (load, error)
}

// both is a figure that is the same on both engines.
func both(v float64) map[string]float64 { return map[string]float64{"sqlite": v, "postgres": v} }

var scenarios = []scenario{
	{"get a product", 16, both(0.65), both(0.90), 2.0, gets},
	{"get a product", 256, nil, both(0.90), 0, gets},
	{"get a product", 1024, nil, both(0.90), 0, gets},
	{"list of 20", 16, both(0.70), both(0.90), 1.6, lists},
	{"post a product", 16, map[string]float64{"sqlite": 0.85, "postgres": 0.60}, both(0.90), 2.3, posts},
	{"purchase, 1 shop", 16, nil, both(0.60), 0, buysOfOne},
	{"purchase, 200", 16, nil, both(0.60), 0, buysOfMany},
	{"purchase, 200", 256, nil, both(0.60), 0, buysOfMany},
	{"purchase, 200", 1024, nil, both(0.60), 0, buysOfMany},
}

func gets(ctx context.Context, w *world, dir string, p *program, connections int, d time.Duration, name string) (load, error) {
	return put(ctx, p, filepath.Join(dir, "read.lua"), connections, d, w.get, name)
}

func lists(ctx context.Context, w *world, dir string, p *program, connections int, d time.Duration, name string) (load, error) {
	return put(ctx, p, filepath.Join(dir, "read.lua"), connections, d, w.list, name)
}

func posts(ctx context.Context, w *world, dir string, p *program, connections int, d time.Duration, name string) (load, error) {
	return put(ctx, p, filepath.Join(dir, "post.lua"), connections, d, w.get, name)
}

func buysOfOne(ctx context.Context, w *world, _ string, p *program, connections int, d time.Duration, name string) (load, error) {
	return buy(ctx, p, []seller{w.one}, connections, d, name)
}

func buysOfMany(ctx context.Context, w *world, _ string, p *program, connections int, d time.Duration, name string) (load, error) {
	return buy(ctx, p, w.many, connections, d, name)
}

const cpuAim = 1.3

func main() {
	flag.Parse()
	// An interrupt ends the load generator; everything else then unwinds and cleans up.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	missed, err := run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if len(missed) > 0 {
		fmt.Printf("\nbelow the gate:\n  %s\n", strings.Join(missed, "\n  "))
		os.Exit(1)
	}
}

// run returns what is below its gate.
func run(ctx context.Context) ([]string, error) {
	if err := installWrk(); err != nil {
		return nil, err
	}
	if err := store.RegisterFunctions(); err != nil { // rows are made behind the server's back
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tillwright-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := writeScripts(dir); err != nil {
		return nil, err
	}
	server, floor, err := build(dir)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	defer func() { fmt.Printf("\nall took %s\n", time.Since(begun).Round(time.Second)) }()
	fmt.Printf("%d rounds of %d s; the server beside the floor, medians. PostgreSQL's tables are analysed on both sides before each row, SQLite's on neither.\n", *rounds, *seconds)
	fmt.Printf("%-9s %-17s %11s %9s %9s %7s %6s %6s %7s %9s %9s\n", "database", "request", "connections", "server/s", "floor/s", "ratio", "gate", "aim", "cpu", "p99 ms", "repeated")
	var missed []string
	for engine := range strings.SplitSeq(*engines, ",") {
		m, err := measure(ctx, engine, server, floor, dir)
		if err != nil {
			return nil, err
		}
		missed = append(missed, m...)
	}
	return missed, nil
}

// build compiles both programs.
func build(dir string) (server, floor string, err error) {
	server, floor = filepath.Join(dir, "tillwright"), filepath.Join(dir, "floor")
	args := []string{"build", "-o", server}
	if *slow {
		args = append(args, "-gcflags=all=-N -l")
	}
	for _, args := range [][]string{append(args, "./server/cmd/tillwright"), {"build", "-o", floor, "./tests/bench/floor"}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return "", "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return server, floor, nil
}

// measure runs all scenarios on one engine.
func measure(ctx context.Context, engine, serverPath, floorPath, dir string) (missed []string, err error) {
	if strings.Contains(*what, "requests") || strings.Contains(*what, "webhooks") {
		if missed, err = beside(ctx, engine, serverPath, floorPath, dir); err != nil {
			return nil, err
		}
	}
	if strings.Contains(*what, "subscriptions") {
		m, err := subscriptions(ctx, engine, serverPath, dir)
		if missed = append(missed, m...); err != nil {
			return nil, err
		}
	}
	if strings.Contains(*what, "growth") {
		m, err := growth(ctx, engine, serverPath, dir)
		return append(missed, m...), err
	}
	return missed, nil
}

// beside measures the server beside the floor. Webhooks go to addresses of this machine, which a production server does not deliver to.
func beside(ctx context.Context, engine, serverPath, floorPath, dir string) (missed []string, err error) {
	w, err := newWorld(engine, serverPath, dir)
	if err != nil {
		return nil, err
	}
	both := func(env []string, measure func(server, floor *program) ([]string, error)) error {
		server, err := start("server", serverPath, env, "serve")
		if err != nil {
			return err
		}
		defer server.stop()
		floor, err := start("floor", floorPath, nil, "--database-url", w.floor)
		if err != nil {
			return err
		}
		defer floor.stop()
		m, err := measure(server, floor)
		missed = append(missed, m...)
		return err
	}
	if strings.Contains(*what, "requests") {
		if err := w.costs(serverPath, floorPath); err != nil {
			return nil, err
		}
		err := both(w.production(), func(server, floor *program) ([]string, error) {
			// Here alone: what is measured next makes more in the one database than in the other.
			if err := w.sameAnswers(server, floor); err != nil {
				return nil, err
			}
			return w.requests(ctx, dir, server, floor)
		})
		if err != nil {
			return nil, err
		}
	}
	if strings.Contains(*what, "webhooks") {
		err = both(w.env(), func(server, floor *program) ([]string, error) { return w.deliveries(ctx, serverPath, server, floor) })
	}
	return missed, err
}

// requests measures what clients ask for.
func (w *world) requests(ctx context.Context, dir string, server, floor *program) (missed []string, err error) {
	for _, s := range scenarios {
		if !strings.Contains(s.name, *rows) {
			continue
		}
		m, err := s.compare(ctx, w, dir, server, floor)
		if err != nil {
			return nil, err
		}
		missed = append(missed, m...)
	}
	return missed, nil
}

// compare measures one scenario in alternating rounds and prints its line.
func (s scenario) compare(ctx context.Context, w *world, dir string, server, floor *program) ([]string, error) {
	if err := w.analyse(); err != nil {
		return nil, err
	}
	var ratio, cpu, serverRate, floorRate, p99, again []float64
	times := *rounds
	if s.connections > 16 { // they say whether something breaks down, for which a few rounds will do
		times = min(times, 3)
	}
	for round := range times + 1 {
		pair := map[*program]load{}
		order := []*program{server, floor}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, p := range order {
			l, err := s.put(ctx, w, dir, p, s.connections, time.Duration(*seconds)*time.Second, fmt.Sprintf("%s-%d-%d", p.name, s.connections, round))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			pair[p] = l
		}
		if round == 0 { // the first one fills caches
			continue
		}
		serverRate, floorRate = append(serverRate, pair[server].perSecond()), append(floorRate, pair[floor].perSecond())
		ratio = append(ratio, pair[server].perSecond()/pair[floor].perSecond())
		cpu = append(cpu, pair[server].cpuPerRequest()/pair[floor].cpuPerRequest())
		p99, again = append(p99, float64(pair[server].P99)/1000), append(again, float64(pair[server].Repeated))
	}
	gate, aim := s.gate[w.engine], s.aim[w.engine]
	least := "-"
	if gate > 0 {
		least = fmt.Sprintf("%.2f", gate)
	}
	fmt.Printf("%-9s %-17s %11d %9.0f %9.0f %7.2f %6s %6.2f %6.2fx %9.1f %9.0f\n",
		w.engine, s.name, s.connections, median(serverRate), median(floorRate), median(ratio), least, aim, median(cpu), median(p99), median(again))
	if gate == 0 {
		return nil, nil
	}
	var missed []string
	if median(ratio) < gate {
		missed = append(missed, fmt.Sprintf("%s, %s: %.2f of the floor, the gate is %.2f", w.engine, s.name, median(ratio), gate))
	}
	if median(cpu) > s.cpuGate {
		missed = append(missed, fmt.Sprintf("%s, %s: %.2f times the floor's CPU, the gate is %.1f (the aim %.1f)", w.engine, s.name, median(cpu), s.cpuGate, cpuAim))
	}
	return missed, nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
