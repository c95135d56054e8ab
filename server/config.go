package server

import (
	"encoding/base64"
	"errors"
	netmail "net/mail"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store/advert"
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

	SignUp string `env:"TILLWRIGHT_SIGNUP" flag:"signup" help:"who may make their own account in the dashboard: open, everybody; invite, who was invited to one; closed, nobody, and no member can invite others" otherwise:"open in development, invite in production"`

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
	ZernioKey           string `env:"TILLWRIGHT_ZERNIO_API_KEY" help:"key at Zernio, a third party that reaches all ad networks; what sellers advertise by naming the driver zernio goes there" otherwise:"none: Zernio is told nothing"`
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

// TakesTestCards reports whether accounts may take payments that move no money.
func (c *Config) TakesTestCards() bool { return c.TestPayments == "true" }

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
