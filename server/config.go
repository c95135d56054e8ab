package server

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
)

// The words that settings may have.
const (
	Development = "development"
	Production  = "production"
	LogJSON     = "json"
	LogText     = "text"
)

// Config is every setting of the binary. The tags are the only list of them: the
// command line, its help and the errors are made from it.
type Config struct {
	Addr           string `env:"TILLWRIGHT_ADDR" envDefault:"127.0.0.1:8080" flag:"addr" help:"address to listen on, host:port"`
	DatabaseURL    string `env:"TILLWRIGHT_DATABASE_URL" flag:"database-url" help:"sqlite:///path/file.db or postgres://user:password@host/name?sslmode=..." otherwise:"tillwright.db in the data directory"`
	DataDir        string `env:"TILLWRIGHT_DATA_DIR" envDefault:"data" flag:"data-dir" help:"directory of the embedded database and the development secret key"`
	Env            string `env:"TILLWRIGHT_ENV" envDefault:"development" flag:"env" help:"development or production"`
	ServiceName    string `env:"TILLWRIGHT_SERVICE_NAME" envDefault:"Service" flag:"service-name" help:"name in X-<name>-Hmac-SHA256 and the User-Agent of deliveries: a letter, then up to 30 letters, digits or hyphens"`
	SecretKey      string `env:"TILLWRIGHT_SECRET_KEY" help:"base64 of 32 bytes, which seals secrets at rest; several, newest first, separated by commas, to rotate" otherwise:"made and kept in the data directory, in development only"`
	PublicURL      string `env:"TILLWRIGHT_PUBLIC_URL" flag:"public-url" help:"address of this server as buyers see it, https://..." otherwise:"http:// and the address listened on"`
	TrustedProxies string `env:"TILLWRIGHT_TRUSTED_PROXIES" flag:"trusted-proxies" help:"addresses or networks whose X-Forwarded-For counts, separated by commas, e.g. 10.0.0.0/8" otherwise:"none"`
	DatabasePooler string `env:"TILLWRIGHT_DATABASE_POOLER" envDefault:"none" flag:"database-pooler" help:"what stands before PostgreSQL: none, or transaction for PgBouncer in transaction mode"`
	DatabaseConns  int    `env:"TILLWRIGHT_DATABASE_MAX_CONNS" envDefault:"12" flag:"database-max-conns" help:"connections to PostgreSQL, 2 to 1000"`
	Synchronous    string `env:"TILLWRIGHT_DATABASE_SYNCHRONOUS" envDefault:"full" flag:"database-synchronous" help:"SQLite: full survives a power cut, normal is faster and may lose the last moments"`
	Log            string `env:"TILLWRIGHT_LOG" flag:"log" help:"json or text" otherwise:"text in development, json in production"`
}

// fileVariants are the settings that may also be read from a file: append _FILE
// to the name and give the path.
var fileVariants = []string{"TILLWRIGHT_SECRET_KEY", "TILLWRIGHT_DATABASE_URL"}

// LoadConfig merges the layers, the first one winning for each setting: flags,
// environment, file. All are maps from TILLWRIGHT_... to its value; an empty value
// is none. Every wrong value is reported, by name and with what is allowed.
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
		return nil, errors.New("TILLWRIGHT_DATABASE_MAX_CONNS must be a number from 2 to 1000")
	}
	c.fill()
	return c, c.check()
}

// fill sets the defaults that depend on other settings.
func (c *Config) fill() {
	if c.DatabaseURL == "" {
		c.DatabaseURL = "sqlite://" + filepath.Join(c.DataDir, "tillwright.db")
	}
	if c.Log == "" {
		c.Log = LogText
		if c.Env == Production {
			c.Log = LogJSON
		}
	}
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
}

var serviceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,30}$`)

func (c *Config) check() error {
	var errs []error
	need := func(ok bool, name, value, allowed string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s must be %s, not %q", name, allowed, value))
		}
	}
	_, keyErr := c.sealKeys()
	_, proxyErr := c.Proxies()
	need(validAddr(c.Addr), "TILLWRIGHT_ADDR", c.Addr, "host:port, such as 127.0.0.1:8080")
	need(validDatabaseURL(c.DatabaseURL), "TILLWRIGHT_DATABASE_URL", redact(c.DatabaseURL), "sqlite:///path/file.db or postgres://user:password@host/name")
	need(c.Env == Development || c.Env == Production, "TILLWRIGHT_ENV", c.Env, "development or production")
	need(serviceName.MatchString(c.ServiceName), "TILLWRIGHT_SERVICE_NAME", c.ServiceName, "a letter and then up to 30 letters, digits or hyphens")
	need(c.PublicURL == "" || validPublicURL(c.PublicURL), "TILLWRIGHT_PUBLIC_URL", c.PublicURL, "an http:// or https:// address without a query")
	need(c.DatabasePooler == "none" || c.DatabasePooler == "transaction", "TILLWRIGHT_DATABASE_POOLER", c.DatabasePooler, "none or transaction")
	need(2 <= c.DatabaseConns && c.DatabaseConns <= 1000, "TILLWRIGHT_DATABASE_MAX_CONNS", strconv.Itoa(c.DatabaseConns), "a number from 2 to 1000")
	need(c.Synchronous == "full" || c.Synchronous == "normal", "TILLWRIGHT_DATABASE_SYNCHRONOUS", c.Synchronous, "full or normal")
	need(c.Log == LogJSON || c.Log == LogText, "TILLWRIGHT_LOG", c.Log, "json or text")
	if c.SecretKey == "" && c.Env == Production {
		errs = append(errs, errors.New("TILLWRIGHT_SECRET_KEY is needed in production: base64 of 32 random bytes, e.g. from `openssl rand -base64 32`"))
	}
	return errors.Join(append(errs, keyErr, proxyErr)...)
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
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql")
}

// redact keeps a password out of an error message.
func redact(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.Redacted()
	}
	scheme, _, _ := strings.Cut(raw, "://")
	return scheme + "://..."
}

func validPublicURL(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.RawQuery == "" && u.Fragment == ""
}

// Proxies returns the networks whose X-Forwarded-For counts.
func (c *Config) Proxies() ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, part := range splitList(c.TrustedProxies) {
		network, err := netip.ParsePrefix(part)
		if addr, addrErr := netip.ParseAddr(part); addrErr == nil {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("TILLWRIGHT_TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, separated by commas, not %q", part)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// sealKeys decodes the secret keys; none if there are none.
func (c *Config) sealKeys() ([][]byte, error) {
	var keys [][]byte
	for _, part := range splitList(c.SecretKey) {
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
