// Command compat refuses an API document that breaks what an earlier one promised.
//
//	GOWORK=off go run . released.json current.json allowed.yaml
//	GOWORK=off go run . -store current.json released.json
//
// The second form is part of a release: it stores what was promised, without the texts.
//
// The comparison is oasdiff's. What it cannot know are our extensions: the dates of a deprecation, and the scopes that a key
// needs.
package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
	"github.com/oasdiff/oasdiff/load"
	"go.yaml.in/yaml/v3"
)

// notice is how many days an operation is deprecated before it may go.
const notice = 183

func main() {
	if len(os.Args) == 4 && os.Args[1] == "-store" {
		if err := keep(os.Args[2], os.Args[3]); err != nil {
			fail(err.Error())
		}
		return
	}
	if len(os.Args) != 4 {
		fail("compat released.json current.json allowed.yaml, or compat -store current.json released.json")
	}
	var texts [3][]byte
	for i := range texts {
		text, err := os.ReadFile(os.Args[i+1])
		if err != nil {
			fail(err.Error())
		}
		texts[i] = text
	}
	breaks, err := compare(texts[0], texts[1], texts[2])
	if err != nil {
		fail(err.Error())
	}
	if len(breaks) > 0 {
		fail("The API document breaks what was released. Deprecate the operation and keep it for 183 days, or change it compatibly:\n  " + strings.Join(breaks, "\n  "))
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}

// allowance is a break that is meant, at every place where it shows. One that is not needed any more is an error.
type allowance struct {
	Breaks string `yaml:"breaks"` // a regular expression for whole lines
	Reason string `yaml:"reason"`
	Since  string `yaml:"since"` // YYYY-MM-DD
}

// compare returns what clients of the released document would trip over, a line for each.
func compare(released, current, allowed []byte) ([]string, error) {
	old, err := read(released)
	if err != nil {
		return nil, fmt.Errorf("the released document: %w", err)
	}
	now, err := read(current)
	if err != nil {
		return nil, fmt.Errorf("the current document: %w", err)
	}
	breaks, err := found(old, now)
	if err != nil {
		return nil, err
	}
	breaks = append(breaks, scopes(old.Spec, now.Spec)...)
	slices.Sort(breaks)
	return without(slices.Compact(breaks), allowed)
}

// found is what oasdiff finds. Of what it only warns we refuse all but the values that an answer may newly have: the
// documentation asks clients to expect them.
func found(old, now *load.SpecInfo) ([]string, error) {
	difference, sources, err := diff.GetPathsDiff(diff.NewConfig(), []*load.SpecInfo{old}, []*load.SpecInfo{now})
	if err != nil {
		return nil, err
	}
	config := checker.NewConfig(checker.GetAllChecks(), checker.WithDeprecation(notice, notice))
	localizer := checker.NewDefaultLocalizer()
	var breaks []string
	for _, change := range checker.CheckBackwardCompatibilityUntilLevel(config, difference, sources, checker.WARN) {
		if !expected(change.GetId()) {
			breaks = append(breaks, fmt.Sprintf("%s %s: %s", change.GetOperation(), change.GetPath(), change.GetUncolorizedText(localizer)))
		}
	}
	return breaks, nil
}

// expected are the rules for what clients must expect at any time.
func expected(rule string) bool {
	return strings.HasPrefix(rule, "response-") && strings.HasSuffix(rule, "-enum-value-added")
}

func read(text []byte) (*load.SpecInfo, error) {
	text, err := plain(text)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	for _, path := range doc.Paths.Map() {
		for _, op := range path.Operations() {
			if sunset := op.Extensions["x-sunset-at"]; sunset != nil {
				op.Extensions[diff.SunsetExtension] = sunset
			}
		}
	}
	return &load.SpecInfo{Url: "openapi.json", Spec: doc}, nil
}

// scopes finds operations that need another scope than they did, or none of which a key could have.
func scopes(old, now *openapi3.T) []string {
	var breaks []string
	for path, item := range old.Paths.Map() {
		for method, op := range item.Operations() {
			other := now.Paths.Value(path)
			if other == nil || other.GetOperation(method) == nil {
				continue // oasdiff has said so
			}
			had := scopesOf(op)
			for _, scope := range scopesOf(other.GetOperation(method)) {
				if !slices.Contains(had, scope) {
					breaks = append(breaks, fmt.Sprintf("%s %s: it needs the scope %s now", method, path, scope))
				}
			}
		}
	}
	return breaks
}

func scopesOf(op *openapi3.Operation) []string {
	var all []string
	if scope, ok := op.Extensions["x-scope"].(string); ok {
		all = append(all, scope)
	}
	more, _ := op.Extensions["x-more-scopes"].([]any)
	for _, scope := range more {
		all = append(all, fmt.Sprint(scope))
	}
	return all
}

// without leaves out what is allowed.
func without(breaks []string, allowed []byte) ([]string, error) {
	var list []allowance
	if err := yaml.Unmarshal(allowed, &list); err != nil {
		return nil, fmt.Errorf("the list of what is allowed: %w", err)
	}
	for _, a := range list {
		pattern, err := regexp.Compile("^(?:" + a.Breaks + ")$")
		if err != nil {
			return nil, fmt.Errorf("what is allowed: %w", err)
		}
		if _, err := time.Parse(time.DateOnly, a.Since); err != nil || a.Reason == "" {
			return nil, fmt.Errorf("what is allowed has a reason and since when, YYYY-MM-DD: %s", a.Breaks)
		}
		before := len(breaks)
		if breaks = slices.DeleteFunc(breaks, pattern.MatchString); len(breaks) == before {
			return nil, fmt.Errorf("this is allowed, but nothing does it, so take it out: %s", a.Breaks)
		}
	}
	return breaks, nil
}
