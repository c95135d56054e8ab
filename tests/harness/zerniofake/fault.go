package zerniofake

import (
	"net/http"
	"strconv"
	"time"
)

// Fault says what goes wrong with one call.
type Fault int

// The faults. Those that end in After change the state first: the caller cannot tell them from the others.
const (
	FaultNone             Fault = iota
	FaultRateLimit              // 429
	FaultUnavailable            // 503, nothing done
	FaultUnavailableAfter       // 502 of a proxy that lost patience, all done
	FaultDrop                   // the connection breaks, nothing done
	FaultDropAfter              // the connection breaks, all done
	FaultGarbageAfter           // success with something that is no JSON, all done
	FaultKey                    // 401: the installation's key is not taken
	FaultToken                  // 401 of the network: the access that Zernio has ended
	FaultRole                   // 403 of the network
	FaultAddOn                  // 403 of Zernio: ads are not paid for
	FaultUnpaid                 // 402
	FaultUpstream               // 502: the network failed, and nobody knows
	FaultMedia                  // 502: Zernio gave up, because of a video
	FaultUnsupported            // 501
	FaultInFlight               // 409: a request with the same key is under way
	FaultBackfill               // 202: a part of the figures is not there yet
)

// RetryAfter is how long the answer to a FaultRateLimit asks the caller to wait.
const RetryAfter = 7 * time.Second

type fault struct {
	call string
	skip int
	kind Fault
}

// Break makes one call go wrong, such as POST /v1/ads/create, after skip of them have gone well.
func (n *Network) Break(call string, skip int, kind Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = append(n.faults, &fault{call, skip, kind})
}

// before returns the answer of a fault that comes before the request is looked at, nil for none.
func (f *fault) before(w http.ResponseWriter) *refusal {
	platform := refusal{Type: "platform_error", Platform: "meta"}
	switch f.kind {
	case FaultRateLimit:
		w.Header().Set("Retry-After", strconv.Itoa(int(RetryAfter.Seconds())))
		return &refusal{status: http.StatusTooManyRequests, Error: "Too many requests.", Type: "rate_limit_error"}
	case FaultUnavailable:
		return &refusal{status: http.StatusServiceUnavailable, Error: "Try again.", Type: "api_error"}
	case FaultKey:
		return &refusal{status: http.StatusUnauthorized, Error: "Unauthorized"}
	case FaultToken:
		platform.status, platform.Error = http.StatusUnauthorized, "The access token has expired."
	case FaultRole:
		platform.status, platform.Error = http.StatusForbidden, "The user has no role in this ad account."
	case FaultAddOn:
		return &refusal{status: http.StatusForbidden, Error: "Ads access required.", Type: "permission_error"}
	case FaultUnpaid:
		return &refusal{status: http.StatusPaymentRequired, Error: "Add a payment method.", Code: "PAYMENT_REQUIRED"}
	case FaultUpstream:
		platform.status, platform.Error = http.StatusBadGateway, "An unknown error occurred."
	case FaultMedia:
		platform.status, platform.Error = http.StatusBadGateway, "There is no poster for the video."
		platform.PlatformError = map[string]any{"reason": "video_thumbnail_unavailable"}
	case FaultUnsupported:
		return &refusal{status: http.StatusNotImplemented, Error: "Operation not supported on this platform.", Code: "unsupported_platform_operation"}
	case FaultInFlight:
		return &refusal{status: http.StatusConflict, Error: "A request with this key is still being processed.", Type: "invalid_request_error"}
	case FaultDrop:
		panic(http.ErrAbortHandler)
	default:
		return nil
	}
	return &platform
}

// after plays the faults that hide what was done. It reports whether the request is done with.
func (f *fault) after(w http.ResponseWriter) bool {
	switch f.kind {
	case FaultUnavailableAfter:
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html>bad gateway</html>"))
	case FaultDropAfter:
		panic(http.ErrAbortHandler)
	case FaultGarbageAfter:
		_, _ = w.Write([]byte(`{"ad":{"na`))
	default:
		return false
	}
	return true
}
