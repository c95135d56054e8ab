package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/webhooks/signature"
)

const (
	sendTimeout = 5 * time.Second // name lookup, connection, TLS, request and the status line of the answer
	readLimit   = 4 << 10         // bytes read of an answer
	keepLimit   = 2 << 10         // bytes kept of them
	headerLimit = 16 << 10
)

// SenderOptions are what differs between deployments.
type SenderOptions struct {
	Service  string        // the service name in X-<Service>-Hmac-SHA256 and User-Agent
	Guard    *Guard        // asked at every dial
	Standard bool          // add the headers of the Standard Webhooks specification
	TLS      *tls.Config   // nil: the system's certificate authorities
	Resolver *net.Resolver // nil: the system's
}

// Sender makes single deliveries over HTTP.
type Sender struct {
	client   *http.Client
	standard bool

	signatureHeader, previousHeader, eventHeader, attemptHeader string
	agent                                                       []string
}

// Message is one body on its way to one URL.
type Message struct {
	EventID, URL   string
	Secret         string
	PreviousSecret string // signs too, while it is not empty
	Body           []byte
	Attempt        int
	Chat           bool // for people: without the headers of Standard Webhooks
}

// Result is what became of one attempt. Reason is empty exactly when the receiver answered 2xx in time; StatusCode is
// zero when there was no answer.
type Result struct {
	StartedAt  time.Time
	Duration   time.Duration // up to the status line
	StatusCode int
	Reason     store.Reason
	Response   string // the beginning of the answer's body: valid UTF-8 without NUL, at most 2 KiB
}

// NewSender returns a sender with a connection pool of its own.
func NewSender(o SenderOptions) *Sender {
	return &Sender{
		client:          &http.Client{Transport: transport(o), CheckRedirect: refuseRedirect},
		standard:        o.Standard,
		signatureHeader: "X-" + o.Service + "-Hmac-SHA256",
		previousHeader:  "X-" + o.Service + "-Hmac-SHA256-Previous",
		eventHeader:     "X-" + o.Service + "-Event-Id",
		attemptHeader:   "X-" + o.Service + "-Attempt",
		agent:           []string{o.Service + "-Webhooks/1"},
	}
}

// transport has no limit of connections per host: many endpoints may share one, and a slow one among them must not
// hold up the rest. The dispatcher's slots bound them all.
func transport(o SenderOptions) *http.Transport {
	dialer := &net.Dialer{Timeout: 3 * time.Second, KeepAlive: 15 * time.Second, Control: o.Guard.Control, Resolver: o.Resolver}
	return &http.Transport{
		Proxy:                  nil, // never from the environment: a proxy would dial behind the guard's back
		DialContext:            dialer.DialContext,
		TLSClientConfig:        o.TLS,
		TLSHandshakeTimeout:    3 * time.Second,
		ResponseHeaderTimeout:  sendTimeout,
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

func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close drops the connections that are kept for reuse.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Send posts the message once and returns within five seconds. It never fails: what went wrong is the result.
func (s *Sender) Send(ctx context.Context, m Message) Result {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	r := Result{StartedAt: time.Now()}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		r.Reason = store.ReasonDNSError
		return r
	}
	req.Header = s.header(m, r.StartedAt)
	resp, err := s.client.Do(req)
	r.Duration = time.Since(r.StartedAt)
	if err != nil {
		r.Reason = reasonOf(err)
		return r
	}
	defer func() { _ = resp.Body.Close() }()
	r.StatusCode, r.Reason = resp.StatusCode, reasonOfStatus(resp.StatusCode)
	r.Response = beginning(resp.Body)
	return r
}

// header writes the names as they are documented instead of in Go's spelling. There is no Idempotency-Key, and there
// must not be: net/http takes a POST that has one for repeatable and may send it twice over a broken connection.
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

// beginning returns what is kept of an answer. How the reading ends does not matter: the status has decided.
func beginning(body io.Reader) string {
	raw, _ := io.ReadAll(io.LimitReader(body, readLimit))
	text := strings.ToValidUTF8(strings.ReplaceAll(string(raw), "\x00", ""), "\uFFFD")
	if len(text) > keepLimit {
		text = strings.ToValidUTF8(text[:keepLimit], "") // drops a rune that the cut went through
	}
	return text
}
