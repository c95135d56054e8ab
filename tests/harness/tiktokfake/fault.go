package tiktokfake

import "net/http"

// FaultKind says what goes wrong with a call.
type FaultKind string

// What can go wrong with a call. Before means that the call has no effect, After that it has all of it.
const (
	FaultRateLimit  FaultKind = "rate_limit"
	FaultReject     FaultKind = "reject"
	FaultForbid     FaultKind = "forbid"
	FaultSystem     FaultKind = "system" // TikTok's own code for a fault
	FaultStatus     FaultKind = "status" // a proxy fails
	FaultCutBefore  FaultKind = "cut_before"
	FaultCutAfter   FaultKind = "cut_after"
	FaultHangAfter  FaultKind = "hang_after"
	FaultHangBefore FaultKind = "hang_before"
	FaultGarbage    FaultKind = "garbage_after"
	FaultSystemDone FaultKind = "system_after"
	FaultPartly     FaultKind = "partly_after"
)

// fault spoils the next calls of an operation.
type fault struct {
	kind      FaultKind
	operation string // "" = any
	skip      int
	times     int // -1 = always
}

// Break spoils a call of an operation ("POST ad/create", "" for any) after some that pass.
func (n *Network) Break(operation string, skip int, kind FaultKind) {
	n.breaks(operation, skip, 1, kind)
}

// BreakAlways spoils every call of an operation.
func (n *Network) BreakAlways(operation string, kind FaultKind) { n.breaks(operation, 0, -1, kind) }

func (n *Network) breaks(operation string, skip, times int, kind FaultKind) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = append(n.faults, &fault{kind, operation, skip, times})
}

// Heal takes every fault away.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = nil
}

func (n *Network) fault(operation string) *fault {
	for _, f := range n.faults {
		if f.operation != "" && f.operation != operation || f.times == 0 {
			continue
		}
		if f.skip > 0 {
			f.skip--
			continue
		}
		if f.times > 0 {
			f.times--
		}
		return f
	}
	return nil
}

// before plays a fault that keeps the call from having an effect. It reports whether it answered.
func (f *fault) before(n *Network, w http.ResponseWriter, h *http.Request) bool {
	switch f.kind {
	case FaultRateLimit:
		answer(w, codeTooFast, "Requests made too frequently. Please try again later.", nil)
	case FaultReject:
		answer(w, codeParameter, "The ad does not follow TikTok's advertising policies.", nil)
	case FaultForbid:
		answer(w, codeNoPermission, "No permission to operate this.", nil)
	case FaultSystem:
		answer(w, codeFault, "System error", nil)
	case FaultStatus:
		http.Error(w, "bad gateway", http.StatusBadGateway)
	case FaultHangBefore:
		n.hang(h)
	case FaultCutBefore:
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}

// after plays a fault that spoils the answer to a call that has had its effect. It reports whether it answered.
func (f *fault) after(n *Network, w http.ResponseWriter, h *http.Request) bool {
	switch f.kind {
	case FaultHangAfter:
		n.hang(h)
	case FaultCutAfter:
		panic(http.ErrAbortHandler)
	case FaultGarbage:
		_, _ = w.Write([]byte("<html><html>"))
	case FaultSystemDone:
		answer(w, codeFault, "System error", nil)
	case FaultPartly:
		answer(w, 20001, "Partial success", nil)
	default:
		return false
	}
	return true
}

// hang keeps the connection open and sends nothing, until the caller has gone.
func (n *Network) hang(h *http.Request) {
	if n.OnHang != nil {
		n.OnHang(h)
	}
	<-h.Context().Done()
	panic(http.ErrAbortHandler)
}
