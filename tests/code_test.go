package tests

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The SDK has a constant for every code of the server, and no other.
func TestCodes_OfTheSDKAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	ours := codesIn(t, "../sdk/error.go")
	theirs := append(codesIn(t, "../store/core/errors.go"), codesIn(t, "../server/errors.go")...)
	slices.Sort(ours)
	slices.Sort(theirs)
	if len(theirs) <= 10 {
		t.Errorf("only %d codes are found: does the pattern still fit?", len(theirs))
	}
	if !slices.Equal(ours, theirs) {
		t.Errorf("the SDK has %q, and the server %q", ours, theirs)
	}
}

// codesIn returns the values of a file's constants whose names begin with Code.
func codesIn(t *testing.T, path string) []string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, found := range regexp.MustCompile(`(?m)^\t[Cc]ode[A-Z]\w+ .*= "(\w+)"$`).FindAllStringSubmatch(string(source), -1) {
		codes = append(codes, found[1])
	}
	return codes
}
