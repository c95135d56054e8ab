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

var coverage harness.Coverage

// never are the statuses that the contract lists for every ad operation, and that nothing brings about in these: a bulk
// request has an answer for each of its items, and ad accounts are read from the mirror alone.
var never = map[string]int{"pauseAdCampaigns": http.StatusNotFound, "resumeAdCampaigns": http.StatusNotFound, "listAdAccounts": http.StatusUnprocessableEntity}

// TestMain fails a complete run that left an operation or one of its documented statuses out.
func TestMain(m *testing.M) {
	code := m.Run()
	if run := flag.Lookup("test.run").Value.String(); code == 0 && run == "" {
		gaps := coverage.Gaps(never)
		for _, gap := range gaps {
			fmt.Println("contract coverage:", gap)
		}
		fmt.Printf("contract coverage: %d responses of %d operations were valid, %d gaps\n", coverage.Responses(), len(harness.Operations()), len(gaps))
		code = min(len(gaps), 1)
	}
	os.Exit(code)
}

// boot starts a server for the test on the given database and checks all its answers.
func boot(t *testing.T, url string, options ...harness.Option) *harness.Server {
	t.Helper()
	return harness.Boot(t, url, append([]harness.Option{harness.Checked(&coverage)}, options...)...)
}
