package server

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// authenticate lets a request with a valid API key through, and counts it against the key's quota. Any other request is counted
// against the quota of its address, and answered 401, or 429 once that is used up.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if caller.Of(r.Context()).PersonID != "" {
			return next(c) // on the dashboard, whose page was counted
		}
		grant, known, err := s.grantOf(r)
		if err != nil {
			s.limitUnknown(c.Response().Header(), tenant.RateLimit)
			return err
		}
		limitHeaders(c.Response().Header(), grant)
		who := caller.Of(r.Context())
		who.Account, who.KeyID, who.KeyName, who.Scopes = grant.Account, grant.KeyID, grant.KeyName, grant.Scopes
		switch {
		case grant.Used > grant.Limit:
			return overLimit(c.Response().Header(), grant)
		case !known:
			return &core.Error{
				Code:    core.CodeUnauthenticated,
				Message: "The API key is missing, malformed, expired or revoked, or its account is disabled. Send one header: Authorization: Bearer sk_...",
			}
		}
		if grant.ExpiresAt != nil {
			who.Until = grant.ExpiresAt.String()
		}
		if s.accountQuota > 0 {
			if err := s.countAccount(c); err != nil {
				return err
			}
		}
		return next(c)
	}
}

// countAccount counts a request against the quota of its account, which is over all its keys. The headers go on telling of the key's, unless
// the account's is used up.
func (s *Server) countAccount(c echo.Context) error {
	ctx := c.Request().Context()
	grant, err := s.store.Tenant.CountFor(ctx, "accounts", caller.Account(ctx), s.accountQuota)
	if err != nil || grant.Used <= grant.Limit {
		return err
	}
	h := c.Response().Header()
	limitHeaders(h, grant)
	return overLimit(h, grant)
}

// countAddress counts requests to operations without a key against the quota of their address.
func (s *Server) countAddress(next echo.HandlerFunc) echo.HandlerFunc {
	return s.countBy(s.store.Tenant.CountAddress, tenant.RateLimit, s.boundRequests(next))
}

// countPage counts requests for pages. Each address has a quota for them alone, which no request to the API uses up.
func (s *Server) countPage(next echo.HandlerFunc) echo.HandlerFunc {
	return s.countBy(s.store.Tenant.CountPage, tenant.RateLimit, s.boundRequests(next))
}

// countHook counts the notifications of providers. Each address has a quota for them alone, and may send many at once.
func (s *Server) countHook(next echo.HandlerFunc) echo.HandlerFunc {
	return s.countBy(s.store.Tenant.CountHook, tenant.HookRateLimit, next)
}

// countOperation returns the check that counts requests for an operation, which has a limit of its own, and for its resource's other ones.
func (s *Server) countOperation(op *Operation) echo.MiddlewareFunc {
	count := func(ctx context.Context, address string) (*tenant.Grant, error) {
		return s.store.Tenant.CountFor(ctx, op.resource(), address, op.AddressLimit)
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return s.countBy(count, op.AddressLimit, s.boundRequests(next))
	}
}

// countBy counts a request of an address with count, and refuses it once the quota is used up. Limit is that quota, for when counting fails.
func (s *Server) countBy(count func(context.Context, string) (*tenant.Grant, error), limit int, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		grant, err := count(c.Request().Context(), caller.Address(c.Request().Context()))
		if err != nil {
			s.limitUnknown(c.Response().Header(), limit)
			return err
		}
		limitHeaders(c.Response().Header(), grant)
		if grant.Used > grant.Limit {
			return overLimit(c.Response().Header(), grant)
		}
		caller.Of(c.Request().Context()).Stranger = true
		return next(c)
	}
}

// knowSecret refuses a body that comes with a secret that opens nothing, before any of it is read.
func (s *Server) knowSecret(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().ContentLength == 0 {
			return next(c)
		}
		if err := checkPath(c); err != nil {
			return err
		}
		if _, _, err := s.store.Checkout.OfSecret(c.Request().Context(), c.Param("client_secret")); err != nil {
			return err
		}
		return next(c)
	}
}

// grantOf finds the API key of a request by the hash of its token, counts the request, and reports whether the key is known.
// What cannot be a token is only counted, without looking for it.
func (s *Server) grantOf(r *http.Request) (*tenant.Grant, bool, error) {
	address := caller.Address(r.Context())
	token, ok := bearerToken(r.Header)
	if !ok || !core.WellFormedToken(token) {
		grant, err := s.store.Tenant.CountAddress(r.Context(), address)
		return grant, false, err
	}
	hash := sha256.Sum256([]byte(token))
	return s.store.Tenant.Authenticate(r.Context(), hash[:], address)
}

// bearerToken returns the token of the Authorization header, behind Bearer and any number of spaces, and whether there is one. If the header was sent twice there is
// none: a proxy might have read the other one.
func bearerToken(h http.Header) (string, bool) {
	values := h["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	return strings.TrimLeft(token, " "), strings.EqualFold(scheme, "Bearer")
}

// address returns the network address from which a request comes: that of the connection, or the one that a trusted proxy
// reports.
func (s *Server) address(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "unknown"
	}
	addr := peer.Addr().Unmap()
	if s.trusted(addr) {
		addr = s.forwarded(r.Header, addr)
	} else if r.Header["X-Forwarded-For"] != nil {
		s.strangers.note(r.Context(), s.log, addr)
	}
	return addr.WithZone("").String()
}

// forwarded reads X-Forwarded-For from its end, past all entries that are proxies of ours, and returns the first address that
// is not. What stands before that may be invented.
func (s *Server) forwarded(h http.Header, peer netip.Addr) netip.Addr {
	hops := strings.Split(strings.Join(h["X-Forwarded-For"], ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			return peer
		}
		if peer = hop.Unmap(); !s.trusted(peer) {
			return peer
		}
	}
	return peer
}

func (s *Server) trusted(addr netip.Addr) bool {
	for _, network := range s.proxies {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// strangerInterval is how often the log may say that a proxy seems to be missing in the settings.
const strangerInterval = 10 * time.Minute

// strangers remembers when the log last said that an address which is not trusted sends X-Forwarded-For. Addresses of our own network, where proxies
// are, and all others are remembered apart. So no stranger can keep the line about a proxy from being written.
type strangers struct{ inside, outside atomic.Int64 }

// note writes that line, unless it was written within strangerInterval.
func (s *strangers) note(ctx context.Context, log *slog.Logger, peer netip.Addr) {
	last := &s.outside
	if peer.IsPrivate() || peer.IsLoopback() || peer.IsLinkLocalUnicast() {
		last = &s.inside
	}
	now := time.Now().UnixNano()
	if before := last.Load(); before != 0 && now-before < int64(strangerInterval) || !last.CompareAndSwap(before, now) {
		return
	}
	log.WarnContext(ctx, "X-Forwarded-For came from an address that is not trusted: if a proxy of yours is there, all who come through it share one quota until it is named",
		"address", peer.String(), "setting", "TILLWRIGHT_TRUSTED_PROXIES")
}
