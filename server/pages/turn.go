package pages

import (
	"context"
	"errors"
	"net/netip"
	"sync"
)

// asker says for which account work is asked for, and from which network address.
type asker struct{ account, address string }

// newAsker returns an asker. Of an IPv6 address only the /64 network counts, because one subscriber has all of that.
func newAsker(account, address string) asker {
	if addr, err := netip.ParseAddr(address); err == nil && addr.Is6() {
		network, _ := addr.Prefix(64) // fails on more than 128 bits only
		address = network.String()
	}
	return asker{account, address}
}

// workTurns lets only a few pieces of costly work run at a time, and decides fairly who is next. That is not who came first. It
// is the account that has the least work running and was served the longest ago. Within an account it is the address for which
// the same holds. If a stranger asks for very much of one account, the others wait for one piece of work each time. They do not
// wait for all of the stranger's.
type workTurns struct {
	mu      sync.Mutex
	free    int
	waiting []*waitingTurn // in the order in which they came
	served  uint64         // number of turns given so far
	last    map[asker]uint64
	running map[asker]int
}

// waitingTurn is somebody who waits. The channel is closed when it is their turn.
type waitingTurn struct {
	asker
	granted chan struct{}
}

// How many may wait for an account, and how many of those from one address. If more waited, they would be served too late.
const (
	waitingOfAccount = 256
	waitingOfAddress = 48
)

// errCrowded says that too many wait already.
var errCrowded = errors.New("too many wait for the same")

func newWorkTurns(atOnce int) *workTurns {
	return &workTurns{free: atOnce, last: map[asker]uint64{}, running: map[asker]int{}}
}

// waitTurn waits for a turn, and returns the function that ends it. If too many wait already, it is errCrowded; if ctx ends first,
// why it ended.
func (t *workTurns) waitTurn(ctx context.Context, who asker) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	mine := &waitingTurn{who, make(chan struct{})}
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
		if !t.leave(mine) { // the turn was granted at the same moment, so it has to be given back
			t.release(who)
		}
		return nil, ctx.Err()
	}
	return sync.OnceFunc(func() { t.release(who) }), nil
}

// waitingFor counts who waits for the same account, and who of them asks from the same address. The caller holds t.mu.
func (t *workTurns) waitingFor(who asker) (ofAccount, ofAddress int) {
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

// leave removes somebody who waits. It reports false if their turn has come already.
func (t *workTurns) leave(mine *waitingTurn) bool {
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

// release ends a turn, and gives it to whoever has the most right to it.
func (t *workTurns) release(who asker) {
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

// grant gives one of the free turns to somebody, and remembers when. The caller holds t.mu.
func (t *workTurns) grant(mine *waitingTurn) {
	t.free--
	t.served++
	for _, counted := range mine.counted() {
		t.running[counted]++
		t.last[counted] = t.served
	}
	close(mine.granted)
}

// counted returns the three keys under which a turn is counted: the account, the address whatever account it asks for, and both
// together.
func (a asker) counted() [3]asker {
	return [3]asker{{account: a.account}, {address: a.address}, a}
}

// before reports whether a has more right to the next turn than b.
func (t *workTurns) before(a, b asker) bool {
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

// forget drops what is remembered of those who have nothing running and do not wait, so that the maps do not grow for ever.
// They come first when they ask again. The caller holds t.mu.
func (t *workTurns) forget(who asker) {
	for _, counted := range who.counted() {
		if t.running[counted] > 0 || t.waits(counted) {
			continue
		}
		delete(t.last, counted)
	}
}

// waits reports whether anybody waits who is counted under a key.
func (t *workTurns) waits(counted asker) bool {
	for _, w := range t.waiting {
		for _, other := range w.counted() {
			if other == counted {
				return true
			}
		}
	}
	return false
}
