package fault

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// postOffice is a mail server, which keeps the Message-IDs of what it has taken.
type postOffice struct {
	address string
	mu      sync.Mutex
	ids     []string
	before  func() // called before it says that it has taken one; nil: it says so at once
	closed  bool   // it takes no letter
}

func openPostOffice(t *testing.T) *postOffice {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	o := &postOffice{address: "smtp://" + listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go o.serve(conn)
		}
	}()
	return o
}

// serve speaks as much of RFC 5321 as it takes to be handed letters.
func (o *postOffice) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	say := func(line string) { _, _ = fmt.Fprintf(conn, "%s\r\n", line) }
	say("220 ready")
	var data strings.Builder
	inData := false
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		switch line := lines.Text(); {
		case inData && line == ".":
			inData = false
			o.take(data.String())
			say("250 taken")
		case inData:
			data.WriteString(line + "\r\n")
		case strings.HasPrefix(line, "EHLO"):
			say("250 here")
		case line == "DATA" && o.isClosed():
			say("451 later")
		case line == "DATA":
			data.Reset()
			inData = true
			say("354 go on")
		case line == "QUIT":
			say("221 bye")
			return
		default:
			say("250 fine")
		}
	}
}

func (o *postOffice) take(text string) {
	id := "unreadable"
	if m, err := netmail.ReadMessage(strings.NewReader(text)); err == nil {
		id = m.Header.Get("Message-ID")
	}
	o.mu.Lock()
	o.ids = append(o.ids, id)
	before := o.before
	o.mu.Unlock()
	if before != nil {
		before()
	}
}

func (o *postOffice) isClosed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed
}

func (o *postOffice) opens() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = false
}

// taken returns how often a letter was taken.
func (o *postOffice) taken(id string) (times int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, taken := range o.ids {
		if taken == "<"+id+"@shop.example>" {
			times++
		}
	}
	return times
}

// TestKill_BetweenTheMailServerAndTheNoteSendsTheSameLetter kills the server once its mail server has a letter, and before that says so. Nobody can know then
// whether it was sent: it is sent once more, as the same letter to whoever reads it. All others are sent once.
func TestKill_BetweenTheMailServerAndTheNoteSendsTheSameLetter(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		post := openPostOffice(t)
		binary := harness.Build(t)
		s := newSite(t, &harness.Binary{Path: binary.Path, Env: append([]string{"TILLWRIGHT_SMTP_URL=" + post.address, "TILLWRIGHT_MAIL_FROM=post@shop.example"}, binary.Env...)}, url, 1)
		server := s.binary.Serve(t, "")
		died := make(chan struct{})
		post.before = sync.OnceFunc(func() {
			server.Kill()
			close(died)
		})
		buy := func(on *harness.Process) {
			c := s.client(on, 0)
			price := c.Must(t, http.MethodPost, "/v1/products", map[string]any{
				"name": "Guide", "status": "active", "price_variants": []any{map[string]any{"amount": 1900, "currency": "usd"}},
			})["price_variants"].([]any)[0]
			chk := c.Must(t, http.MethodPost, "/v1/checkouts", map[string]any{"customer_email": "ada@example.com", "line_items": []any{map[string]any{"price_variant": price}}})
			c.Must(t, http.MethodPost, "/v1/checkouts/"+chk["id"].(string)+"/confirm", map[string]any{"payment_method": "pm_card_visa"})
		}
		buy(server)
		select {
		case <-died:
		case <-time.After(harness.Patience):
			t.Fatal("no letter was sent")
		}
		db := harness.OpenDatabase(t, url)
		doubled := db.Strings(t, `SELECT id FROM letters WHERE status = 'queued' AND attempts = 1`)
		require.Len(t, doubled, 1)
		db.Must(t, `UPDATE letters SET next_attempt_at = 0`) // a minute passes
		again := s.binary.Serve(t, server.Addr)
		for range 3 {
			buy(again)
		}
		await(t, "every letter is sent", func() bool { return db.Count(t, "letters WHERE status = 'sent'") == 4 })
		assert.Equal(t, 2, post.taken(doubled[0]))
		for _, id := range db.Strings(t, `SELECT id FROM letters WHERE id <> '`+doubled[0]+`'`) {
			assert.Equal(t, 1, post.taken(id))
		}
		assert.Empty(t, s.brokenInvariants(t))
	})
}

// TestKill_AfterALetterWasAskedForLosesNothing kills a server as soon as it has answered. Whoever asked for a letter has it sent once, by the server that
// comes after it.
func TestKill_AfterALetterWasAskedForLosesNothing(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		post := openPostOffice(t)
		post.closed = true
		binary := harness.Build(t)
		s := newSite(t, &harness.Binary{Path: binary.Path, Env: append([]string{"TILLWRIGHT_SMTP_URL=" + post.address, "TILLWRIGHT_MAIL_FROM=post@shop.example"}, binary.Env...)}, url, 1)
		server := s.binary.Serve(t, "")
		c := s.client(server, 0)
		customer := c.Must(t, http.MethodPost, "/v1/customers", map[string]any{"email": "ada@example.com"})["id"]
		bill := c.Must(t, http.MethodPost, "/v1/invoices", map[string]any{
			"customer": customer, "currency": "usd", "collection_method": "charge_automatically", "finalize": true,
			"lines": []any{map[string]any{"description": "Work", "unit_amount": 500}},
		})
		c.Must(t, http.MethodPost, "/v1/invoices/"+bill["id"].(string)+"/send", nil)
		c.Must(t, http.MethodPost, "/v1/orders/"+bill["order"].(string)+"/resend_receipt", nil)
		server.Kill()
		db := harness.OpenDatabase(t, url)
		asked := db.Strings(t, `SELECT id FROM letters WHERE status = 'queued' AND kind IN ('invoice', 'receipt')`)
		require.Len(t, asked, 2)
		post.opens()
		db.Must(t, `UPDATE letters SET next_attempt_at = 0 WHERE status = 'queued'`) // a minute passes
		s.binary.Serve(t, server.Addr)
		await(t, "both are sent", func() bool {
			return db.Count(t, "letters WHERE status = 'sent' AND kind IN ('invoice', 'receipt')") == 2
		})
		for _, id := range asked {
			assert.Equal(t, 1, post.taken(id))
		}
		assert.Empty(t, s.brokenInvariants(t))
	})
}
