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
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// authenticate lets a request with a valid API key through, counted against the
// key's quota. Any other is counted against its address and answered 401, and 429
// once the address has used up its own quota.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		grant, known, err := s.grantOf(r)
		if err != nil {
			s.limitUnknown(c.Response().Header())
			return err
		}
		limitHeaders(c.Response().Header(), grant)
		switch {
		case grant.Used > grant.Limit:
			return overLimit(c.Response().Header(), grant)
		case !known:
			return &core.Error{
				Code:    core.CodeUnauthenticated,
				Message: "The API key is missing, malformed, expired or revoked, or its account is disabled. Send one header: Authorization: Bearer sk_...",
			}
		}
		who := caller.Of(r.Context())
		who.Account, who.KeyID, who.Scopes = grant.Account, grant.KeyID, grant.Scopes
		if grant.ExpiresAt != nil {
			who.Until = grant.ExpiresAt.String()
		}
		return next(c)
	}
}

// countAddress is what operations without a key have instead: a quota per address.
func (s *Server) countAddress(next echo.HandlerFunc) echo.HandlerFunc {
	return s.countBy(s.store.CountAddress, next)
}

// countPage is what pages have: a quota per address of their own, which no request to the API uses up.
func (s *Server) countPage(next echo.HandlerFunc) echo.HandlerFunc {
	return s.countBy(s.store.CountPage, next)
}

// countHook is what notifications of providers have: a quota per address of their own.
func (s *Server) countHook(next echo.HandlerFunc) echo.HandlerFunc {
	return s.countBy(s.store.CountHook, next)
}

func (s *Server) countBy(count func(context.Context, string) (*store.Grant, error), next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		grant, err := count(c.Request().Context(), s.address(c.Request()))
		if err != nil {
			s.limitUnknown(c.Response().Header())
			return err
		}
		limitHeaders(c.Response().Header(), grant)
		if grant.Used > grant.Limit {
			return overLimit(c.Response().Header(), grant)
		}
		return next(c)
	}
}

// grantOf looks the key up by the hash of its token and counts the request. What
// cannot be a token is counted without a look.
func (s *Server) grantOf(r *http.Request) (*store.Grant, bool, error) {
	address := s.address(r)
	token, ok := bearerToken(r.Header)
	if !ok || !core.WellFormedToken(token) {
		grant, err := s.store.CountAddress(r.Context(), address)
		return grant, false, err
	}
	hash := sha256.Sum256([]byte(token))
	return s.store.Authenticate(r.Context(), hash[:], address)
}

// bearerToken returns the token of the one Authorization header. Two of them are
// none: a proxy and we might read a different one.
func bearerToken(h http.Header) (string, bool) {
	values := h["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	return token, strings.EqualFold(scheme, "Bearer")
}

// address returns who asks: the peer's address, or the one that a trusted proxy saw.
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

// forwarded walks X-Forwarded-For from our end as long as proxies of ours wrote it.
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

// strangerInterval is how often it is said that a proxy seems not to be named.
const strangerInterval = 10 * time.Minute

// strangers remembers when it was last said that somebody who is not trusted names others as the ones who ask: of our own
// network, where proxies are, and of others apart, so that no stranger can keep the line about a proxy from being written.
type strangers struct{ inside, outside atomic.Int64 }

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
