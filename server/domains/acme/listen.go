package acme

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/mholt/acmez/v3"
)

const (
	shownTime = time.Minute // after that a certificate is read again, and may be a new one
	shownMost = 10_000      // certificates that are kept in memory
)

// shown are the certificates that visitors were shown lately.
type shown struct {
	mu    sync.Mutex
	certs map[string]shownCert
}

type shownCert struct {
	*tls.Certificate
	until time.Time
}

func (s *shown) get(domain string) (c shownCert, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c = s.certs[domain]
	return c, time.Now().Before(c.until)
}

func (s *shown) put(domain string, cert *tls.Certificate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.certs == nil || len(s.certs) >= shownMost {
		s.certs = map[string]shownCert{}
	}
	s.certs[domain] = shownCert{cert, time.Now().Add(shownTime)}
}

// Listen returns a listener whose connections speak TLS with the certificates of sites' domains.
func (a *Authority) Listen(inner net.Listener) net.Listener {
	config := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: a.certificate, NextProtos: []string{"http/1.1", acmez.ACMETLS1Protocol}}
	return quiet{tls.NewListener(inner, config)}
}

// quiet hides from the HTTP library that its connections speak TLS. It would log whatever any scanner sends.
type quiet struct{ net.Listener }

func (q quiet) Accept() (net.Conn, error) {
	conn, err := q.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return struct{ net.Conn }{conn}, nil
}

// certificate returns what is shown to whoever opens a connection: to the authority the answer to its challenge, to visitors the
// certificate of the domain.
func (a *Authority) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if isChallenge(hello) {
		return a.config.GetCertificate(hello)
	}
	return a.visited(hello.Context(), strings.TrimSuffix(strings.ToLower(hello.ServerName), "."))
}

// isChallenge reports whether the authority asks, and not a visitor.
func isChallenge(hello *tls.ClientHelloInfo) bool {
	return len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == acmez.ACMETLS1Protocol
}

// visited returns the certificate of the verified domain of a live site. One that is not there is not obtained for a visitor.
func (a *Authority) visited(ctx context.Context, domain string) (*tls.Certificate, error) {
	had, fresh := a.shown.get(domain)
	if fresh {
		return had.Certificate, nil
	}
	known, err := a.store.AsksDomain(ctx, domain)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fmt.Errorf("%q is no domain of a site", domain)
	}
	cert, err := a.load(ctx, domain)
	if err != nil {
		if had.Certificate != nil { // it is being renewed
			return had.Certificate, nil
		}
		return nil, err
	}
	a.shown.put(domain, cert)
	return cert, nil
}
