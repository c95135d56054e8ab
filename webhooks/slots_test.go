package webhooks

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
)

func TestSlots_LimitEndpointsAccountsAndAll(t *testing.T) {
	t.Parallel()
	s := newSlots()
	at := func(account, endpoint int) store.PendingEndpoint {
		return store.PendingEndpoint{AccountID: fmt.Sprint("acct_", account), EndpointID: fmt.Sprint("we_", account, "_", endpoint)}
	}
	require.Equal(t, perEndpoint, s.room(at(0, 0)))
	s.take(at(0, 0), perEndpoint)
	require.Zero(t, s.room(at(0, 0)))
	for endpoint := 1; s.room(at(0, endpoint)) > 0; endpoint++ {
		s.take(at(0, endpoint), s.room(at(0, endpoint)))
	}
	require.Equal(t, perAccount, s.total, "one account has its share and no more")
	for account := 1; !s.full(); account++ {
		s.take(at(account, 0), s.room(at(account, 0)))
	}
	require.Equal(t, maxSlots, s.total)
	require.Zero(t, s.room(at(1000, 0)))
	s.free(at(1, 0), 1)
	require.Equal(t, 1, s.room(at(1000, 0)))
}

func TestSlots_RememberOnlyWhatIsBusy(t *testing.T) {
	t.Parallel()
	s := newSlots()
	now := time.Now()
	e := store.PendingEndpoint{AccountID: "acct_1", EndpointID: "we_1"}
	s.take(e, 2)
	s.free(e, 2)
	s.hush(e, now)
	require.True(t, s.quietUntil(e).After(now))
	s.stir(e)
	require.False(t, s.quietUntil(e).After(now))
	s.hush(e, now)
	s.forget(now.Add(2 * quietFor))
	require.Empty(t, s.ofAccount)
	require.Empty(t, s.ofEndpoint)
	require.Empty(t, s.quiet)
}
