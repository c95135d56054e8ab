package pages

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// queue takes turns in the background, and notes who gets them.
type queue struct {
	t       *testing.T
	turns   *workTurns
	granted chan string
	next    map[string]func()
}

func newQueue(t *testing.T, atOnce int) *queue {
	t.Helper()
	return &queue{t, newWorkTurns(atOnce), make(chan string, 1000), map[string]func(){}}
}

// join returns when the asker waits.
func (q *queue) join(ctx context.Context, name string, who asker) {
	q.t.Helper()
	before := q.length()
	go func() {
		release, err := q.turns.waitTurn(ctx, who)
		if err != nil {
			q.granted <- name + ": " + err.Error()
			return
		}
		q.granted <- name
		release()
	}()
	require.Eventually(q.t, func() bool { return q.length() == before+1 }, 5*time.Minute, time.Millisecond)
}

func (q *queue) length() int {
	q.turns.mu.Lock()
	defer q.turns.mu.Unlock()
	return len(q.turns.waiting)
}

func (q *queue) isForgetful() bool {
	q.turns.mu.Lock()
	defer q.turns.mu.Unlock()
	return len(q.turns.last) == 0 && len(q.turns.running) == 0
}

func (q *queue) order(n int) []string {
	q.t.Helper()
	var names []string
	for range n {
		select {
		case name := <-q.granted:
			names = append(names, name)
		case <-time.After(5 * time.Minute):
			q.t.Fatalf("nobody came after %v", names)
		}
	}
	return names
}

func TestTurns_AreSharedAmongAccounts(t *testing.T) {
	t.Parallel()
	q := newQueue(t, 1)
	release, err := q.turns.waitTurn(t.Context(), asker{"busy", "stranger"})
	require.NoError(t, err)
	for n := range 40 {
		q.join(t.Context(), "busy", asker{"busy", fmt.Sprint("stranger", n%3)})
	}
	q.join(t.Context(), "quiet", asker{"quiet", "buyer"})
	release()
	assert.Equal(t, "quiet", q.order(1)[0], "who came last, of an account for which nothing was done, is first")
	q.order(40)
	require.Eventually(t, q.isForgetful, 5*time.Minute, time.Millisecond, "nothing is remembered of those who were served")
}

func TestTurns_OfAnAccountAreSharedAmongAddresses(t *testing.T) {
	t.Parallel()
	q := newQueue(t, 1)
	release, err := q.turns.waitTurn(t.Context(), asker{"shop", "stranger"})
	require.NoError(t, err)
	for range 20 {
		q.join(t.Context(), "stranger", asker{"shop", "stranger"})
	}
	q.join(t.Context(), "buyer", asker{"shop", "buyer"})
	q.join(t.Context(), "buyer", asker{"shop", "buyer"})
	release()
	assert.Equal(t, []string{"buyer", "stranger", "buyer"}, q.order(3))
	q.order(19)
}

func TestTurns_OfAnAddressAreNotAsManyAsTheAccountsItAsks(t *testing.T) {
	t.Parallel()
	q := newQueue(t, 1)
	release, err := q.turns.waitTurn(t.Context(), asker{"shop", "stranger"})
	require.NoError(t, err)
	for n := range 20 {
		q.join(t.Context(), "stranger", asker{fmt.Sprint("shop", n), "stranger"})
		q.join(t.Context(), "stranger", asker{fmt.Sprint("shop", n), "stranger"})
	}
	q.join(t.Context(), "buyer", asker{"other", "buyer"})
	release()
	assert.Equal(t, "buyer", q.order(1)[0], "who came last, from an address for which nothing was done, is first")
	q.order(40)
}

func TestTurns_WhoLeavesIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	q := newQueue(t, 1)
	release, err := q.turns.waitTurn(t.Context(), asker{"shop", "a"})
	require.NoError(t, err)
	ctx, hangUp := context.WithCancel(t.Context())
	for range 10 {
		q.join(ctx, "gone", asker{"shop", "b"})
	}
	hangUp()
	for _, name := range q.order(10) {
		assert.Equal(t, "gone: context canceled", name)
	}
	assert.Zero(t, q.length())
	release()
	again, err := q.turns.waitTurn(t.Context(), asker{"shop", "c"})
	require.NoError(t, err)
	again()
	again() // counts once
	assert.Equal(t, 1, q.turns.free)
	assert.Empty(t, q.turns.last)
}

func TestTurns_HaveALineOfBoundedLength(t *testing.T) {
	t.Parallel()
	q := newQueue(t, 1)
	release, err := q.turns.waitTurn(t.Context(), asker{"shop", "a"})
	require.NoError(t, err)
	for range waitingOfAddress {
		q.join(t.Context(), "waits", asker{"shop", "stranger"})
	}
	_, err = q.turns.waitTurn(t.Context(), asker{"shop", "stranger"})
	require.ErrorIs(t, err, errCrowded)
	q.join(t.Context(), "waits", asker{"shop", "buyer"})
	release()
	q.order(waitingOfAddress + 1)
}

func TestAsker_OfIPv6IsItsNetwork(t *testing.T) {
	t.Parallel()
	assert.Equal(t, newAsker("a", "2001:db8::1"), newAsker("a", "2001:db8::2"))
	assert.NotEqual(t, newAsker("a", "192.0.2.1"), newAsker("a", "192.0.2.2"))
	assert.Equal(t, asker{"a", "unknown"}, newAsker("a", "unknown"))
}
