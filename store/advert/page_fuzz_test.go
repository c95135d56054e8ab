package advert

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// FuzzCursor: a cursor that was made for a list leads to its row, in that list alone. Any other text is refused with the name of the parameter.
func FuzzCursor(f *testing.F) {
	for _, c := range []struct{ cursor, row, filters string }{
		{"", "", ""}, {"garbage", core.NewID(core.KindAdAction), "ads\x00acct_1"}, {CursorBehind("01k0000000000000000000000a", "ads"), "01k0000000000000000000000a", "ads"},
		{CursorBehind("a'b", ""), "a'b", ""}, {CursorBehind("", ""), "u_1", "x"}, {"AAAAAAAAAAAAAAAA=", "\x00", "\x00"},
	} {
		f.Add(c.cursor, c.row, c.filters)
	}
	f.Fuzz(func(t *testing.T, cursor, row, filters string) {
		if read, err := OpenCursor(cursor, filters); err != nil {
			requireCursorRefused(t, err)
		} else {
			require.Equal(t, cursor, CursorBehind(read, filters))
		}
		made := CursorBehind(row, filters)
		_, err := OpenCursor(made, filters+"x")
		requireCursorRefused(t, err)
		read, err := OpenCursor(made, filters)
		if _, isID := core.ParseID(core.KindAdAction, core.KindAdAction.Prefix()+row); isID {
			require.NoError(t, err)
		}
		if err == nil {
			require.Equal(t, row, read)
		}
	})
}

func requireCursorRefused(t *testing.T, err error) {
	t.Helper()
	dbtest.RequireCode(t, err, core.CodeBadRequest)
	require.Equal(t, "cursor", dbtest.AsError(err).Param)
}
