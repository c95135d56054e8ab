package billing

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// asker asks about one payment, by a clock that the test moves.
type asker struct {
	looks recent[string]
	now   time.Time
	asked int
	fails error
}

func newAsker() *asker { return &asker{now: time.Unix(60, 0)} } // at the beginning of a minute

func (a *asker) look() (string, error) {
	return a.looks.ask(context.Background(), a.now, "acct", "pay", 0, func() (string, error) {
		a.asked++
		return "seen", a.fails
	})
}

func (a *asker) looks20(t *testing.T) int {
	t.Helper()
	before := a.asked
	for range 20 {
		_, err := a.look()
		require.ErrorIs(t, err, a.fails)
	}
	return a.asked - before
}

func TestLooks_KeepAnAnswer(t *testing.T) {
	t.Parallel()
	a := newAsker()
	require.Equal(t, 1+earlyLooks, a.looks20(t))
	a.now = a.now.Add(lookPause - 1)
	require.Zero(t, a.looks20(t))
	a.now = a.now.Add(1)
	require.Equal(t, 1, a.looks20(t))
}

// What nobody could say is asked again sooner, and not each time.
func TestLooks_KeepAFailureForLess(t *testing.T) {
	t.Parallel()
	a := newAsker()
	a.fails = errors.New("the line went dead")
	require.Equal(t, 1+earlyLooks, a.looks20(t))
	a.now = a.now.Add(failurePause - 1)
	require.Zero(t, a.looks20(t))
	for range 20 {
		a.now = a.now.Add(failurePause)
		require.Equal(t, 1, a.looks20(t))
	}
	a.fails = nil
	a.now = a.now.Add(failurePause)
	require.Equal(t, 1, a.looks20(t))
	a.now = a.now.Add(failurePause)
	require.Zero(t, a.looks20(t), "an answer is kept for longer")
}

// A decline, or that there is no such thing, is an answer.
func TestLooks_KeepARefusal(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{core.Missing("payment", "", "pay"), &core.Error{Code: core.CodeInvalid, Outcome: core.Recorded}} {
		a := newAsker()
		a.fails = refusal
		require.Equal(t, 1+earlyLooks, a.looks20(t))
		a.now = a.now.Add(lookPause - 1)
		require.Zero(t, a.looks20(t))
	}
}
