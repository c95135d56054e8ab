package server

import (
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

// itemPatience is how long a bulk write waits for those of its account before it, at most.
const itemPatience = 10 * time.Second

// itemTurns let the bulk writes of an account in one after the other. One that waits here holds no connection to the database, as it would where
// those of several servers wait for each other: see CountItems of the store.
type itemTurns struct {
	patience time.Duration

	mu sync.Mutex
	of map[string]*itemTurn // by account, of those that have some
}

// itemTurn is that of one account.
type itemTurn struct {
	place chan struct{} // holds one value while a write has its turn
	users int           // how many have their turn or wait for it
	key   string        // the Idempotency-Key of the write that has its turn
}

func newItemTurns(patience time.Duration) *itemTurns {
	return &itemTurns{patience: patience, of: map[string]*itemTurn{}}
}

// inTurn has a bulk write wait for those of its account that began before it. One that waits for too long is 429.
func (s *Server) inTurn(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, account := c.Request().Context(), caller.Account(c.Request().Context())
		key := c.Request().Header.Get(headerIdempotencyKey)
		turn := s.itemTurns.join(account)
		defer s.itemTurns.quit(account, turn)
		if s.itemTurns.has(turn, key) { // it is refused, since the same is under way
			return next(c)
		}
		who := caller.Of(ctx)
		who.Turn.Wait()
		over := time.NewTimer(s.itemTurns.patience)
		defer over.Stop()
		select {
		case turn.place <- struct{}{}:
			s.itemTurns.begin(turn, key)
			defer func() {
				s.itemTurns.begin(turn, "")
				<-turn.place
			}()
			who.Turn.Resume(ctx)
			return next(c)
		case <-ctx.Done():
			who.Turn.GoOn()
			return ctx.Err()
		case <-over.C:
			who.Turn.GoOn()
			return &core.CrowdedError{}
		}
	}
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

// has reports whether the write that has its turn has an Idempotency-Key.
func (t *itemTurns) has(turn *itemTurn, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return key != "" && turn.key == key
}

// begin notes the key of the write that has its turn now, "" for none.
func (t *itemTurns) begin(turn *itemTurn, key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn.key = key
}

func (t *itemTurns) quit(account string, turn *itemTurn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn.users--; turn.users == 0 {
		delete(t.of, account)
	}
}
