package server

import (
	"encoding/base64"
	"encoding/pem"
	"maps"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/webhooks"
)

type layer = map[string]string

var someKey = base64.StdEncoding.EncodeToString(make([]byte, 32))

func TestLoadConfig_Defaults(t *testing.T) {
	t.Parallel()
	c, err := LoadConfig()
	require.NoError(t, err)
	assert.Equal(t, &Config{
		Addr: "127.0.0.1:8080", DatabaseURL: "sqlite://data/tillwright.db", DataDir: "data", Env: Development, ServiceName: "Service",
		DatabasePooler: "none", DatabaseConns: 12, Synchronous: "full", Log: LogText,
		SignUp: "open", TestPayments: "true", SitesTLS: domains.TLSNone, SitesAddr: ":443", WebhookStandard: true, WebhookRetention: 24 * time.Hour, ActivityRetention: 8760 * time.Hour,
		FilesURL: "file://data/files", FilesMaxSize: "10GiB",
	}, c)
	c, err = LoadConfig(layer{"TILLWRIGHT_ENV": Production, "TILLWRIGHT_DATABASE_URL": "sqlite://x.db", "TILLWRIGHT_SECRET_KEY": someKey})
	require.NoError(t, err)
	assert.Equal(t, LogJSON, c.Log)
	assert.Equal(t, domains.TLSProxy, c.SitesTLS)
	assert.Equal(t, "invite", c.SignUp)
	assert.False(t, c.TakesTestCards(), "nobody pays with a test card by accident")
}

func TestLoadConfig_TestCardsInProductionAreAChoice(t *testing.T) {
	t.Parallel()
	c, err := LoadConfig(layer{"TILLWRIGHT_ENV": Production, "TILLWRIGHT_DATABASE_URL": "sqlite://x.db", "TILLWRIGHT_SECRET_KEY": someKey, "TILLWRIGHT_TEST_PAYMENTS": "true"})
	require.NoError(t, err)
	assert.True(t, c.TakesTestCards())
	c, err = LoadConfig(layer{"TILLWRIGHT_TEST_PAYMENTS": "false"})
	require.NoError(t, err)
	assert.False(t, c.TakesTestCards())
	_, err = LoadConfig(layer{"TILLWRIGHT_TEST_PAYMENTS": "yes"})
	require.ErrorContains(t, err, "TILLWRIGHT_TEST_PAYMENTS must be true or false")
}

func TestAdNetworks_AreTheSandboxUnlessNamed(t *testing.T) {
	t.Parallel()
	c, err := LoadConfig(layer{"TILLWRIGHT_ADS_NETWORKS": " facebook , pinterest"})
	require.NoError(t, err)
	live, err := c.AdNetworks()
	require.NoError(t, err)
	assert.Equal(t, []advert.Platform{advert.PlatformFacebook, advert.PlatformPinterest}, live)
	live, err = (&Config{}).AdNetworks()
	require.NoError(t, err)
	assert.Empty(t, live)
}

func TestLoadConfig_TheFirstLayerWins(t *testing.T) {
	t.Parallel()
	flags := layer{"TILLWRIGHT_ADDR": ":1"}
	environment := layer{"TILLWRIGHT_ADDR": ":2", "TILLWRIGHT_LOG": LogJSON, "TILLWRIGHT_SERVICE_NAME": ""}
	file := layer{"TILLWRIGHT_ADDR": ":3", "TILLWRIGHT_LOG": LogText, "TILLWRIGHT_SERVICE_NAME": "Shop"}
	c, err := LoadConfig(flags, environment, file)
	require.NoError(t, err)
	assert.Equal(t, []string{":1", LogJSON, "Shop"}, []string{c.Addr, c.Log, c.ServiceName})
}

func TestLoadConfig_RefusesByName(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"TILLWRIGHT_ADDR":                 {"8080", "host", "127.0.0.1:http", "127.0.0.1:70000"},
		"TILLWRIGHT_DATABASE_URL":         {"mysql://host/db", "file.db", "sqlite://", "postgres://db:65536/shop"},
		"TILLWRIGHT_ENV":                  {"staging"},
		"TILLWRIGHT_SERVICE_NAME":         {"1st", "a b", strings.Repeat("a", 32)},
		"TILLWRIGHT_SECRET_KEY":           {"short", base64.StdEncoding.EncodeToString(make([]byte, 31)), someKey + ",x"},
		"TILLWRIGHT_PUBLIC_URL":           {"shop.example", "ftp://shop.example", "https://shop.example/?a=1", "https://shop.example/a", "https://shop.example//", "https://a:b@shop.example", "https://shop.example#a", "https://shop.example?", "https://:443", "https://shop.example:99999", "https://shop.example:0"},
		"TILLWRIGHT_TRUSTED_PROXIES":      {"proxy.local", "10.0.0.0/33"},
		"TILLWRIGHT_DATABASE_POOLER":      {"session"},
		"TILLWRIGHT_ACCOUNT_QUOTA":        {"599", "many", "-1", "1000001"},
		"TILLWRIGHT_DATABASE_MAX_CONNS":   {"1", "many", "1001"},
		"TILLWRIGHT_DATABASE_SYNCHRONOUS": {"off"},
		"TILLWRIGHT_LOG":                  {"xml"},
		"TILLWRIGHT_ALLOW_REMOTE":         {"maybe"},
		"TILLWRIGHT_ADS_NETWORKS":         {"linkedin", "facebook,google", "Facebook"},
		"TILLWRIGHT_META_URL":             {"graph.facebook.com", "ftp://graph.facebook.com", "http://127.0.0.1:65536"},
		"TILLWRIGHT_META_VERSION":         {"26", "v26", "v26.0.1", "latest"},
		"TILLWRIGHT_PINTEREST_URL":        {"https://api.pinterest.com/v5?a=1"},
		"TILLWRIGHT_TIKTOK_URL":           {"business-api.tiktok.com"},
		"TILLWRIGHT_SMTP_URL":             {"mail.example.org", "http://mail.example.org", "smtp://", "smtp://mail.example.org:99999"},
		"TILLWRIGHT_STRIPE_URL":           {"api.stripe.com", "https://api.stripe.com/?a=1", "https://api.stripe.com:70000"},

		"TILLWRIGHT_WEBHOOK_ALLOW_CIDRS":      {"intranet", "10.0.0.0/33", "10.0.0.0/8;10.1.0.0/16"},
		"TILLWRIGHT_WEBHOOK_DENY_CIDRS":       {"10.0.0", "fe80::1%eth0/64"},
		"TILLWRIGHT_WEBHOOK_PORTS":            {"https", "0", "65536", "-1", "443;8443", "1-9"},
		"TILLWRIGHT_WEBHOOK_STANDARD_HEADERS": {"yes", "2"},
		"TILLWRIGHT_WEBHOOK_RETENTION":        {"-1s", "169h", "24", "a day"},
	} {
		for _, value := range values {
			_, err := LoadConfig(layer{name: value})
			assert.ErrorContains(t, err, name+" must be ", value)
		}
	}
	_, err := LoadConfig(layer{"TILLWRIGHT_ENV": Production})
	assert.ErrorContains(t, err, "TILLWRIGHT_SECRET_KEY is needed in production")
	_, err = LoadConfig(layer{"TILLWRIGHT_ENV": "x", "TILLWRIGHT_LOG": "x"})
	assert.ErrorContains(t, err, "TILLWRIGHT_ENV")
	assert.ErrorContains(t, err, "TILLWRIGHT_LOG", "all are reported at once")
	_, err = LoadConfig(layer{"TILLWRIGHT_DATABASE_MAX_CONNS": "many", "TILLWRIGHT_WEBHOOK_RETENTION": "ever"})
	assert.EqualError(t, err, `TILLWRIGHT_DATABASE_MAX_CONNS must be a number from 2 to 1000, not "many"
TILLWRIGHT_WEBHOOK_RETENTION must be a duration from 0h to 168h, such as 24h, not "ever"`)
	_, err = LoadConfig(layer{"TILLWRIGHT_DATABASE_URL": "mysql://user:hidden@host/db"})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hidden")
}

func TestConfig_MailGoesToItsServerOrAFolderOrNowhere(t *testing.T) {
	t.Parallel()
	_, err := LoadConfig(layer{"TILLWRIGHT_SMTP_URL": "smtp://user:hidden@mail.example.org"})
	require.ErrorContains(t, err, "TILLWRIGHT_MAIL_FROM must be")
	assert.NotContains(t, err.Error(), "hidden")
	_, err = LoadConfig(layer{"TILLWRIGHT_SMTP_URL": "smtp://user:hidden@mail.example.org:x"})
	require.ErrorContains(t, err, "TILLWRIGHT_SMTP_URL must be")
	assert.NotContains(t, err.Error(), "hidden")

	for _, c := range []struct {
		settings layer
		want     mail.Mailer
	}{
		{layer{"TILLWRIGHT_SMTP_URL": "smtp://mail.example.org", "TILLWRIGHT_MAIL_FROM": "shop@example.org"}, &mail.SMTP{}},
		{layer{"TILLWRIGHT_DATA_DIR": "d"}, mail.Folder{Path: "d/mail"}},
	} {
		config, err := LoadConfig(c.settings)
		require.NoError(t, err)
		mailer, err := config.Mailer()
		require.NoError(t, err)
		assert.IsType(t, c.want, mailer)
	}
	config, err := LoadConfig(layer{"TILLWRIGHT_ENV": Production, "TILLWRIGHT_DATABASE_URL": "sqlite://x.db", "TILLWRIGHT_SECRET_KEY": someKey})
	require.NoError(t, err)
	mailer, err := config.Mailer()
	require.NoError(t, err)
	assert.Nil(t, mailer, "production does not pretend to send")
}

func TestLoadConfig_ReadsSecretsFromFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(path, []byte("postgres://u:p@host/db\n"), 0o600))
	c, err := LoadConfig(layer{"TILLWRIGHT_DATABASE_URL_FILE": path}, layer{"TILLWRIGHT_DATABASE_URL": "sqlite://x.db"})
	require.NoError(t, err)
	assert.Equal(t, "postgres://u:p@host/db", c.DatabaseURL, "of the stronger layer")
	_, err = LoadConfig(layer{"TILLWRIGHT_DATABASE_URL_FILE": path, "TILLWRIGHT_DATABASE_URL": "sqlite://x.db"})
	assert.ErrorContains(t, err, "not both")
	_, err = LoadConfig(layer{"TILLWRIGHT_SECRET_KEY_FILE": path + "x"})
	assert.ErrorContains(t, err, "TILLWRIGHT_SECRET_KEY_FILE")
}

func TestConfig_Proxies(t *testing.T) {
	t.Parallel()
	c := &Config{TrustedProxies: "10.0.0.0/8, 192.0.2.1,::1"}
	networks, err := c.Proxies()
	require.NoError(t, err)
	assert.Equal(t, []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("::1/128"),
	}, networks)
}

func TestConfig_Guard(t *testing.T) {
	t.Parallel()
	c, err := LoadConfig(layer{
		"TILLWRIGHT_WEBHOOK_ALLOW_CIDRS": "10.1.0.0/16, fd00::/8", "TILLWRIGHT_WEBHOOK_DENY_CIDRS": "10.1.2.3,::ffff:10.1.4.0/120,::ffff:10.1.5.1",
		"TILLWRIGHT_WEBHOOK_PORTS": "443, 9443",
	})
	require.NoError(t, err)
	guard, err := c.Guard()
	require.NoError(t, err)
	assert.Equal(t, webhooks.GuardOptions{
		Development: true, Ports: []uint16{443, 9443},
		Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")},
		Deny:  []netip.Prefix{netip.MustParsePrefix("10.1.2.3/32"), netip.MustParsePrefix("10.1.4.0/24"), netip.MustParsePrefix("10.1.5.1/32")},
	}, guard)
	c, err = LoadConfig(layer{"TILLWRIGHT_ENV": Production, "TILLWRIGHT_DATABASE_URL": "sqlite://x.db", "TILLWRIGHT_SECRET_KEY": someKey})
	require.NoError(t, err)
	guard, err = c.Guard()
	require.NoError(t, err)
	assert.Equal(t, webhooks.GuardOptions{}, guard, "production is what no options mean")
}

func TestLoadConfig_RetentionOfWebhooks(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{"0h": 0, "0": 0, "90m": 90 * time.Minute, "168h": 168 * time.Hour} {
		c, err := LoadConfig(layer{"TILLWRIGHT_WEBHOOK_RETENTION": value, "TILLWRIGHT_WEBHOOK_STANDARD_HEADERS": "false"})
		require.NoError(t, err, value)
		assert.Equal(t, want, c.WebhookRetention)
		assert.False(t, c.WebhookStandard)
	}
}

func TestLoadConfig_RetentionOfActivity(t *testing.T) {
	t.Parallel()
	c, err := LoadConfig(layer{"TILLWRIGHT_ACTIVITY_RETENTION": "720h"})
	require.NoError(t, err)
	assert.Equal(t, 720*time.Hour, c.ActivityRetention)
	for _, wrong := range []string{"23h", "87601h", "a year"} {
		_, err := LoadConfig(layer{"TILLWRIGHT_ACTIVITY_RETENTION": wrong})
		require.ErrorContains(t, err, "TILLWRIGHT_ACTIVITY_RETENTION")
		require.ErrorContains(t, err, "a duration from 24h to 87600h, such as 8760h")
	}
}

func TestConfig_SealKeysOfDevelopmentAreKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	first, err := (&Config{DataDir: dir}).SealKeys()
	require.NoError(t, err)
	require.Len(t, first, 1)
	assert.Len(t, first[0], 32)
	second, err := (&Config{DataDir: dir}).SealKeys()
	require.NoError(t, err)
	assert.Equal(t, first, second)
	info, err := os.Stat(filepath.Join(dir, "secret.key"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	given, err := (&Config{DataDir: dir, SecretKey: someKey + "," + someKey}).SealKeys()
	require.NoError(t, err)
	assert.Len(t, given, 2)
}

func TestReadConfigFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("# settings\n\nTILLWRIGHT_ADDR = :9\nTILLWRIGHT_SERVICE_NAME=\"Shop\"\nTILLWRIGHT_SECRET_KEY_FILE=/run/key\n")
	values, err := ReadConfigFile(path)
	require.NoError(t, err)
	assert.Equal(t, layer{"TILLWRIGHT_ADDR": ":9", "TILLWRIGHT_SERVICE_NAME": "Shop", "TILLWRIGHT_SECRET_KEY_FILE": "/run/key"}, values)
	for _, line := range []string{"TILLWRIGHT_ADRESS=:9", "hello", "TILLWRIGHT_ADDR_FILE=x"} {
		write("# one\n" + line)
		_, err := ReadConfigFile(path)
		assert.ErrorContains(t, err, "line 2", line)
	}
	_, err = ReadConfigFile(path + "x")
	assert.ErrorContains(t, err, "config file")
}

func TestSettings_AreComplete(t *testing.T) {
	t.Parallel()
	for _, s := range Settings() {
		assert.Regexp(t, `^TILLWRIGHT_[A-Z_]+$`, s.Env)
		assert.NotEmpty(t, s.Help, s.Env)
		assert.NotEqual(t, s.Default == "", s.Otherwise == "", "%s has one default", s.Env)
		secret := slices.Contains([]string{"TILLWRIGHT_SECRET_KEY", "TILLWRIGHT_SMTP_URL", "TILLWRIGHT_META_APP_SECRET", "TILLWRIGHT_PINTEREST_APP_SECRET", "TILLWRIGHT_TIKTOK_APP_SECRET",
			"TILLWRIGHT_ZERNIO_API_KEY", "TILLWRIGHT_AI_KEY"}, s.Env)
		assert.Equal(t, !secret, s.Flag != "", "a secret has no place on a command line")
	}
}

func TestLoadConfig_ProductionNamesItsDatabase(t *testing.T) {
	t.Parallel()
	_, err := LoadConfig(layer{"TILLWRIGHT_ENV": Production, "TILLWRIGHT_SECRET_KEY": someKey})
	require.ErrorContains(t, err, "TILLWRIGHT_DATABASE_URL is needed in production")
	for _, meant := range []string{"sqlite:///var/lib/tillwright.db", "postgres://u@host/db"} {
		c, err := LoadConfig(layer{"TILLWRIGHT_ENV": Production, "TILLWRIGHT_SECRET_KEY": someKey, "TILLWRIGHT_DATABASE_URL": meant})
		require.NoError(t, err)
		assert.Equal(t, meant, c.DatabaseURL)
	}
}

func TestCheckServing_ProductionIsPublicByHTTPSAlone(t *testing.T) {
	t.Parallel()
	with := func(env, addr, public string) error {
		config, err := LoadConfig(layer{"TILLWRIGHT_ENV": env, "TILLWRIGHT_SECRET_KEY": someKey, "TILLWRIGHT_DATABASE_URL": "sqlite://x.db",
			"TILLWRIGHT_ADDR": addr, "TILLWRIGHT_PUBLIC_URL": public, "TILLWRIGHT_ALLOW_REMOTE": strconv.FormatBool(env == Development)})
		require.NoError(t, err)
		return config.CheckServing()
	}
	for _, safe := range [][2]string{
		{"0.0.0.0:8080", "https://shop.example"}, {":8080", "https://shop.example:8443/"}, {"127.0.0.1:1", "http://localhost:8080"}, {"[::1]:1", "http://[::1]:8080"},
		{"127.0.0.1:1", ""}, {"localhost:1", ""}, {"0.0.0.0:8080", ""}, {":8080", ""}, // the address of this machine, with a warning
	} {
		require.NoError(t, with(Production, safe[0], safe[1]), safe)
	}
	for _, unsafe := range [][2]string{{":8080", "http://shop.example"}, {":8080", "http://10.0.0.1"}, {"10.0.0.1:8080", ""}, {"shop.example:80", ""}, {":1", "http://localhost.example"}} {
		require.ErrorContains(t, with(Production, unsafe[0], unsafe[1]), "TILLWRIGHT_PUBLIC_URL must begin with https:// in production", unsafe)
		require.NoError(t, with(Development, unsafe[0], unsafe[1]), unsafe)
	}
}

func TestCheckServing_KeepsADevelopmentServerToItsMachine(t *testing.T) {
	t.Parallel()
	for _, here := range []string{"127.0.0.1:8080", "127.5.0.1:1", "localhost:8080", "[::1]:8080", "[::ffff:127.0.0.1]:1"} {
		require.NoError(t, (&Config{Env: Development, Addr: here}).CheckServing(), here)
	}
	for _, elsewhere := range []string{":8080", "0.0.0.0:8080", "[::]:8080", "10.0.0.1:8080", "shop.example:8080", "localhost.example:80"} {
		require.ErrorContains(t, (&Config{Env: Development, Addr: elsewhere}).CheckServing(), "TILLWRIGHT_ALLOW_REMOTE=true", elsewhere)
		require.NoError(t, (&Config{Env: Development, Addr: elsewhere, AllowRemote: true}).CheckServing())
		require.NoError(t, (&Config{Env: Production, Addr: elsewhere, PublicURL: "https://shop.example"}).CheckServing())
	}
}

func TestCheckNames_FindsTypingMistakes(t *testing.T) {
	t.Parallel()
	for wrong, meant := range map[string]string{
		"TILLWRIGHT_DATBASE_URL": "TILLWRIGHT_DATABASE_URL", "TILLWRIGHT_DATABASE_URI": "TILLWRIGHT_DATABASE_URL", "TILLWRIGHT_DATABASEURL": "TILLWRIGHT_DATABASE_URL",
		"TILLWRIGHT_SECRETKEY_FILE": "TILLWRIGHT_SECRET_KEY_FILE", "TILLWRIGHT_PORT": "TILLWRIGHT_LOG", "TILLWRIGHT_TEST_PAYMENT": "TILLWRIGHT_TEST_PAYMENTS",
	} {
		err := CheckNames(layer{wrong: "8080"})
		require.ErrorContains(t, err, wrong+" is no setting", wrong)
		if wrong != "TILLWRIGHT_PORT" {
			require.ErrorContains(t, err, "did you mean "+meant+"?", wrong)
		}
	}
	require.EqualError(t, CheckNames(layer{"TILLWRIGHT_XYZZY_PLUGH_QUX": "1"}), "TILLWRIGHT_XYZZY_PLUGH_QUX is no setting; see `tillwright serve --help`")
	fine := layer{"TILLWRIGHT_DATBASE_URL": "", "TILLWRIGHT_API_KEY": "sk_x", "TILLWRIGHT_CONFIG": "x", "TILLWRIGHT_SOAK": "1", "TILLWRIGHT_SECRET_KEY_FILE": "x",
		// of Kubernetes, when a service is called tillwright or tillwright-web
		"TILLWRIGHT_SERVICE_HOST": "10.0.0.1", "TILLWRIGHT_SERVICE_PORT": "80", "TILLWRIGHT_SERVICE_PORT_HTTP": "80", "TILLWRIGHT_PORT": "tcp://10.0.0.1:80",
		"TILLWRIGHT_PORT_80_TCP": "tcp://10.0.0.1:80", "TILLWRIGHT_PORT_80_TCP_PROTO": "tcp", "TILLWRIGHT_WEB_SERVICE_HOST": "10.0.0.1", "TILLWRIGHT_WEB_PORT_80_TCP_ADDR": "10.0.0.1"}
	for _, s := range Settings() {
		fine[s.Env] = "x"
	}
	require.NoError(t, CheckNames(fine))
}

func TestLoadConfig_CertificateAuthority(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ca.pem")
	load := func(more layer) error {
		all := layer{"TILLWRIGHT_SITES_TLS": "acme", "TILLWRIGHT_SITES_ACME_URL": "https://ca.internal:9000/acme/directory"}
		maps.Copy(all, more)
		_, err := LoadConfig(all)
		return err
	}
	require.NoError(t, load(nil))
	require.ErrorContains(t, load(layer{"TILLWRIGHT_SITES_TLS": "caddy"}), "none, proxy or acme")
	require.ErrorContains(t, load(layer{"TILLWRIGHT_SITES_TLS_ADDR": "443"}), "TILLWRIGHT_SITES_TLS_ADDR must be host:port")
	require.ErrorContains(t, load(layer{"TILLWRIGHT_SITES_ACME_URL": "http://ca.internal"}), "TILLWRIGHT_SITES_ACME_URL must be an https:// address")
	require.ErrorContains(t, load(layer{"TILLWRIGHT_SITES_ACME_CA": file}), "TILLWRIGHT_SITES_ACME_CA must be a file of PEM certificates")
	require.NoError(t, os.WriteFile(file, []byte("nothing"), 0o600))
	require.ErrorContains(t, load(layer{"TILLWRIGHT_SITES_ACME_CA": file}), "TILLWRIGHT_SITES_ACME_CA must be a file of PEM certificates")
	ca := httptest.NewTLSServer(nil)
	defer ca.Close()
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Certificate().Raw}), 0o600))
	require.NoError(t, load(layer{"TILLWRIGHT_SITES_ACME_CA": file}))
}

func TestCheckServing_CountsTheAddressOfSites(t *testing.T) {
	t.Parallel()
	c, err := LoadConfig(layer{"TILLWRIGHT_SITES_TLS": "acme"})
	require.NoError(t, err)
	require.ErrorContains(t, c.CheckServing(), "a development server on :443 would be reached by others")
	c.SitesAddr = "127.0.0.1:8443"
	require.NoError(t, c.CheckServing())
}
