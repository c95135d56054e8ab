package pages

import (
	"context"
	"errors"
	"net/netip"
	"sync"
)

// asker is whose work waits, and from where they ask.
type asker struct{ account, address string }

// newAsker returns the asker of an address, of IPv6 of its /64, which one subscriber has whole.
func newAsker(account, address string) asker {
	if addr, err := netip.ParseAddr(address); err == nil && addr.Is6() {
		network, _ := addr.Prefix(64) // fails on more than 128 bits only
		address = network.String()
	}
	return asker{account, address}
}

// turns lets a few do dear work at once. Who waits is not served in the order in which they came: the next turn is that of
// the account that has least under way and was served the longest ago, and within it of the address for which that holds.
// So a stranger who asks for very much of one account makes the others wait for one piece of work each time, not for all
// of theirs.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting []*turn // in the order in which they came
	served  uint64  // counts turns
	last    map[asker]uint64
	running map[asker]int
}

// turn is one that waits.
type turn struct {
	asker
	granted chan struct{}
}

// The most that wait for an account, and of those from one address. More would be served too late.
const (
	waitingOfAccount = 256
	waitingOfAddress = 48
)

// errCrowded says that too many wait already.
var errCrowded = errors.New("too many wait for the same")

func newTurns(atOnce int) *turns {
	return &turns{free: atOnce, last: map[asker]uint64{}, running: map[asker]int{}}
}

// take waits for a turn, which release ends. Without one it returns errCrowded, or why ctx ended.
func (t *turns) take(ctx context.Context, who asker) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	mine := &turn{who, make(chan struct{})}
	ofAccount, ofAddress := t.waitingFor(who)
	switch {
	case t.free > 0:
		t.grant(mine)
	case ofAccount >= waitingOfAccount || ofAddress >= waitingOfAddress:
		t.mu.Unlock()
		return nil, errCrowded
	default:
		t.waiting = append(t.waiting, mine)
	}
	t.mu.Unlock()
	select {
	case <-mine.granted:
	case <-ctx.Done():
		if !t.leave(mine) { // the turn came at the same time
			t.release(who)
		}
		return nil, ctx.Err()
	}
	return sync.OnceFunc(func() { t.release(who) }), nil
}

func (t *turns) waitingFor(who asker) (ofAccount, ofAddress int) {
	for _, w := range t.waiting {
		if w.account == who.account {
			ofAccount++
		}
		if w.asker == who {
			ofAddress++
		}
	}
	return ofAccount, ofAddress
}

// leave takes one that waits out of the line, and reports false if its turn has come.
func (t *turns) leave(mine *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, w := range t.waiting {
		if w == mine {
			t.waiting = append(t.waiting[:i], t.waiting[i+1:]...)
			t.forget(mine.asker)
			return true
		}
	}
	return false
}

func (t *turns) release(who asker) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	for _, counted := range who.counted() {
		if t.running[counted]--; t.running[counted] == 0 {
			delete(t.running, counted)
		}
	}
	t.forget(who)
	if len(t.waiting) == 0 {
		return
	}
	next := 0
	for i := range t.waiting {
		if t.before(t.waiting[i].asker, t.waiting[next].asker) {
			next = i
		}
	}
	mine := t.waiting[next]
	t.waiting = append(t.waiting[:next], t.waiting[next+1:]...)
	t.grant(mine)
}

// grant gives one of the free turns away.
func (t *turns) grant(mine *turn) {
	t.free--
	t.served++
	for _, counted := range mine.counted() {
		t.running[counted]++
		t.last[counted] = t.served
	}
	close(mine.granted)
}

// counted are those in whose name a turn is counted: the account, the address wherever it asks, and the two together.
func (a asker) counted() [3]asker {
	return [3]asker{{account: a.account}, {address: a.address}, a}
}

// before says which of two has more right to the next turn.
func (t *turns) before(a, b asker) bool {
	ofA, ofB := a.counted(), b.counted()
	if x, y := t.running[ofA[0]]+t.running[ofA[1]], t.running[ofB[0]]+t.running[ofB[1]]; x != y {
		return x < y
	}
	for i := range ofA {
		if x, y := t.last[ofA[i]], t.last[ofB[i]]; x != y {
			return x < y
		}
	}
	return false
}

// forget drops what is known of those who have nothing under way and do not wait: they come first again.
func (t *turns) forget(who asker) {
	for _, counted := range who.counted() {
		if t.running[counted] > 0 || t.waits(counted) {
			continue
		}
		delete(t.last, counted)
	}
}

func (t *turns) waits(counted asker) bool {
	for _, w := range t.waiting {
		for _, other := range w.counted() {
			if other == counted {
				return true
			}
		}
	}
	return false
}
