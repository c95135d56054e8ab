package caller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errRefused = errors.New("too much is under way")

// attempts begins so many turns of an account at a time, and returns those that began and a function that counts those that were refused.
func (s *Shares) attempts(ctx context.Context, account string, n int) (begun chan *Turn, refused func() int) {
	begun = make(chan *Turn, n)
	var mu sync.Mutex
	no := 0
	for range n {
		go func() {
			t, err := s.Begin(ctx, account)
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				no++
				return
			}
			begun <- t
		}()
		synctest.Wait() // in their order
	}
	return begun, func() int {
		mu.Lock()
		defer mu.Unlock()
		return no
	}
}

func TestShares_LetAnAccountThatIsAloneDoAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShares(4, time.Minute, errRefused)
		begun, _ := s.attempts(t.Context(), "busy", 50)
		assert.Len(t, begun, 50)
	})
}

func TestShares_LeaveHalfToOthers(t *testing.T) {
	for _, other := range []string{"other", ""} {
		for processors, half := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 8: 4} {
			t.Run(fmt.Sprintf("%d processors beside %q", processors, other), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := NewShares(processors, time.Minute, errRefused)
					s.See(other)
					begun, _ := s.attempts(t.Context(), "busy", 20)
					require.Len(t, begun, half)
					for ended := 1; ended <= 10; ended++ {
						s.See(other)
						(<-begun).End()
						synctest.Wait()
						assert.Len(t, begun, half, "one ends, and the next begins")
					}
					_, err := s.Begin(t.Context(), "another")
					assert.NoError(t, err, "who computes nothing yet does not wait")

					time.Sleep(around + lookAgain)
					synctest.Wait()
					assert.Len(t, begun, 10, "the others have gone")
				})
			})
		}
	}
}

func TestShares_HaveNoPlaceForWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShares(2, time.Minute, errRefused)
		s.See("")
		begun, _ := s.attempts(t.Context(), "busy", 3)
		require.Len(t, begun, 1)
		first := <-begun
		first.Wait()
		synctest.Wait()
		require.Len(t, begun, 1)
		second := <-begun

		resumed := make(chan struct{})
		go func() {
			first.Resume(t.Context())
			close(resumed)
		}()
		synctest.Wait()
		select {
		case <-resumed:
			t.Fatal("there is no place")
		default:
		}
		second.End()
		<-resumed
		synctest.Wait()
		assert.Empty(t, begun, "who goes on is let in before who begins")

		first.Wait()
		first.Wait() // another part of it
		third := <-begun
		first.GoOn()
		assert.Len(t, s.of["busy"].taken, 1)
		first.GoOn()
		assert.Len(t, s.of["busy"].taken, 2, "it goes on at once")
		third.End()
		first.Wait()
		first.End()
		assert.Empty(t, s.of)
		first.GoOn()
		first.Wait()
		first.Resume(t.Context())
		assert.Empty(t, s.of, "what goes on after the end is not counted")
	})
}

func TestShares_LetNobodyWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShares(2, 10*time.Second, errRefused)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for ctx.Err() == nil { // somebody is always around
				s.See("")
				time.Sleep(around / 2)
			}
		}()
		synctest.Wait()
		begun, refused := s.attempts(t.Context(), "busy", 4)
		require.Len(t, begun, 1)
		began := time.Now()
		<-begun
		<-begun
		assert.InDelta(t, computes, time.Since(began), float64(lookAgain), "one that took a second most likely waits, and the next begins")

		later, cancelLater := context.WithCancel(t.Context())
		waiting, hasGone := s.attempts(later, "busy", 3)
		cancelLater()
		synctest.Wait()
		assert.Equal(t, 3, hasGone())
		assert.Empty(t, waiting)

		third := <-begun
		third.Wait()
		fourth := <-begun
		began = time.Now()
		third.Resume(t.Context())
		assert.InDelta(t, goOnWithin, time.Since(began), float64(lookAgain), "who may hold something goes on")
		third.End()
		fourth.End()
		assert.Zero(t, refused())
		cancel()
		time.Sleep(around)
	})
}

func TestShares_RefuseWhoWaitedForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShares(2, computes/2, errRefused)
		s.See("")
		_, err := s.Begin(t.Context(), "busy")
		require.NoError(t, err)
		_, err = s.Begin(t.Context(), "busy")
		assert.Equal(t, errRefused, err)
		_, err = s.Begin(t.Context(), "other")
		assert.NoError(t, err)
	})
}

// Every place is given back, whatever happens at the same time.
func TestShares_ForgetWhoHasGone(t *testing.T) {
	s := NewShares(4, time.Minute, errRefused)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			for n := range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				account := fmt.Sprint(i % 3)
				if n%7 == 0 {
					go cancel()
				}
				if turn, err := s.Begin(ctx, account); err == nil {
					var parts sync.WaitGroup
					for part := range n % 3 {
						parts.Go(func() {
							turn.Wait()
							if part == 0 {
								turn.Resume(ctx)
							} else {
								turn.GoOn()
							}
						})
					}
					if n%2 == 0 {
						parts.Wait()
					}
					turn.End()
					parts.Wait()
				}
				cancel()
			}
		})
	}
	all.Wait()
	assert.Empty(t, s.of)
}

type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

func TestAwaited_HasTheRequestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShares(2, time.Minute, errRefused)
		turn, err := s.Begin(t.Context(), "busy")
		require.NoError(t, err)
		idle := func() {
			t.Helper()
			assert.Empty(t, s.of)
		}
		way := Awaited{answers(func(*http.Request) (*http.Response, error) {
			idle()
			return &http.Response{Body: io.NopCloser(readFunc(func(p []byte) (int, error) {
				idle()
				return strings.NewReader("done").Read(p)
			}))}, nil
		})}
		r, err := http.NewRequestWithContext(With(t.Context(), &Caller{Turn: turn}), http.MethodGet, "http://example.com", nil)
		require.NoError(t, err)
		answer, err := way.RoundTrip(r)
		require.NoError(t, err)
		assert.Len(t, s.of["busy"].taken, 1)
		read := make([]byte, 4)
		_, err = answer.Body.Read(read)
		require.NoError(t, err)
		assert.Equal(t, "done", string(read))
		assert.Len(t, s.of["busy"].taken, 1)
	})
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
