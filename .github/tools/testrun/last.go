package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	mostNamed   = 11 // of what failed
	mostSlowest = 10
)

// last prints the last lines, of which the very last one counts: "12 passed, 1 failed".
func (r *run) last(code int) error {
	text := strings.Join(r.lines(code), "\n") + "\n"
	if _, err := io.WriteString(r.out, "\n"+text); err != nil {
		return err
	}
	if len(r.flaky) > 0 {
		if err := os.WriteFile(filepath.Join(r.dir, "flaky.txt"), []byte(strings.Join(r.named(r.flaky), "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.dir, "last.txt"), []byte(text), 0o644)
}

func (r *run) lines(code int) []string {
	lines := []string{"slowest packages:"}
	for _, p := range r.slowest() {
		lines = append(lines, fmt.Sprintf("  %7.1fs %s (%s)", p.seconds, r.short(p.pkg), p.step.name))
	}
	var times []string
	if r.took != "" {
		times = append(times, r.took)
	}
	for _, t := range append(r.times, stepTime{name: "make test", seconds: time.Since(r.begun).Seconds()}) {
		times = append(times, t.String())
	}
	lines = append(lines, "took: "+strings.Join(times, ", "), "logs: "+r.dir)
	if code != 130 {
		lines = append(lines, r.slower()...)
	}

	red := r.troubles()
	passed := len(r.flaky)
	var failed []*failure
	for _, o := range r.done {
		passed += len(o.passed)
		for _, f := range o.failed {
			if !f.passed {
				failed = append(failed, f)
			}
		}
	}
	red = append(red, r.named(failed)...)
	if len(red) > 0 {
		lines = append(lines, "failed:")
		lines = append(lines, red[:min(len(red), mostNamed)]...)
		if more := len(red) - mostNamed; more > 0 {
			lines = append(lines, fmt.Sprintf("  and %d more, in the logs", more))
		}
	}
	if r.reason != "" {
		lines = append(lines, r.reason)
	}
	if len(r.flaky) > 0 {
		lines = append(lines, "passed only when run again:")
		lines = append(lines, r.named(r.flaky)...)
	}
	if code == 130 {
		lines = append(lines, "interrupted")
	}
	return append(lines, fmt.Sprintf("%d passed, %d failed", passed, max(r.red(), min(code, 1))))
}

func (r *run) slowest() []testedPackage {
	var all []testedPackage
	for _, o := range r.done {
		all = append(all, o.packages...)
	}
	slices.SortStableFunc(all, func(a, b testedPackage) int { return cmp.Compare(b.seconds, a.seconds) })
	return all[:min(len(all), mostSlowest)]
}

func (r *run) troubles() []string {
	var lines []string
	for _, o := range r.done {
		for _, t := range o.broken {
			name := r.short(t.pkg)
			if t.pkg == "" {
				name = "the step"
			}
			lines = append(lines, "  "+joined(name+" ("+t.step.name+") "+t.what, t.at, t.message))
		}
	}
	return lines
}

// named has a line for each test, with how often it failed where that is more than once.
func (r *run) named(failures []*failure) []string {
	var lines []string
	for _, f := range failures {
		name := r.short(f.pkg) + " " + f.test
		switch {
		case f.passed:
			name += fmt.Sprintf(" (%s) failed %d×, then passed", f.step.name, f.times)
		case f.times > 1:
			name += fmt.Sprintf(" (%s) failed %d×", f.step.name, f.times)
		default:
			name += " (" + f.step.name + ")"
		}
		lines = append(lines, "  "+joined(name, f.at, f.message))
	}
	return lines
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}
