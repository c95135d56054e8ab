package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/tillwright/tillwright/store/outbox"
)

// reasonOfStatus returns why a status is a failure, or "" for 2xx.
func reasonOfStatus(code int) outbox.Reason {
	switch {
	case code >= 200 && code < 300:
		return ""
	case code >= 300 && code < 400:
		return outbox.ReasonRedirect
	}
	return outbox.ReasonHTTPStatus
}

// reasonOf returns the reason that an error of http.Client.Do stands for. The text of the error is dropped, because it
// would show the owner of the endpoint what answers where in this server's network.
func reasonOf(err error) outbox.Reason {
	var (
		dns *net.DNSError
		op  *net.OpError
	)
	dialing := errors.As(err, &op) && op.Op == "dial"
	switch {
	case errors.Is(err, errBlocked):
		return outbox.ReasonBlockedIP
	case errors.As(err, &dns):
		return outbox.ReasonDNSError
	case isTLS(err):
		return outbox.ReasonTLSError
	case dialing && isTimeout(err):
		return outbox.ReasonConnectTimeout
	case dialing:
		return outbox.ReasonConnectRefused
	case isTimeout(err):
		return outbox.ReasonTimeout
	case isReset(err):
		return outbox.ReasonConnectReset
	}
	return outbox.ReasonInvalidResponse
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &timeout) && timeout.Timeout())
}

// isReset reports whether the connection broke before there was an answer. It also looks at the text, because net/http
// does not export the types of some errors. They are a connection that the receiver closed while idle, and a stream of
// HTTP/2 that it reset.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(err.Error(), "server closed") || strings.Contains(err.Error(), "received from peer")
}

// isTLS reports whether the certificate or the protocol was refused. It also looks at the text, because most errors of
// crypto/tls have no type of their own.
func isTLS(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
	)
	if errors.As(err, &certificate) || errors.As(err, &record) {
		return true
	}
	text := err.Error()
	return strings.Contains(text, ": tls: ") || strings.Contains(text, "HTTP response to HTTPS client")
}
