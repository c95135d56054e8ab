package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writes is a destination that remembers every write.
type writes struct {
	mu    sync.Mutex
	texts []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, string(p))
	return len(p), nil
}

func (w *writes) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.texts...)
}

func TestLateWriter_WritesByItself(t *testing.T) {
	t.Parallel()
	to := &writes{}
	w := newLateWriter(to)
	for round := 1; round <= 2; round++ {
		_, err := w.Write([]byte("a line\n"))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return len(to.all()) == round }, time.Minute, time.Millisecond)
	}
}

func TestLateWriter_LosesNothingAndMixesNothing(t *testing.T) {
	t.Parallel()
	to := &writes{}
	w := newLateWriter(to)
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for j := range 2000 {
				_, _ = fmt.Fprintf(w, "writer %d line %d\n", i, j)
			}
		})
	}
	writers.Wait()
	w.Flush()
	lines := strings.Split(strings.TrimSuffix(strings.Join(to.all(), ""), "\n"), "\n")
	assert.Len(t, lines, 16_000)
	for _, line := range lines {
		require.Regexp(t, `^writer \d line \d+$`, line)
	}
	assert.Less(t, len(to.all()), 1000, "lines were gathered")
}
