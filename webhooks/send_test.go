package webhooks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk/signature"
	"github.com/tillwright/tillwright/store/outbox"
)

const testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

const patience = time.Minute // of a sender whose time is not what is tested: the machine may be busy

// newTestSender returns a patient one.
func newTestSender(t *testing.T, roots *x509.CertPool) *Sender {
	t.Helper()
	return testSender(t, patience, &tls.Config{RootCAs: roots})
}

func testSender(t *testing.T, timeout time.Duration, c *tls.Config) *Sender {
	t.Helper()
	s := NewSender(SenderOptions{Service: "Service", Standard: true, Guard: NewGuard(GuardOptions{Development: true}), TLS: c, Timeout: timeout})
	t.Cleanup(s.Close)
	return s
}

func message(url string) Message {
	return Message{EventID: "whev_1", URL: url, Secret: testSecret, Body: []byte(`{"id":"whev_1","name":"Zoë <b>"}`), Attempt: 2}
}

func receiver(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// rawReceiver hands every connection to serve and closes it afterwards.
func rawReceiver(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer func() { _ = c.Close() }(); serve(c) }()
		}
	}()
	return l.Addr().String()
}

func TestSend_SignsTheExactBytes(t *testing.T) {
	t.Parallel()
	var got []byte
	var header http.Header
	r := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		header = r.Header
		_, _ = io.WriteString(w, "thanks")
	})
	m := message(r.URL)
	result := newTestSender(t, nil).Send(t.Context(), m)
	require.Equal(t, Result{StartedAt: result.StartedAt, Duration: result.Duration, StatusCode: 200, Response: "thanks"}, result)
	require.Positive(t, result.Duration)
	require.Equal(t, m.Body, got)
	require.True(t, signature.Verify(got, testSecret, header.Get("X-Service-Hmac-SHA256")))
	require.Equal(t, "application/json; charset=utf-8", header.Get("Content-Type"))
	require.Equal(t, "Service-Webhooks/1", header.Get("User-Agent"))
	require.Equal(t, "whev_1", header.Get("X-Service-Event-Id"))
	require.Equal(t, "2", header.Get("X-Service-Attempt"))
	require.Equal(t, "whev_1", header.Get("webhook-id"))
	require.Equal(t, signature.StandardSign("whev_1", result.StartedAt, got, testSecret), header.Get("webhook-signature"))
	require.Empty(t, header.Values("Idempotency-Key"), "net/http would repeat the POST")
	require.Empty(t, header.Values("X-Idempotency-Key"))
}

func TestSend_SignsWithThePreviousSecretToo(t *testing.T) {
	t.Parallel()
	headers := make(chan http.Header, 1)
	r := receiver(t, func(_ http.ResponseWriter, r *http.Request) { headers <- r.Header })
	sender, m := newTestSender(t, nil), message(r.URL)
	m.PreviousSecret = "whsec_" + strings.Repeat("A", 43) + "="
	sent := sender.Send(t.Context(), m)
	require.Empty(t, sent.Reason)
	header := <-headers
	require.True(t, signature.Verify(m.Body, testSecret, header.Get("X-Service-Hmac-SHA256")))
	require.True(t, signature.Verify(m.Body, m.PreviousSecret, header.Get("X-Service-Hmac-SHA256-Previous")))
	require.Equal(t, []string{signature.StandardSign("whev_1", sent.StartedAt, m.Body, testSecret), signature.StandardSign("whev_1", sent.StartedAt, m.Body, m.PreviousSecret)},
		strings.Fields(header.Get("webhook-signature")))

	m.PreviousSecret, m.Chat = "", true
	require.Empty(t, sender.Send(t.Context(), m).Reason)
	header = <-headers
	require.True(t, signature.Verify(m.Body, testSecret, header.Get("X-Service-Hmac-SHA256")))
	require.Empty(t, header.Values("X-Service-Hmac-SHA256-Previous"))
	require.Empty(t, header.Values("webhook-signature"), "a chat service looks at none of it")
}

func TestSend_WritesTheHeaderNamesAsDocumented(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 1)
	address := rawReceiver(t, func(c net.Conn) {
		var head strings.Builder
		for in := bufio.NewReader(c); ; {
			line, err := in.ReadString('\n')
			head.WriteString(line)
			if err != nil || line == "\r\n" {
				break
			}
		}
		lines <- head.String()
		_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
	})
	require.Empty(t, newTestSender(t, nil).Send(t.Context(), message("http://"+address)).Reason)
	head := <-lines
	require.Contains(t, head, "\r\nX-Service-Hmac-SHA256: ")
	require.Contains(t, head, "\r\nwebhook-id: whev_1\r\n")
}

func TestSend_OnlyStatus2xxIsSuccess(t *testing.T) {
	t.Parallel()
	s := newTestSender(t, nil)
	r := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		var code int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &code)
		w.WriteHeader(code)
	})
	for code, reason := range map[int]outbox.Reason{
		200: "", 201: "", 202: "", 204: "", 299: "",
		300: outbox.ReasonRedirect, 301: outbox.ReasonRedirect, 304: outbox.ReasonRedirect,
		400: outbox.ReasonHTTPStatus, 410: outbox.ReasonHTTPStatus, 429: outbox.ReasonHTTPStatus, 500: outbox.ReasonHTTPStatus, 999: outbox.ReasonHTTPStatus,
	} {
		result := s.Send(t.Context(), message(fmt.Sprintf("%s/%d", r.URL, code)))
		require.Equal(t, reason, result.Reason, code)
		require.Equal(t, code, result.StatusCode)
	}
}

func TestSend_InvalidAnswerFails(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"status line":  "HTTP/1.1 abc OK\r\n\r\n",
		"not HTTP":     "SSH-2.0-OpenSSH_9.2p1\r\n",
		"1 MB headers": "HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("a", 1<<20) + "\r\n\r\n",
	} {
		address := rawReceiver(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, answer)
			_, _ = io.Copy(io.Discard, c)
		})
		result := newTestSender(t, nil).Send(t.Context(), message("http://"+address))
		require.Equal(t, outbox.ReasonInvalidResponse, result.Reason, name)
		require.Zero(t, result.StatusCode, name)
	}
}

func TestSend_DoesNotFollowRedirects(t *testing.T) {
	t.Parallel()
	var followed atomic.Int32
	target := receiver(t, func(http.ResponseWriter, *http.Request) { followed.Add(1) })
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{target.URL, "http://169.254.169.254/latest/meta-data", "https://example.com/"} {
			r := receiver(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, code) })
			require.Equal(t, outbox.ReasonRedirect, newTestSender(t, nil).Send(t.Context(), message(r.URL)).Reason)
		}
	}
	require.Zero(t, followed.Load())
}

func TestSend_AnswerWithinFiveSecondsIsInTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := onWire(t, handled(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(sendTimeout - time.Millisecond)
		}))
		require.Empty(t, sendInTime(t, s, message("http://in.time")).Reason)
	})
}

func TestSend_AnswerAfterFiveSecondsIsTooLate(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		closed := make(chan struct{}, 1)
		s := onWire(t, handled(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(sendTimeout + time.Millisecond)
			<-r.Context().Done() // the sender has hung up
			closed <- struct{}{}
		}))
		result := sendInTime(t, s, message("http://too.late"))
		require.Equal(t, outbox.ReasonTimeout, result.Reason)
		require.Equal(t, sendTimeout, result.Duration)
		<-closed
	})
}

func TestSend_SlownessInAnyPhaseIsBounded(t *testing.T) {
	t.Parallel()
	dribble := func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ")
		forever(c, "H", time.Second)
	}
	silent := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	for name, c := range map[string]struct {
		url   string
		serve func(net.Conn)
	}{
		"handshake": {"https://slow.test", silent}, "answer": {"http://slow.test", silent}, "headers": {"http://slow.test", dribble},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				require.Equal(t, outbox.ReasonTimeout, sendInTime(t, onWire(t, c.serve), message(c.url)).Reason)
			})
		})
	}
	t.Run("connection", func(t *testing.T) {
		t.Parallel()
		sendOverNet(t, testSender(t, 0, nil), message("http://"+fullListener(t)), outbox.ReasonConnectTimeout)
	})
}

// fullListener returns an address whose accept queue is full, so that the kernel drops every further SYN.
func fullListener(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	require.NoError(t, syscall.Listen(fd, 0))
	name, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	address := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range 3 {
		if c, err := net.DialTimeout("tcp", address, 200*time.Millisecond); err == nil {
			t.Cleanup(func() { _ = c.Close() })
		}
	}
	return address
}

func TestSend_StatusDecidesEvenIfTheBodyIsSlow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := onWire(t, handled(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, "begun")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		result := sendInTime(t, s, message("http://slow.test"))
		require.Empty(t, result.Reason)
		require.Equal(t, "begun", result.Response)
		require.Equal(t, time.Second, result.Duration, "up to the status")
	})
}

func TestSend_ReadsOnlyTheBeginningOfAnAnswer(t *testing.T) {
	t.Parallel()
	var written atomic.Int64
	r := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip") // a claim that nobody may believe
		for chunk := bytes.Repeat([]byte("é"), 1<<15); written.Load() < 1<<30; {
			n, err := w.Write(chunk)
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	result := newTestSender(t, nil).Send(t.Context(), message(r.URL))
	require.Empty(t, result.Reason)
	require.Equal(t, strings.Repeat("é", keepLimit/2), result.Response)
	r.Close()
	require.Less(t, written.Load(), int64(64<<20), "the rest of 1 GiB was not fetched")
}

func TestBeginning_IsStorableText(t *testing.T) {
	t.Parallel()
	for in, out := range map[string]string{
		"":                                   "",
		"a\x00b":                             "ab",
		"caf\xe9":                            "caf\uFFFD",
		"x" + strings.Repeat("é", keepLimit): "x" + strings.Repeat("é", keepLimit/2-1),
	} {
		require.Equal(t, out, beginning(strings.NewReader(in)))
	}
}

func TestSend_NamesTheReasonOfABrokenConnection(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	reset := rawReceiver(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	hangUp := rawReceiver(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) })
	for url, reason := range map[string]outbox.Reason{
		"http://" + closed.Addr().String(): outbox.ReasonConnectRefused,
		"http://" + reset:                  outbox.ReasonConnectReset,
		"http://" + hangUp:                 outbox.ReasonConnectReset,
		"http://does-not-exist.invalid/":   outbox.ReasonDNSError,
		"http://10.0.0.1/":                 outbox.ReasonBlockedIP,
		"http://[64:ff9b::7f00:1]/":        outbox.ReasonBlockedIP,
	} {
		require.Equal(t, reason, newTestSender(t, nil).Send(t.Context(), message(url)).Reason, url)
	}
}

func TestSend_AnyNameOfALoopbackAddressIsBlockedInProduction(t *testing.T) {
	t.Parallel()
	s := NewSender(SenderOptions{Service: "Service", Guard: NewGuard(GuardOptions{Ports: []uint16{80}}), Timeout: patience})
	t.Cleanup(s.Close)
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		require.Equal(t, outbox.ReasonBlockedIP, s.Send(t.Context(), message("http://"+host+"/")).Reason, host)
	}
}

// A connection that breaks while the request is on its way may have carried it: it is not sent again.
func TestSend_DoesNotRepeatOverADeadConnection(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(net.Conn){
		"closed": func(net.Conn) {},
		"reset":  func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }, // closing it resets it
	} {
		var seen atomic.Int32
		address := rawReceiver(t, func(c net.Conn) {
			in := bufio.NewReader(c)
			for {
				req, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, req.Body)
				if seen.Add(1) > 1 {
					end(c) // it has read the second request and hangs up without an answer
					return
				}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		s := newTestSender(t, nil)
		require.Empty(t, s.Send(t.Context(), message("http://"+address)).Reason, name)
		require.Equal(t, outbox.ReasonConnectReset, s.Send(t.Context(), message("http://"+address)).Reason, name)
		require.Equal(t, int32(2), seen.Load(), name)
	}
}

func TestSend_NeverUsesAProxy(t *testing.T) {
	t.Parallel()
	require.Nil(t, transport(SenderOptions{Guard: NewGuard(GuardOptions{})}).Proxy)
}

func TestSend_EndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := onWire(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		require.NotEmpty(t, s.Send(ctx, message("http://slow.test")).Reason)
		require.LessOrEqual(t, time.Since(start), 100*time.Millisecond+lastWords)
	})
}
