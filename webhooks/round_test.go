package webhooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A round ends in time although no context ends a statement that is under way.
func TestRound_LeavesADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	proxy := database.NewProxy(t, database.URL(t, core.PostgreSQL))
	w := newWorld(t, proxy.URL)
	d := NewDispatcher(DispatcherOptions{Store: w.Outbox, Renderer: NewRenderer(w.Outbox, ""), Log: slog.New(slog.DiscardHandler)})
	lost := []outbox.DeliveryResult{{Account: w.account, ID: "whdl_of_this_round"}}
	d.done = lost
	proxy.Freeze()
	d.scan(t.Context())
	d.exchange(t.Context(), nil)
	failed, missed := <-d.rounds, <-d.scans
	require.ErrorIs(t, failed.err, context.DeadlineExceeded, "it is the round that ends, and not the statement")
	require.ErrorIs(t, missed.err, context.DeadlineExceeded)
	d.finish(t.Context(), failed)
	d.found(missed)
	require.Equal(t, lost, d.done, "the next round records them")
	require.True(t, d.rest.After(time.Now()))
	require.False(t, d.scanAt.IsZero(), "there is another scan")
	proxy.Thaw()
}

// A claim that the database is not done with in time holds up fewer other endpoints each time, and no result.
func TestRound_ThatFailsIsMadeSmaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, core.PostgreSQL))
	d := NewDispatcher(DispatcherOptions{Store: w.Outbox, Renderer: NewRenderer(w.Outbox, ""), Log: slog.New(slog.DiscardHandler)})
	for i := range 8 {
		d.waiting.find(outbox.PendingEndpoint{AccountID: fmt.Sprint("acct_", i), EndpointID: fmt.Sprint("we_", i)})
	}
	round := func(err error) (claimed int) {
		t.Helper()
		claims := d.choose(time.Now())
		d.underWay++
		d.finish(t.Context(), round{claims: claims, err: err})
		return len(claims)
	}
	slow := errors.New("no answer in time")
	for _, claimed := range []int{8, 4, 2, 1, 1} {
		require.Equal(t, claimed, round(slow))
		require.False(t, d.lookAt.IsZero(), "there is another round")
	}

	d.done, d.rest = []outbox.DeliveryResult{{Account: w.account, ID: "whdl_of_this_round"}}, time.Time{}
	d.lookBy(time.Now())
	d.last = time.Time{}
	d.act(t.Context())
	require.Equal(t, 2, d.underWay)
	for range 2 {
		r := <-d.rounds
		require.NoError(t, r.err)
		require.Equal(t, 1, len(r.results)+len(r.claims), "results go by themselves")
		d.finish(t.Context(), r)
	}
	require.Empty(t, d.done)
	for _, claimed := range []int{2, 4} {
		require.Equal(t, claimed, round(nil), "it recovers")
	}
}
