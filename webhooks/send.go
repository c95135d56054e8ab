package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tillwright/tillwright/sdk/signature"
	"github.com/tillwright/tillwright/store/outbox"
)

const (
	sendTimeout = 5 * time.Second // name lookup, connection, TLS, request, all that is read of the answer, and letting go of it
	lastWords   = 50 * time.Millisecond
	readLimit   = 4 << 10 // bytes read of an answer
	keepLimit   = 2 << 10 // bytes kept of them
	headerLimit = 16 << 10
)

// SenderOptions are what differs between deployments.
type SenderOptions struct {
	Service  string        // the service name in X-<Service>-Hmac-SHA256 and User-Agent
	Guard    *Guard        // asked at every dial
	Standard bool          // add the headers of the Standard Webhooks specification
	Timeout  time.Duration // of an attempt; 0: five seconds
	TLS      *tls.Config   // nil: the system's certificate authorities
	Resolver *net.Resolver // nil: the system's
}

// Sender makes single deliveries over HTTP.
type Sender struct {
	client   *http.Client
	standard bool
	timeout  time.Duration

	signatureHeader, previousHeader, eventHeader, attemptHeader string
	agent                                                       []string
}

// Message is one body that is sent to one URL.
type Message struct {
	EventID, URL   string
	Secret         string
	PreviousSecret string // signs too, while it is not empty
	Body           []byte
	Attempt        int
	Chat           bool // for people: without the headers of Standard Webhooks
}

// Result is the result of one attempt. Reason is empty if, and only if, the receiver answered 2xx in time. StatusCode is
// zero if there was no answer.
type Result struct {
	StartedAt  time.Time
	Duration   time.Duration // up to the status line
	StatusCode int
	Reason     outbox.Reason
	Response   string // the beginning of the answer's body: valid UTF-8 without NUL, at most 2 KiB
}

// NewSender returns a sender with a connection pool of its own.
func NewSender(o SenderOptions) *Sender {
	if o.Timeout == 0 {
		o.Timeout = sendTimeout
	}
	return &Sender{
		client:          &http.Client{Transport: transport(o), CheckRedirect: refuseRedirect},
		standard:        o.Standard,
		timeout:         o.Timeout,
		signatureHeader: "X-" + o.Service + "-Hmac-SHA256",
		previousHeader:  "X-" + o.Service + "-Hmac-SHA256-Previous",
		eventHeader:     "X-" + o.Service + "-Event-Id",
		attemptHeader:   "X-" + o.Service + "-Attempt",
		agent:           []string{o.Service + "-Webhooks/1"},
	}
}

// transport returns the transport of a sender. It has no limit of connections per host: many endpoints may be on one
// host, and a slow one must not hold up the others. The dispatcher's slots limit all of them together.
func transport(o SenderOptions) *http.Transport {
	connecting := o.Timeout * 3 / 5
	dialer := &net.Dialer{Timeout: connecting, KeepAlive: 15 * time.Second, Control: o.Guard.Control, Resolver: o.Resolver}
	return &http.Transport{
		Proxy:                  nil, // never from the environment: a proxy would dial behind the guard's back
		DialContext:            bounding(o.Timeout, dialer.DialContext),
		TLSClientConfig:        o.TLS,
		TLSHandshakeTimeout:    connecting,
		ResponseHeaderTimeout:  o.Timeout,
		MaxResponseHeaderBytes: headerLimit,
		MaxIdleConns:           2048,
		MaxIdleConnsPerHost:    perAccount,      // as many as are busy at a time, or each burst would dial anew
		IdleConnTimeout:        4 * time.Second, // before receivers close it, many after 5 s: a POST that meets that end has failed
		DisableCompression:     true,            // an answer is never unpacked
		ReadBufferSize:         1 << 10,         // answers are short, and there are many connections
		ForceAttemptHTTP2:      true,
		// Without pings a connection that silently died would fail every delivery to its host for minutes.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 3 * time.Second},
	}
}

// dial makes a connection.
type dial func(ctx context.Context, network, address string) (net.Conn, error)

// bounding makes connections that are bounded.
func bounding(timeout time.Duration, through dial) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := through(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return bounded{c, timeout}, nil
	}
}

// bounded is a connection on which no write takes longer than an attempt, however slowly the other side reads. Over
// HTTP/2 everybody who shares the connection waits for a write, and there is no other limit.
type bounded struct {
	net.Conn
	timeout time.Duration
}

func (c bounded) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close drops the connections that are kept for reuse.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Send posts the message once and returns within its timeout. It never fails: what went wrong is in the result.
//
// A receiver can hold up net/http in places that do not look at the context. It may switch to another protocol, not
// answer the goodbye of TLS, or never read a window of HTTP/2. So the attempt has a goroutine of its own, which is left
// behind when the time is up. That goroutine does not live much longer, because no write on its connection does (see
// bounded).
func (s *Sender) Send(ctx context.Context, m Message) Result {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	r := Result{StartedAt: time.Now()}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		r.Reason = outbox.ReasonDNSError
		return r
	}
	req.Header = s.header(m, r.StartedAt)
	a := &attempt{ended: make(chan struct{})}
	go a.run(s.client, req, r)
	return a.wait(ctx, r)
}

// attempt is one POST while it is under way.
type attempt struct {
	heard    atomic.Pointer[Result] // at the status line, and again with what was read of the body
	panicked string
	ended    chan struct{}
}

// run sends the request and stores what it has heard so far. For a switch to another protocol it does not read on: that
// is no answer and would never end.
func (a *attempt) run(client *http.Client, req *http.Request, r Result) {
	defer close(a.ended)
	defer func() {
		if p := recover(); p != nil {
			a.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	resp, err := client.Do(req)
	r.Duration = time.Since(r.StartedAt)
	if err != nil {
		r.Reason = reasonOf(err)
		a.heard.Store(&r)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	r.StatusCode, r.Reason = resp.StatusCode, reasonOfStatus(resp.StatusCode)
	status := r
	a.heard.Store(&status)
	if resp.StatusCode != http.StatusSwitchingProtocols {
		r.Response = beginning(resp.Body)
		a.heard.Store(&r)
	}
}

// wait returns what the attempt has heard when it ends or when ctx does. If the attempt panicked, wait panics.
func (a *attempt) wait(ctx context.Context, r Result) Result {
	select {
	case <-a.ended:
	case <-ctx.Done():
		select { // most of them end with the context, and know more about why
		case <-a.ended:
		case <-time.After(lastWords):
			if heard := a.heard.Load(); heard != nil {
				return *heard
			}
			r.Duration, r.Reason = time.Since(r.StartedAt), outbox.ReasonTimeout
			return r
		}
	}
	if a.panicked != "" {
		panic(a.panicked)
	}
	return *a.heard.Load()
}

// header returns the headers of a request, in the spelling that is documented instead of Go's. There must not be an
// Idempotency-Key: net/http would take the POST for repeatable and might send it twice over a broken connection.
func (s *Sender) header(m Message, now time.Time) http.Header {
	h := http.Header{
		"Content-Type":    {"application/json; charset=utf-8"},
		"User-Agent":      s.agent,
		s.signatureHeader: {signature.Sign(m.Body, m.Secret)},
		s.eventHeader:     {m.EventID},
		s.attemptHeader:   {strconv.Itoa(m.Attempt)},
	}
	if m.PreviousSecret != "" {
		h[s.previousHeader] = []string{signature.Sign(m.Body, m.PreviousSecret)}
	}
	if s.standard && !m.Chat {
		signed := signature.StandardSign(m.EventID, now, m.Body, m.Secret)
		if m.PreviousSecret != "" {
			signed += " " + signature.StandardSign(m.EventID, now, m.Body, m.PreviousSecret)
		}
		h["webhook-id"] = []string{m.EventID}
		h["webhook-timestamp"] = []string{strconv.FormatInt(now.Unix(), 10)}
		h["webhook-signature"] = []string{signed}
	}
	return h
}

// beginning returns the part of an answer's body that is kept. How the reading ends does not matter, because the status
// has decided already.
func beginning(body io.Reader) string {
	raw, _ := io.ReadAll(io.LimitReader(body, readLimit))
	text := strings.ToValidUTF8(strings.ReplaceAll(string(raw), "\x00", ""), "\uFFFD")
	if len(text) > keepLimit {
		text = strings.ToValidUTF8(text[:keepLimit], "") // drops a rune that the cut went through
	}
	return text
}
