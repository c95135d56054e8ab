package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

const quotaWindow = 60 // seconds

// The names of the headers in their canonical form. Policies are the values of the first one by limit, made once and never changed.
const (
	headerPolicy = "Ratelimit-Policy"
	headerLimit  = "Ratelimit"
	headerReset  = "X-Ratelimit-Reset"
)

var policies = map[int][]string{tenant.RateLimit: policy(tenant.RateLimit), tenant.HookRateLimit: policy(tenant.HookRateLimit)}

// policyOf returns the value of headerPolicy for a limit. Operations may have limits of their own.
func policyOf(limit int) []string {
	if known := policies[limit]; known != nil {
		return known
	}
	return policy(limit)
}

func policy(limit int) []string {
	return []string{`"default";q=` + strconv.Itoa(limit) + `;w=` + strconv.Itoa(quotaWindow)}
}

// limitHeaders sets the headers that say how much of the quota is left after this response.
func limitHeaders(h http.Header, g *tenant.Grant) {
	value := append(make([]byte, 0, 32), `"default";r=`...)
	value = strconv.AppendInt(value, int64(max(0, g.Limit-g.Used)), 10)
	value = append(value, `;t=`...)
	value = strconv.AppendInt(value, untilReset(g), 10)
	values := [2]string{string(value), strconv.FormatInt(g.WindowEnd, 10)}
	h[headerPolicy], h[headerLimit], h[headerReset] = policyOf(g.Limit), values[0:1:1], values[1:2:2]
}

// limitUnknown sets those headers when counting itself has failed, as if nothing had been used.
func (s *Server) limitUnknown(h http.Header, limit int) {
	now := time.Now().Unix()
	limitHeaders(h, &tenant.Grant{Limit: limit, Now: now, WindowEnd: now - now%quotaWindow + quotaWindow})
}

// overLimit returns the refusal of a request until the window of the quota ends, and sets Retry-After.
func overLimit(h http.Header, g *tenant.Grant) error {
	wait := strconv.FormatInt(untilReset(g), 10)
	h.Set("Retry-After", wait)
	return &core.Error{Code: core.CodeRateLimit, Message: "Too many requests: " + strconv.Itoa(g.Limit) + " a minute are allowed. Wait " + wait + " seconds."}
}

// untilReset returns for how many seconds the window of a quota still lasts. A request that was counted a moment later than it came, in the next
// minute, has not more than a whole one.
func untilReset(g *tenant.Grant) int64 { return min(quotaWindow, max(1, g.WindowEnd-g.Now)) }
