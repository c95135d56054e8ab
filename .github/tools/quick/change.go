package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// changes returns the paths of what differs from the base, with those that are gone, sorted.
func changes(base string) ([]string, error) {
	from, err := since(base)
	if err != nil {
		return nil, err
	}
	known, err := output("git", "diff", "--name-only", "--no-renames", "-z", from)
	if err != nil {
		return nil, err
	}
	unknown, err := output("git", "ls-files", "-o", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	paths := strings.FieldsFunc(known+unknown, func(r rune) bool { return r == 0 })
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// since is the last commit that the branch shares with the base. Without a main there is only what is not committed.
func since(base string) (string, error) {
	if base != "" {
		from, err := output("git", "merge-base", "HEAD", base)
		return strings.TrimSpace(from), err
	}
	for _, name := range []string{"origin/main", "main"} {
		if from, err := exec.Command("git", "merge-base", "HEAD", name).Output(); err == nil {
			return strings.TrimSpace(string(from)), nil
		}
	}
	return "HEAD", nil
}

// pkg is what go list says of a package.
type pkg struct {
	ImportPath                         string
	Dir                                string
	GoFiles                            []string // without those of tests
	Imports, TestImports, XTestImports []string
}

// list returns the packages of all modules of the workspace.
func list() ([]pkg, error) {
	out, err := output("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", "work")
	if err != nil {
		return nil, err
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func output(words ...string) (string, error) {
	var out bytes.Buffer
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return out.String(), nil
}
