package metafake

import (
	"net/http"
	"strings"
)

// FaultKind says what goes wrong with a call.
type FaultKind string

// What can go wrong with a call. Before means that the call has no effect, After that it has all of it.
const (
	FaultRateLimit     FaultKind = "rate_limit"
	FaultServerError   FaultKind = "server_error"
	FaultReject        FaultKind = "reject"
	FaultTimeoutBefore FaultKind = "timeout_before"
	FaultTimeoutAfter  FaultKind = "timeout_after"
	FaultCutBefore     FaultKind = "cut_before"
	FaultCutAfter      FaultKind = "cut_after"
	FaultGarbageAfter  FaultKind = "garbage_after"
	FaultErrorAfter    FaultKind = "server_error_after"
	FaultCode          FaultKind = "code" // the error that Code and Subcode name
)

// Fault spoils the next calls with a method and an edge ("campaigns", "." for a node itself, "" for any).
type Fault struct {
	Kind         FaultKind
	Method, Edge string
	Skip         int // calls that match and pass first
	Times        int // how often it happens; 0 is once, -1 always
	Code         int // of a rate limit: 17, 613 or 80004; of a FaultCode any
	Subcode      int
	Minutes      int // of a rate limit, until access is regained
}

// Fail adds a fault.
func (f *Fake) Fail(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault.Times == 0 {
		fault.Times = 1
	}
	f.faults = append(f.faults, &fault)
}

// Heal takes every fault away.
func (f *Fake) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// fault returns what goes wrong with a call, nil if nothing does.
func (f *Fake) fault(r *request) *Fault {
	for _, fault := range f.faults {
		if fault.Method != "" && fault.Method != r.method || fault.Edge != "" && fault.Edge != r.edge || fault.Times == 0 {
			continue
		}
		if fault.Skip > 0 {
			fault.Skip--
			continue
		}
		if fault.Times > 0 {
			fault.Times--
		}
		return fault
	}
	return nil
}

// before plays a fault that keeps the call from having an effect. It reports whether it answered.
func (fault *Fault) before(f *Fake, w http.ResponseWriter, h *http.Request, account string) bool {
	switch fault.Kind {
	case FaultRateLimit:
		rateLimited(fault.Code, fault.Minutes).write(w, account)
	case FaultServerError:
		serverError().write(w, account)
	case FaultCode:
		e := oauth(http.StatusBadRequest, fault.Code, "The call is refused for a reason that no call of this driver can mend.")
		e.Subcode, e.regain = fault.Subcode, fault.Minutes
		e.write(w, account)
	case FaultReject:
		refused(1487390, "This ad was rejected because it does not follow our Advertising Standards.").write(w, account)
	case FaultTimeoutBefore:
		f.hang(h)
	case FaultCutBefore:
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}

// after plays a fault that spoils the answer to a call that has had its effect. It reports whether it answered.
func (fault *Fault) after(f *Fake, w http.ResponseWriter, h *http.Request) bool {
	switch fault.Kind {
	case FaultTimeoutAfter:
		f.hang(h)
	case FaultCutAfter:
		panic(http.ErrAbortHandler)
	case FaultGarbageAfter:
		_, _ = w.Write([]byte(strings.Repeat("<html>", 3)))
	case FaultErrorAfter:
		serverError().write(w, "")
	default:
		return false
	}
	return true
}

// hang keeps the connection open and sends nothing, until the caller has gone.
func (f *Fake) hang(h *http.Request) {
	if f.OnHang != nil {
		f.OnHang(h)
	}
	<-h.Context().Done()
	panic(http.ErrAbortHandler)
}

func serverError() *Error {
	return &Error{Status: http.StatusInternalServerError, Message: "An unknown error occurred", Type: "OAuthException", Code: 1, Trace: trace}
}
