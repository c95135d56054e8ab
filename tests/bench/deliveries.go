package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	backlog      = 15_000
	longBacklog  = 100_000
	floorBacklog = 60_000 // takes the floor about as long

	// Events a second when the server is not saturated; each goes to ten endpoints.
	steadyEvents     = 50
	floorConnections = 20 // to each receiver; the server has as many
)

// Gates of deliveries: how many come in a second, and what one costs of the processor in the floor's. There is one of the median time from commit to
// receipt, when the server is not saturated. A long backlog must not take much more memory than a short one. The part of the floor's rate has no gate. The floor has
// no disk, so that the part depends on how fast the machine's disk is beside its processor.
const (
	deliveryGate = 3000
	deliveryCPU  = 7.0
	delayGate    = 20 * time.Millisecond
	memoryGate   = 32 // MiB
)

// deliveries measures webhooks and returns what is below its gate.
func (w *world) deliveries(ctx context.Context, binary string, server, floor *program) ([]string, error) {
	o, err := newOutlet(w, binary, server, floor)
	if err != nil {
		return nil, err
	}
	defer o.close()
	var missed []string
	for _, measure := range []func(context.Context) (string, error){o.rate, o.memory, o.saturated, o.steady} {
		miss, err := measure(ctx)
		if err != nil {
			return nil, fmt.Errorf("webhooks: %w", err)
		}
		if miss != "" {
			missed = append(missed, w.engine+", webhooks: "+miss)
		}
	}
	return missed, nil
}

// rate lets server and floor post in turns.
func (o *outlet) rate(ctx context.Context) (string, error) {
	var server, floor, ratio, cpu []float64
	for round := range *rounds + 1 {
		d, err := o.drain(ctx, backlog)
		if err != nil {
			return "", err
		}
		f, err := o.post(ctx, floorBacklog)
		if err != nil {
			return "", err
		}
		o.shortMemory = max(o.shortMemory, d.memory)
		if round == 0 { // the first one fills caches
			continue
		}
		server, floor, ratio, cpu = append(server, d.perSecond), append(floor, f.perSecond), append(ratio, d.perSecond/f.perSecond), append(cpu, float64(d.cpu)/backlog/(float64(f.cpu)/floorBacklog))
	}
	fmt.Printf("%-9s %-15s %9.0f %9.0f %7.2f   gates %d/s, %.1fx   %6.2fx\n",
		o.engine, "webhooks", median(server), median(floor), median(ratio), deliveryGate, deliveryCPU, median(cpu))
	switch {
	case median(server) < deliveryGate:
		return fmt.Sprintf("%.0f in a second, the gate is %d", median(server), deliveryGate), nil
	case median(cpu) > deliveryCPU:
		return fmt.Sprintf("%.2f times the floor's CPU, the gate is %.1f", median(cpu), deliveryCPU), nil
	}
	return "", nil
}

// memory compares what the server takes at most while a long and while a short backlog waits.
func (o *outlet) memory(ctx context.Context) (string, error) {
	short, err := o.drain(ctx, backlog)
	if err != nil {
		return "", err
	}
	long, err := o.drain(ctx, longBacklog)
	if err != nil {
		return "", err
	}
	growth := long.memory - max(o.shortMemory, short.memory) // the most of several: each sees its garbage at another moment
	fmt.Printf("%-9s %-15s %9.0f   at most %d MiB of memory, %+d MiB (gate %+d)\n", o.engine, "100,000 waiting", long.perSecond, long.memory, growth, memoryGate)
	if growth > memoryGate {
		return fmt.Sprintf("%d waiting take %d MiB more memory than %d, the gate is %d", longBacklog, growth, backlog, memoryGate), nil
	}
	return "", nil
}

// saturated has a client in every shop that makes the next event when all endpoints have the one before.
func (o *outlet) saturated(ctx context.Context) (string, error) {
	o.forget()
	begin := time.Now()
	errs := make([]error, len(o.shops))
	var group sync.WaitGroup
	for i, s := range o.shops {
		group.Go(func() {
			for n := 1; time.Since(begin) < o.duration() && ctx.Err() == nil && errs[i] == nil; n++ {
				if errs[i] = o.sell(s); errs[i] == nil {
					errs[i] = s.await(n * endpointsPerShop)
				}
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	o.report("saturated", time.Since(begin))
	return "", nil
}

// steady makes events at a moderate rate, whether the server keeps up or not.
func (o *outlet) steady(ctx context.Context) (string, error) {
	o.forget()
	begin := time.Now()
	tick := time.NewTicker(time.Second / steadyEvents)
	defer tick.Stop()
	n := int(o.duration().Seconds()) * steadyEvents
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-tick.C:
			group.Go(func() { errs[i] = o.sell(o.shops[i%len(o.shops)]) })
		}
	}
	group.Wait()
	if err := errors.Join(append(errs, o.settled(n*endpointsPerShop))...); err != nil {
		return "", err
	}
	if p50 := o.report("steady", time.Since(begin)); p50 > delayGate {
		return fmt.Sprintf("p50 from commit to receipt is %s, the gate is %s", p50, delayGate), nil
	}
	return "", nil
}

// duration is how long one of the loads takes: as all rounds of another scenario together.
func (o *outlet) duration() time.Duration { return time.Duration(*rounds**seconds) * time.Second }

// report prints a line of what has come since forget, and returns the median delay.
func (o *outlet) report(name string, took time.Duration) time.Duration {
	var delays []time.Duration
	for _, s := range o.shops {
		delays = append(delays, s.delays...)
	}
	slices.Sort(delays)
	p50, p99 := delays[len(delays)/2], delays[len(delays)*99/100]
	fmt.Printf("%-9s %-15s %9.0f   commit to receipt: p50 %.1f ms, p99 %.1f ms\n", o.engine, name, float64(len(delays))/took.Seconds(),
		float64(p50.Microseconds())/1000, float64(p99.Microseconds())/1000)
	return p50
}

// burst is how a number of webhooks went.
type burst struct {
	perSecond float64       // between the first and the last one that came
	cpu       time.Duration // of who sent them
	memory    int64         // of the server, at most, in MiB
}

// drain lets the server empty a backlog; it ends when the result of each delivery is in the database.
func (o *outlet) drain(ctx context.Context, n int) (r burst, err error) {
	o.forget()
	if err := o.fill(ctx, n); err != nil {
		return r, err
	}
	pid := o.program.cmd.Process.Pid
	before, err := cpuTime(pid)
	if err != nil {
		return r, err
	}
	stop := watchMemory(pid)
	err = o.settled(n)
	r.memory = stop()
	if err != nil {
		return r, err
	}
	after, err := cpuTime(pid)
	r.cpu, r.perSecond = after-before, o.perSecond(n)
	return r, err
}

// post lets the floor post the same bytes to the same receivers.
func (o *outlet) post(ctx context.Context, n int) (r burst, err error) {
	o.forget()
	args := []string{"--post", strconv.Itoa(n), "--connections", strconv.Itoa(floorConnections)}
	for _, s := range o.shops {
		args = append(args, s.url)
	}
	cmd := exec.CommandContext(ctx, o.floorPath, args...)
	cmd.Stdin = strings.NewReader(o.body)
	if out, err := cmd.CombinedOutput(); err != nil {
		return r, fmt.Errorf("the floor: %w\n%s", err, out)
	}
	if err := o.settled(n); err != nil {
		return r, err
	}
	r.cpu, r.perSecond = cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), o.perSecond(n)
	return r, nil
}

// perSecond is the rate from the first to the last webhook that came.
func (o *outlet) perSecond(n int) float64 {
	first, last := o.shops[0].first, o.shops[0].last
	for _, s := range o.shops {
		if s.first.Before(first) {
			first = s.first
		}
		if s.last.After(last) {
			last = s.last
		}
	}
	return float64(n) / last.Sub(first).Seconds()
}

// watchMemory looks at the memory of a process until the function is called that returns the most it has seen, in MiB.
func watchMemory(pid int) (stop func() int64) {
	done, most := make(chan struct{}), make(chan int64)
	go func() {
		var peak int64
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				peak = max(peak, memoryOf(pid))
			case <-done:
				most <- max(peak, memoryOf(pid))
				return
			}
		}
	}()
	return func() int64 { close(done); return <-most }
}

// memoryOf returns the resident memory of a process in MiB.
func memoryOf(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(kib, 10, 64)
	return n >> 10
}
