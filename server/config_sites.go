package server

import (
	"crypto/x509"
	"fmt"
	"os"

	"github.com/tillwright/tillwright/server/domains"
)

// SitesRoots returns the certificates by which the certificate authority of sites' domains is believed, beside those of the
// system, nil if there are no others.
func (c *Config) SitesRoots() (*x509.CertPool, error) {
	if c.ACMECA == "" || c.SitesTLS != domains.TLSACME {
		return nil, nil //nolint:nilnil // as the comment says
	}
	const name, allowed = "TILLWRIGHT_SITES_ACME_CA", "a file of PEM certificates"
	text, err := os.ReadFile(c.ACMECA)
	if err != nil {
		return nil, fmt.Errorf("%s must be %s: %w", name, allowed, err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a system without any
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, refusal(name, c.ACMECA, allowed)
	}
	return roots, nil
}
