// Package contract proves that the server keeps the contract: every convention over every operation, and the rules of
// each resource, on both databases. Every response is checked against the specification on its way.
package contract

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

var (
	coverage harness.Coverage
	shared   = harness.NewSharedServers(harness.Checked(&coverage))
)

// never are the statuses that the contract lists for every ad operation, and that nothing brings about in these. A bulk
// request has an answer for each of its items, and ad accounts are read from the mirror alone.
var never = map[string]int{"pauseAdCampaigns": http.StatusNotFound, "resumeAdCampaigns": http.StatusNotFound, "listAdAccounts": http.StatusUnprocessableEntity}

// TestMain fails a complete run that left an operation or one of its documented statuses out.
//
// Where tests failed, what is left out says nothing yet: they may have been about to ask for it. CONTRACT_COVERAGE names a file for that, which a
// complete run begins. A run of some tests adds to it, and one of no test, -run '^$', looks at what all of them left out.
func TestMain(m *testing.M) {
	code := m.Run()
	if !shared.End() {
		code = max(code, 1)
	}
	gaps, err := judge(&coverage, flag.Lookup("test.run").Value.String(), os.Getenv("CONTRACT_COVERAGE"), code == 0)
	if err != nil {
		fmt.Println("contract coverage:", err)
		code = max(code, 1)
	}
	for _, gap := range gaps {
		fmt.Println("contract coverage:", gap)
	}
	os.Exit(max(code, min(len(gaps), 1)))
}

// judge returns what was left out by a run of the tests that a pattern matches, together with those before if a file is given.
func judge(c *harness.Coverage, run, file string, passed bool) (gaps []string, err error) {
	if file != "" && run != "" {
		if err := c.Add(file); err != nil {
			return nil, err
		}
	}
	if file != "" {
		if err := c.Keep(file); err != nil {
			return nil, err
		}
	}
	if passed && (run == "" || run == "^$" && file != "") {
		gaps = c.Gaps(never)
		fmt.Printf("contract coverage: %d responses of %d operations were valid, %d gaps\n", c.Responses(), len(harness.Operations()), len(gaps))
	}
	return gaps, nil
}

// boot starts a server for the test on the given database and checks all its answers.
func boot(t *testing.T, url string, options ...harness.Option) *harness.Server {
	t.Helper()
	return harness.Boot(t, url, append([]harness.Option{harness.Checked(&coverage)}, options...)...)
}
