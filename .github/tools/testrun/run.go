package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gotest.tools/gotestsum/testjson"
)

const (
	mostFailures = 10 // that are run again; where there are more, chance is no reason
	mostTries    = 2  // for one of them

	patience = 5 * time.Second // with what is interrupted
)

// run is one call of the program.
type run struct {
	out    io.Writer
	dir    string // of the logs
	took   string // before this run
	table  table  // of times to compare with
	root   string // of the module under test
	strict bool
	steps  []*step

	begun  time.Time
	times  []stepTime
	done   []*outcome
	tries  int    // runs of single tests
	reason string // why what failed, or some of it, was not run again
	flaky  []*failure
}

func newRun(out io.Writer) *run { return &run{out: &printer{to: out}, root: ".", begun: time.Now()} }

// printer takes what steps print that run at the same time.
type printer struct {
	mu sync.Mutex
	to io.Writer
}

func (p *printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.to.Write(b)
}

// all runs everything, prints the last lines and returns the exit code.
func (r *run) all(ctx context.Context) (int, error) {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return 1, err
	}
	for _, stale := range []string{"last.txt", "flaky.txt", timesFile, "again-*"} {
		paths, err := filepath.Glob(filepath.Join(r.dir, stale))
		if err != nil {
			return 1, err
		}
		for _, path := range paths {
			_ = os.Remove(path)
		}
	}
	err := r.each(ctx)
	if err == nil && ctx.Err() == nil {
		err = r.again(ctx)
	}
	code := 0
	switch {
	case ctx.Err() != nil:
		code = 130
	case err != nil || r.red() > 0:
		code = 1
	}
	if written := r.last(code); err == nil {
		err = written
	}
	if err == nil && code == 0 && r.took != "" {
		err = r.writeTimes()
	}
	return code, err
}

// each runs the steps one after the other, those that belong together at once, and beside them what belongs there. A failure of one does not keep
// the next from running.
func (r *run) each(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	last := 0
	for i, s := range r.steps {
		if !s.beside && !s.with {
			last = i
		}
	}
	var beside []chan stepTime
	wait := func() {
		for _, ended := range beside {
			r.times = append(r.times, <-ended)
		}
		beside = nil
	}
	defer wait()
	defer stop() // what is still beside, after an error
	for i, s := range r.steps {
		if s.beside {
			ended, err := r.start(ctx, s)
			if err != nil {
				return err
			}
			beside = append(beside, ended)
			continue
		}
		if s.with { // it ran with its step
			continue
		}
		if i == last {
			wait()
		}
		if ctx.Err() != nil {
			return nil
		}
		together := r.steps[i : i+1]
		for n := i + 1; n < len(r.steps) && r.steps[n].with; n++ {
			together = r.steps[i : n+1]
		}
		if err := r.together(ctx, together); err != nil {
			return err
		}
	}
	return nil
}

// together runs steps at the same time, and returns when all have ended.
func (r *run) together(ctx context.Context, steps []*step) error {
	outcomes, times, failures := make([]*outcome, len(steps)), make([]stepTime, len(steps)), make([]error, len(steps))
	var running sync.WaitGroup
	for i, s := range steps {
		fmt.Fprintf(r.out, "== %s\n", s.name)
		running.Go(func() {
			begun := time.Now()
			outcomes[i], failures[i] = r.test(ctx, s, s.name, s.tests())
			times[i] = stepTime{name: s.name, seconds: time.Since(begun).Seconds()}
		})
	}
	running.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	r.done, r.times = append(r.done, outcomes...), append(r.times, times...)
	return nil
}

// start runs a step beside the others, whose time it sends in the end.
func (r *run) start(ctx context.Context, s *step) (chan stepTime, error) {
	log, err := os.Create(filepath.Join(r.dir, s.name+".log"))
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	cmd := r.cmd(ctx, s, s.command)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan stepTime, 1)
	go func() {
		defer log.Close()
		err := wait(ctx, cmd)
		took := stepTime{name: s.name, seconds: time.Since(begun).Seconds()}
		if err != nil {
			took.note = err.Error() + ": " + log.Name()
		}
		ended <- took
	}()
	return ended, nil
}

// cmd has a process group of its own: an interrupt reaches all that the command started.
func (r *run) cmd(ctx context.Context, s *step, words []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), s.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = patience
	return cmd
}

// wait waits for a command. Of one that was interrupted nothing is left: what does not heed it is killed.
func wait(ctx context.Context, cmd *exec.Cmd) error {
	err := cmd.Wait()
	if ctx.Err() == nil {
		return err
	}
	for until := time.Now().Add(patience); time.Now().Before(until) && syscall.Kill(-cmd.Process.Pid, 0) == nil; {
		time.Sleep(50 * time.Millisecond)
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	return err
}

// test runs go test -json to its end. Its log has the name.
func (r *run) test(ctx context.Context, s *step, name string, words []string) (*outcome, error) {
	events, err := os.Create(filepath.Join(r.dir, name+".json"))
	if err != nil {
		return nil, err
	}
	defer events.Close()
	log, err := os.Create(filepath.Join(r.dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	fmt.Fprintln(log, strings.Join(append(slices.Clone(s.env), words...), " "))

	cmd := r.cmd(ctx, s, words)
	// Pipes of our own, which Wait does not close: all that was written is read.
	stdout, wroteOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, wroteErr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = wroteOut, wroteErr
	err = cmd.Start()
	_, _ = wroteOut.Close(), wroteErr.Close()
	if err != nil {
		return nil, err
	}
	w := newWatch(r.root, io.MultiWriter(r.out, log))
	execution, scanned := testjson.ScanTestOutput(testjson.ScanConfig{
		Stdout:                   io.TeeReader(stdout, events),
		Stderr:                   stderr,
		Handler:                  w,
		IgnoreNonJSONOutputLines: true,
		Stop:                     func() { _ = cmd.Cancel() },
	})
	return w.judge(s, execution, scanned, wait(ctx, cmd)), nil
}

// again runs what failed once more, each test by itself. Subtests run with their test. Their names may hold what is random, so alone there might be
// other ones, or none. Alone they may also pass where what their neighbours left behind broke them.
func (r *run) again(ctx context.Context) error {
	var failed []*failure
	broken := ""
	for _, o := range r.done {
		failed = append(failed, o.failed...)
		if len(o.broken) > 0 && broken == "" {
			broken = r.short(o.broken[0].pkg) + " " + o.broken[0].what
		}
	}
	switch {
	case broken == "" && len(failed) == 0:
		return nil
	case r.strict:
		r.reason = "nothing was run again: this run is strict"
	case broken != "":
		r.reason = "nothing was run again: " + strings.TrimSpace(broken)
	case len(failed) > mostFailures:
		r.reason = fmt.Sprintf("nothing was run again: more than %d tests failed", mostFailures)
	}
	if r.reason != "" {
		return nil
	}
	begun := time.Now()
	defer func() {
		r.times = append(r.times, stepTime{name: "again", seconds: time.Since(begun).Seconds(), note: fmt.Sprintf("%d runs", r.tries)})
	}()
	for len(failed) > 0 {
		first := failed[0]
		same := func(f *failure) bool { return f.step == first.step && f.pkg == first.pkg && f.root() == first.root() }
		var together []*failure
		for _, f := range failed {
			if same(f) {
				together = append(together, f)
			}
		}
		failed = slices.DeleteFunc(failed, same)
		for try := range mostTries {
			r.tries++
			name := fmt.Sprintf("again-%d", r.tries)
			fmt.Fprintf(r.out, "== run again: %s %s (%d of %d)\n", r.short(first.pkg), first.root(), try+1, mostTries)
			o, err := r.test(ctx, first.step, name, first.step.again(first.pkg, first.root()))
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return nil
			}
			if len(o.broken) > 0 {
				r.done = append(r.done, &outcome{step: o.step, broken: o.broken})
				r.reason = "no more was run again: " + r.short(o.broken[0].pkg) + " " + o.broken[0].what
				return nil
			}
			passed := len(o.failed) == 0 && o.passes(first.root())
			for _, f := range together {
				if f.passed = passed; !passed {
					f.times++
				}
			}
			if passed {
				r.flaky = append(r.flaky, together...)
				break
			}
		}
	}
	return r.whole(ctx)
}

// whole runs packages once more without any test, if everything that failed in them has passed in the end. Only now can their TestMain judge all
// tests together.
func (r *run) whole(ctx context.Context) error {
	if r.red() > 0 {
		return nil
	}
	asked := map[string]bool{}
	for _, f := range r.flaky {
		name := f.step.name + " " + f.pkg
		if asked[name] {
			continue
		}
		asked[name] = true
		fmt.Fprintf(r.out, "== run again: %s without tests\n", r.short(f.pkg))
		o, err := r.test(ctx, f.step, fmt.Sprintf("again-whole-%d", len(asked)), f.step.again(f.pkg, ""))
		if err != nil {
			return err
		}
		r.done = append(r.done, &outcome{step: o.step, broken: o.broken})
	}
	return nil
}

// red counts what makes the run red.
func (r *run) red() int {
	n := 0
	for _, o := range r.done {
		n += len(o.broken)
		for _, f := range o.failed {
			if !f.passed {
				n++
			}
		}
	}
	return n
}

// short is a package's path within the module.
func (r *run) short(pkg string) string { return short(modulePath(r.root), pkg) }
