// Package acme gets the certificates of sites' domains from a certificate authority by ACME (RFC 8555), and shows them to
// visitors. The authority looks at the domain by TLS-ALPN-01 (RFC 8737), which needs nothing but the https address that visitors
// need too. Any replica answers it, because all that is to be known stands in the database.
package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"

	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/store/content"
)

// DefaultURL is the directory of Let's Encrypt.
const DefaultURL = certmagic.LetsEncryptProductionCA

// Options are what New needs.
type Options struct {
	Store *content.Store
	URL   string         // the directory of the certificate authority, DefaultURL if empty
	Roots *x509.CertPool // by which the authority is believed to be itself, nil for those of the system
	Addr  net.Addr       // where Listen listens
	Log   *slog.Logger
}

// Authority has the certificates of sites' domains. It is safe for concurrent use.
type Authority struct {
	store   *content.Store
	log     *slog.Logger
	storage *storage
	config  *certmagic.Config
	cache   *certmagic.Cache
	issuer  *certmagic.ACMEIssuer
	shown   shown
}

// New returns what has the certificates. It is to be closed.
func New(o Options) (*Authority, error) {
	addr, ok := o.Addr.(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("%v is no address of TCP", o.Addr)
	}
	host := ""
	if !addr.IP.IsUnspecified() {
		host = addr.IP.String()
	}
	a := &Authority{store: o.Store, log: o.Log, storage: newStorage(o.Store)}
	// The cache stays empty, because replicas show what is in the database: it would renew what it holds by itself.
	a.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return a.config, nil }, Logger: zap.NewNop(),
	})
	a.config = certmagic.New(a.cache, certmagic.Config{
		Storage: a.storage, Logger: zap.NewNop(), DisableARI: true, DisableStorageCheck: true, OCSP: certmagic.OCSPConfig{DisableStapling: true},
		Issuers: []certmagic.Issuer{},
	})
	a.issuer = certmagic.NewACMEIssuer(a.config, certmagic.ACMEIssuer{
		CA: o.URL, TrustedRoots: o.Roots, Agreed: true, DisableHTTPChallenge: true, CertObtainTimeout: domains.CertificateTime, Logger: zap.NewNop(),
		ListenHost: host, AltTLSALPNPort: addr.Port,
	})
	a.config.Issuers = []certmagic.Issuer{unasking{a.issuer}}
	return a, nil
}

// Close ends what runs in the background.
func (a *Authority) Close() { a.cache.Stop() }

// unasking hides that an issuer would ask for an e-mail address on the terminal.
type unasking struct{ certmagic.Issuer }

// Ensure makes sure that there is a certificate for a domain that is good for a third of its time: see domains.Certificates.
func (a *Authority) Ensure(ctx context.Context, domain string) error {
	ctx, cancel := context.WithTimeout(ctx, domains.CertificateTime)
	defer cancel()
	have, err := a.load(ctx, domain)
	if errors.Is(err, errUnusable) { // whoever stored it was killed in between
		if err := a.storage.Delete(ctx, certmagic.StorageKeys.CertsSitePrefix(a.issuer.IssuerKey(), domain)); err != nil {
			return err
		}
		have, err = nil, nil
	}
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case have == nil:
		err = a.config.ObtainCertSync(ctx, domain)
	case a.isAging(have.Leaf):
		err = a.config.RenewCertSync(ctx, domain, false)
	default:
		return nil
	}
	if problem, ok := errors.AsType[acme.Problem](err); ok {
		return fmt.Errorf("%w (%w)", &domains.RefusedError{Reason: reason(problem)}, err)
	}
	return err
}

// isAging reports whether a certificate is to be renewed, as certmagic has it.
func (a *Authority) isAging(leaf *x509.Certificate) bool {
	window := a.config.RenewalWindowRatio
	if window == 0 {
		window = certmagic.DefaultRenewalWindowRatio
	}
	life := float64(leaf.NotAfter.Sub(leaf.NotBefore))
	return time.Until(leaf.NotAfter) < time.Duration(life*window)
}

// reason returns the most telling text of a problem.
func reason(p acme.Problem) string {
	for _, sub := range p.Subproblems {
		if sub.Detail != "" {
			return sub.Detail
		}
	}
	if p.Detail != "" {
		return p.Detail
	}
	return p.Type
}

var errUnusable = errors.New("acme: key and certificate do not belong together")

// load returns the stored certificate of a domain, or fs.ErrNotExist, or errUnusable.
func (a *Authority) load(ctx context.Context, domain string) (*tls.Certificate, error) {
	key, err := a.storage.Load(ctx, certmagic.StorageKeys.SitePrivateKey(a.issuer.IssuerKey(), domain))
	if err != nil {
		return nil, err
	}
	chain, err := a.storage.Load(ctx, certmagic.StorageKeys.SiteCert(a.issuer.IssuerKey(), domain))
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnusable, err)
	}
	return &pair, nil
}

// Run makes the worker look at once at the domains in use whose certificates are not there, as after a change of the authority.
// Then it deletes once a day the certificates that ran out, until ctx ends.
func (a *Authority) Run(ctx context.Context) {
	if err := a.recheck(ctx); err != nil && ctx.Err() == nil {
		a.log.ErrorContext(ctx, "look for domains without a certificate", "error", err)
	}
	ticker := time.NewTicker(cleanEvery)
	defer ticker.Stop()
	for {
		if err := a.clean(ctx); err != nil && ctx.Err() == nil {
			a.log.ErrorContext(ctx, "delete certificates that ran out", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (a *Authority) recheck(ctx context.Context) error {
	return a.store.RecheckDomains(ctx, certmagic.StorageKeys.CertsPrefix(a.issuer.IssuerKey()))
}

// clean deletes the certificates that ran out before a day, unless that was done within a day.
func (a *Authority) clean(ctx context.Context) error {
	return certmagic.CleanStorage(ctx, a.storage, certmagic.CleanStorageOptions{
		Logger: zap.NewNop(), Interval: cleanEvery, ExpiredCerts: true, ExpiredCertGracePeriod: cleanEvery,
	})
}

const cleanEvery = 24 * time.Hour
