package pinterestfake

import (
	"net/http"
	"strconv"
	"time"
)

// Fault says what goes wrong with one call.
type Fault int

// The faults. Those that end in After change the state first: the caller cannot tell them from the others.
const (
	FaultNone Fault = iota
	FaultRateLimit
	FaultUnavailable      // 503, nothing done
	FaultUnavailableAfter // 502 of a proxy that lost patience, all done
	FaultHang             // no answer until the caller gives up, nothing done
	FaultHangAfter        // no answer until the caller gives up, all done
	FaultDrop             // the connection breaks, nothing done
	FaultDropAfter        // the connection breaks, all done
	FaultForbidden        // 403: a role or a scope is missing
	FaultGarbageAfter     // 200 with something that is no JSON, all done
)

// RetryAfter is how long the answer to a FaultRateLimit asks the caller to wait.
const RetryAfter = 7 * time.Second

type fault struct {
	op   string
	skip int
	kind Fault
}

// Break makes one call of the operation go wrong, after skip of them have gone well. An empty operation stands for any.
func (n *Network) Break(operation string, skip int, kind Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = append(n.faults, &fault{op: operation, skip: skip, kind: kind})
}

// before plays the faults that come before the request is looked at. It reports whether the request is done with.
func (f *fault) before(n *Network, w http.ResponseWriter, r *http.Request) bool {
	switch f.kind {
	case FaultRateLimit:
		h := w.Header()
		h.Set("X-RateLimit-Limit", `1, 1;w=60;name="ads_write"`)
		h.Set("X-RateLimit-Remaining", "0")
		h.Set("X-RateLimit-Reset", strconv.Itoa(int(RetryAfter.Seconds())))
		write(w, http.StatusTooManyRequests, refusal{Code: codeRateLimited, Message: "You have exceeded your rate limit. Try again later."})
	case FaultUnavailable:
		write(w, http.StatusServiceUnavailable, refusal{Code: codeInternal, Message: "Something went wrong on our end. Sorry about that."})
	case FaultForbidden:
		write(w, http.StatusForbidden, refusal{Code: codeForbidden, Message: "You are not permitted to access that resource."})
	case FaultHang:
		n.hang(r)
	case FaultDrop:
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}

// after plays the faults that hide what was done. It reports whether the request is done with.
func (f *fault) after(n *Network, w http.ResponseWriter, r *http.Request) bool {
	switch f.kind {
	case FaultUnavailableAfter:
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html>bad gateway</html>"))
	case FaultHangAfter:
		n.hang(r)
	case FaultDropAfter:
		panic(http.ErrAbortHandler)
	case FaultGarbageAfter:
		_, _ = w.Write([]byte(`{"items":[{"da`))
	default:
		return false
	}
	return true
}

// hang holds a request until its caller gives up.
func (n *Network) hang(r *http.Request) {
	if n.OnHang != nil {
		n.OnHang(r)
	}
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}
