package contract

import (
	"fmt"
	"sync"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// TestListProducts_WalkUnderInserts walks a hundred pages of products while others are being made: each of the old ones must
// come exactly once.
func TestListProducts_WalkUnderInserts(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		const perPage, old = 4, 400
		owner := s.Account(t)
		another := func() *sdk.Client { return owner.As(s.Key(t, owner.Account)).SDK() } // a key has 600 requests a minute
		var makers []*sdk.Client
		for range 8 {
			makers = append(makers, another())
		}
		seen := map[string]int{}
		var mu sync.Mutex
		var group sync.WaitGroup
		for i, maker := range makers {
			group.Go(func() {
				for n := range old / len(makers) {
					p, err := maker.Products.Create(background, &sdk.ProductCreate{Name: fmt.Sprintf("Old %d of %d", n, i)})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					seen[p.ID] = 0
					mu.Unlock()
				}
			})
		}
		group.Wait()
		stop, done := make(chan struct{}), make(chan int)
		go func() { done <- insert(another(), stop) }()
		walker := another()
		for p, err := range sdk.All(background, walker.Products.List, &sdk.ListProductsParams{Limit: new(int64(perPage))}) {
			if err != nil {
				t.Fatal(err)
			}
			if n, isOld := seen[p.ID]; isOld {
				seen[p.ID] = n + 1
			}
		}
		close(stop)
		if inserted := <-done; inserted == 0 {
			t.Error("nothing was inserted meanwhile: the walk proves nothing")
		}
		if len(seen) != old {
			t.Errorf("%d products were made", len(seen))
		}
		for id, n := range seen {
			if n != 1 {
				t.Errorf("%s came %d times", id, n)
			}
		}
	})
}

// insert makes products until it is stopped, or its key is used up, and returns how many.
func insert(c *sdk.Client, stop chan struct{}) (n int) {
	for ; n < 550; n++ {
		select {
		case <-stop:
			return n
		default:
			if _, err := c.Products.Create(background, &sdk.ProductCreate{Name: fmt.Sprint("New ", n)}); err != nil {
				return n
			}
		}
	}
	<-stop
	return n
}
