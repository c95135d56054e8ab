package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Tests of a package that the runner is tried on, by what they do.
const (
	passes = "func TestPasses(t *testing.T) { fmt.Print(`no end of line`) }"
	fails  = "func TestFails(t *testing.T) {\n\tt.Logf(\"seed %d\", 7)\n\tt.Run(`left`, func(t *testing.T) { t.Error(`always broken`); t.Error(`more`) })\n" +
		"\tt.Run(`right`, func(t *testing.T) {})\n}"
	flaky = "func TestFlaky(t *testing.T) { once(t, `first`) }\n" +
		"func TestFlakyTwice(t *testing.T) { t.Run(fmt.Sprint(`at`, time.Now().UnixNano()), func(t *testing.T) { once(t, `second`); once(t, `third`) }) }"
	races    = "func TestRaces(t *testing.T) { n, end := 0, make(chan bool); go func() { n++; close(end) }(); n++; <-end; t.Log(n) }"
	panics   = "func TestPanics(t *testing.T) { t.Run(`in`, func(t *testing.T) { var m map[int]int; m[1] = 1 }) }"
	exits    = "func TestExits(t *testing.T) { os.Exit(1) }"
	hangs    = "func TestHangs(t *testing.T) { t.Run(`deep`, func(t *testing.T) { time.Sleep(time.Hour) }) }"
	mainFail = passes + "\nfunc TestMain(m *testing.M) { fmt.Println(`hello`); m.Run(); fmt.Println(`one gap`); os.Exit(1) }"
	mainLate = flaky + "\nfunc TestMain(m *testing.M) { m.Run(); panic(`too late`) }"
	// Together its tests must leave two files, which a run of no test looks for.
	judges = flaky + "\nfunc TestMain(m *testing.M) { code := m.Run(); if flag.Lookup(`test.run`).Value.String() == `^$` { if _, err := os.Stat(`%s`); err != nil " +
		"{ fmt.Println(`one gap`); code = 1 } }; os.Exit(code) }"
	shares  = flaky + "\nfunc TestMain(m *testing.M) { code := m.Run(); if flag.Lookup(`test.run`).Value.String() == `` { fmt.Println(`shared by many tests: a gap`); code = 1 }; os.Exit(code) }"
	unbuilt = "func TestUnbuilt(t *testing.T) { nowhere() }"
	fuzzes  = "func FuzzFails(f *testing.F) { f.Add(`x`); f.Fuzz(func(t *testing.T, s string) { t.Fatal(`bad seed`) }) }"
	example = "func Example() { fmt.Println(`a`) // Output: b\n}"
	// The child may be gone before the test itself has heeded the interrupt, which then must not pass.
	spawns = "func TestSpawns(t *testing.T) { c := exec.Command(`sleep`, `300`); c.Start(); " +
		"os.WriteFile(`pid`, fmt.Append(nil, c.Process.Pid), 0o600); c.Wait(); time.Sleep(time.Hour) }"
)

// once fails until the file is there, and makes it.
const once = `
func once(t *testing.T, file string) {
	if _, err := os.Stat(file); err != nil {
		os.WriteFile(file, nil, 0o600)
		t.Fatal("not yet ", file)
	}
}
var _, _, _, _ = flag.Lookup, fmt.Sprint, time.Now, exec.Command
`

// tree is a module with a package for each entry.
func tree(t *testing.T, packages map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/tiny\n\ngo 1.26.0\n")
	write("empty/empty.go", "package empty\n")
	for name, text := range packages {
		write(name+"/"+name+"_test.go", "package "+name+"\nimport (\"flag\"; \"fmt\"; \"os\"; \"os/exec\"; \"testing\"; \"time\")\n"+text+once)
	}
	return root
}

type ended struct {
	code      int
	out, last string
	run       *run
}

// do runs the steps in a module.
func do(t *testing.T, ctx context.Context, root string, strict bool, words ...string) ended {
	t.Helper()
	var out bytes.Buffer
	r := newRun(&out)
	r.root, r.dir, r.strict, r.took = root, filepath.Join(root, "logs"), strict, "verify 12.0s"
	var err error
	if r.steps, err = parse(words); err != nil {
		t.Fatal(err)
	}
	code, err := r.all(ctx)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	last, err := os.ReadFile(filepath.Join(r.dir, "last.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "\n"+string(last)) {
		t.Errorf("the output does not end with last.txt:\n%s", &out)
	}
	return ended{code: code, out: out.String(), last: string(last), run: r}
}

// is compares the code and the very last line, and looks for what else must be said, and must not.
func (e ended) is(t *testing.T, code int, count string, said ...string) {
	t.Helper()
	if e.code != code {
		t.Errorf("the code is %d, and should be %d", e.code, code)
	}
	if !regexp.MustCompile(`\n` + count + `\n$`).MatchString(e.last) {
		t.Errorf("the last line is not %q", count)
	}
	for _, s := range said {
		if not, ok := strings.CutPrefix(s, "!"); strings.Contains(e.last, not) == ok {
			t.Errorf("said or not said: %q", s)
		}
	}
	if t.Failed() {
		t.Logf("%s", e.out)
	}
}

// all is a step over packages.
func all(packages ...string) []string {
	words := []string{"step:all", "go", "test", "-vet=off", "-timeout", "60s", "--"}
	for _, p := range packages {
		words = append(words, "./"+p)
	}
	return words
}

func TestRun_WhatPassesOnlyWhenRunAgainIsGreenAndNamed(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"flaky": flaky, "good": passes})
	e := do(t, t.Context(), root, false, all("...")...)
	e.is(t, 0, "3 passed, 0 failed", "passed only when run again:\n",
		"flaky TestFlaky (all) failed 1×, then passed: flaky/flaky_test.go:", ": not yet first\n",
		"flaky TestFlakyTwice/at", " (all) failed 2×, then passed: flaky/flaky_test.go:", ": not yet second\n",
		"took: verify 12.0s, all ", "again ", "(3 runs)", "!failed:\n", "!was run again")
	if !strings.Contains(e.out, "ok  \texample.org/tiny/good\t") || !strings.Contains(e.out, "?   \texample.org/tiny/empty\t[no test files]") {
		t.Errorf("the lines of go test are missing:\n%s", e.out)
	}
	named, err := os.ReadFile(filepath.Join(root, "logs/flaky.txt"))
	if err != nil || strings.Count(string(named), "\n") != 2 || !strings.Contains(string(named), "TestFlaky (all)") {
		t.Errorf("flaky.txt holds %q (%v)", named, err)
	}
	events, err := os.ReadFile(filepath.Join(root, "logs/all.json"))
	if err != nil || !bytes.Contains(events, []byte(`"no end of line`)) {
		t.Errorf("the events are not kept: %v", err)
	}
	again, err := os.ReadFile(filepath.Join(root, "logs/again-1.log"))
	if err != nil || !strings.HasPrefix(string(again), "go test -json -count=1 -vet=off -timeout 60s -run ^Test") {
		t.Errorf("it was run again as %q (%v)", again, err)
	}

	do(t, t.Context(), root, false, all("good")...).is(t, 0, "1 passed, 0 failed", "!again", "!flaky")
	if _, err := os.Stat(filepath.Join(root, "logs/flaky.txt")); err == nil {
		t.Error("flaky.txt of the run before is still there")
	}
}

func TestRun_WhatAlwaysFailsStaysRed(t *testing.T) {
	t.Parallel()
	e := do(t, t.Context(), tree(t, map[string]string{"bad": fails, "fuzz": fuzzes, "example": example, "flaky": flaky}), false, all("...")...)
	e.is(t, 1, "3 passed, 3 failed", "failed:\n", // left's neighbour and the flaky ones passed
		"bad TestFails/left (all) failed 3×: bad/bad_test.go:5: always broken\n", "!TestFails (all)", "!seed 7",
		"fuzz FuzzFails/seed#0 (all) failed 3×: fuzz/fuzz_test.go:3: bad seed\n", "example Example (all) failed 3×: got: a want: b\n",
		"passed only when run again:\n", "TestFlaky (all) failed 1×", "TestFlakyTwice/at", "(9 runs)")
	if !strings.Contains(e.out, "    bad_test.go:5: more\n") {
		t.Errorf("the output of what failed is missing:\n%s", e.out)
	}
}

// What a package asks of all its tests together is asked when the last of them has passed, and not before.
func TestRun_JudgesAPackageWhenAllHavePassed(t *testing.T) {
	t.Parallel()
	do(t, t.Context(), tree(t, map[string]string{"odd": fmt.Sprintf(judges, "third")}), false, all("odd")...).
		is(t, 0, "2 passed, 0 failed", "(3 runs)", "passed only when run again:\n", "!gap")
	do(t, t.Context(), tree(t, map[string]string{"odd": fmt.Sprintf(judges, "fourth")}), false, all("odd")...).
		is(t, 1, "2 passed, 1 failed", "failed:\n  odd (all) failed outside its tests: one gap\n", "passed only when run again:\n")
}

// What is wrong with what many tests share is red, though no test that is run again sees it.
func TestRun_HearsOfWhatManyTestsShare(t *testing.T) {
	t.Parallel()
	do(t, t.Context(), tree(t, map[string]string{"odd": shares}), false, all("odd")...).
		is(t, 1, "0 passed, 3 failed", "odd (all) failed outside its tests: shared by many tests: a gap\n")
}

func TestRun_StrictRunsNothingAgain(t *testing.T) {
	t.Parallel()
	do(t, t.Context(), tree(t, map[string]string{"flaky": flaky}), true, all("flaky")...).
		is(t, 1, `0 passed, 2 failed`, "TestFlaky (all): flaky/", "nothing was run again: this run is strict", "!only when run again")
}

func TestRun_ElevenFailuresAreNotRunAgain(t *testing.T) {
	t.Parallel()
	for _, n := range []int{mostFailures, mostFailures + 1} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "func TestFlaky%d(t *testing.T) { once(t, `f%d`) }\n", i, i)
		}
		half := strings.Index(text.String(), "func TestFlaky5")
		root := tree(t, map[string]string{"one": text.String()[:half], "two": text.String()[half:]})
		// Of both steps together.
		e := do(t, t.Context(), root, false, append(all("one"), all("two")...)...)
		if n == mostFailures {
			e.is(t, 0, "10 passed, 0 failed", "(10 runs)")
		} else {
			e.is(t, 1, "0 passed, 11 failed", "nothing was run again: more than 10 tests failed", "!only when run again")
		}
	}
}

func TestRun_WhatIsNoChanceIsNotRunAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		said   []string
		failed int // beside the two flaky ones
	}{
		"panic":    {panics, []string{"odd (all) panicked or exited: odd/odd_test.go:3: panic: assignment to entry in nil map", "odd TestPanics/in (all)"}, 2},
		"exit":     {exits, []string{"odd (all) panicked or exited\n", "odd TestExits (all): did not end"}, 2},
		"time":     {hangs, []string{"odd (all) ran out of time: panic: test timed out after 2s", "odd TestHangs/deep (all)"}, 2},
		"TestMain": {mainFail, []string{"odd (all) failed outside its tests: one gap"}, 1},
		"late":     {mainLate, []string{"odd (all) panicked or exited: odd/odd_test.go:5: panic: too late", "odd TestFlaky (all)"}, 3},
		"build":    {unbuilt, []string{"odd (all) was not built: odd/odd_test.go:3: undefined: nowhere"}, 1},
		"race":     {races, []string{"odd (all) has a data race: odd/odd_test.go:3", "odd TestRaces (all)"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := all("flaky", "odd")
			words[slices.Index(words, "60s")] = "2s"
			if name == "race" {
				words = slices.Insert(slices.Insert(words, 1, "CGO_ENABLED=1"), 4, "-race", "-trimpath")
			}
			e := do(t, t.Context(), tree(t, map[string]string{"flaky": flaky, "odd": c.text}), false, words...)
			e.is(t, 1, fmt.Sprintf(`\d+ passed, %d failed`, 2+c.failed),
				append(c.said, "flaky TestFlaky (all): flaky/", "nothing was run again: odd ", "!only when run again")...)
		})
	}
}

// A panic may come only when the test runs again: it is red at once, too.
func TestRun_APanicWhenRunAgainIsRed(t *testing.T) {
	t.Parallel()
	text := "func TestFirst(t *testing.T) { if _, err := os.Stat(`there`); err == nil { panic(`later`) }; once(t, `there`) }"
	do(t, t.Context(), tree(t, map[string]string{"odd": text}), false, all("odd")...).
		is(t, 1, `0 passed, 2 failed`, "odd (all) panicked or exited: odd/odd_test.go:3: panic: later", "(1 runs)", "no more was run again: odd panicked", "!only when run again")
}

// A test that skips, or is not there any more, has not passed.
func TestRun_WhatDoesNotRunAgainHasNotPassed(t *testing.T) {
	t.Parallel()
	text := "func TestFirst(t *testing.T) { if _, err := os.Stat(`there`); err == nil { t.Skip() }; once(t, `there`) }"
	do(t, t.Context(), tree(t, map[string]string{"odd": text}), false, all("odd")...).
		is(t, 1, `0 passed, 1 failed`, "odd TestFirst (all) failed 3×: odd/", "!only when run again")
}

// What go test says by its exit code alone is red, and so is a package of which it says no end.
func TestRun_TheExitCodeHasTheLastWord(t *testing.T) {
	t.Parallel()
	for text, said := range map[string]string{
		"echo sorry >&2; exit 3": "the step (all) go test ended with exit status 3: sorry",
		"echo no event; exit 1":  "the step (all) go test ended with exit status 1: no event",
		`echo '{"Action":"start","Package":"a"}'; echo '{"Action":"run","Package":"a","Test":"TestA"}'`: "a (all) never ended\n",
		"kill -9 $$": "the step (all) go test ended with signal: killed\n",
	} {
		root := tree(t, nil)
		program := filepath.Join(root, "fake")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		do(t, t.Context(), root, false, "step:all", program, "test", "--", "./...").is(t, 1, `0 passed, [12] failed`, said, "!(1 runs)")
	}
}

func TestRun_TheLastStepWaitsForWhatRunsBeside(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"first": passes, "last": "func TestLast(t *testing.T) { if _, err := os.Stat(`../built`); err != nil { t.Fatal(err) } }"})
	words := append([]string{"beside:build", "BY=me", "sh", "-c", "sleep 1; echo $BY >built; echo broken; exit 1"}, all("first")...)
	e := do(t, t.Context(), root, false, append(words, all("last")...)...)
	e.is(t, 0, "2 passed, 0 failed", "build 1.", "(exit status 1: ", "build.log)")
	if log, err := os.ReadFile(filepath.Join(root, "logs/build.log")); err != nil || string(log) != "broken\n" {
		t.Errorf("its log is %q (%v)", log, err)
	}
}

func TestRun_StepsTogetherRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	// Each is there when it has begun, and ends when the other is there as well.
	meets := func(name, other string) string {
		return "func Test(t *testing.T) { os.WriteFile(`../" + name + "`, nil, 0o600); for range 1200 { if _, err := os.Stat(`../" + other +
			"`); err == nil { return }; time.Sleep(50 * time.Millisecond) }; t.Fatal(`alone`) }"
	}
	root := tree(t, map[string]string{"first": meets("a", "b"), "second": meets("b", "a"), "third": fails})
	words := append(all("first"), "with:other")
	words = append(append(words, all("second")[1:]...), all("third")...)
	do(t, t.Context(), root, false, words...).is(t, 1, "3 passed, 1 failed", "third TestFails/left (all) failed 3×")
}

func TestRun_AnInterruptLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"long": spawns})
	ctx, stop := context.WithCancel(t.Context())
	pid := filepath.Join(root, "long/pid")
	go func() {
		for range 600 {
			if text, err := os.ReadFile(pid); err == nil && len(text) > 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		stop()
	}()
	e := do(t, ctx, root, false, append(append([]string{"beside:build", "sleep", "300"}, all("long")...), all("empty")...)...)
	e.is(t, 130, `0 passed, \d failed`, "interrupted\n", "!again ")
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	state, err := os.ReadFile("/proc/" + string(text) + "/stat") // a zombie waits for its parent alone
	if err == nil && !strings.Contains(string(state), ") Z ") {
		t.Errorf("the child of the test lives: %s", state)
	}
}

func TestLast_HasFortyLinesAtMost(t *testing.T) {
	t.Parallel()
	for flaky := range mostFailures + 1 {
		for _, red := range []int{0, 1, mostFailures - flaky, 500} {
			if red > mostFailures && flaky > 0 {
				continue // nothing is run again
			}
			r := newRun(&bytes.Buffer{})
			o := &outcome{step: &step{name: "all"}}
			for i := range 50 {
				o.packages = append(o.packages, testedPackage{step: o.step, pkg: "p", seconds: float64(i)})
			}
			for range flaky {
				f := &failure{step: o.step, pkg: "p", test: "TestFlaky", passed: true, times: 1}
				o.failed, r.flaky = append(o.failed, f), append(r.flaky, f)
			}
			for range red {
				o.failed = append(o.failed, &failure{step: o.step, pkg: "p", test: "TestRed", message: strings.Repeat("long ", 100), times: 3})
			}
			r.table = table{}
			for i := range 50 {
				r.times = append(r.times, stepTime{name: fmt.Sprint("step", i), seconds: 1000})
			}
			r.done, r.reason = []*outcome{o, {step: o.step, broken: []trouble{{step: o.step, pkg: "p", what: "panicked"}}}}, "it panicked"
			lines := r.lines(130)
			for _, lines := range [][]string{lines, r.lines(1)} {
				if len(lines) > 40 {
					t.Errorf("%d flaky and %d red ones take %d lines", flaky, red, len(lines))
				}
			}
			if want := fmt.Sprintf("%d passed, %d failed", flaky, red+1); lines[len(lines)-1] != want {
				t.Errorf("the last line is %q, not %q", lines[len(lines)-1], want)
			}
		}
	}
}

func TestParse_RefusesWhatIsNoStep(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"", "go test", "step:a", "step:a go test ./...", "step:a go vet -- ./...", "beside:a go build", "step:a go test --", "with:a go test -- ./a", "beside:a go build with:b go test -- ./a"} {
		if _, err := parse(strings.Fields(words)); err == nil {
			t.Errorf("it takes %q", words)
		}
	}
}

func TestAgain_KeepsTheFlagsOfTheStep(t *testing.T) {
	t.Parallel()
	steps, err := parse(strings.Fields("step:a A=b go test -race -gcflags=x/...=-race=false -run X -skip Y -run=Z -timeout 1m -- ./a ./b"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(steps[0].tests(), " "); got != "go test -json -race -gcflags=x/...=-race=false -run X -skip Y -run=Z -timeout 1m ./a ./b" {
		t.Errorf("the step is %s", got)
	}
	if got := strings.Join(steps[0].again("m/a", "TestA"), " "); got != "go test -json -count=1 -race -gcflags=x/...=-race=false -skip Y -timeout 1m -run ^TestA$ m/a" {
		t.Errorf("again it is %s", got)
	}
}
