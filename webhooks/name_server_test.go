package webhooks

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is a DNS server in the hands of an attacker: what it says may change with every question.
type nameServer struct {
	address string
	answer  func(name string, lookup int) []netip.Addr // lookup counts from 1, for each name; nil leaves it unanswered

	mu      sync.Mutex
	lookups map[string]int
}

// newNameServer starts a name server and returns the resolver that asks it and nobody else.
func newNameServer(t *testing.T, answer func(name string, lookup int) []netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	s := &nameServer{address: conn.LocalAddr().String(), answer: answer, lookups: map[string]int{}}
	go s.serve(conn)
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.address)
	}}
}

// always is an answer that does not change.
func always(addresses ...string) func(string, int) []netip.Addr {
	parsed := addrs(addresses...)
	return func(string, int) []netip.Addr { return parsed }
}

func addrs(texts ...string) []netip.Addr {
	parsed := make([]netip.Addr, len(texts))
	for i, text := range texts {
		parsed[i] = netip.MustParseAddr(text)
	}
	return parsed
}

func (s *nameServer) serve(conn net.PacketConn) {
	for query := make([]byte, 1232); ; {
		n, from, err := conn.ReadFrom(query)
		if err != nil {
			return
		}
		if answer := s.reply(query[:n]); answer != nil {
			_, _ = conn.WriteTo(answer, from)
		}
	}
}

// reply returns the answer to a query, with a lifetime of zero, or nil for none.
func (s *nameServer) reply(query []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 || s.answer == nil {
		return nil
	}
	question := m.Questions[0]
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionAvailable: true}
	m.Additionals = nil
	for _, a := range s.answer(question.Name.String(), s.count(question)) {
		header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: dnsmessage.ClassINET}
		switch {
		case question.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case question.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	packed, _ := m.Pack()
	return packed
}

// count numbers the lookups of a name. Each lookup asks for IPv4 and for IPv6 addresses, at the same time.
func (s *nameServer) count(q dnsmessage.Question) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := q.Name.String() + q.Type.String()
	s.lookups[key]++
	return s.lookups[key]
}
