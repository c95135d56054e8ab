package webhooks

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/outbox"
)

// answers reads one request after the other and answers each with the next of the texts; the last one closes.
func answers(t *testing.T, seen *atomic.Int32, texts ...string) string {
	t.Helper()
	return "http://" + rawReceiver(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for _, text := range texts {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			seen.Add(1)
			_, _ = io.WriteString(c, text)
		}
	})
}

const noContent = "HTTP/1.1 204 No Content\r\n\r\n"

// An interim answer is none: what follows it decides.
func TestSend_InterimAnswersDecideNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		status int
		reason outbox.Reason
	}{
		"199, then 204":        {"HTTP/1.1 199 Wait\r\n\r\n" + noContent, 204, ""},
		"103, then 500":        {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", 500, outbox.ReasonHTTPStatus},
		"199 and nothing":      {"HTTP/1.1 199 Wait\r\n\r\n", 0, outbox.ReasonConnectReset},
		"another protocol":     {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n", 101, outbox.ReasonHTTPStatus},
		"a status of 4 digits": {"HTTP/1.1 2000 Much\r\n\r\n", 0, outbox.ReasonInvalidResponse},
		"a status below 100":   {"HTTP/1.1 099 Low\r\n\r\n", 99, outbox.ReasonHTTPStatus},
	} {
		var seen atomic.Int32
		result := newTestSender(t, nil).Send(t.Context(), message(answers(t, &seen, c.answer)))
		require.Equal(t, c.reason, result.Reason, name)
		require.Equal(t, c.status, result.StatusCode, name)
		require.Equal(t, int32(1), seen.Load(), name)
	}
}

func TestSend_EndlessInterimAnswersAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := onWire(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096))
			forever(c, "HTTP/1.1 102 Processing\r\n\r\n", 100*time.Millisecond)
		})
		require.NotEmpty(t, sendInTime(t, s, message("http://endless.test")).Reason)
	})
}

// A receiver that closed the connection meanwhile has not seen the next delivery: it gets it over another one, once.
func TestSend_UsesNoConnectionThatWasClosedMeanwhile(t *testing.T) {
	t.Parallel()
	var seen atomic.Int32
	gone := make(chan struct{}, 2)
	address := rawReceiver(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		seen.Add(1)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, in) // ends when the sender has let go of the connection
		gone <- struct{}{}
	})
	s := newTestSender(t, nil)
	for n := int32(1); n <= 3; n++ {
		require.Empty(t, s.Send(t.Context(), message("http://"+address)).Reason)
		require.Equal(t, n, seen.Load())
		<-gone
	}
}

// An answer is never unpacked: ten kilobytes stay ten kilobytes, and no memory is spent on what they would become.
func TestSend_DoesNotUnpackAnAnswer(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	packer := gzip.NewWriter(&bomb)
	for zeros, n := make([]byte, 1<<20), 0; n < 16; n++ {
		_, _ = packer.Write(zeros)
	}
	require.NoError(t, packer.Close())
	var asked atomic.Value
	r := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	})
	result := newTestSender(t, nil).Send(t.Context(), message(r.URL))
	require.Empty(t, result.Reason)
	require.Empty(t, asked.Load(), "it does not ask for a packed answer")
	require.Equal(t, beginning(&bomb), result.Response)
}

// TestSend_SpendsNoMemoryOnLongAnswers is not parallel: it counts what the process allocates.
func TestSend_SpendsNoMemoryOnLongAnswers(t *testing.T) {
	const answers, length = 50, 64 << 20
	head := "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n"
	body := bytes.Repeat([]byte("a"), 1<<16)
	address := rawReceiver(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, head)
		for sent := 0; sent < length; sent += len(body) {
			if _, err := c.Write(body); err != nil {
				return
			}
		}
	})
	s := newTestSender(t, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range answers {
		require.Len(t, s.Send(t.Context(), message("http://"+address)).Response, keepLimit)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/answers, uint64(1<<20), "bytes allocated for one answer")
}

// HTTP/2 has ways of its own to break off: the stream, or the connection with all its streams.
func TestSend_DoesNotRepeatOverHTTP2(t *testing.T) {
	t.Parallel()
	for name, breakOff := range map[string]func(*httptest.Server){
		"stream":     func(*httptest.Server) { panic(http.ErrAbortHandler) },
		"connection": func(s *httptest.Server) { s.CloseClientConnections() },
	} {
		var seen atomic.Int32
		var r *httptest.Server
		r = tlsReceiver(t, &tls.Config{}, func(_ http.ResponseWriter, req *http.Request) {
			_, _ = io.Copy(io.Discard, req.Body)
			if seen.Add(1) > 1 {
				breakOff(r)
			}
		})
		roots := x509.NewCertPool()
		roots.AddCert(r.Certificate())
		s := newTestSender(t, roots)
		require.Empty(t, s.Send(t.Context(), message(r.URL)).Reason, name)
		require.Equal(t, outbox.ReasonConnectReset, s.Send(t.Context(), message(r.URL)).Reason, name)
		require.Equal(t, int32(2), seen.Load(), name)
	}
}

func TestSend_HeadersOfHTTP2HaveTheirLimit(t *testing.T) {
	t.Parallel()
	r := tlsReceiver(t, &tls.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("a", 1<<20))
	})
	roots := x509.NewCertPool()
	roots.AddCert(r.Certificate())
	result := newTestSender(t, roots).Send(t.Context(), message(r.URL))
	require.Equal(t, outbox.ReasonInvalidResponse, result.Reason)
	require.Zero(t, result.StatusCode)
}
