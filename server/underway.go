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
// can make the server set aside.
const (
	addressConnections = 256
	allConnections     = 8192
	addressRequests    = 128 // without a key
	allRequests        = 2048
	addressBytes       = 4 << 20 // of bodies without a key
	allBytes           = 64 << 20
	accountBytes       = 64 << 20 // of bodies with a key of the account
	accountsBytes      = 256 << 20
	headBytes          = 64 << 20 // of heads of requests, in all
)

// bodyPause is how long a body may stop.
const bodyPause = 10 * time.Second

// bodyTime is how long a body may take in all.
const bodyTime = 60 * time.Second

// budget counts what is under way of each holder, and in all.
type budget struct {
	each, all int64

	mu   sync.Mutex
	used int64
	of   map[string]int64
}

func newBudget(each, all int64) *budget { return &budget{each: each, all: all, of: map[string]int64{}} }

// The answers of take.
type taken int

const (
	granted  taken = iota
	tooMuch        // of this holder
	allInUse       // by all together
)

// take takes n for a holder, or nothing.
func (b *budget) take(holder string, n int64) taken {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.of[holder]+n > b.each:
		return tooMuch
	case b.used+n > b.all:
		return allInUse
	}
	b.used += n
	b.of[holder] += n
	return granted
}

// give gives back what take took.
func (b *budget) give(holder string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.of[holder] -= n; b.of[holder] <= 0 {
		delete(b.of, holder)
	}
}

// underWay is what a server bounds.
type underWay struct {
	connections, requests, strange, known, heads *budget

	mu   sync.Mutex
	open map[net.Conn]string // whose the connections are
}

func newUnderWay() *underWay {
	return &underWay{
		connections: newBudget(addressConnections, allConnections), requests: newBudget(addressRequests, allRequests),
		strange: newBudget(addressBytes, allBytes), known: newBudget(accountBytes, accountsBytes), heads: newBudget(headBytes, headBytes),
		open: map[net.Conn]string{},
	}
}

// networkOf returns whose an address is: of IPv6 its /64, because one subscriber has all of that.
func networkOf(address string) string {
	if addr, err := netip.ParseAddr(address); err == nil && addr.Is6() {
		network, _ := addr.Prefix(64) // fails on more than 128 bits only
		return network.String()
	}
	return address
}

// opened counts a connection, and closes it if its peer, or all together, have too many. Those of a trusted proxy are everybody's, and
// count in all alone.
func (s *Server) opened(conn net.Conn) {
	holder := networkOf(s.address(&http.Request{RemoteAddr: conn.RemoteAddr().String()}))
	if peer, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil && s.trusted(peer.Addr().Unmap()) {
		holder = conn.RemoteAddr().String() // each by itself
	}
	if t := s.underWay.connections.take(holder, 1); t != granted {
		if tcp, ok := conn.(*connection); ok {
			tcp.turnAway(t)
		}
		_ = conn.Close()
		return
	}
	s.underWay.mu.Lock()
	defer s.underWay.mu.Unlock()
	s.underWay.open[conn] = holder
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

// refusalFor returns how a request is refused of which too much is under way.
func refusalFor(t taken) error {
	switch t {
	case tooMuch:
		return &core.Error{Code: core.CodeRateLimit, Message: "Too much is under way from this address or account. Wait a second, and send less at once.", After: time.Second}
	case allInUse:
		return &core.Error{Code: outOfReach, Message: "The server has too much under way, and nothing was changed. Send the same request again.", After: time.Second}
	}
	return nil
}

// boundRequests counts a request without a key while it is answered, and refuses it if its address has too many of them under way.
func (s *Server) boundRequests(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		holder := networkOf(caller.Address(c.Request().Context()))
		if err := refusalFor(s.underWay.requests.take(holder, 1)); err != nil {
			return err
		}
		defer s.underWay.requests.give(holder, 1)
		return next(c)
	}
}

// boundBody has a body counted while it is read and answered, and cut off once it stops for bodyPause.
func (s *Server) boundBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Body == nil || r.Body == http.NoBody {
			return next(c)
		}
		who := caller.Of(r.Context())
		body := &incoming{ReadCloser: r.Body, budget: s.underWay.strange, holder: networkOf(who.Address), pause: s.bodyPause, until: time.Now().Add(bodyTime)}
		if who.Account != "" {
			body.budget, body.holder = s.underWay.known, who.Account
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
	holder     string
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
