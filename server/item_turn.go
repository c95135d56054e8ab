package server

import (
	"context"
	"sync"
	"time"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

// itemPatience is how long a bulk write waits for those of its account before it, at most.
const itemPatience = 10 * time.Second

// itemTurns let the bulk writes of an account in one after the other. One that waits here holds no connection to the database. It holds one
// where those of several servers wait for each other: see CountItems of the store.
type itemTurns struct {
	patience time.Duration

	mu sync.Mutex
	of map[string]*itemTurn // by account, of those that have some
}

// itemTurn is that of one account.
type itemTurn struct {
	place chan struct{} // holds one value while a write has its turn
	users int           // how many have their turn or wait for it
}

func newItemTurns(patience time.Duration) *itemTurns {
	return &itemTurns{patience: patience, of: map[string]*itemTurn{}}
}

// wait has a bulk write wait for those of its account that began before it, and returns the function that ends its turn. One that waits for too
// long is a CrowdedError, and one whose client has gone why ctx ended.
func (t *itemTurns) wait(ctx context.Context) (end func(), err error) {
	who := caller.Of(ctx)
	turn := t.join(who.Account)
	who.Turn.Wait()
	over := time.NewTimer(t.patience)
	defer over.Stop()
	select {
	case turn.place <- struct{}{}:
		who.Turn.Resume(ctx)
		return func() {
			<-turn.place
			t.quit(who.Account, turn)
		}, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-over.C:
		err = &core.CrowdedError{}
	}
	who.Turn.GoOn()
	t.quit(who.Account, turn)
	return nil, err
}

// join returns the turn of an account. Quit must follow.
func (t *itemTurns) join(account string) *itemTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := t.of[account]
	if turn == nil {
		turn = &itemTurn{place: make(chan struct{}, 1)}
		t.of[account] = turn
	}
	turn.users++
	return turn
}

func (t *itemTurns) quit(account string, turn *itemTurn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn.users--; turn.users == 0 {
		delete(t.of, account)
	}
}
