package server

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/webhooks"
)

// The values that some settings may have.
const (
	Development = "development"
	Production  = "production"
	LogJSON     = "json"
	LogText     = "text"
)

// Config holds every setting of the program. The tags of its fields are the only list of them: the command line, its help and
// the errors are made from them.
type Config struct {
	Addr           string `env:"TILLWRIGHT_ADDR" envDefault:"127.0.0.1:8080" flag:"addr" help:"address to listen on, host:port"`
	DatabaseURL    string `env:"TILLWRIGHT_DATABASE_URL" flag:"database-url" help:"sqlite:///path/file.db or postgres://user:password@host/name?sslmode=..." otherwise:"tillwright.db in the data directory; needed in production"`
	DataDir        string `env:"TILLWRIGHT_DATA_DIR" envDefault:"data" flag:"data-dir" help:"directory of the embedded database and the development secret key"`
	Env            string `env:"TILLWRIGHT_ENV" envDefault:"development" flag:"env" help:"development or production"`
	AllowRemote    bool   `env:"TILLWRIGHT_ALLOW_REMOTE" envDefault:"false" flag:"allow-remote" help:"true or false: a development server may listen on an address that others reach, as in a container"`
	ServiceName    string `env:"TILLWRIGHT_SERVICE_NAME" envDefault:"Service" flag:"service-name" help:"name in X-<name>-Hmac-SHA256 and the User-Agent of deliveries: a letter, then up to 30 letters, digits or hyphens"`
	SecretKey      string `env:"TILLWRIGHT_SECRET_KEY" help:"base64 of 32 bytes, which seals secrets at rest; several, newest first, separated by commas, to rotate" otherwise:"made and kept in the data directory, in development only"`
	PublicURL      string `env:"TILLWRIGHT_PUBLIC_URL" flag:"public-url" help:"address of this server as buyers see it, https://host without a path" otherwise:"http:// and the address listened on"`
	TrustedProxies string `env:"TILLWRIGHT_TRUSTED_PROXIES" flag:"trusted-proxies" help:"addresses or networks whose X-Forwarded-For counts, separated by commas, e.g. 10.0.0.0/8" otherwise:"none"`
	AccountQuota   int    `env:"TILLWRIGHT_ACCOUNT_QUOTA" envDefault:"0" flag:"account-quota" help:"requests a minute of all API keys of an account together, 600 to 1000000; 0 bounds each key alone"`
	DatabasePooler string `env:"TILLWRIGHT_DATABASE_POOLER" envDefault:"none" flag:"database-pooler" help:"what stands before PostgreSQL: none, or transaction for PgBouncer in transaction mode"`
	DatabaseConns  int    `env:"TILLWRIGHT_DATABASE_MAX_CONNS" envDefault:"12" flag:"database-max-conns" help:"connections to PostgreSQL, 2 to 1000"`
	Synchronous    string `env:"TILLWRIGHT_DATABASE_SYNCHRONOUS" envDefault:"full" flag:"database-synchronous" help:"SQLite: full survives a power cut, normal is faster and may lose the last moments"`
	Log            string `env:"TILLWRIGHT_LOG" flag:"log" help:"json or text" otherwise:"text in development, json in production"`

	SignUp string `env:"TILLWRIGHT_SIGNUP" flag:"signup" help:"who may make an account of their own in the dashboard: open, everybody; invite, who was invited to one; closed, nobody, and no member can invite others" otherwise:"open in development, invite in production"`

	TestPayments string `env:"TILLWRIGHT_TEST_PAYMENTS" flag:"test-payments" help:"true or false: accounts may take test cards, which move no money" otherwise:"true in development, false in production"`
	StripeURL    string `env:"TILLWRIGHT_STRIPE_URL" flag:"stripe-url" help:"address of Stripe's API" otherwise:"Stripe's own"`

	SMTPURL  string `env:"TILLWRIGHT_SMTP_URL" help:"mail server for receipts and invoices: smtp://user:password@host:587 or smtps://user:password@host:465" otherwise:"none; in development mail goes into files of the data directory"`
	MailFrom string `env:"TILLWRIGHT_MAIL_FROM" flag:"mail-from" help:"address that mail is sent from; answers go to the account" otherwise:"needed with TILLWRIGHT_SMTP_URL"`

	AIURL   string `env:"TILLWRIGHT_AI_URL" flag:"ai-url" help:"address of an API in the form of OpenAI's, such as https://host/v1, whose model makes pages of sites" otherwise:"none: they are made by rules"`
	AIKey   string `env:"TILLWRIGHT_AI_KEY" help:"key at that API" otherwise:"none"`
	AIModel string `env:"TILLWRIGHT_AI_MODEL" flag:"ai-model" help:"name of the model there" otherwise:"needed with TILLWRIGHT_AI_URL"`

	SitesHost string `env:"TILLWRIGHT_SITES_HOST" flag:"sites-host" help:"host below which every site has a name, at which sellers point their domains by CNAME" otherwise:"the host of the public URL"`
	SitesDNS  string `env:"TILLWRIGHT_SITES_DNS" flag:"sites-dns" help:"DNS server that is asked about the domains of sites, host:port" otherwise:"the first in /etc/resolv.conf"`
	SitesTLS  string `env:"TILLWRIGHT_SITES_TLS" flag:"sites-tls" help:"who has the certificates of sites' domains: none, a proxy that asks /sites/ask for which, or acme, this server itself" otherwise:"none in development, proxy in production"`
	SitesAddr string `env:"TILLWRIGHT_SITES_TLS_ADDR" envDefault:":443" flag:"sites-tls-addr" help:"address to listen on by https for acme, host:port; port 443 of the domains has to lead there"`
	ACMEURL   string `env:"TILLWRIGHT_SITES_ACME_URL" flag:"sites-acme-url" help:"directory of the certificate authority for acme, whose terms you agree to" otherwise:"that of Let's Encrypt"`
	ACMECA    string `env:"TILLWRIGHT_SITES_ACME_CA" flag:"sites-acme-ca" help:"file of PEM certificates by which that authority, and what it issues, is believed, for one of your own" otherwise:"the system's alone"`

	WebhookAllow     string        `env:"TILLWRIGHT_WEBHOOK_ALLOW_CIDRS" flag:"webhook-allow-cidrs" help:"networks that webhooks may be sent to although they are not public, separated by commas, e.g. 10.1.0.0/16" otherwise:"none; in development loopback too"`
	WebhookDeny      string        `env:"TILLWRIGHT_WEBHOOK_DENY_CIDRS" flag:"webhook-deny-cidrs" help:"networks that webhooks are never sent to, separated by commas; stronger than the allowed ones" otherwise:"none"`
	WebhookPorts     string        `env:"TILLWRIGHT_WEBHOOK_PORTS" flag:"webhook-ports" help:"ports that webhooks may be sent to, separated by commas" otherwise:"443,8443 in production, any in development"`
	WebhookStandard  bool          `env:"TILLWRIGHT_WEBHOOK_STANDARD_HEADERS" envDefault:"true" flag:"webhook-standard-headers" help:"true or false: add the three headers of Standard Webhooks to deliveries"`
	WebhookRetention time.Duration `env:"TILLWRIGHT_WEBHOOK_RETENTION" envDefault:"24h" flag:"webhook-retention" help:"how long succeeded deliveries are kept, 0h to 168h; failed ones always are for 168h"`

	ActivityRetention time.Duration `env:"TILLWRIGHT_ACTIVITY_RETENTION" envDefault:"8760h" flag:"activity-retention" help:"how long it is kept who changed what, 24h to 87600h"`

	FilesURL     string `env:"TILLWRIGHT_FILES_URL" flag:"files-url" help:"where the bytes of files are: file:///folder, or s3://bucket/prefix?endpoint=&region=&path_style=true with the usual AWS variables for its keys" otherwise:"the folder files in the data directory"`
	FilesMaxSize string `env:"TILLWRIGHT_FILES_MAX_SIZE" envDefault:"10GiB" flag:"files-max-size" help:"how large a file may be: bytes, or a number with KiB, MiB or GiB; at most 156GiB"`
	FilesQuota   string `env:"TILLWRIGHT_FILES_QUOTA" flag:"files-quota" help:"how much the files of an account may take, written alike" otherwise:"any amount"`

	AdsNetworks         string `env:"TILLWRIGHT_ADS_NETWORKS" flag:"ads-networks" help:"ad networks to speak to, separated by commas: facebook, instagram, pinterest, tiktok; the others are played by a sandbox" otherwise:"none"`
	MetaURL             string `env:"TILLWRIGHT_META_URL" flag:"meta-url" help:"address of Meta's Graph API, for facebook and instagram" otherwise:"Meta's own"`
	MetaVersion         string `env:"TILLWRIGHT_META_VERSION" flag:"meta-version" help:"version of Meta's Graph API, such as v26.0" otherwise:"the newest that was tested"`
	MetaSecret          string `env:"TILLWRIGHT_META_APP_SECRET" help:"secret of the Meta app that the channels' tokens are of: every request to Meta is then signed with it" otherwise:"none"`
	MetaAppID           string `env:"TILLWRIGHT_META_APP_ID" flag:"meta-app-id" help:"id of that app: with its secret, sellers can connect channels by giving their consent on Facebook" otherwise:"none"`
	MetaConsentURL      string `env:"TILLWRIGHT_META_CONSENT_URL" flag:"meta-consent-url" help:"address of the pages on which Meta asks for consent" otherwise:"Meta's own"`
	PinterestURL        string `env:"TILLWRIGHT_PINTEREST_URL" flag:"pinterest-url" help:"address of Pinterest's API" otherwise:"Pinterest's own"`
	PinterestAppID      string `env:"TILLWRIGHT_PINTEREST_APP_ID" flag:"pinterest-app-id" help:"id of the Pinterest app by which sellers connect channels by giving their consent" otherwise:"none"`
	PinterestSecret     string `env:"TILLWRIGHT_PINTEREST_APP_SECRET" help:"secret of that app" otherwise:"none"`
	PinterestConsentURL string `env:"TILLWRIGHT_PINTEREST_CONSENT_URL" flag:"pinterest-consent-url" help:"address of the pages on which Pinterest asks for consent" otherwise:"Pinterest's own"`
	TikTokURL           string `env:"TILLWRIGHT_TIKTOK_URL" flag:"tiktok-url" help:"address of TikTok's API" otherwise:"TikTok's own"`
	TikTokAppID         string `env:"TILLWRIGHT_TIKTOK_APP_ID" flag:"tiktok-app-id" help:"id of the TikTok app by which sellers connect channels; TikTok lists ad accounts to it alone" otherwise:"none"`
	TikTokSecret        string `env:"TILLWRIGHT_TIKTOK_APP_SECRET" help:"secret of that app" otherwise:"none"`
	TikTokConsentURL    string `env:"TILLWRIGHT_TIKTOK_CONSENT_URL" flag:"tiktok-consent-url" help:"address of the pages on which TikTok asks for consent" otherwise:"TikTok's own"`
	ZernioKey           string `env:"TILLWRIGHT_ZERNIO_API_KEY" help:"key at Zernio, a third party that reaches all ad networks; sellers who name the driver zernio advertise through it, and what they advertise goes there" otherwise:"none: Zernio is told nothing"`
	ZernioURL           string `env:"TILLWRIGHT_ZERNIO_URL" flag:"zernio-url" help:"address of Zernio's API" otherwise:"Zernio's own"`
}

// fileVariants are the settings whose value may also be in a file, which is named by the same setting with _FILE appended.
var fileVariants = []string{"TILLWRIGHT_SECRET_KEY", "TILLWRIGHT_DATABASE_URL", "TILLWRIGHT_SMTP_URL", "TILLWRIGHT_META_APP_SECRET", "TILLWRIGHT_PINTEREST_APP_SECRET", "TILLWRIGHT_TIKTOK_APP_SECRET",
	"TILLWRIGHT_ZERNIO_API_KEY", "TILLWRIGHT_AI_KEY"}

// LoadConfig merges the layers, of which the first that has a setting wins: flags, environment, file. Each maps TILLWRIGHT_...
// names to values; an empty value counts as none. The error names every wrong setting and says what is allowed.
func LoadConfig(layers ...map[string]string) (*Config, error) {
	merged := map[string]string{}
	for _, layer := range slices.Backward(layers) {
		if err := resolveFiles(layer); err != nil {
			return nil, err
		}
		for name, value := range layer {
			if value != "" {
				merged[name] = value
			}
		}
	}
	c := &Config{}
	if err := env.ParseWithOptions(c, env.Options{Environment: merged}); err != nil {
		return nil, wrongTypes(err, merged)
	}
	c.fill()
	return c, c.check()
}

// What the error about a wrong setting says is allowed.
const (
	allowedConns     = "a number from 2 to 1000"
	allowedQuota     = "a number from 600 to 1000000, or 0"
	allowedSwitch    = "true or false"
	allowedRetention = "a duration from 0h to 168h, such as 24h"
	allowedActivity  = "a duration from 24h to 87600h, such as 8760h"
	allowedAPI       = "an http:// or https:// address without a query, with a port up to 65535 if with any"
)

// wrongTypes says which settings could not be read as what they have to be, such as a number.
func wrongTypes(err error, values map[string]string) error {
	allowed := map[string]string{"DatabaseConns": allowedConns, "AccountQuota": allowedQuota, "AllowRemote": allowedSwitch, "WebhookStandard": allowedSwitch, "WebhookRetention": allowedRetention, "ActivityRetention": allowedActivity}
	var all env.AggregateError
	if !errors.As(err, &all) {
		return err
	}
	var errs []error
	for _, one := range all.Errors {
		if p, ok := errors.AsType[env.ParseError](one); ok {
			field, _ := reflect.TypeFor[Config]().FieldByName(p.Name)
			name := field.Tag.Get("env")
			one = refusal(name, values[name], allowed[p.Name])
		}
		errs = append(errs, one)
	}
	return errors.Join(errs...)
}

func refusal(name, value, allowed string) error {
	return fmt.Errorf("%s must be %s, not %q", name, allowed, value)
}

// fill sets the defaults that depend on other settings.
func (c *Config) fill() {
	if c.DatabaseURL == "" && c.Env != Production {
		c.DatabaseURL = "sqlite://" + filepath.Join(c.DataDir, "tillwright.db")
	}
	if c.Log == "" {
		c.Log = LogText
		if c.Env == Production {
			c.Log = LogJSON
		}
	}
	if c.TestPayments == "" {
		c.TestPayments = strconv.FormatBool(c.Env == Development)
	}
	if c.FilesURL == "" {
		c.FilesURL = "file://" + filepath.Join(c.DataDir, "files")
	}
	if c.SignUp == "" {
		c.SignUp = "invite"
		if c.Env == Development {
			c.SignUp = "open"
		}
	}
	if c.SitesTLS == "" {
		c.SitesTLS = domains.TLSNone
		if c.Env == Production {
			c.SitesTLS = domains.TLSProxy
		}
	}
	c.SitesHost = strings.ToLower(c.SitesHost)
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
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

// TakesTestCards reports whether accounts may take payments that move no money.
func (c *Config) TakesTestCards() bool { return c.TestPayments == "true" }

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
// can reach. A development server has a key that is known by its place on the disk, takes cards that move no money, and lets
// clocks be moved. Other commands do not call this, because they serve nobody.
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

// Mailer returns what sends mail: the mail server that is configured. Without one it is a folder of the data directory in
// development, and nil in production.
func (c *Config) Mailer() (mail.Mailer, error) {
	if c.SMTPURL == "" {
		if c.Env == Development {
			return mail.Folder{Path: filepath.Join(c.DataDir, "mail")}, nil
		}
		return nil, nil
	}
	mailer, err := mail.NewSMTP(c.SMTPURL, c.MailFrom)
	if err != nil {
		return nil, refusal("TILLWRIGHT_SMTP_URL", redact(c.SMTPURL), "smtp://user:password@host:587 or smtps://user:password@host:465")
	}
	if from, err := netmail.ParseAddress(c.MailFrom); err != nil || from.Address != c.MailFrom {
		return nil, refusal("TILLWRIGHT_MAIL_FROM", c.MailFrom, "an address such as shop@example.com, when there is a TILLWRIGHT_SMTP_URL")
	}
	return mailer, nil
}

// Proxies returns the networks of the proxies whose X-Forwarded-For is believed.
func (c *Config) Proxies() ([]netip.Prefix, error) {
	return networks("TILLWRIGHT_TRUSTED_PROXIES", c.TrustedProxies)
}

// Guard returns to which addresses webhooks may be sent.
func (c *Config) Guard() (webhooks.GuardOptions, error) {
	allow, allowErr := networks("TILLWRIGHT_WEBHOOK_ALLOW_CIDRS", c.WebhookAllow)
	deny, denyErr := networks("TILLWRIGHT_WEBHOOK_DENY_CIDRS", c.WebhookDeny)
	ports, portErr := ports("TILLWRIGHT_WEBHOOK_PORTS", c.WebhookPorts)
	return webhooks.GuardOptions{Development: c.Env == Development, Ports: ports, Allow: allow, Deny: deny}, errors.Join(allowErr, denyErr, portErr)
}

// liveNetworks are the ad networks that the program can speak to itself. It is never changed.
var liveNetworks = []advert.Platform{advert.PlatformFacebook, advert.PlatformInstagram, advert.PlatformPinterest, advert.PlatformTikTok}

// AdNetworks returns the ad networks that the server speaks to. All others are played by the sandbox.
func (c *Config) AdNetworks() ([]advert.Platform, error) {
	var all []advert.Platform
	for _, part := range splitList(c.AdsNetworks) {
		p := advert.Platform(part)
		if !slices.Contains(liveNetworks, p) {
			return nil, refusal("TILLWRIGHT_ADS_NETWORKS", part, "some of facebook, instagram, pinterest and tiktok, separated by commas")
		}
		all = append(all, p)
	}
	return all, nil
}

// networks reads a list of networks; an address counts as a network of one. A network of IPv4 addresses in IPv6 notation
// becomes the IPv4 network, because addresses are compared in that form and nothing would match it otherwise.
func networks(name, list string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, part := range splitList(list) {
		network, err := netip.ParsePrefix(part)
		if addr, addrErr := netip.ParseAddr(part); addrErr == nil && addr.Zone() == "" {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, refusal(name, part, "addresses or networks such as 10.0.0.0/8, separated by commas")
		}
		if a := network.Addr(); a.Is4In6() && network.Bits() >= 96 {
			network = netip.PrefixFrom(a.Unmap(), network.Bits()-96)
		}
		all = append(all, network)
	}
	return all, nil
}

// ports reads a list of ports, nil for an empty one.
func ports(name, list string) ([]uint16, error) {
	var all []uint16
	for _, part := range splitList(list) {
		port, err := strconv.ParseUint(part, 10, 16)
		if err != nil || port == 0 {
			return nil, refusal(name, part, "ports from 1 to 65535, separated by commas")
		}
		all = append(all, uint16(port))
	}
	return all, nil
}

// sealKeys decodes a list of secret keys, nil for an empty one.
func sealKeys(list string) ([][]byte, error) {
	var keys [][]byte
	for _, part := range splitList(list) {
		key, err := base64.StdEncoding.DecodeString(part)
		if err != nil || len(key) != 32 {
			return nil, errors.New("TILLWRIGHT_SECRET_KEY must be base64 of 32 bytes, e.g. from `openssl rand -base64 32`")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func splitList(list string) []string {
	var parts []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
