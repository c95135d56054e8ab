package db

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
)

// TestRequest_TakesItsTurnUnderItsKey: what is sent again under a key is answered at once, however long the first one waits for its turn.
func TestRequest_TakesItsTurnUnderItsKey(t *testing.T) {
	t.Parallel()
	d, _ := asked(t)
	key := &core.Key{Account: "acct", Key: "k"}
	var did []string
	work := func(context.Context) (*core.Answer, error) {
		did = append(did, "work")
		return &core.Answer{Status: 200, Body: []byte(`{}`)}, nil
	}
	unasked := func() (func(), error) {
		t.Error("it takes a turn")
		return func() {}, nil
	}

	full := errors.New("too many wait")
	_, _, err := d.Request(t.Context(), key, work, func() (func(), error) { return nil, full })
	require.ErrorIs(t, err, full)
	require.Empty(t, did)

	_, replayed, err := d.Request(t.Context(), key, work, func() (func(), error) {
		_, _, err := d.Request(t.Context(), key, work, unasked)
		refused, ok := errors.AsType[*core.Error](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, core.CodeInProgress, refused.Code)
		did = append(did, "turn")
		return func() { did = append(did, "end") }, nil
	})
	require.NoError(t, err)
	require.False(t, replayed, "the key is free after a refusal")
	require.Equal(t, []string{"turn", "work", "end"}, did)
}
