package server

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

func TestItemTurns_LetOneBulkWriteOfAnAccountInAtATime(t *testing.T) {
	t.Parallel()
	turns := newItemTurns(time.Minute)
	of := func(ctx context.Context, account string) context.Context {
		return caller.With(ctx, &caller.Caller{Account: account})
	}
	end, err := turns.wait(of(t.Context(), "acct_1"))
	require.NoError(t, err)
	endOther, err := turns.wait(of(t.Context(), "acct_2"))
	require.NoError(t, err, "another account does not wait")
	endOther()
	turns.patience = time.Millisecond
	var crowded *core.CrowdedError
	_, err = turns.wait(of(t.Context(), "acct_1"))
	require.ErrorAs(t, err, &crowded)
	turns.patience = time.Minute
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = turns.wait(of(gone, "acct_1"))
	require.ErrorIs(t, err, context.Canceled)
	end()
	end, err = turns.wait(of(t.Context(), "acct_1"))
	require.NoError(t, err)
	end()
	require.Empty(t, turns.of, "nothing is kept of an account that sends none")
}
