package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// long are the suites that take minutes: of these only some files run, or none.
var long = []string{"./tests/contract", "./tests/e2e", "./tests/fault", "./tests/newcomer"}

// suite is the part of a suite that a change touches.
type suite struct {
	pkg          string
	files, tests []string
}

// suites returns the files of the long suites that changed, and those of the resources of which a file changed. A resource is one file in
// every room: store/content/blog_post.go and tests/contract/blog_post_schedule_test.go both belong to openapi/resources/blog_post.yaml.
func suites(files []string, root string) ([]suite, error) {
	resources, err := filepath.Glob(filepath.Join(root, "openapi/resources/*.yaml"))
	if err != nil {
		return nil, err
	}
	for i := range resources {
		resources[i] = stem(resources[i])
	}
	touched := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, ".go") || strings.HasPrefix(file, "openapi/resources/") {
			touched[resource(file, resources)] = true
		}
	}
	delete(touched, "")
	var found []suite
	for _, name := range long {
		s := suite{pkg: name}
		paths, err := filepath.Glob(filepath.Join(root, name, "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			base := filepath.Base(p)
			if !slices.Contains(files, path.Join(name, base)) && !touched[resource(base, resources)] {
				continue
			}
			tests, err := testsOf(p)
			if err != nil {
				return nil, err
			}
			if len(tests) > 0 {
				s.files, s.tests = append(s.files, base), append(s.tests, tests...)
			}
		}
		if len(s.tests) > 0 {
			found = append(found, s)
		}
	}
	return found, nil
}

// resource is the one that a file belongs to by its name, which begins with the resource's, or nothing. The longest name counts.
func resource(file string, resources []string) string {
	longest := ""
	for _, name := range resources {
		if strings.HasPrefix(stem(file)+"_", name+"_") && len(name) > len(longest) {
			longest = name
		}
	}
	return longest
}

// stem is a file's name without what it ends with.
func stem(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return strings.TrimSuffix(name, "_test")
}

var function = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

func testsOf(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, m := range function.FindAllSubmatch(text, -1) {
		if name := string(m[1]); name != "TestMain" {
			names = append(names, name)
		}
	}
	return names, err
}
