package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gotest.tools/gotestsum/testjson"
)

// outcome is what came of a call of go test.
type outcome struct {
	step     *step
	failed   []*failure
	broken   []trouble
	passed   []string // tests and subtests
	packages []testedPackage
}

// failure is a test that failed, without those that failed because a subtest did.
type failure struct {
	step      *step
	pkg, test string
	at        string // file:line, or ""
	message   string // the first
	times     int    // it failed
	passed    bool   // in the end
}

// trouble is what is not run again.
type trouble struct {
	step    *step
	pkg     string
	what    string
	at      string
	message string
}

type testedPackage struct {
	step    *step
	pkg     string
	seconds float64
	cached  bool // it did not run
}

func (f *failure) root() string { root, _, _ := strings.Cut(f.test, "/"); return root }

func (o *outcome) passes(test string) bool { return slices.Contains(o.passed, test) }

// watch follows the events of go test, and prints what go test would print without -json.
type watch struct {
	root, module string
	out          io.Writer
	packages     map[string]*seen
	builds       map[string][]string // what the compiler said of a package

	mu     sync.Mutex // go test's errors come from a goroutine of their own
	stderr []string
}

// seen is what the events say of a package.
type seen struct {
	ended    testjson.Action // or ""
	build    string          // that failed
	finished bool            // its tests ended, with PASS or FAIL: neither a panic nor os.Exit did
	timeout  string          // in its words
	raced    bool
	cached   bool
	lines    []string // all
	own      []string // of no test
}

func newWatch(root string, out io.Writer) *watch {
	return &watch{root: root, module: modulePath(root), out: out, packages: map[string]*seen{}, builds: map[string][]string{}}
}

// Err is called for a line that is no event.
func (w *watch) Err(line string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stderr = append(w.stderr, line)
	_, err := fmt.Fprintln(w.out, line)
	return err
}

// Event is called for each event.
func (w *watch) Event(e testjson.TestEvent, x *testjson.Execution) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Action == testjson.ActionBuild {
		w.builds[e.ImportPath] = append(w.builds[e.ImportPath], e.Output)
		_, err := io.WriteString(w.out, e.Output)
		return err
	}
	if e.Package == "" {
		return nil
	}
	p := w.packages[e.Package]
	if p == nil {
		p = &seen{}
		w.packages[e.Package] = p
	}
	switch {
	case e.Action == testjson.ActionOutput:
		return w.output(p, e)
	case !e.Action.IsTerminal():
		return nil
	case e.PackageEvent():
		p.ended = e.Action
		var build struct{ FailedBuild string }
		if err := json.Unmarshal(e.Bytes(), &build); err != nil {
			return err
		}
		if p.build = build.FailedBuild; e.Action != testjson.ActionFail {
			p.lines, p.own = nil, nil // nobody asks
		}
		return nil
	case e.Action == testjson.ActionFail:
		if _, err := fmt.Fprintf(w.out, "== %s %s\n", short(w.module, e.Package), e.Test); err != nil {
			return err
		}
		for _, line := range x.OutputLines(x.Package(e.Package).LastFailedByName(e.Test)) {
			if !strings.HasPrefix(line, "=== ") {
				if _, err := io.WriteString(w.out, line); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *watch) output(p *seen, e testjson.TestEvent) error {
	p.lines = append(p.lines, e.Output)
	switch {
	case strings.HasPrefix(e.Output, "panic: test timed out after"), strings.HasPrefix(e.Output, "*** Test killed"):
		p.timeout = strings.TrimSpace(e.Output)
	case strings.Contains(e.Output, "WARNING: DATA RACE"), strings.Contains(e.Output, "race detected "):
		p.raced = true
	case e.Test == "" && strings.HasSuffix(e.Output, "\t(cached)\n"):
		p.cached = true
	}
	if e.Test != "" && p.timeout == "" { // where it timed out, the test has no end that would bring it
		return nil
	}
	if e.Output == "PASS\n" || e.Output == "FAIL\n" {
		p.finished = true
		p.own = append(p.own, e.Output)
		return nil
	}
	p.own = append(p.own, e.Output)
	_, err := io.WriteString(w.out, e.Output)
	return err
}

// judge says what the events come to. The exit code has the last word: what it calls a failure is red, even if no event does.
func (w *watch) judge(s *step, x *testjson.Execution, scanned, exit error) *outcome {
	o := &outcome{step: s}
	names := make([]string, 0, len(w.packages))
	for name := range w.packages {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p, tests := w.packages[name], x.Package(name)
		for _, test := range tests.Passed {
			o.passed = append(o.passed, test.Test.Name())
		}
		o.packages = append(o.packages, testedPackage{step: s, pkg: name, seconds: tests.Elapsed().Seconds(), cached: p.cached})
		if p.ended == testjson.ActionPass || p.ended == testjson.ActionSkip {
			continue
		}
		leaves := testjson.FilterFailedUnique(tests.Failed)
		broken := trouble{step: s, pkg: name}
		switch {
		case p.build != "":
			broken.what = "was not built"
			broken.at, broken.message = compiler(w.builds[p.build])
		case p.ended == "":
			broken.what = "never ended"
		case p.timeout != "":
			broken.what, broken.message = "ran out of time", p.timeout
		case p.raced:
			broken.what, broken.at = "has a data race", w.frame(p.lines)
		case !p.finished || panicked(p.own) != "":
			broken.what, broken.at, broken.message = "panicked or exited", w.frame(p.lines), panicked(p.lines)
		case sharedProblem(p.own) != "": // of all its tests: those that are run again have not done what came before
			broken.what, broken.message = "failed outside its tests", sharedProblem(p.own)
		case len(leaves) == 0:
			broken.what, broken.message = "failed outside its tests", outside(p.own)
		}
		if broken.what != "" {
			o.broken = append(o.broken, broken)
		}
		for _, leaf := range leaves {
			f := &failure{step: s, pkg: name, test: leaf.Test.Name(), times: 1}
			f.at, f.message = w.message(name, x.OutputLines(leaf))
			if leaf.Elapsed < 0 && f.message == "" {
				f.message = "did not end"
			}
			o.failed = append(o.failed, f)
		}
	}
	if scanned != nil {
		o.broken = append(o.broken, trouble{step: s, what: "the output of go test cannot be read", message: scanned.Error()})
	}
	if exit != nil && len(o.broken)+len(o.failed) == 0 {
		said := ""
		if len(w.stderr) > 0 {
			said = w.stderr[len(w.stderr)-1]
		}
		o.broken = append(o.broken, trouble{step: s, what: "go test ended with " + exit.Error(), message: said})
	}
	return o
}

// sharedProblem returns the first line that tells of what many tests share (tests/harness/shared.go), "" if there is none.
func sharedProblem(lines []string) string {
	for _, line := range lines {
		if strings.HasPrefix(line, "shared by many tests:") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

var (
	logged = regexp.MustCompile(`([\w.-]+\.go):(\d+): ?(.*)`)
	framed = regexp.MustCompile(`^\s+(\S+\.go:\d+)( \+0x|$)`)
)

// message returns the first message of a test that failed, and where it stands. What a test only logged, a seed say, is passed over.
func (w *watch) message(pkg string, lines []string) (at, message string) {
	dir := filepath.FromSlash(short(w.module, pkg))
	var rest []string
	for i, line := range lines {
		if strings.HasPrefix(line, "=== ") || strings.HasPrefix(strings.TrimSpace(line), "--- ") {
			continue
		}
		rest = append(rest, line)
		m := logged.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		number, _ := strconv.Atoi(m[2])
		source, found := sourceLine(filepath.Join(w.root, dir, m[1]), number)
		if strings.Contains(source, ".Log(") || strings.Contains(source, ".Logf(") {
			continue
		}
		if at = m[1] + ":" + m[2]; found {
			at = filepath.ToSlash(filepath.Join(dir, at))
		}
		for message = m[3]; strings.TrimSpace(message) == "" && i+1 < len(lines); i++ {
			message = lines[i+1]
		}
		return at, squeeze(message)
	}
	return "", squeeze(strings.Join(rest, " "))
}

func sourceLine(path string, number int) (string, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	lines := strings.Split(string(text), "\n")
	if number < 1 || number > len(lines) {
		return "", false
	}
	return lines[number-1], true
}

// frame is the first line of ours in a stack.
func (w *watch) frame(lines []string) string {
	root, err := filepath.Abs(w.root)
	if err != nil {
		return ""
	}
	for _, line := range lines {
		if m := framed.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			for _, ours := range []string{w.module + "/", root + "/"} {
				if at, ok := strings.CutPrefix(m[1], ours); ok {
					return at
				}
			}
		}
	}
	return ""
}

// panicked is the first thing that a panic said.
func panicked(lines []string) string {
	for _, line := range lines {
		if strings.HasPrefix(line, "time=") { // a server's log: it got over it
			continue
		}
		for _, word := range []string{"panic: ", "fatal error: "} {
			if i := strings.Index(line, word); i >= 0 {
				return squeeze(line[i:])
			}
		}
	}
	return ""
}

// compiler is the first thing that the compiler said, without the names of packages.
func compiler(lines []string) (at, message string) {
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if place := regexp.MustCompile(`^(\S+\.go:\d+)(:\d+)?: (.*)`).FindStringSubmatch(line); place != nil {
			return place[1], squeeze(place[3])
		}
		return "", squeeze(line)
	}
	return "", ""
}

// outside is what a package said of itself after its tests, or else before them.
func outside(own []string) string {
	after := own
	if i := slices.IndexFunc(own, func(line string) bool { return line == "PASS\n" || line == "FAIL\n" }); i >= 0 && i+2 < len(own) {
		after = own[i+1:]
	}
	for _, line := range after {
		if line = strings.TrimSpace(line); line != "" && line != "PASS" && line != "FAIL" && !strings.HasPrefix(line, "FAIL\t") {
			return squeeze(line)
		}
	}
	return ""
}

// squeeze makes one short line.
func squeeze(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > 160 {
		return string(line[:159]) + "…"
	}
	return string(line)
}

func short(module, pkg string) string {
	if pkg == module {
		return "."
	}
	return strings.TrimPrefix(pkg, module+"/")
}

// modulePath reads go.mod, without which names stay as long as they are.
func modulePath(root string) string {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(path)
		}
	}
	return ""
}
