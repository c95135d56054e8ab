package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// most returns how many an account gets that asks for as many as it can, and keeps them.
func (g *gate) most(account string) (many int) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for g.enter(gone, account, 0) == nil {
		many++
	}
	return many
}

func TestGate_OneAccountLeavesAsMuchToOthers(t *testing.T) {
	for size, want := range map[int][]int{1: {1, 0, 0}, 2: {1, 1, 0}, 3: {1, 1, 1, 0}, 8: {4, 2, 1, 1, 0}, 12: {6, 3, 1, 1, 1, 0}} {
		g := newGate(size, size)
		for i, most := range want {
			require.Equal(t, most, g.most(fmt.Sprint("account ", i)), "%d of %d", i, size)
		}
	}
	require.Equal(t, 8, newGate(8, 8).most(""), "a worker may have all")
}

// What is dear to this process itself an account has less of, but only in company.
func TestGate_AnAccountInCompanyHasNoMoreThanEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8, 1)
		require.Equal(t, 4, g.most("a"), "alone")
		require.Equal(t, 1, g.most("b"))
		require.Equal(t, 1, g.most("c"))
		require.Equal(t, 2, g.most(""), "a worker may have all that is left")
		for range 2 {
			g.leave("")
			g.leave("a")
		}
		require.Equal(t, 0, g.most("a"), "it still has two")
		g.leave("b")
		g.leave("c")
		time.Sleep(around + 1)
		require.Equal(t, 2, g.most("a"), "alone again")
	})
}

// A flood waits for itself: who comes later with a single request is next.
func TestGate_AccountsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 1)
		require.NoError(t, g.enter(t.Context(), "a", 0))
		var served []string
		come := func(account string) {
			go func() {
				if g.enter(t.Context(), account, 0) == nil {
					served = append(served, account)
					g.leave(account)
				}
			}()
			synctest.Wait()
		}
		for _, account := range strings.Fields("a a a a b c b") {
			come(account)
		}
		g.leave("a")
		synctest.Wait()
		require.Equal(t, "a b c a b a a", strings.Join(served, " "))
		require.Empty(t, g.turns, "nothing is left")
		require.Empty(t, g.waiting)
		require.Empty(t, g.held)
		require.Zero(t, g.used)
	})
}

// What all requests wait for comes before those who came earlier, and is no company to anybody.
func TestGate_WhatAllWaitForIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2, 1)
		require.Equal(t, 2, g.most(""))
		var served []string
		for _, account := range []string{"", "a", core.Strangers, "", everyone, "b"} {
			go func() {
				if g.enter(t.Context(), account, 0) == nil {
					served = append(served, account)
				}
			}()
			synctest.Wait()
		}
		g.leave("")
		synctest.Wait()
		require.Equal(t, []string{everyone}, served)
		g.leave("")
		synctest.Wait()
		require.Equal(t, []string{everyone, ""}, served, "the others go on by turns")
	})
	g := newGate(8, 1)
	require.Equal(t, 8, g.most(everyone), "it may have all there is")
	for range 8 {
		g.leave(everyone)
	}
	require.Equal(t, 4, g.most("a"), "it is no company")
	require.NoError(t, g.enter(t.Context(), everyone, 0))
	require.True(t, g.companyUntil("a").IsZero())
}

func TestGate_WaitsOnlySoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8, 8)
		mine := g.most("a")
		begun := time.Now()
		require.ErrorIs(t, g.enter(t.Context(), "a", queueTimeout), errBusy)
		require.Equal(t, queueTimeout, time.Since(begun))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, g.enter(ctx, "a", queueTimeout), errBusy)
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		err := g.enter(gone, "a", queueTimeout)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, errBusy)

		for range mine {
			g.leave("a")
		}
		require.Equal(t, 4, g.most("a"), "who gave up has left nothing behind")
	})
}

// Who had a long turn rests for as long while another account is around, and not at all while it is alone.
func TestGate_WhoHadALongTurnRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 1)
		turn := func(account string, takes time.Duration) (waited time.Duration) {
			t.Helper()
			begun := time.Now()
			require.NoError(t, g.enter(t.Context(), account, 0))
			waited = time.Since(begun)
			time.Sleep(takes)
			g.leave(account)
			return waited
		}
		const long = 10 * longTurn
		for range 3 {
			require.Zero(t, turn("a", long), "alone")
		}
		require.Zero(t, turn("b", longTurn))
		require.Equal(t, long-longTurn, turn("a", long))
		for range 5 {
			require.Zero(t, turn("b", longTurn), "short turns need no rest")
			require.Zero(t, turn("", long), "nor does a worker")
		}
		require.Zero(t, turn("a", long), "it has rested")
		require.Zero(t, turn(core.Strangers, 0))
		require.Equal(t, long, turn("a", 0), "strangers are company, too")
		require.Zero(t, turn("a", 2*around))
		require.Zero(t, turn("a", 2*around), "there is none any more")
		time.Sleep(longestRest)
		require.Zero(t, turn("b", 0))
		require.Zero(t, turn("a", around*4/5))
		require.Equal(t, around/5, turn("a", 0), "it had gone before the rest was over")
		require.Empty(t, g.waiting)
		require.Zero(t, g.used)
	})
}

// Whoever waits is company, though they were not let in for long: who had a long turn has no second one before them.
func TestGate_WhoWaitsIsCompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 1)
		var served []string
		come := func(account string) {
			go func() {
				if g.enter(t.Context(), account, 0) == nil {
					served = append(served, account)
					time.Sleep(2 * around)
					g.leave(account)
				}
			}()
			synctest.Wait()
		}
		for _, account := range strings.Fields("b b b c") {
			come(account)
		}
		time.Sleep(20 * around)
		synctest.Wait()
		require.Equal(t, "b c b b", strings.Join(served, " "))
		require.Empty(t, g.waiting)
	})
}

// Who may have no more in company, and waits, is let in when that has gone, though nobody leaves.
func TestGate_TheEndOfCompanyIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8, 1)
		require.NoError(t, g.enter(t.Context(), "b", 0))
		g.leave("b")
		require.NoError(t, g.enter(t.Context(), "a", 0))
		begun := time.Now()
		require.NoError(t, g.enter(t.Context(), "a", queueTimeout))
		require.Equal(t, around, time.Since(begun))
	})
}

// Time before a turn begins, as for the lock of a file, is no part of it.
func TestGate_ATurnBeginsWhenItIsSaidTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 1)
		require.NoError(t, g.enter(t.Context(), "b", 0))
		g.leave("b")
		require.NoError(t, g.enter(t.Context(), "a", 0))
		time.Sleep(around / 2)
		g.begin()
		g.leave("a")
		begun := time.Now()
		require.NoError(t, g.enter(t.Context(), "a", 0))
		require.Zero(t, time.Since(begun))
	})
}

// Tests hear for how many others somebody waited.
func TestGate_TellsForHowManySomebodyWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, heard := newGate(1, 1), ""
		g.waited = func(_ context.Context, account string, turns int) { heard += fmt.Sprint(account, turns, " ") }
		require.NoError(t, g.enter(t.Context(), "a", 0))
		for _, account := range strings.Fields("a a a b") {
			go func() {
				if g.enter(t.Context(), account, 0) == nil {
					g.leave(account)
				}
			}()
			synctest.Wait()
		}
		g.leave("a")
		synctest.Wait()
		require.Equal(t, "a0 b1 a2 a3 ", heard)
	})
}

// Whoever is let in at the moment in which they give up lets in the next.
func TestGate_LosesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2, 2)
		for round := range 200 {
			require.NoError(t, g.enter(t.Context(), "a", 0))
			ctx, cancel := context.WithCancel(t.Context())
			for i := range 6 {
				account := fmt.Sprint("account ", i%3)
				go func() {
					if err := g.enter(ctx, account, time.Second); err == nil {
						g.leave(account)
					} else if !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}()
			}
			if round%2 == 0 {
				synctest.Wait()
			}
			go cancel()
			g.leave("a")
			synctest.Wait()
			require.Zero(t, g.used, round)
			require.Empty(t, g.held)
			require.Empty(t, g.waiting)
			require.Empty(t, g.turns)
			cancel()
		}
	})
}

func TestAbortable_HasADeadline(t *testing.T) {
	d := &DB{}
	plain, end := d.lifetime(t.Context())
	end()
	require.Nil(t, plain.Done(), "a short read costs no goroutine")
	begun := time.Now()
	during, end := d.lifetime(Abortable(t.Context()))
	defer end()
	at, has := during.Deadline()
	require.True(t, has)
	require.WithinRange(t, at, begun.Add(readTime), time.Now().Add(readTime))
}

// Whoever waits computes nothing meanwhile, and says so.
func TestGate_SaysWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, waiting := newGate(1, 1), 0
		g.waits = func(context.Context) (over func(holds bool)) {
			waiting++
			return func(holds bool) {
				require.True(t, holds)
				waiting--
			}
		}
		require.NoError(t, g.enter(t.Context(), "a", 0))
		require.Zero(t, waiting)
		go func() {
			if g.enter(t.Context(), "b", 0) == nil {
				g.leave("b")
			}
		}()
		synctest.Wait()
		require.Equal(t, 1, waiting)
		g.leave("a")
		synctest.Wait()
		require.Zero(t, waiting)
	})
}
