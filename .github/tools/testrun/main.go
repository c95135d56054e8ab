// Command testrun runs the steps of make test, which are calls of go test, and then what failed in them once more, by itself.
//
//	testrun [-strict] [-took "verify 312s"] [-table .github/times.tsv] [-dir bin/test] \
//		beside:build CGO_ENABLED=1 go build -race ./... \
//		step:contract go test -parallel 8 -- ./tests/contract \
//		step:sqlite ENGINES=sqlite go test -- ./billing \
//		with:postgres ENGINES=postgres go test -- ./billing \
//		step:rest CGO_ENABLED=1 go test -race -- ./store ./server
//
// One step runs after the other, but for what stands with the one before it: that is for steps which leave a processor idle. A step's words are an
// environment and a command, and its packages after --. A step beside: starts with the first one, and the last one waits for it. It says nothing
// itself, since a step names what is not built.
//
// A test that failed is run again after all the others, with the flags of its step, twice at most. If it passes then, the run is green, and the last
// lines and <dir>/flaky.txt name it. Its package is run a last time with -run '^$', for a TestMain that judges all tests together: what it calls a
// failure is red. Nothing is run again after more than ten failures, a data race or a panic. Nor is it after a package that ran out of time, was not
// built or failed outside its tests. Nor is anything with -strict. The run is red then. All that was written is in <dir>: of each step the events of
// go test (.json), and what was printed of them (.log). The last lines, 40 at most, are in <dir>/last.txt as well.
//
// What takes much longer than the table says is named in the last lines (times.go).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	r := newRun(os.Stdout)
	flag.BoolVar(&r.strict, "strict", false, "run nothing again: what fails is red")
	flag.StringVar(&r.took, "took", "", "what went before, with its time, for the last lines")
	flag.StringVar(&r.dir, "dir", "bin/test", "where the logs go")
	path := flag.String("table", "", "the times that this run is compared with")
	flag.Parse()
	var err error
	if *path != "" {
		if r.table, err = readTable(*path); err != nil {
			fmt.Fprintln(os.Stderr, "testrun:", err)
			os.Exit(2)
		}
	}
	if r.steps, err = parse(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := r.all(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
	}
	os.Exit(code)
}

// step is a call of go test, or what runs beside them.
type step struct {
	name     string
	beside   bool
	with     bool // it runs at the same time as the step before it
	env      []string
	command  []string // with its flags
	packages []string
}

// parse reads steps as the command line has them.
func parse(words []string) ([]*step, error) {
	var steps []*step
	for _, word := range words {
		kind, name, _ := strings.Cut(word, ":")
		if kind == "step" || kind == "with" || kind == "beside" {
			steps = append(steps, &step{name: name, beside: kind == "beside", with: kind == "with"})
			continue
		}
		if len(steps) == 0 {
			return nil, fmt.Errorf("%q belongs to no step", word)
		}
		switch s := steps[len(steps)-1]; {
		case word == "--" && s.packages == nil:
			s.packages = []string{}
		case s.packages != nil:
			s.packages = append(s.packages, word)
		case len(s.command) == 0 && strings.Contains(word, "="):
			s.env = append(s.env, word)
		default:
			s.command = append(s.command, word)
		}
	}
	tests := 0
	for i, s := range steps {
		switch {
		case s.with && (i == 0 || steps[i-1].beside):
			return nil, fmt.Errorf("%s follows no step that it could run with", s.name)
		case len(s.command) == 0:
			return nil, fmt.Errorf("the step %s has no command", s.name)
		case !s.beside && (len(s.command) < 2 || s.command[1] != "test" || len(s.packages) == 0):
			return nil, fmt.Errorf("the step %s is no go test with packages after --", s.name)
		case !s.beside:
			tests++
		}
	}
	if tests == 0 {
		return nil, fmt.Errorf("there is no step")
	}
	return steps, nil
}

// tests is the command line of the whole step.
func (s *step) tests() []string {
	words := append([]string{s.command[0], "test", "-json"}, s.command[2:]...)
	return append(words, s.packages...)
}

// again is the command line for one of its tests alone, or for none if the name is empty.
func (s *step) again(pkg, test string) []string {
	words := []string{s.command[0], "test", "-json", "-count=1"}
	for i := 2; i < len(s.command); i++ {
		switch word := strings.TrimLeft(s.command[i], "-"); {
		case word == "run":
			i++
		case strings.HasPrefix(word, "run="):
		default:
			words = append(words, s.command[i])
		}
	}
	return append(words, "-run", "^"+test+"$", pkg)
}
