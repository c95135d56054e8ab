// Command quick compiles, vets and tests what a change touches.
//
//	quick [-base main] [-gen "make gen"] go test -parallel 8
//
// A change is what the working tree has that the base has not: commits, what is not committed, and what git does not know yet. The base is where
// the branch left origin/main, or main if there is none. The words at the end are how tests are run.
//
// What imports a changed package, however far away, is compiled and vetted. The tests that run are those of the changed packages and of what imports
// one of them directly, and the rules of the tree. Of the suites that take minutes, only the files of the resources that changed run (suite.go). That
// is less than everything: make check is what says that nothing broke.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	base := flag.String("base", "", "the commit that the change is compared with")
	gen := flag.String("gen", "", "what writes the generated files, for a change of openapi/")
	flag.Parse()
	begun := time.Now()
	said, err := quick(*base, strings.Fields(*gen), flag.Args())
	for _, line := range said {
		fmt.Println(line)
	}
	if err != nil {
		fmt.Println("quick:", err)
		os.Exit(1)
	}
	fmt.Printf("quick: all passed in %.0fs. Not run: PostgreSQL, the race detector, and what is not named above\n", time.Since(begun).Seconds())
}

// quick returns what is to be said at the end, whether or not something failed.
func quick(base string, gen, test []string) (said []string, err error) {
	files, err := changes(base)
	if err != nil {
		return nil, err
	}
	if len(gen) > 0 && slices.ContainsFunc(files, func(file string) bool { return strings.HasPrefix(file, "openapi/") }) {
		before, err := generated()
		if err != nil {
			return nil, err
		}
		if err := call(gen...); err != nil {
			return nil, err
		}
		after, err := generated()
		if err != nil {
			return nil, err
		}
		if before != after {
			said = append(said, "what is generated was stale, and is written anew: commit it")
		}
		if files, err = changes(base); err != nil {
			return nil, err
		}
	}
	packages, err := list()
	if err != nil {
		return said, err
	}
	c, err := choose(files, packages, ".")
	if err != nil {
		return said, err
	}
	return said, c.run(test)
}

// run prints what it does, and goes on after a test that failed, but not with what cannot be compiled.
func (c *choice) run(test []string) error {
	fmt.Printf("changed: %s\n", cmp.Or(strings.Join(c.changed, " "), "no package"))
	if len(c.built) > 0 {
		fmt.Printf("== compile %d packages\n", len(c.built))
		if err := call(append([]string{test[0], "build"}, c.built...)...); err != nil {
			return err
		}
	}
	if len(c.affected) > 0 {
		fmt.Printf("== vet %d packages\n", len(c.affected))
		if err := call(append([]string{test[0], "vet"}, c.affected...)...); err != nil {
			return err
		}
	}
	fmt.Println("== test", strings.Join(c.tests, " "))
	failed := []error{call(append(slices.Clone(test), c.tests...)...)}
	for _, s := range c.suites {
		fmt.Printf("== %s: %s\n", s.pkg, strings.Join(s.files, " "))
		failed = append(failed, call(append(slices.Clone(test), "-run", "^("+strings.Join(s.tests, "|")+")$", s.pkg)...))
	}
	for _, dir := range c.tools {
		fmt.Println("== tool", dir)
		failed = append(failed, callWith([]string{"GOWORK=off"}, test[0], "test", "-C", dir, "./..."))
	}
	return errors.Join(failed...)
}

// call runs a command, which prints what it has to say.
func call(words ...string) error { return callWith(nil, words...) }

// callWith is call with variables of the environment.
func callWith(env []string, words ...string) error {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(words[:min(len(words), 2)], " "), err)
	}
	return nil
}

// generated is a text that differs when one of the generated files does.
func generated() (string, error) {
	var all strings.Builder
	files := []string{"store/outbox/event_type.gen.go"}
	sdk, err := filepath.Glob("sdk/*.gen.go")
	if err != nil {
		return "", err
	}
	files = append(files, sdk...)
	err = filepath.WalkDir("gen", func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&all, "%s\n%s\n", path, text)
	}
	return all.String(), nil
}
