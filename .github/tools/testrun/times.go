package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	timesFile = "times.tsv" // what a green run took, as a table

	mostSlower = 6 // that are named

	// What has grown by more than both is named: less is what a busy machine does.
	slowerBy      = 0.5
	slowerAtLeast = 60 // seconds

	shortest = 10 // seconds; what takes less has no line in a table
)

// stepTime is what a step took.
type stepTime struct {
	name    string
	seconds float64
	note    string
}

func (t stepTime) String() string {
	text := fmt.Sprintf("%s %.1fs", t.name, t.seconds)
	if t.note != "" {
		text += " (" + t.note + ")"
	}
	return text
}

// table has the seconds of steps by their names, such as verify, and of packages, such as "store (rest)". A package may have tests in two steps.
type table map[string]float64

// readTable reads lines of a name, a tab and seconds. Lines that begin with # are for people.
func readTable(path string) (table, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := table{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		seconds, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no name with seconds", path, line)
		}
		t[name] = seconds
	}
	return t, nil
}

// measured has the times of this run: the steps in their order, then the packages, the longest first. Some are not what a run takes if go test
// had a package of the table in its cache.
func (r *run) measured() (all []stepTime, cached bool) {
	if name, took, ok := strings.Cut(r.took, " "); ok {
		if d, err := time.ParseDuration(took); err == nil {
			all = append(all, stepTime{name: name, seconds: d.Seconds()})
		}
	}
	for _, t := range r.times {
		if t.name != "again" {
			all = append(all, t)
		}
	}
	var packages []stepTime
	for _, o := range r.done {
		for _, p := range o.packages {
			name := r.short(p.pkg) + " (" + p.step.name + ")"
			packages = append(packages, stepTime{name: name, seconds: p.seconds})
			cached = cached || p.cached && r.table[name] > 0
		}
	}
	slices.SortStableFunc(packages, func(a, b stepTime) int { return cmp.Compare(b.seconds, a.seconds) })
	return append(all, packages...), cached
}

// slower names what takes much longer than the table says, and what it does not know. It makes no run red.
func (r *run) slower() []string {
	if r.table == nil {
		return nil
	}
	var lines []string
	all, _ := r.measured()
	for _, now := range all {
		was, known := r.table[now.name] // 0 if it is new
		if now.seconds-was <= slowerAtLeast || now.seconds <= was*(1+slowerBy) {
			continue
		}
		before := "is new"
		if known {
			before = fmt.Sprintf("was %.0fs", was)
		}
		lines = append(lines, fmt.Sprintf("  %s %.0fs, %s", now.name, now.seconds, before))
	}
	if more := len(lines) - mostSlower; more > 0 {
		lines = append(lines[:mostSlower], fmt.Sprintf("  and %d more", more))
	}
	if len(lines) > 0 {
		lines = append([]string{"much slower than .github/times.tsv says:"}, lines...)
	}
	return lines
}

// writeTimes writes what this run took, for make times, or nothing if that is not what a run takes.
func (r *run) writeTimes() error {
	all, cached := r.measured()
	if cached {
		return nil
	}
	text := "# Seconds that the steps and packages of a whole run take: make times writes those of the last make check.\n"
	for _, t := range all {
		if t.seconds >= shortest {
			text += fmt.Sprintf("%s\t%.0f\n", t.name, t.seconds)
		}
	}
	return os.WriteFile(filepath.Join(r.dir, timesFile), []byte(text), 0o644)
}
