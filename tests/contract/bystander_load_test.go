package contract

import (
	"fmt"
	"testing"
)

// load is what a request takes from others: statements, the bytes of their arguments, and memory. While its statements run it holds a connection, and
// on SQLite the only writer. Most of what a request computes is making and collecting memory.
type load struct {
	statements, sent, allocated int
	in, out, status             int
}

func (l load) String() string {
	return fmt.Sprintf("%d: %d bytes in, %d out; %d statements with %d bytes, %d bytes allocated", l.status, l.in, l.out, l.statements, l.sent, l.allocated)
}

// What a request may take: so much, and in proportion to what was sent and answered.
const (
	fewStatements, statementsPerKiB = 150, 1
	littleSent, sentPerByte         = 64 << 10, 24
	littleMemory, memoryPerByte     = 16 << 20, 320
)

// excess says what a request takes out of proportion, "" if nothing is.
func (l load) excess(op string) string {
	may := more[op]
	bytes := l.in + l.out
	switch {
	case l.statements > max(may.statements, fewStatements+statementsPerKiB*bytes>>10):
		return "asks the database too often"
	case l.sent > littleSent+sentPerByte*bytes:
		return "tells the database too much"
	case l.allocated > max(may.memory, littleMemory+memoryPerByte*bytes):
		return "takes too much memory"
	case l.out > mostOfARead+64<<10:
		return "answers too much"
	}
	return ""
}

// growsWithRows reports whether a list asks the database more often for many rows than for one. Each level of what is expanded is asked for once. For
// the first row there may be less to expand.
func growsWithRows(one, many load, expansions int) bool {
	return many.statements > one.statements+expansions+2
}

// more are operations that may take more statements or memory in any case, each with its reason.
var more = map[string]struct {
	statements, memory int
	reason             string
}{
	"bulkUpsertProducts":      {100*4 + 20, 0, "does for each of 100 items what another does for one, and the account's others wait for it"},
	"bulkUpsertCustomers":     {100*3 + 20, 0, "the same"},
	"bulkUpsertPriceVariants": {100*9 + 20, 0, "does so for 100 products besides"},
	"pauseAdCampaigns":        {50 * 10, 0, "does for each of 50 campaigns what another does for one, in transactions of its own"},
	"resumeAdCampaigns":       {50 * 10, 0, "the same"},
	"listAdCampaigns":         {0, 64 << 20, "a network that is played here reads all of the ads of these campaigns to play them"},
	"listAdGroups":            {0, 64 << 20, "the same"},
	"listAds":                 {0, 64 << 20, "the same"},
	"syncSocialAccount":       {0, 64 << 20, "the same"},
}

// TestLoad_CatchesWhatTakesTooMuch gives the judges what is wrong in one way each.
func TestLoad_CatchesWhatTakesTooMuch(t *testing.T) {
	t.Parallel()
	most := load{in: 1 << 20, out: 1 << 20, statements: fewStatements, allocated: littleMemory + 100<<20}
	if what := most.excess(""); what != "" {
		t.Errorf("a large request %s", what)
	}
	for want, wrong := range map[string]load{
		"asks the database too often": {in: 1 << 10, statements: 1000},
		"tells the database too much": {in: 10 << 10, sent: 1 << 20},
		"takes too much memory":       {in: 100 << 10, allocated: 200 << 20},
		"answers too much":            {out: 9 << 20},
	} {
		if what := wrong.excess(""); what != want {
			t.Errorf("%s: %q", wrong, what)
		}
	}
	if !growsWithRows(load{statements: 5}, load{statements: 5 + 20}, 4) {
		t.Error("nobody sees that each row is asked for by itself")
	}
}
