package store

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
)

func TestSealer(t *testing.T) {
	t.Parallel()
	old, next := make([]byte, 32), append(make([]byte, 31), 1)
	before, err := core.NewSealer(old)
	require.NoError(t, err)
	sealed := before.Seal([]byte("whsec_"), "we_1")
	require.NotContains(t, string(sealed), "whsec_")
	require.NotEqual(t, sealed, before.Seal([]byte("whsec_"), "we_1"))

	after, err := core.NewSealer(next, old)
	require.NoError(t, err)
	text, err := after.Open(sealed, "we_1")
	require.NoError(t, err)
	require.Equal(t, "whsec_", string(text))
	_, err = after.Open(sealed, "we_2")
	require.ErrorIs(t, err, core.ErrSealed)
	_, err = before.Open(after.Seal([]byte("x"), ""), "")
	require.ErrorIs(t, err, core.ErrSealed)
	sealed[len(sealed)-1] ^= 1
	_, err = after.Open(sealed, "we_1")
	require.ErrorIs(t, err, core.ErrSealed)
	_, err = before.Open([]byte("short"), "")
	require.ErrorIs(t, err, core.ErrSealed)
	_, err = core.NewSealer([]byte("too short"))
	require.Error(t, err)
}

// A key that is not in the list any more is missed with what it has sealed; one behind another is not.
func TestCheckSealed_FindsWhatNoKeyOpens(t *testing.T) {
	eachSender(t, func(t *testing.T, o *sender) {
		e := o.endpoint(outbox.EventOrderCreated)
		old, next := make([]byte, 32), append(make([]byte, 31), 1)
		for _, c := range []struct {
			keys [][]byte
			want []core.Violation
		}{
			{[][]byte{old}, nil},
			{[][]byte{next, old}, nil},
			{[][]byte{next}, []core.Violation{{Promise: "what is sealed opens with the secret keys", Account: o.account, Object: e.ID}}},
		} {
			sealer, err := core.NewSealer(c.keys...)
			require.NoError(t, err)
			o.db.Options.Sealer = sealer
			var found []core.Violation
			require.NoError(t, o.Seal.Check(t.Context(), func(_ string, broken []core.Violation) { found = append(found, broken...) }))
			require.Equal(t, c.want, found)
		}
	})
}
