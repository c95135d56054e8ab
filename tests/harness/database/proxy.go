package database

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/lib/pq"

	"github.com/tillwright/tillwright/tests/harness/freeport"
)

// Proxy stands between the program and a PostgreSQL database. It can freeze, like a machine that is stuck or a network that
// loses every packet: connections stay open, and nothing comes of them. And it can be down, like a database that restarts:
// connections break, and new ones are refused.
type Proxy struct {
	URL string // of the database, through the proxy

	network, address string
	mu               sync.Mutex
	passing          chan struct{} // closed while bytes are passed on
	conns            []net.Conn
	listener         net.Listener
	away             bool
}

// NewProxy starts a proxy before the database of a URL, until the test ends. At first it passes everything on.
func NewProxy(t testing.TB, url string) *Proxy {
	t.Helper()
	config, err := pq.NewConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{network: "tcp", address: net.JoinHostPort(config.Host, fmt.Sprint(config.Port)), passing: make(chan struct{})}
	close(p.passing)
	if config.Host != "" && config.Host[0] == '/' {
		p.network, p.address = "unix", fmt.Sprintf("%s/.s.PGSQL.%d", config.Host, config.Port)
	}
	listener, err := freeport.Listen()
	if err != nil {
		t.Fatal(err)
	}
	p.listener = listener
	p.URL = fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", config.User, config.Password, listener.Addr(), config.Database)
	go p.accept(listener)
	t.Cleanup(func() {
		p.Thaw()
		p.Down()
	})
	return p
}

// Down breaks every connection and refuses new ones.
func (p *Proxy) Down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = true
	_ = p.listener.Close()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
}

// Up takes connections again, at the same address.
func (p *Proxy) Up(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	listener, err := net.Listen("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p.listener, p.away = listener, false
	go p.accept(listener)
}

// Freeze stops passing bytes on.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passing = make(chan struct{})
}

// Thaw passes on what was held back, and everything after it.
func (p *Proxy) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.passing:
	default:
		close(p.passing)
	}
}

// accept takes connections, and passes on what comes on them.
func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.address)
		if err != nil {
			_ = client.Close()
			continue
		}
		if !p.keep(client, server) {
			_, _ = client.Close(), server.Close()
			return
		}
		go p.pass(client, server)
		go p.pass(server, client)
	}
}

// keep remembers a connection, and reports false if the proxy went down at the same moment.
func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.away {
		p.conns = append(p.conns, conns...)
	}
	return !p.away
}

// pass copies bytes from one connection to the other, and waits with each piece while the proxy is frozen.
func (p *Proxy) pass(from, to net.Conn) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		passing := p.passing
		p.mu.Unlock()
		<-passing
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
