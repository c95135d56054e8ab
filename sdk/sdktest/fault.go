package sdktest

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

// Fault says how calls fail. They fail before anything is done, unless AfterChange is set. A Fault with a
// Delay alone slows calls down, and they succeed.
type Fault struct {
	// Operation is the operationId of the calls, for example "createProduct". Empty stands for all.
	Operation string
	// Status answers with an error of this status, for example 503. Code and Message are the usual ones of the status when they
	// are empty.
	Status        int
	Code, Message string
	// RetryAfter is what the answer asks the client to wait, in whole seconds. A 429 asks for a second at least.
	RetryAfter time.Duration
	// Delay is how long the call waits: before it does anything, or with AfterChange before it is answered. If its client gives up
	// meanwhile, the call ends.
	Delay time.Duration
	// Drop closes the connection in the middle of the answer's first lines. The client sees io.ErrUnexpectedEOF.
	Drop bool
	// AfterChange has the call do what it asks for, and fail then. A client that repeats it with its Idempotency-Key gets the answer
	// of the first attempt.
	AfterChange bool
	// Times is how many requests fail; 0 stands for one. A client repeats what fails, so that a call takes several of them.
	Times int
}

// Fail has the next requests of an operation fail. Of several faults the first that is left counts. An operation that the API does not
// have, or a fault that does nothing, ends the test.
func (s *Server) Fail(f Fault) {
	s.t.Helper()
	if _, known := sdk.Operations[f.Operation]; !known && f.Operation != "" {
		s.t.Fatalf("sdktest: Fail: the API has no operation %q", f.Operation)
	}
	if f.Status == 0 && f.Delay == 0 && !f.Drop {
		s.t.Fatal("sdktest: Fail: set Status, Delay or Drop")
	}
	if f.Status != 0 && (f.Status < http.StatusBadRequest || f.Status > 599) {
		s.t.Fatalf("sdktest: Fail: %d is no status of an error", f.Status)
	}
	f.Times = max(f.Times, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// faultOf takes the fault that a request has, nil if it has none.
func (s *Server) faultOf(operation string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.Operation != "" && f.Operation != operation {
			continue
		}
		taken := *f
		if f.Times--; f.Times == 0 {
			s.faults = append(s.faults[:i], s.faults[i+1:]...)
		}
		return &taken
	}
	return nil
}

// wait waits as long as a fault says. If the client gives up, or the server ends, nothing follows.
func (s *Server) wait(r *http.Request, f *Fault) {
	if f == nil || f.Delay <= 0 {
		return
	}
	timer := time.NewTimer(f.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	case <-s.closing:
		panic(http.ErrAbortHandler)
	}
}

// drop closes a connection in the middle of an answer. Before its first byte net/http would repeat the request by itself, on a connection
// that was used before.
func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // which closes it, too
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n") // the client may be gone
	_ = conn.Close()
}

// stops reports whether nothing is done. No fault stops nothing.
func (f *Fault) stops() bool { return f != nil && !f.AfterChange && (f.Status != 0 || f.Drop) }

func (f *Fault) isAfterChange() bool { return f != nil && f.AfterChange }

// answer returns the error that a fault answers with.
func (f *Fault) answer() *answer {
	message := f.Message
	if message == "" {
		message = "The test asked for this error."
	}
	r := refuse(f.Status, "", message)
	if f.Code != "" {
		r.Code = f.Code
	}
	a := r.answer()
	seconds := int(math.Ceil(f.RetryAfter.Seconds()))
	if f.Status == http.StatusTooManyRequests {
		seconds = max(seconds, 1)
	}
	if seconds > 0 {
		a.header["Retry-After"] = strconv.Itoa(seconds)
	}
	return a
}
