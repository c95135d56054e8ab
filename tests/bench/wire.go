package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"time"
)

// wire stands between a program and PostgreSQL, and counts what the program sends: it is the only place that sees every statement of
// any program. It knows the statement that takes an account's numbers, and times how long the program then holds them.
type wire struct {
	listener net.Listener
	database string // host and port

	mu         sync.Mutex
	statements int64 // BEGIN and COMMIT are some
	behind     int64 // those sent while numbers were held, COMMIT with them
	taken      int64 // how often numbers were taken
	held       time.Duration
}

// newWire returns a wire to a database, and the database's address by that way.
func newWire(database string) (*wire, string, error) {
	address, err := url.Parse(database)
	if err != nil {
		return nil, "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	w := &wire{listener: l, database: address.Host}
	go w.serve()
	address.Host = l.Addr().String()
	return w, address.String(), nil
}

func (w *wire) close() { _ = w.listener.Close() }

func (w *wire) serve() {
	for {
		program, err := w.listener.Accept()
		if err != nil {
			return
		}
		database, err := net.Dial("tcp", w.database)
		if err != nil {
			_ = program.Close()
			return
		}
		c := &call{wire: w, numbers: map[string]bool{}}
		go c.pass(database, program, c.asked, true)
		go c.pass(program, database, c.answered, false)
	}
}

// call is one connection over a wire.
type call struct {
	*wire
	numbers map[string]bool // the names of prepared statements that take numbers
	asks    string          // what the program waits for, if that is "numbers" or "commit"
	since   time.Time       // numbers are held since then
}

// pass hands on what one side says to the other, and tells of each message. The program's first message, with which it introduces
// itself, has no kind.
func (c *call) pass(to, from net.Conn, tell func(kind byte, body []byte), introduces bool) {
	defer func() { _ = to.Close(); _ = from.Close() }()
	var head [5]byte
	for {
		start := 0
		if introduces {
			start, introduces = 1, false
			head[0] = 0
		}
		if _, err := io.ReadFull(from, head[start:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		tell(head[0], body)
		if _, err := to.Write(append(bytes.Clone(head[start:]), body...)); err != nil {
			return
		}
	}
}

// asked takes note of what a program sends.
func (c *call) asked(kind byte, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch kind {
	case 'P': // prepare: a name, then the text
		name, text, _ := bytes.Cut(body, []byte{0})
		c.numbers[string(name)] = bytes.Contains(text, []byte("INTO counters"))
	case 'B': // run what is prepared: a portal, then the name
		_, rest, _ := bytes.Cut(body, []byte{0})
		name, _, _ := bytes.Cut(rest, []byte{0})
		c.count()
		if c.numbers[string(name)] {
			c.asks = "numbers"
		}
	case 'Q': // a text, as BEGIN and COMMIT are
		c.count()
		if bytes.HasPrefix(body, []byte("COMMIT")) || bytes.HasPrefix(body, []byte("ROLLBACK")) {
			c.asks = "commit"
		}
	}
}

func (c *call) count() {
	c.statements++
	if !c.since.IsZero() {
		c.behind++
	}
}

// answered takes note that PostgreSQL is ready for the next.
func (c *call) answered(kind byte, _ []byte) {
	if kind != 'Z' {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.asks == "numbers":
		c.taken++
		c.since = time.Now()
	case c.asks == "commit" && !c.since.IsZero():
		c.held += time.Since(c.since)
		c.since = time.Time{}
	}
	c.asks = ""
}
