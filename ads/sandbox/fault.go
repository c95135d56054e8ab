package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tillwright/tillwright/ads"
)

// Fault is what goes wrong with calls. The zero value is nothing. Its texts are
//
//	rate_limit;after=7          the network takes no more calls for 7 seconds, 1 by default
//	rate_limit;after=7;calls=3  the same after three calls, where each switch of one call is one, too
//	timeout_after_commit        a write takes place, and nothing is heard of it
//	hang_after_commit           a write takes place, and its answer does not come for as long as the caller waits
//	timeout                     a write does not take place, and nothing is heard of it
//	reject                      a write is refused
//	reject_all                  a read is refused as well
//	unauthorized                the channel's access is not accepted
//	5xx                         the network is out of order
//	partial:3                   of the parts of one write the first three are done, and the others are not
type Fault struct {
	kind  faultKind
	after time.Duration
	n     int64
}

type faultKind string

const (
	faultRateLimit    faultKind = "rate_limit"
	faultLost         faultKind = "timeout_after_commit"
	faultHang         faultKind = "hang_after_commit"
	faultTimeout      faultKind = "timeout"
	faultReject       faultKind = "reject"
	faultRejectAll    faultKind = "reject_all"
	faultUnauthorized faultKind = "unauthorized"
	faultUnavailable  faultKind = "5xx"
	faultPartial      faultKind = "partial"
)

// plainFaults are the faults without options, and "" for no fault.
var plainFaults = []faultKind{"", faultLost, faultHang, faultTimeout, faultReject, faultRejectAll, faultUnauthorized, faultUnavailable}

var errFault = errors.New("a fault of the sandbox is rate_limit, rate_limit;after=7, rate_limit;after=7;calls=3, " +
	"timeout_after_commit, hang_after_commit, timeout, reject, reject_all, unauthorized, 5xx or partial:3")

// ParseFault reads the text of a fault. "" means no fault.
func ParseFault(text string) (Fault, error) {
	name, options, given := strings.Cut(text, ";")
	if count, ok := strings.CutPrefix(text, string(faultPartial)+":"); ok {
		n, err := strconv.ParseUint(count, 10, 31)
		if err != nil {
			return Fault{}, errFault
		}
		return Fault{kind: faultPartial, n: int64(n)}, nil
	}
	switch kind := faultKind(name); {
	case kind == faultRateLimit && given:
		return limited(options)
	case kind == faultRateLimit:
		return Fault{kind: kind, after: time.Second}, nil
	case given || !slices.Contains(plainFaults, kind):
		return Fault{}, errFault
	default:
		return Fault{kind: kind}, nil
	}
}

// limited reads the options of a rate limit, such as after=7;calls=3.
func limited(options string) (Fault, error) {
	f := Fault{kind: faultRateLimit, after: time.Second}
	for option := range strings.SplitSeq(options, ";") {
		name, value, _ := strings.Cut(option, "=")
		n, err := strconv.ParseUint(value, 10, 31)
		switch {
		case err != nil:
			return Fault{}, errFault
		case name == "after":
			f.after = time.Duration(n) * time.Second
		case name == "calls":
			f.n = int64(n)
		default:
			return Fault{}, errFault
		}
	}
	return f, nil
}

// injected is the fault of a context, and how many calls were made with it.
type injected struct {
	Fault
	calls atomic.Int64
}

type faultKey struct{}

// WithFault returns a context whose calls have a fault. Only a server in development may take one from a request.
func WithFault(ctx context.Context, f Fault) context.Context {
	return context.WithValue(ctx, faultKey{}, &injected{Fault: f})
}

// faultOf returns the fault of a call: its context's, or the one that all calls have.
func (d *Driver) faultOf(ctx context.Context) *injected {
	if given, ok := ctx.Value(faultKey{}).(*injected); ok {
		return given
	}
	return &injected{Fault: d.options.Fault}
}

// before returns the error of a call that fails before it does anything, or nil.
func (i *injected) before(writes bool) error {
	switch {
	case i.kind == faultRateLimit:
		return i.countCall()
	case i.kind == faultUnauthorized:
		return ads.ErrUnauthorized
	case i.kind == faultUnavailable:
		return ads.ErrUnavailable
	case i.kind == faultTimeout && writes:
		return fmt.Errorf("sandbox: time-out: %w", ads.ErrIndeterminate)
	case i.kind == faultReject && writes, i.kind == faultRejectAll:
		return &ads.Rejected{Message: "The sandbox was told to refuse this.", Raw: string(faultReject)}
	}
	return nil
}

// part returns the error of the n-th part of a write, counted from 0. A real network would get each part as a call of
// its own, so each counts towards a rate limit.
func (i *injected) part(n int) error {
	switch {
	case !i.does(n):
		return ads.ErrUnavailable
	case i.kind == faultRateLimit && n > 0: // before has counted the first one
		return i.countCall()
	}
	return nil
}

// does reports whether the n-th part of a write, counted from 0, is done at all.
func (i *injected) does(n int) bool { return i.kind != faultPartial || int64(n) < i.n }

// countCall counts a call, and returns the error if it is over the limit.
func (i *injected) countCall() error {
	if i.calls.Add(1) > i.n {
		return &ads.RateLimited{After: i.after}
	}
	return nil
}

// lost returns the error of a write that was done but whose answer is lost, or nil. A fault that hangs waits until the
// caller gives up.
func (i *injected) lost(ctx context.Context) error {
	switch i.kind {
	case faultHang:
		<-ctx.Done()
	case faultLost:
	default:
		return nil
	}
	return fmt.Errorf("sandbox: time-out: %w", ads.ErrIndeterminate)
}
