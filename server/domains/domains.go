// Package domains finds out whether the domains of sites are their sellers', and whether visitors reach them by https. It asks
// the DNS and the domains themselves, never while a transaction is open.
package domains

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
)

// How domains get the certificate that https needs.
const (
	TLSNone  = "none"  // they get none: for development
	TLSProxy = "proxy" // a proxy before the server has them, and asks it for which
	TLSACME  = "acme"  // the server gets them itself
)

// Certificates has the certificates of domains.
type Certificates interface {
	// Ensure makes sure that there is a certificate for a domain that is good for a while. It asks a certificate authority, if need
	// be, and takes at most CertificateTime. The error of one that is refused is a *RefusedError.
	Ensure(ctx context.Context, domain string) error
}

// RefusedError says why a certificate authority refused a certificate, in its own words.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "certificate refused: " + e.Reason }

// Options are what New needs.
type Options struct {
	Store  *content.Store
	DNS    string       // host:port of the server that is asked
	TLS    string       // TLSNone, TLSProxy or TLSACME
	Client *http.Client // reaches the domains; checks every address that it dials
	Log    *slog.Logger

	Certificates Certificates // for TLSACME
}

// Service looks at the domains of sites.
type Service struct {
	Options
	dns resolver
}

// New returns a service.
func New(o Options) *Service { return &Service{o, resolver{o.DNS}} }

const (
	lookTime   = 20 * time.Second // for the records of a domain, and again for visiting it
	lookEvery  = time.Second
	looksAtOne = 8 // domains that are looked at at a time

	// CertificateTime is how long it may take to get a certificate. A look at a domain takes less than it is claimed for: see
	// content.DomainWorkLease.
	CertificateTime = time.Minute
)

// Verify looks at the domain of a site at once, and returns the site as it stands then. A site without one is CodeInvalid.
func (s *Service) Verify(ctx context.Context, account, ref string) (*content.AISite, error) {
	a, err := s.Store.BeginDomain(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return s.look(ctx, a, false)
}

// Run looks at every domain whose turn it is, until ctx ends. Any number of replicas may run it: each domain is looked at by one.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if err := s.Work(ctx); err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "look at the domains of sites", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Work looks at the domains whose turn it is now, a few at a time.
func (s *Service) Work(ctx context.Context) error {
	due, err := s.Store.DueDomains(ctx, looksAtOne)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	errs := make([]error, len(due))
	for i := range due {
		group.Go(func() {
			taken, err := s.Store.TakeDomain(ctx, &due[i])
			if taken {
				_, err = s.look(ctx, &due[i], true)
			}
			errs[i] = err
		})
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("domain of %s: %w", due[i].ID, err)
		}
	}
	return nil
}

// look asks for the records of a domain, then whether visitors reach it, and records what it found. Only the worker, which waits
// longer after each failure, gets certificates; whoever else looks may come as often as he likes.
func (s *Service) look(ctx context.Context, a *content.AISite, worker bool) (*content.AISite, error) {
	if content.InTx(ctx) {
		panic("domains: the DNS is asked inside a transaction")
	}
	outside, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	found := s.records(outside, a)
	if found.Proven {
		s.serve(ctx, a, &found, worker)
	}
	return s.Store.SettleDomain(ctx, a, found)
}

// records looks for one of the records that prove a domain. A TXT record goes before a CNAME.
func (s *Service) records(ctx context.Context, a *content.AISite) content.DomainFinding {
	txt, cname := a.DomainRecords[0], a.DomainRecords[1]
	var wrong string
	for _, text := range s.dns.txt(ctx, txt.Name) {
		if s.Store.ProvesDomain(a, text) {
			return content.DomainFinding{Proven: true}
		}
		if content.IsDomainText(text) {
			wrong = fmt.Sprintf("The TXT record of %s is %q, and has to be %q.", txt.Name, shown(text), txt.Value)
		}
	}
	target := s.dns.cname(ctx, cname.Name)
	if strings.EqualFold(target, cname.Value) {
		return content.DomainFinding{Proven: true}
	}
	if wrong == "" && target != "" {
		wrong = fmt.Sprintf("%s is a CNAME of %s, and has to be one of %s, or needs the TXT record.", cname.Name, shown(target), cname.Value)
	}
	return content.DomainFinding{Wrong: wrong}
}

// serve finds out whether visitors reach a proven domain by https. A domain that was not proven before is not yet the site's.
func (s *Service) serve(ctx context.Context, a *content.AISite, f *content.DomainFinding, worker bool) {
	verified := a.DomainVerifiedAt != nil
	switch {
	case s.TLS == TLSNone:
		f.Served = verified
		return
	case s.TLS == TLSACME && !verified:
		return
	case s.TLS == TLSACME && worker:
		s.certify(ctx, a, f)
	}
	f.Untried = s.TLS == TLSACME && !worker
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	missed := s.probe(ctx, core.Deref(a.Domain))
	f.Served = missed == ""
	f.Failed = cmp.Or(f.Failed, missed)
}

// certify makes sure that there is a certificate for the verified domain of a live site, or says why there is none.
func (s *Service) certify(ctx context.Context, a *content.AISite, f *content.DomainFinding) {
	if !a.IsLive {
		f.Failed = "The domain is yours. Its certificate is obtained once the site is live."
		return
	}
	err := s.Certificates.Ensure(ctx, core.Deref(a.Domain))
	if err == nil {
		return
	}
	s.Log.WarnContext(ctx, "no certificate for the domain of a site", "site", a.ID, "domain", core.Deref(a.Domain), "error", err)
	f.Refused, f.Failed = true, "The domain is yours. Its certificate could not be obtained."
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		f.Failed = "The domain is yours. The certificate authority refused a certificate: " + shown(refused.Reason)
	}
}

// shown returns as much of what a stranger's server says as is repeated.
func shown(text string) string {
	if long := []rune(text); len(long) > 100 {
		return string(long[:100]) + "…"
	}
	return text
}
