package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/store/outbox"
)

// What the error about a wrong setting says is allowed.
const (
	allowedConns     = "a number from 2 to 1000"
	allowedQuota     = "a number from 600 to 1000000, or 0"
	allowedSwitch    = "true or false"
	allowedRetention = "a duration from 0h to 168h, such as 24h"
	allowedActivity  = "a duration from 24h to 87600h, such as 8760h"
	allowedAPI       = "an http:// or https:// address without a query, with a port up to 65535 if with any"
)

func refusal(name, value, allowed string) error {
	return fmt.Errorf("%s must be %s, not %q", name, allowed, value)
}

var hostName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

var metaVersion = regexp.MustCompile(`^v[1-9][0-9]\.0$`)

var serviceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,30}$`)

// check refuses settings with a value that is not allowed, and settings that are missing in production. It reports all of them
// at once.
func (c *Config) check() error {
	var errs []error
	need := func(ok bool, name, value, allowed string) {
		if !ok {
			errs = append(errs, refusal(name, value, allowed))
		}
	}
	_, keyErr := sealKeys(c.SecretKey)
	_, proxyErr := c.Proxies()
	_, guardErr := c.Guard()
	_, networkErr := c.AdNetworks()
	need(validAddr(c.Addr), "TILLWRIGHT_ADDR", c.Addr, "host:port, such as 127.0.0.1:8080")
	need(c.DatabaseURL == "" || validDatabaseURL(c.DatabaseURL), "TILLWRIGHT_DATABASE_URL", redact(c.DatabaseURL), "sqlite:///path/file.db or postgres://user:password@host/name")
	need(c.Env == Development || c.Env == Production, "TILLWRIGHT_ENV", c.Env, "development or production")
	need(serviceName.MatchString(c.ServiceName), "TILLWRIGHT_SERVICE_NAME", c.ServiceName, "a letter and then up to 30 letters, digits or hyphens")
	need(c.PublicURL == "" || isOrigin(c.PublicURL), "TILLWRIGHT_PUBLIC_URL", redact(c.PublicURL), "https:// and a host, with a port up to 65535 if with any, without a path, query or user")
	need(c.DatabasePooler == "none" || c.DatabasePooler == "transaction", "TILLWRIGHT_DATABASE_POOLER", c.DatabasePooler, "none or transaction")
	need(2 <= c.DatabaseConns && c.DatabaseConns <= 1000, "TILLWRIGHT_DATABASE_MAX_CONNS", strconv.Itoa(c.DatabaseConns), allowedConns)
	need(c.AccountQuota == 0 || 600 <= c.AccountQuota && c.AccountQuota <= 1_000_000, "TILLWRIGHT_ACCOUNT_QUOTA", strconv.Itoa(c.AccountQuota), allowedQuota)
	need(c.Synchronous == "full" || c.Synchronous == "normal", "TILLWRIGHT_DATABASE_SYNCHRONOUS", c.Synchronous, "full or normal")
	need(c.Log == LogJSON || c.Log == LogText, "TILLWRIGHT_LOG", c.Log, "json or text")
	need(c.TestPayments == "true" || c.TestPayments == "false", "TILLWRIGHT_TEST_PAYMENTS", c.TestPayments, allowedSwitch)
	need(0 <= c.WebhookRetention && c.WebhookRetention <= outbox.FailedRetention, "TILLWRIGHT_WEBHOOK_RETENTION", c.WebhookRetention.String(), allowedRetention)
	need(24*time.Hour <= c.ActivityRetention && c.ActivityRetention <= 87600*time.Hour, "TILLWRIGHT_ACTIVITY_RETENTION", c.ActivityRetention.String(), allowedActivity)
	need(c.StripeURL == "" || validPublicURL(c.StripeURL), "TILLWRIGHT_STRIPE_URL", c.StripeURL, allowedAPI)
	need(c.MetaURL == "" || validPublicURL(c.MetaURL), "TILLWRIGHT_META_URL", c.MetaURL, allowedAPI)
	need(c.MetaVersion == "" || metaVersion.MatchString(c.MetaVersion), "TILLWRIGHT_META_VERSION", c.MetaVersion, "a version such as v26.0")
	need(c.PinterestURL == "" || validPublicURL(c.PinterestURL), "TILLWRIGHT_PINTEREST_URL", c.PinterestURL, allowedAPI)
	need(c.MetaConsentURL == "" || validPublicURL(c.MetaConsentURL), "TILLWRIGHT_META_CONSENT_URL", c.MetaConsentURL, allowedAPI)
	need(c.PinterestConsentURL == "" || validPublicURL(c.PinterestConsentURL), "TILLWRIGHT_PINTEREST_CONSENT_URL", c.PinterestConsentURL, allowedAPI)
	need(c.TikTokURL == "" || validPublicURL(c.TikTokURL), "TILLWRIGHT_TIKTOK_URL", c.TikTokURL, allowedAPI)
	need(c.TikTokConsentURL == "" || validPublicURL(c.TikTokConsentURL), "TILLWRIGHT_TIKTOK_CONSENT_URL", c.TikTokConsentURL, allowedAPI)
	need(c.AIURL == "" || validPublicURL(c.AIURL), "TILLWRIGHT_AI_URL", redact(c.AIURL), allowedAPI)
	need(c.AIURL == "" || c.AIModel != "", "TILLWRIGHT_AI_MODEL", c.AIModel, "the name of a model, when there is a TILLWRIGHT_AI_URL")
	need(c.SitesHost == "" || hostName.MatchString(c.SitesHost), "TILLWRIGHT_SITES_HOST", c.SitesHost, "a host name, such as sites.example.com")
	need(c.SitesDNS == "" || validAddr(c.SitesDNS), "TILLWRIGHT_SITES_DNS", c.SitesDNS, "host:port, such as 192.0.2.53:53")
	need(slices.Contains([]string{"open", "invite", "closed"}, c.SignUp), "TILLWRIGHT_SIGNUP", c.SignUp, "open, invite or closed")
	need(slices.Contains([]string{domains.TLSNone, domains.TLSProxy, domains.TLSACME}, c.SitesTLS), "TILLWRIGHT_SITES_TLS", c.SitesTLS, "none, proxy or acme")
	need(validAddr(c.SitesAddr), "TILLWRIGHT_SITES_TLS_ADDR", c.SitesAddr, "host:port, such as :443")
	need(c.ACMEURL == "" || validPublicURL(c.ACMEURL) && strings.HasPrefix(c.ACMEURL, "https://"), "TILLWRIGHT_SITES_ACME_URL", redact(c.ACMEURL), "an https:// address without a query")
	need(c.ZernioURL == "" || validPublicURL(c.ZernioURL), "TILLWRIGHT_ZERNIO_URL", c.ZernioURL, allowedAPI)
	if _, err := c.Mailer(); err != nil {
		errs = append(errs, err)
	}
	if c.SecretKey == "" && c.Env == Production {
		errs = append(errs, errors.New("TILLWRIGHT_SECRET_KEY is needed in production: base64 of 32 random bytes, e.g. from `openssl rand -base64 32`"))
	}
	if c.DatabaseURL == "" && c.Env == Production {
		errs = append(errs, errors.New("TILLWRIGHT_DATABASE_URL is needed in production: postgres://..., or sqlite:///path/file.db if it shall be an embedded database"))
	}
	_, limitErr := c.FileLimits()
	_, rootsErr := c.SitesRoots()
	return errors.Join(append(errs, keyErr, proxyErr, guardErr, networkErr, limitErr, rootsErr, c.checkFilesURL())...)
}

func validAddr(addr string) bool {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

func validDatabaseURL(raw string) bool {
	if path, ok := strings.CutPrefix(raw, "sqlite://"); ok {
		return path != ""
	}
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") && validPort(u)
}

// redact returns an address without its password, for an error message.
func redact(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.Redacted()
	}
	scheme, _, _ := strings.Cut(raw, "://")
	return scheme + "://..."
}

func validPublicURL(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && validPort(u) && u.RawQuery == "" && u.Fragment == ""
}

// validPort reports whether the port of an address is valid or absent; url.Parse takes any number for one.
func validPort(u *url.URL) bool {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Port() == "" || err == nil && port > 0
}

// isOrigin reports whether an address is nothing but a scheme and a host. Paths are appended to it.
func isOrigin(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && validPublicURL(raw) && u.Path == "" && u.User == nil && !u.ForceQuery && !strings.Contains(raw, "#") && u.Hostname() != ""
}

// isSafelyPublic reports whether buyers reach the server by https, or whether only this machine can reach it at all. Without a
// public URL, the address that it listens on counts, and if that is every address, the one of this machine.
func (c *Config) isSafelyPublic() bool {
	if c.PublicURL == "" {
		host, _, err := net.SplitHostPort(c.Addr)
		return err != nil || host == "" || isUnspecified(host) || isLoopback(host)
	}
	u, err := url.Parse(c.PublicURL)
	return err != nil || u.Scheme == "https" || isLoopback(u.Hostname())
}

// CheckServing refuses to serve the wrong people: as a production server without https, or as a development server that others
// can reach. A development server has a key that is known by its place on the disk. It takes cards that move no money, and
// lets clocks be moved. Other commands do not call this, because they serve nobody.
func (c *Config) CheckServing() error {
	if c.Env == Production && !c.isSafelyPublic() {
		return errors.New("TILLWRIGHT_PUBLIC_URL must begin with https:// in production, unless only this machine is to reach the server: buyers' cards and secrets go there")
	}
	addrs := []string{c.Addr}
	if c.SitesTLS == domains.TLSACME {
		addrs = append(addrs, c.SitesAddr)
	}
	for _, addr := range addrs {
		host, _, err := net.SplitHostPort(addr)
		if err == nil && c.Env != Production && !c.AllowRemote && !isLoopback(host) {
			return fmt.Errorf("a development server on %s would be reached by others: listen on 127.0.0.1, set TILLWRIGHT_ENV=production, "+
				"or say that it is meant, as in a container, with TILLWRIGHT_ALLOW_REMOTE=true or --allow-remote=true", addr)
		}
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

func isUnspecified(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsUnspecified()
}
