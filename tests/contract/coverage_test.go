package contract

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A test that passes only when it runs again, in a process of its own, closes the gaps that it left, and no others.
func TestJudge_CountsWhatRunsAgain(t *testing.T) {
	t.Parallel()
	url, file := database.URL(t, database.Engines()[0]), filepath.Join(t.TempDir(), "coverage")
	has := func(gaps []string, gap string) bool {
		return strings.Contains("\n"+strings.Join(gaps, "\n")+"\n", "\n"+gap+"\n")
	}
	const product, order = "getProduct was never answered 404", "getOrder was never answered 404"

	var first, again, last harness.Coverage
	if gaps, err := judge(&first, "", file, false); err != nil || len(gaps) > 0 {
		t.Errorf("where tests failed it says %v (%v)", gaps, err)
	}
	if gaps, err := judge(&first, "", file, true); err != nil || !has(gaps, product) || !has(gaps, order) {
		t.Errorf("a run that asked nothing left %v (%v)", gaps, err)
	}
	s := harness.Boot(t, url, harness.Checked(&again))
	if _, err := s.SDK(t).Products.Get(t.Context(), "none"); err == nil {
		t.Fatal("there is a product")
	}
	if gaps, err := judge(&again, "^TestGetProduct$", file, true); err != nil || len(gaps) > 0 {
		t.Errorf("a single test left %v (%v)", gaps, err)
	}
	if gaps, err := judge(&last, "^$", file, true); err != nil || has(gaps, product) || !has(gaps, order) {
		t.Errorf("all together left %v (%v)", gaps, err)
	}
	if gaps, err := judge(&last, "^$", "", true); err != nil || len(gaps) > 0 {
		t.Errorf("without a file no test at all left %v (%v)", gaps, err)
	}
	if _, err := judge(&last, "^$", file+"none", true); err == nil {
		t.Error("it goes on without the run before")
	}
}
