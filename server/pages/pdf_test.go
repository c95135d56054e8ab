package pages

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/invoicepdf"
)

// press writes documents that say who they are for, and counts them. It takes as long as the test lets it.
type press struct {
	*documents[invoicepdf.Document]
	made    atomic.Int64
	stopped atomic.Int64
	open    chan struct{} // closed: it writes at once
}

func newPress() *press {
	p := &press{documents: newDocuments[invoicepdf.Document](nil), open: make(chan struct{})}
	p.patience = 5 * time.Minute
	p.write = func(ctx context.Context, d invoicepdf.Document) ([]byte, error) {
		select {
		case <-p.open:
			p.made.Add(1)
			return []byte(d.Title), nil
		case <-ctx.Done():
			p.stopped.Add(1)
			return nil, ctx.Err()
		}
	}
	return p
}

func TestDocuments_AreMadeOnceUntilTheySaySomethingElse(t *testing.T) {
	t.Parallel()
	p := newPress()
	close(p.open)
	ask := func(account, title string) {
		file, err := p.get(t.Context(), asker{account, "buyer"}, invoicepdf.Document{Title: title})
		require.NoError(t, err)
		assert.Equal(t, title, string(file))
	}
	ask("a", "paid")
	ask("a", "paid")
	assert.EqualValues(t, 1, p.made.Load())
	ask("a", "refunded")
	assert.EqualValues(t, 2, p.made.Load())
	ask("b", "paid")
	assert.EqualValues(t, 3, p.made.Load(), "what another account has is not shown, be it equal")
}

func TestDocuments_OfManyAreMadeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPress()
		var group sync.WaitGroup
		for n := range 40 {
			group.Go(func() {
				file, err := p.get(t.Context(), asker{"a", fmt.Sprint(n)}, invoicepdf.Document{Title: "x"})
				assert.NoError(t, err)
				assert.Equal(t, "x", string(file))
			})
		}
		synctest.Wait()
		close(p.open)
		group.Wait()
		assert.EqualValues(t, 1, p.made.Load())
		assert.Empty(t, p.making)
	})
}

func TestDocuments_AreNotMadeForWhoHungUp(t *testing.T) {
	t.Parallel()
	p := newPress()
	ctx, hangUp := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for n := range 30 {
		group.Go(func() {
			_, err := p.get(ctx, asker{"a", "stranger"}, invoicepdf.Document{Title: fmt.Sprint(n)})
			assert.ErrorIs(t, err, context.Canceled)
		})
	}
	require.Eventually(t, func() bool {
		p.turns.mu.Lock()
		defer p.turns.mu.Unlock()
		return len(p.turns.waiting) == 30-documentsAtOnce
	}, 5*time.Minute, time.Millisecond)
	hangUp()
	group.Wait()
	assert.EqualValues(t, documentsAtOnce, p.stopped.Load(), "those under way stop, the others never begin")
	assert.Equal(t, documentsAtOnce, p.turns.free)
}

func TestDocuments_SomebodyElseMakesWhatWasGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPress()
		ctx, hangUp := context.WithCancel(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := p.get(ctx, asker{"a", "1"}, invoicepdf.Document{Title: "x"})
			first <- err
		}()
		synctest.Wait()
		assert.Len(t, p.making, 1)
		go func() {
			_, err := p.get(t.Context(), asker{"a", "2"}, invoicepdf.Document{Title: "x"})
			second <- err
		}()
		synctest.Wait()
		hangUp()
		require.ErrorIs(t, <-first, context.Canceled)
		close(p.open)
		assert.NoError(t, <-second)
	})
}

func TestDocuments_AreKeptInBoundedMemory(t *testing.T) {
	t.Parallel()
	p := newPress()
	p.write = func(context.Context, invoicepdf.Document) ([]byte, error) { return make([]byte, 3<<20), nil }
	for n := range 30 {
		_, err := p.get(t.Context(), asker{"a", "1"}, invoicepdf.Document{Title: fmt.Sprint(n)})
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, p.bytes, keptBytes)
	assert.Len(t, p.byKey, keptBytes/(3<<20))
	assert.Equal(t, p.recent.Len(), len(p.byKey))
	key, err := keyOf("a", invoicepdf.Document{Title: "29"})
	require.NoError(t, err)
	assert.NotNil(t, p.kept(key), "the last ones")
}

func TestDocuments_WhoCannotBeServedInTimeIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPress()
		p.patience = documentPatience
		began := time.Now()
		_, err := p.get(t.Context(), asker{"a", "1"}, invoicepdf.Document{Title: "x"})
		require.ErrorIs(t, err, errBusy)
		assert.Equal(t, documentPatience, time.Since(began))
		assert.Equal(t, documentsAtOnce, p.turns.free)
	})
}
