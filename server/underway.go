package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

// How much may be under way at once, from one address (of IPv6 its /64) and in all. It bounds the memory that somebody without a key
// can make the server set aside. The network around an address, in which one person may have any number of them, has an eighth of all.
const (
	addressConnections = 256
	allConnections     = 8192
	addressRequests    = 128            // without a key
	allRequests        = allConnections // each has one
	addressBytes       = 4 << 20        // of bodies without a key
	allBytes           = 64 << 20
	addressHookBytes   = 8 << 20 // of notifications of providers, which strangers' bodies do not keep out
	allHookBytes       = 64 << 20
	accountBytes       = 64 << 20 // of bodies with a key of the account
	accountsBytes      = 256 << 20
	addressHeadBytes   = 4 << 20 // of heads of requests
	allHeadBytes       = 64 << 20
)

// bodyPause is how long a body may stop.
const bodyPause = 10 * time.Second

// bodyTime is how long a body may take in all.
const bodyTime = 60 * time.Second

// holder is whose something under way is: an address, or of IPv6 its /64, because one subscriber has all of that. Around is the network around
// it. An account, and a connection of a trusted proxy, have none.
type holder struct{ name, around string }

// holderOf returns whose what an address has under way is.
func holderOf(address string) holder {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return holder{name: address}
	}
	own, around := 32, 24
	if addr.Is6() {
		own, around = 64, 48
	}
	network := func(bits int) string {
		n, _ := addr.Prefix(bits) // fails on more bits than there are only
		return n.String()
	}
	return holder{name: network(own), around: network(around)}
}

// budget counts what is under way of each holder, of each network, and in all.
type budget struct {
	each, network, all int64

	mu   sync.Mutex
	used int64
	of   map[string]int64 // by name and by network, which are never the same
}

func newBudget(each, all int64) *budget {
	return &budget{each: each, network: max(each, all/8), all: all, of: map[string]int64{}}
}

// The answers of take.
type taken int

const (
	granted  taken = iota
	tooMuch        // of this holder, or of the network around it
	allInUse       // by all together
)

// take takes n for a holder, or nothing.
func (b *budget) take(h holder, n int64) taken {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.of[h.name]+n > b.each, h.around != "" && b.of[h.around]+n > b.network:
		return tooMuch
	case b.used+n > b.all:
		return allInUse
	}
	b.add(h, n)
	return granted
}

// give gives back what take took.
func (b *budget) give(h holder, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(h, -n)
}

// add counts n more. The caller holds b.mu.
func (b *budget) add(h holder, n int64) {
	b.used += n
	for _, name := range []string{h.name, h.around} {
		if name == "" {
			continue
		}
		if b.of[name] += n; b.of[name] <= 0 {
			delete(b.of, name)
		}
	}
}

// underWay is what a server bounds.
type underWay struct {
	connections, requests, strange, hooks, known, heads, media *budget

	mu   sync.Mutex
	open map[net.Conn]holder // whose the connections are
}

func newUnderWay() *underWay {
	return &underWay{
		connections: newBudget(addressConnections, allConnections), requests: newBudget(addressRequests, allRequests),
		strange: newBudget(addressBytes, allBytes), hooks: newBudget(addressHookBytes, allHookBytes), known: newBudget(accountBytes, accountsBytes),
		heads: newBudget(addressHeadBytes, allHeadBytes), media: newBudget(addressMediaBytes, allMediaBytes), open: map[net.Conn]holder{},
	}
}

// opened counts a connection, and closes it if its peer, or all together, have too many. Those of a trusted proxy are everybody's, and
// count in all alone.
func (s *Server) opened(conn net.Conn) {
	h := holderOf(s.address(&http.Request{RemoteAddr: conn.RemoteAddr().String()}))
	if peer, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil && s.trusted(peer.Addr().Unmap()) {
		h = holder{name: conn.RemoteAddr().String()} // each by itself
	}
	own, isOwn := conn.(*connection)
	if t := s.underWay.connections.take(h, 1); t != granted {
		if isOwn && own.isPlain { // a handshake would hold up all that are accepted
			own.turnAway(t)
		}
		_ = conn.Close()
		return
	}
	if isOwn {
		own.holder = h
	}
	s.underWay.mu.Lock()
	defer s.underWay.mu.Unlock()
	s.underWay.open[conn] = h
}

// closed counts a connection no more.
func (s *Server) closed(conn net.Conn) {
	s.underWay.mu.Lock()
	holder, counted := s.underWay.open[conn]
	delete(s.underWay.open, conn)
	s.underWay.mu.Unlock()
	if counted {
		s.underWay.connections.give(holder, 1)
	}
}

// refusalFor returns why a request is refused of which too much is under way, nil if it is not.
func refusalFor(t taken) error {
	switch t {
	case tooMuch:
		return &core.CrowdedError{}
	case allInUse:
		return &core.CrowdedError{ByAll: true}
	}
	return nil
}

// crowded returns the answer to a request that was refused because too much is under way.
func crowded(err *core.CrowdedError) *core.Error {
	if err.ByAll {
		return &core.Error{Code: outOfReach, Message: "The server has too much under way, and nothing was changed. Send the same request again.", After: time.Second}
	}
	return &core.Error{Code: core.CodeRateLimit, Message: "Too much is under way from this address or account. Wait a second, and send less at once.", After: time.Second}
}

// boundRequests counts a request without a key while it is answered, and refuses it if its address has too many of them under way.
func (s *Server) boundRequests(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := holderOf(caller.Address(c.Request().Context()))
		if err := refusalFor(s.underWay.requests.take(h, 1)); err != nil {
			return err
		}
		defer s.underWay.requests.give(h, 1)
		return next(c)
	}
}

// boundBody has a body counted while it is read and answered, and cut off once it stops for bodyPause.
func (s *Server) boundBody(next echo.HandlerFunc) echo.HandlerFunc {
	return s.boundBodyIn(func() *budget { return s.underWay.strange }, next)
}

// boundHook is boundBody for a notification of a provider.
func (s *Server) boundHook(next echo.HandlerFunc) echo.HandlerFunc {
	return s.boundBodyIn(func() *budget { return s.underWay.hooks }, next)
}

// boundBodyIn is boundBody with the budget of callers without a key.
func (s *Server) boundBodyIn(strange func() *budget, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Body == nil || r.Body == http.NoBody {
			return next(c)
		}
		who := caller.Of(r.Context())
		body := &incoming{ReadCloser: r.Body, budget: strange(), holder: holderOf(who.Address), pause: s.bodyPause, until: time.Now().Add(bodyTime)}
		if who.Account != "" {
			body.budget, body.holder = s.underWay.known, holder{name: who.Account}
		}
		if who.PersonID == "" { // what a page asks from inside has no connection
			body.controller = http.NewResponseController(c.Response())
		}
		r.Body = body
		defer body.release()
		return next(c)
	}
}

// incoming is a body on its way.
type incoming struct {
	io.ReadCloser
	controller *http.ResponseController // nil without a connection
	pause      time.Duration
	until      time.Time
	budget     *budget
	holder     holder
	held       int64
}

// Read waits for more of the body, but not for longer than it may stop.
func (i *incoming) Read(p []byte) (int, error) {
	i.deadline(time.Now().Add(i.pause))
	n, err := i.ReadCloser.Read(p)
	if err == io.EOF { // the connection is read from behind the body, too
		i.deadline(i.until)
	}
	if n > 0 {
		if refused := refusalFor(i.budget.take(i.holder, int64(n))); refused != nil {
			return 0, refused
		}
		i.held += int64(n)
	}
	var tooLarge *http.MaxBytesError
	if err != nil && err != io.EOF && !errors.As(err, &tooLarge) {
		err = bodyCut
	}
	return n, err
}

func (i *incoming) deadline(at time.Time) {
	if i.controller != nil {
		if at.After(i.until) {
			at = i.until
		}
		_ = i.controller.SetReadDeadline(at) // a connection without deadlines needs none
	}
}

func (i *incoming) release() {
	i.budget.give(i.holder, i.held)
	i.held = 0
}

// bodyCut is for a body that did not come whole.
var bodyCut = &core.Error{Code: core.CodeBadRequest, Message: "The body ended early, stopped for ten seconds, or could not be read. Send all of it at once."}

// startBody gives a body that nobody has read yet as long as one may stop. The HTTP library waits for what a handler left.
func (s *Server) startBody(w http.ResponseWriter, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.bodyPause))
	}
}

// formLimit returns how large a form of a route may be.
func (d Deps) formLimit(route string) int64 {
	_, path, named := strings.Cut(route, " ")
	if !named {
		path = route
	}
	for _, prefix := range d.LargeForms {
		if strings.HasPrefix(path, prefix) {
			return defaultMaxBody
		}
	}
	return publicMaxBody
}
