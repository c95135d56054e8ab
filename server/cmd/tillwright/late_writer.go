package main

import (
	"io"
	"sync"
	"time"
)

const (
	lateness   = 50 * time.Millisecond
	lateAmount = 32 << 10
)

// lateWriter gathers lines and writes them together, at most 50 ms after the first of them. A system call for the line of every
// request would be a twentieth of what a request costs.
type lateWriter struct {
	to io.Writer

	mu     sync.Mutex
	lines  []byte
	timer  *time.Timer
	failed error
}

// newLateWriter returns a writer. Flush has to be called at the end, or the last lines are lost.
func newLateWriter(to io.Writer) *lateWriter {
	w := &lateWriter{to: to}
	w.timer = time.AfterFunc(time.Hour, w.Flush)
	w.timer.Stop()
	return w
}

// Write takes a line, and returns the error of an earlier flush if there was one.
func (w *lateWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lines) == 0 {
		w.timer.Reset(lateness)
	}
	w.lines = append(w.lines, line...)
	if len(w.lines) >= lateAmount {
		w.flush()
	}
	return len(line), w.failed
}

// Flush writes the lines that were gathered.
func (w *lateWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
}

func (w *lateWriter) flush() {
	w.timer.Stop()
	if len(w.lines) > 0 {
		_, w.failed = w.to.Write(w.lines)
		w.lines = w.lines[:0]
	}
}
