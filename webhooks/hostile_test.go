package webhooks

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/tillwright/tillwright/store/outbox"
)

const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n"

// hold reads nothing more and keeps the connection until the other side or the test ends.
func hold(t *testing.T, c net.Conn) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); _, _ = io.Copy(io.Discard, c) }()
	select {
	case <-done:
	case <-t.Context().Done():
	}
}

// forever writes until nobody takes it any more.
func forever(c net.Conn, text string, gap time.Duration) {
	for {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
		time.Sleep(gap)
	}
}

// Whatever a receiver does with its connection, the attempt is over in time, and nothing of it stays behind.
func TestSend_NoReceiverHoldsAnAttempt(t *testing.T) {
	shown := certificate(t, time.Now().Add(time.Hour))
	var all sync.WaitGroup
	for name, is := range map[string]struct {
		serve  func(t *testing.T, c net.Conn)
		status int
		reason outbox.Reason
		large  bool // the body is not read, and larger than what fits into the buffers on the way
	}{
		"101, held": {status: 101, reason: outbox.ReasonHTTPStatus, serve: func(t *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, switching)
			hold(t, c)
		}},
		"101 and a flood": {status: 101, reason: outbox.ReasonHTTPStatus, serve: func(_ *testing.T, c net.Conn) {
			forever(c, switching+strings.Repeat("a", 1<<16), 0)
		}},
		"101 before the request was read": {status: 101, reason: outbox.ReasonHTTPStatus, large: true, serve: func(t *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, switching)
			<-t.Context().Done()
		}},
		"101 that names no protocol, held": {status: 101, reason: outbox.ReasonHTTPStatus, serve: func(t *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
			hold(t, c)
		}},
		"100 without end": {reason: outbox.ReasonInvalidResponse, serve: func(_ *testing.T, c net.Conn) {
			forever(c, "HTTP/1.1 100 Continue\r\n\r\n", 0)
		}},
		"100, slowly": {reason: outbox.ReasonTimeout, serve: func(_ *testing.T, c net.Conn) {
			forever(c, "HTTP/1.1 100 Continue\r\n\r\n", 500*time.Millisecond)
		}},
		"102 without end": {reason: outbox.ReasonInvalidResponse, serve: func(_ *testing.T, c net.Conn) {
			forever(c, "HTTP/1.1 102 Processing\r\n\r\n", 0)
		}},
		"103 with long headers": {reason: outbox.ReasonInvalidResponse, serve: func(_ *testing.T, c net.Conn) {
			forever(c, "HTTP/1.1 103 Early Hints\r\nLink: "+strings.Repeat("a", 4000)+"\r\n\r\n", time.Millisecond)
		}},
		"103, then 101, held": {status: 101, reason: outbox.ReasonHTTPStatus, serve: func(t *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 103 Early Hints\r\n\r\n"+switching)
			hold(t, c)
		}},
		"a body that trickles": {status: 200, serve: func(_ *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
			forever(c, "a", 500*time.Millisecond)
		}},
		"chunks that trickle": {status: 200, serve: func(_ *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			forever(c, "1\r\na\r\n", 500*time.Millisecond)
		}},
		"trailers that never come": {status: 200, serve: func(t *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
			hold(t, c)
		}},
		"trailers without end": {status: 200, serve: func(_ *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
			forever(c, "X-Sum: "+strings.Repeat("a", 1000)+"\r\n", time.Millisecond)
		}},
		"closed in words only": {status: 200, serve: func(t *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
			hold(t, c)
		}},
		"a body that ends with the connection, which does not": {status: 200, serve: func(t *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok")
			hold(t, c)
		}},
		"no answer, nothing read": {reason: outbox.ReasonTimeout, large: true, serve: func(t *testing.T, _ net.Conn) {
			<-t.Context().Done()
		}},
		"a trickle, nothing read": {status: 200, large: true, serve: func(_ *testing.T, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
			forever(c, "a", 500*time.Millisecond)
		}},
	} {
		for _, scheme := range []string{"http", "https"} {
			serve := func(t *testing.T, c net.Conn) {
				if scheme == "https" {
					c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{shown}})
				}
				defer func() { _ = c.Close() }()
				r, err := http.ReadRequest(bufio.NewReader(c)) // an answer to no request would not be heard
				if err != nil {
					return
				}
				if !is.large {
					if _, err = io.Copy(io.Discard, r.Body); err != nil {
						return
					}
				}
				is.serve(t, c)
			}
			send := func(t *testing.T) {
				s := onWire(t, func(c net.Conn) { serve(t, c) })
				got := sendInTime(t, s, message(scheme+"://hostile.test"))
				assert.Equal(t, is.reason, got.Reason)
				assert.Equal(t, is.status, got.StatusCode)
				time.Sleep(mostTime)
				assert.Empty(t, left(t))
			}
			if !is.large {
				t.Run(name+" over "+scheme, func(t *testing.T) { inBubble(t, send) })
				continue
			}
			all.Go(func() { // most of them wait, so they may all wait together
				t.Run(name+" over "+scheme, func(t *testing.T) {
					m := message(scheme + "://" + rawReceiver(t, func(c net.Conn) { serve(t, c) }))
					m.Body = bytes.Repeat([]byte("a"), 32<<20)
					got := sendOverNet(t, testSender(t, 0, &tls.Config{InsecureSkipVerify: true}), m, is.reason)
					assert.Equal(t, is.status, got.StatusCode)
				})
			})
		}
	}
	all.Wait()
	leavesNothing(t)
}

// leavesNothing waits until nothing of an attempt over the real network is left behind.
func leavesNothing(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return left(t) == "" }, patience, 50*time.Millisecond, "something is left behind")
}

// bubble names the bubble that a goroutine is in, at the beginning of its stack.
var bubble = regexp.MustCompile(`^goroutine \d+ \[.*(synctest bubble \d+)`)

// left returns the stack of an attempt in the same bubble as whoever asks, or in none as they, and "" if there is none.
func left(t *testing.T) string {
	t.Helper()
	all := make([]byte, 4<<20)
	stacks := strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n")
	for _, stack := range stacks {
		if strings.Contains(stack, "webhooks.(*attempt).run") && slices.Equal(bubble.FindStringSubmatch(stack), bubble.FindStringSubmatch(stacks[0])) {
			return stack
		}
	}
	return ""
}

// stuckHTTP2 opens the windows wide, answers and reads no further. Who writes to it waits, and with it everybody who
// has to say something on the same connection.
func stuckHTTP2(t *testing.T) string {
	t.Helper()
	shown := certificate(t, time.Now().Add(time.Hour))
	return rawReceiver(t, func(raw net.Conn) {
		c := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{shown}, NextProtos: []string{"h2"}})
		defer func() { _ = c.Close() }()
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		if f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1}) != nil || f.WriteWindowUpdate(0, 1<<30) != nil {
			return
		}
		for answered := false; !answered; {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					_ = f.WriteSettingsAck()
				}
			case *http2.HeadersFrame:
				time.Sleep(time.Second) // until the request fills all that is on the way
				var block bytes.Buffer
				_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
				_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: frame.StreamID, BlockFragment: block.Bytes(), EndHeaders: true})
				answered = f.WriteData(frame.StreamID, false, bytes.Repeat([]byte("a"), 2*readLimit)) == nil
			}
		}
		for f.WriteRawFrame(0xfa, 0, 0, nil) == nil { // of no kind that there is, so that it counts as alive and needs no answer
			time.Sleep(time.Second)
		}
	})
}

func TestSend_NoReceiverHoldsAnAttemptOverHTTP2(t *testing.T) {
	m := message("https://" + stuckHTTP2(t))
	m.Body = bytes.Repeat([]byte("a"), 32<<20)
	s := testSender(t, 0, &tls.Config{InsecureSkipVerify: true})
	require.Equal(t, sendTimeout, s.timeout)
	for range 3 {
		begin := time.Now()
		s.Send(t.Context(), m)
		require.Less(t, time.Since(begin), patience, "the attempt never ends")
	}
	s.Close()
	leavesNothing(t)
}
