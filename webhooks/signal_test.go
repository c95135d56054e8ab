package webhooks

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// signal tells tests that something may have changed. Its zero value is ready.
type signal struct {
	mu   sync.Mutex
	next chan struct{} // closed by the next signal; nil while nobody waits
}

// send wakes everybody who waits.
func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}

// receive returns a channel that the next signal closes.
func (s *signal) receive() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

// until waits until a condition holds. It looks at once, and after each signal.
func (s *signal) until(t *testing.T, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		next := s.receive() // before looking, so that no change is missed
		if holds() {
			return
		}
		select {
		case <-next:
		case <-ctx.Done():
			require.Fail(t, "the condition never held")
		}
	}
}
