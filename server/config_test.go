package server

import (
	"encoding/base64"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	}, c)
	c, err = LoadConfig(layer{"TILLWRIGHT_ENV": Production, "TILLWRIGHT_SECRET_KEY": someKey})
	require.NoError(t, err)
	assert.Equal(t, LogJSON, c.Log)
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
		"TILLWRIGHT_DATABASE_URL":         {"mysql://host/db", "file.db", "sqlite://"},
		"TILLWRIGHT_ENV":                  {"staging"},
		"TILLWRIGHT_SERVICE_NAME":         {"1st", "a b", strings.Repeat("a", 32)},
		"TILLWRIGHT_SECRET_KEY":           {"short", base64.StdEncoding.EncodeToString(make([]byte, 31)), someKey + ",x"},
		"TILLWRIGHT_PUBLIC_URL":           {"shop.example", "ftp://shop.example", "https://shop.example/?a=1"},
		"TILLWRIGHT_TRUSTED_PROXIES":      {"proxy.local", "10.0.0.0/33"},
		"TILLWRIGHT_DATABASE_POOLER":      {"session"},
		"TILLWRIGHT_DATABASE_MAX_CONNS":   {"1", "many", "1001"},
		"TILLWRIGHT_DATABASE_SYNCHRONOUS": {"off"},
		"TILLWRIGHT_LOG":                  {"xml"},
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
	_, err = LoadConfig(layer{"TILLWRIGHT_DATABASE_URL": "mysql://user:hidden@host/db"})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hidden")
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
		assert.Equal(t, s.Env != "TILLWRIGHT_SECRET_KEY", s.Flag != "", "a secret has no place on a command line")
	}
}
