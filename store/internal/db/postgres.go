package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/tillwright/tillwright/store/core"
)

// openPostgres opens the pool that serves both reads and writes. Once the returned flag is set, its connections send nothing
// more: see Pool.close.
func openPostgres(o Options) (*sqlx.DB, *atomic.Bool, error) {
	config, err := postgresConfig(o)
	if err != nil {
		return nil, nil, err
	}
	if o.Pooler == core.PoolerTransaction {
		config.BinaryParameters = true // unnamed statements do not survive such a pooler
	} else {
		config.Runtime["lock_timeout"] = "5s"
		config.Runtime["jit"] = "off" // compiling a short query takes longer than running it
		// Every statement has its index. But one that is prepared while its table is empty would read the growing table as a whole, until PostgreSQL
		// analyses it. For a minute webhooks would take ten times as long.
		config.Runtime["enable_seqscan"] = "off"
		config.Runtime["idle_in_transaction_session_timeout"] = "15s"
		config.Runtime["statement_timeout"] = "12s"
		if o.Patient {
			delete(config.Runtime, "enable_seqscan")
			delete(config.Runtime, "statement_timeout")
		}
	}
	patience := AnswerTimeout
	if o.Patient {
		patience = 0
	}
	over := &atomic.Bool{}
	db, err := connectPostgres(config, dialer{patience: patience, over: over})
	if err != nil {
		return nil, nil, err
	}
	conns := o.MaxConns
	if conns == 0 {
		conns = 12
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxLifetime(5 * time.Minute) // follows a failover
	return db, over, nil
}

// connectPostgres returns a pool whose connections are made by the dialer.
func connectPostgres(config pq.Config, d dialer) (*sqlx.DB, error) {
	c, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, fmt.Errorf("store: database URL: %w", err)
	}
	c.Dialer(d)
	return sqlx.NewDb(sqlOpenDB(connector{c}), core.PostgreSQL), nil
}

// AnswerTimeout is how long a request waits for an answer of PostgreSQL. The database itself gives a statement up a little
// earlier.
const AnswerTimeout = 15 * time.Second

// dialer makes connections to PostgreSQL. If an answer does not arrive within patience the connection is given up; with 0 it
// waits for ever. A context could bound a query as well, but costs two goroutines each: a third of the time of a short query.
type dialer struct {
	net.Dialer
	patience time.Duration
	over     *atomic.Bool // once it is true the connections send nothing more; may be nil
}

func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil || d.patience == 0 && d.over == nil {
		return conn, err
	}
	return &impatientConn{Conn: conn, dialer: d}, nil
}

// impatientConn is a connection that waits for each answer no longer than its dialer has patience. It sends nothing more once the dialer's flag over
// is set.
type impatientConn struct {
	net.Conn
	dialer dialer
}

// Write sends p, unless the connection is to send nothing more: then it returns net.ErrClosed.
func (c *impatientConn) Write(p []byte) (int, error) {
	if c.dialer.over != nil && c.dialer.over.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

// Read waits for an answer as long as the dialer has patience.
func (c *impatientConn) Read(p []byte) (int, error) {
	if c.dialer.patience > 0 {
		if err := c.SetReadDeadline(time.Now().Add(c.dialer.patience)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Read(p)
}

// postgresConfig returns the settings of the database URL. What that leaves open is filled in: TLS is required unless the
// database is on this machine, and connecting takes at most five seconds.
func postgresConfig(o Options) (pq.Config, error) {
	config, err := pq.NewConfig(o.URL)
	if err != nil {
		return config, fmt.Errorf("store: database URL: %w", err)
	}
	if !strings.Contains(o.URL, "sslmode=") {
		config.SSLMode = pq.SSLModeRequire
		if isLoopback(config.Host) {
			config.SSLMode = pq.SSLModeDisable
		}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	if config.Runtime == nil {
		config.Runtime = map[string]string{}
	}
	return config, nil
}

// isLoopback reports whether a host is this machine: a loopback address or the directory of a socket.
func isLoopback(host string) bool {
	if host == "" || host == "localhost" || strings.HasPrefix(host, "/") {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.IsLoopback()
}

// sqlOpenDB opens a pool whose connections are made by c.
func sqlOpenDB(c driver.Connector) *sql.DB { return sql.OpenDB(c) }
