package db

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// errBusy says that all connections, or all of an account's share, were in use for as long as somebody waited.
var errBusy = errors.New("store: every connection to the database is busy")

// gate lets only so many at a time use a pool, and gives accounts fair shares of it. So the account that does something expensive is the first to
// suffer from it. An account gets one more only if that leaves as much to others as it then has, or if it has none. So one account has half of the
// pool at most, and two that want all have less each. Who asks for a single thing finds room beside them. Accounts that wait take turns.
//
// An account has company if another one waits, or was let in within around. Then it has no more than each, whatever is free. Readers of an embedded
// database compute in this process, and an account leaves processors to others.
//
// Of a pool of one, such as the writer of SQLite, a turn is all that there is. An account that had it for longer than longTurn rests for as long, but
// for longestRest at most, if it has company. Its company needs many short turns, and would wait for a long one before each.
//
// What belongs to no account takes turns too, but may have all there is. That is workers, and requests of strangers, such as a buyer on a page.
// Strangers are company, and workers are not: these are always there.
//
// What all requests wait for takes no turn: it is always next.
type gate struct {
	size    int
	each    int // how many an account has at most that has company
	mu      sync.Mutex
	used    int
	held    map[string]int      // by account
	waiting map[string][]*place // by account, in the order in which they came; none is empty
	turns   []string            // the accounts for which somebody waits, whose turn comes next first
	let     int                 // how many were let in so far, without everyone
	recent  [2]visit            // the last account that was let in, and the last one that was another

	roused time.Time // when somebody is going to look who may be let in by then; 0 = nobody is

	// Of a pool of one:
	began time.Time            // the turn that somebody has
	rests map[string]time.Time // until when an account rests

	waited func(ctx context.Context, account string, turns int) // see Options.Waited
	waits  func(context.Context) (over func(holds bool))        // see Options.Waits
}

// visit is when an account was let in.
type visit struct {
	account string
	at      time.Time
}

// everyone is the account of what all requests wait for: see First.
const everyone = "everyone"

const (
	longTurn    = 50 * time.Millisecond  // longer than a purchase takes on a slow disk
	longestRest = 500 * time.Millisecond // for some purchases; what rests waits for nothing else
	around      = time.Second
)

// place is that of somebody who waits. It is closed when they are let in.
type place struct {
	let   chan struct{}
	after int // how many were let in before them: at all when they came or rested, and since then once they are let in
}

func newGate(size, each int) *gate {
	return &gate{size: size, each: each, held: map[string]int{}, waiting: map[string][]*place{}, rests: map[string]time.Time{}}
}

// enter waits until the account gets one more. It gives up after patience, if that is not 0, and when ctx ends. Then the error is errBusy, or why ctx
// ended if its caller is gone. After nil, leave must be called with the same account.
func (g *gate) enter(ctx context.Context, account string, patience time.Duration) error {
	g.mu.Lock()
	if g.waiting[account] == nil && g.admits(account) {
		g.admit(account)
		g.mu.Unlock()
		return nil
	}
	mine := g.queue(account)
	g.rouse()
	g.mu.Unlock()
	if g.waits != nil && !isDetached(ctx) {
		defer g.waits(ctx)(true)
	}
	var over <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		over = timer.C
	}
	var err error
	select {
	case <-mine.let:
		if g.waited != nil {
			g.waited(ctx, account, mine.after)
		}
		return nil
	case <-over:
		err = errBusy
	case <-ctx.Done():
		if err = ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: %w", errBusy, err)
		}
	}
	g.giveUp(mine, account)
	return err
}

// leave gives back what enter got, and lets in who waits.
func (g *gate) leave(account string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used--
	g.rest(account)
	if g.held[account]--; g.held[account] == 0 {
		delete(g.held, account)
	}
	g.letIn()
}

// admits reports whether an account may have one more. The caller holds g.mu, as that of all methods below.
func (g *gate) admits(account string) bool {
	free, held := g.size-g.used, g.held[account]
	switch {
	case free < 1:
		return false
	case !hasShare(account):
		return true
	case held == 0:
		return !g.isResting(account)
	case held >= g.each && g.hasCompany(account):
		return false
	}
	return free-1 >= held+1
}

// hasShare reports whether an account has a share of the pool, and no more.
func hasShare(account string) bool { return isCompany(account) && account != core.Strangers }

// isCompany reports whether an account is company to others.
func isCompany(account string) bool { return account != "" && account != everyone }

// hasCompany reports whether others wait, or were let in not long ago.
func (g *gate) hasCompany(account string) bool {
	return g.othersWait(account) || time.Now().Before(g.companyUntil(account))
}

func (g *gate) othersWait(account string) bool {
	return slices.ContainsFunc(g.turns, func(other string) bool { return isCompany(other) && other != account })
}

// companyUntil returns until when an account has company, if nobody waits and nobody else comes.
func (g *gate) companyUntil(account string) (until time.Time) {
	for _, v := range g.recent {
		if gone := v.at.Add(around); isCompany(v.account) && v.account != account && gone.After(until) {
			until = gone
		}
	}
	return until
}

// begin says that a turn of a pool of one begins only now. Whoever was let in has waited for something else until now, such as the lock of a file.
func (g *gate) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.began = time.Now()
}

// rest has an account rest that had a long turn.
func (g *gate) rest(account string) {
	if g.size > 1 || !hasShare(account) {
		return
	}
	now := time.Now()
	maps.DeleteFunc(g.rests, func(_ string, until time.Time) bool { return !now.Before(until) })
	if took := now.Sub(g.began); took > longTurn {
		g.rests[account] = now.Add(min(took, longestRest))
	}
}

// isResting reports whether an account rests while another one is around.
func (g *gate) isResting(account string) bool {
	until, rests := g.rests[account]
	return rests && time.Now().Before(until) && g.hasCompany(account)
}

// rouse sees to it that somebody looks again who may be let in, even if nobody leaves. That is when the first rest is over, or when company has gone.
// It is the company of an account that rests, or that has no more than each because of it.
func (g *gate) rouse() {
	if g.used == g.size {
		return // whoever leaves looks
	}
	now := time.Now()
	var first time.Time
	for _, account := range g.turns {
		until, rests := g.rests[account]
		if gone := g.companyUntil(account); !g.othersWait(account) && (!rests || gone.Before(until)) {
			until = gone
		}
		if until.After(now) && (first.IsZero() || until.Before(first)) {
			first = until
		}
	}
	if first.IsZero() || !g.roused.IsZero() && !first.Before(g.roused) {
		return
	}
	g.roused = first
	time.AfterFunc(first.Sub(now), func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.roused.Equal(first) {
			g.roused = time.Time{}
		}
		g.letIn()
	})
}

func (g *gate) admit(account string) {
	g.began = time.Now()
	if isCompany(account) {
		if g.recent[0].account != account {
			g.recent[1] = g.recent[0]
		}
		g.recent[0] = visit{account, g.began}
	}
	g.used++
	if account != everyone {
		g.let++
	}
	g.held[account]++
}

// queue puts somebody behind those who wait for an account.
func (g *gate) queue(account string) *place {
	mine := &place{let: make(chan struct{}), after: g.let}
	if g.waiting[account] == nil {
		at := len(g.turns)
		if account == everyone {
			at = 0
		}
		g.turns = slices.Insert(g.turns, at, account)
	}
	g.waiting[account] = append(g.waiting[account], mine)
	return mine
}

// letIn lets in those who wait, an account after the other, as long as there is one that may have more.
func (g *gate) letIn() {
	for {
		g.discount()
		next := slices.IndexFunc(g.turns, g.admits)
		if next < 0 {
			g.rouse()
			return
		}
		account := g.turns[next]
		first := g.waiting[account][0]
		g.dequeue(account, 0)
		if at := slices.Index(g.turns, account); at >= 0 && account != everyone { // its next turn is the last
			g.turns = append(slices.Delete(g.turns, at, at+1), account)
		}
		first.after = g.let - first.after
		g.admit(account)
		close(first.let)
	}
}

// discount begins anew to count for how many others those wait who still rest.
func (g *gate) discount() {
	for account := range g.rests {
		if g.waited != nil && g.isResting(account) {
			for _, mine := range g.waiting[account] {
				mine.after = g.let
			}
		}
	}
}

// dequeue takes one of those who wait for an account away.
func (g *gate) dequeue(account string, at int) {
	left := slices.Delete(g.waiting[account], at, at+1)
	if g.waiting[account] = left; len(left) == 0 {
		delete(g.waiting, account)
		g.turns = slices.DeleteFunc(g.turns, func(turn string) bool { return turn == account })
	}
}

// giveUp takes the place of somebody who waits no more. If they were let in at the same moment, others are in their stead.
func (g *gate) giveUp(mine *place, account string) {
	g.mu.Lock()
	at := slices.Index(g.waiting[account], mine)
	if at >= 0 {
		g.dequeue(account, at)
		g.letIn() // they were company
	}
	g.mu.Unlock()
	if at < 0 {
		g.leave(account)
	}
}
