package store

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
)

// cuttingProxy passes connections to PostgreSQL through. Once armed, it lets the next COMMIT reach the server and
// cuts the connection instead of the answer.
type cuttingProxy struct {
	t    *testing.T
	url  string
	mu   sync.Mutex
	left int // cuts to be made
	made int
	away bool // once it was cut, nobody is let in any more
}

func (p *cuttingProxy) arm() { p.mu.Lock(); p.left = 1; p.mu.Unlock() }

func (p *cuttingProxy) cut() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.made > 0 }

// take claims the cut if these bytes are a COMMIT and one is to be made.
func (p *cuttingProxy) take(sent []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 || !strings.Contains(string(sent), "COMMIT") {
		return false
	}
	p.left, p.made = 0, 1
	return true
}

// start returns the URL of the proxied database.
func (p *cuttingProxy) start() string {
	config, err := pq.NewConfig(p.url)
	require.NoError(p.t, err)
	network, address := "tcp", net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	if strings.HasPrefix(config.Host, "/") {
		network, address = "unix", fmt.Sprintf("%s/.s.PGSQL.%d", config.Host, config.Port)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	p.t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			if p.away && p.cut() {
				_ = client.Close()
				continue
			}
			server, err := net.Dial(network, address)
			if err != nil {
				_ = client.Close()
				continue
			}
			go p.pass(client, server)
		}
	}()
	port := listener.Addr().(*net.TCPAddr).Port
	return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable", config.User, config.Password, port, config.Database)
}

func (p *cuttingProxy) pass(client, server net.Conn) {
	defer client.Close()
	defer server.Close()
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil {
				return
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		cut := p.take(buffer[:n])
		if cut {
			_ = client.Close()
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
		if cut {
			time.Sleep(200 * time.Millisecond) // let the server commit before it loses its client
			return
		}
	}
}
