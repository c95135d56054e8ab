package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// timed is a run that took so long.
func timed(t *testing.T, took string) *run {
	t.Helper()
	rest := &step{name: "rest"}
	r := newRun(&bytes.Buffer{})
	r.took, r.dir = took, t.TempDir()
	r.times = []stepTime{{name: "contract", seconds: 300}, {name: "rest", seconds: 900, note: "odd"}, {name: "again", seconds: 500}}
	r.done = []*outcome{{step: rest, packages: []testedPackage{
		{step: rest, pkg: "ads", seconds: 9}, {step: rest, pkg: "store", seconds: 130}, {step: rest, pkg: "server", seconds: 200.4}, {step: rest, pkg: "sdk", seconds: 61},
	}}}
	return r
}

func TestSlower_NamesWhatGrewByMoreThanHalfAndAMinute(t *testing.T) {
	t.Parallel()
	r := timed(t, "verify 100s")
	for _, c := range []struct {
		table table
		want  string
	}{
		// By more than half, or than a minute, but not both: and the first by both.
		{table{"verify": 35, "contract": 201, "rest": 601, "store (rest)": 87, "server (rest)": 134, "sdk (rest)": 40}, "  verify 100s, was 35s"},
		{table{"verify": 66, "contract": 300, "rest": 599, "store (rest)": 69, "server (rest)": 130, "sdk (rest)": 1}, "  rest 900s, was 599s;  server (rest) 200s, was 130s;  store (rest) 130s, was 69s"},
		{table{"verify": 100, "contract": 300, "rest": 900, "store (rest)": 130, "server (rest)": 200}, "  sdk (rest) 61s, is new"},
		{table{"verify": 900, "contract": 900, "rest": 9000, "store (rest)": 900, "server (rest)": 900, "sdk (rest)": 9, "gone (rest)": 900}, ""},
		{table{}, "  verify 100s, is new;  contract 300s, is new;  rest 900s, is new;  server (rest) 200s, is new;  store (rest) 130s, is new;  sdk (rest) 61s, is new"},
		{nil, ""},
	} {
		r.table = c.table
		lines := r.slower()
		if got := strings.Join(lines[min(1, len(lines)):], ";"); got != c.want {
			t.Errorf("%v: it says %q, not %q", c.table, got, c.want)
		}
		if c.want == "" {
			continue
		}
		if last := strings.Join(r.lines(0), "\n"); !strings.Contains(last, strings.Join(lines, "\n")+"\n") || !strings.HasSuffix(last, "0 passed, 0 failed") {
			t.Errorf("the last lines are\n%s", last)
		}
		if strings.Contains(strings.Join(r.lines(130), "\n"), "much slower") {
			t.Error("a run that was interrupted is compared")
		}
	}
}

func TestReadTable_RefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table.tsv")
	for _, text := range []string{"store", "store 12\n", "store\t12s\n", "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if read, err := readTable(path); err == nil {
			t.Errorf("%q is %v", text, read)
		}
	}
}

func TestWriteTimes_IsATableOfTheRun(t *testing.T) {
	t.Parallel()
	r := timed(t, "verify 35.2s")
	if err := r.writeTimes(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.dir, timesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, lines, _ := strings.Cut(string(text), "\n"); lines != "verify\t35\ncontract\t300\nrest\t900\nserver (rest)\t200\nstore (rest)\t130\nsdk (rest)\t61\n" {
		t.Errorf("it holds\n%s", text)
	}
	if r.table, err = readTable(path); err != nil || len(r.slower()) > 0 {
		t.Errorf("compared with itself it says %q (%v)", r.slower(), err)
	}

	for pkg, written := range map[int]bool{0: true, 1: false} { // of which the table has the second alone
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		r.done[0].packages[pkg].cached = true
		if err := r.writeTimes(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != written {
			t.Errorf("%s was in the cache: %v", r.done[0].packages[pkg].pkg, err)
		}
		r.done[0].packages[pkg].cached = false
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A run that is green and whole leaves a table, and no other does.
func TestRun_AGreenRunLeavesItsTimes(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"good": passes, "bad": fails})
	path := filepath.Join(root, "logs", timesFile)
	do(t, t.Context(), root, false, all("good")...).is(t, 0, "1 passed, 0 failed", "!much slower")
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "\nverify\t12\n") {
		t.Errorf("it holds %q (%v)", text, err)
	}
	e := do(t, t.Context(), root, false, all("good", "bad")...)
	e.is(t, 1, `\d passed, 1 failed`)
	if _, err := os.Stat(path); err == nil {
		t.Error("a red run leaves times")
	}
	for _, p := range append(e.run.done[0].packages, do(t, t.Context(), root, false, all("good")...).run.done[0].packages...) {
		if p.cached != strings.HasSuffix(p.pkg, "good") {
			t.Errorf("%s was in the cache: %v", p.pkg, p.cached)
		}
	}
}
