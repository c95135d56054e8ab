package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// FuzzPosition: a position in a list is an id of the list's kind, in the one form that rows have. Any other text is refused with the name of the
// parameter that is wrong.
func FuzzPosition(f *testing.F) {
	id := "01k0000000000000000000000a"
	for _, c := range [][2]string{
		{"", ""}, {"cus_" + id, ""}, {"", "cust_" + id}, {"cus_" + id, "cus_" + id}, {"CUS_" + id, "\x00"}, {"cus_8" + id[1:], "cus_"}, {"prod_" + id, "' OR 1=1"},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, after, before string) {
		p := core.Page{StartingAfter: after, EndingBefore: before}
		err := p.Resolve(core.KindCustomer)
		afterID, afterGood := core.ParseID(core.KindCustomer, after)
		beforeID, beforeGood := core.ParseID(core.KindCustomer, before)
		switch {
		case after != "" && !afterGood:
			dbtest.RequireCode(t, err, core.CodeBadRequest)
			require.Equal(t, "starting_after", dbtest.AsError(err).Param)
		case before != "" && !beforeGood, after != "" && before != "":
			dbtest.RequireCode(t, err, core.CodeBadRequest)
			require.Equal(t, "ending_before", dbtest.AsError(err).Param)
		default:
			require.NoError(t, err)
			require.Equal(t, core.Page{StartingAfter: afterID, EndingBefore: beforeID}, p)
			require.NotContains(t, p.StartingAfter+p.EndingBefore, "cust_")
		}
	})
}
