package e2e

import (
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// site is the program on a database, which has an account and one API key of it.
type site struct {
	binary *harness.Binary
	url    string
	key    string
}

// newSite makes a site of a database that is migrated. It runs no command of the program: each start costs more than most of what a test does with one.
func newSite(t *testing.T, url string) *site {
	t.Helper()
	b := in(t, t.TempDir())
	b.Env = append(b.Env, "TILLWRIGHT_DATABASE_URL="+url)
	return &site{binary: b, url: url, key: harness.Accounts(t, url, 1)[0].Key}
}

func (s *site) client(p *harness.Process) *harness.Client {
	return &harness.Client{URL: p.URL, Key: s.key, HTTP: &http.Client{Timeout: harness.Patience, Transport: &http.Transport{}}}
}

// TestTerminate_FinishesWhatHasBegun sends SIGTERM while a request waits for the database, which answers once nobody is let in any more.
func TestTerminate_FinishesWhatHasBegun(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		const body = `{"name":"late"}`
		s := newSite(t, url)
		server := s.binary.Serve(t, "")
		conn, err := net.Dial("tcp", server.Addr)
		require.NoError(t, err)
		defer conn.Close()
		release := harness.OpenDatabase(t, url).HoldWrites(t)
		answer := expect(t, conn, s.key, len(body), "Idempotency-Key: late\r\n")
		_, err = io.WriteString(conn, body)
		require.NoError(t, err)
		answered := make(chan bool)
		go func() {
			defer close(answered)
			resp, err := http.ReadResponse(answer, nil)
			if assert.NoError(t, err) {
				assert.Equal(t, http.StatusCreated, resp.StatusCode)
			}
		}()
		go func() {
			for refused := false; !refused; time.Sleep(time.Millisecond) {
				other, err := net.Dial("tcp", server.Addr)
				if refused = err != nil; !refused {
					_ = other.Close()
				}
			}
			select {
			case <-answered:
				t.Error("the request was answered while the database waited")
			default:
			}
			release()
		}()
		took, code := server.Terminate(t)
		<-answered
		harness.Within(t, stopLimit, took, "ending")
		assert.Zero(t, code)
	})
}

func TestServe_RefusesWrongSettings(t *testing.T) {
	t.Parallel()
	binary := harness.Build(t)
	for setting, allowed := range map[string]string{
		"TILLWRIGHT_ENV=staging":                       "development or production",
		"TILLWRIGHT_ADDR=nonsense":                     "host:port",
		"TILLWRIGHT_DATABASE_URL=mysql://x":            "sqlite:///path/file.db",
		"TILLWRIGHT_SERVICE_NAME=a b":                  "letter",
		"TILLWRIGHT_SECRET_KEY=short":                  "base64 of 32",
		"TILLWRIGHT_PUBLIC_URL=nonsense":               "https://",
		"TILLWRIGHT_DATBASE_URL=postgres://db/shop":    "did you mean TILLWRIGHT_DATABASE_URL?",
		"TILLWRIGHT_TRUSTED_PROXIES=nonsense":          "10.0.0.0/8",
		"TILLWRIGHT_DATABASE_POOLER=session":           "none or transaction",
		"TILLWRIGHT_LOG=xml":                           "json or text",
		"TILLWRIGHT_DATABASE_MAX_CONNS=0":              "2 to 1000",
		"TILLWRIGHT_DATABASE_SYNCHRONOUS=off":          "full or normal",
		"TILLWRIGHT_SECRET_KEY_FILE=/nowhere/a/secret": "TILLWRIGHT_SECRET_KEY_FILE",
		"TILLWRIGHT_WEBHOOK_ALLOW_CIDRS=intranet":      "10.0.0.0/8",
		"TILLWRIGHT_WEBHOOK_DENY_CIDRS=10.0.0.0/64":    "10.0.0.0/8",
		"TILLWRIGHT_WEBHOOK_PORTS=https":               "1 to 65535",
		"TILLWRIGHT_WEBHOOK_STANDARD_HEADERS=maybe":    "true or false",
		"TILLWRIGHT_WEBHOOK_RETENTION=8d":              "0h to 168h",
	} {
		name, _, _ := strings.Cut(setting, "=")
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			b := &harness.Binary{Path: binary.Path, Env: []string{"TILLWRIGHT_DATA_DIR=" + t.TempDir(), setting}}
			out, err := b.Command("serve").CombinedOutput()
			require.Error(t, err, setting)
			assert.Contains(t, string(out), name, setting)
			assert.Contains(t, string(out), allowed, setting)
		})
	}
}

func TestServe_NeedsASecretKeyAndADatabaseInProduction(t *testing.T) {
	t.Parallel()
	b := in(t, t.TempDir())
	b.Env = append(b.Env, "TILLWRIGHT_ENV=production")
	out, err := b.Command("serve").CombinedOutput()
	for _, needed := range []string{"TILLWRIGHT_SECRET_KEY is needed", "TILLWRIGHT_DATABASE_URL is needed"} {
		require.Error(t, err)
		assert.Contains(t, string(out), needed)
	}
}

// In a container a server listens on every address, of which it is told that it may.
func TestServe_InDevelopmentIsReachedByOthersOnlyOnPurpose(t *testing.T) {
	t.Parallel()
	b := in(t, t.TempDir())
	_, port, err := net.SplitHostPort(harness.FreeAddr(t))
	if err != nil {
		t.Fatal(err)
	}
	if code := b.Start(t, "0.0.0.0:"+port).Ended(t); code == 0 {
		t.Error("it listened")
	}
	b.Serve(t, "0.0.0.0:"+port, "--allow-remote", "true")
}

func TestServe_RefusesASchemaThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	b := in(t, t.TempDir())
	url := database.Empty(t, "postgres")
	b.Env = append(b.Env, "TILLWRIGHT_DATABASE_URL="+url)
	older := b.Start(t, "")
	code := older.Ended(t)
	assert.NotZero(t, code)
	assert.Contains(t, older.Log(), "tillwright migrate")
	b.Serve(t, "", "--migrate").Terminate(t)
	db := harness.OpenDatabase(t, url)
	db.Must(t, "INSERT INTO schema_migrations (version_id, is_applied) VALUES (999999999, TRUE)")
	refusesNewer(t, b, "serve")
	refusesNewer(t, b, "serve", "--migrate")
	refusesNewer(t, b, "migrate")
}

// An embedded database migrates itself, and an older program must leave a newer one alone all the same.
func TestServe_RefusesANewerFile(t *testing.T) {
	t.Parallel()
	url := database.URL(t, "sqlite")
	b := newSite(t, url).binary
	harness.OpenDatabase(t, url).Must(t, "INSERT INTO schema_migrations (version_id, is_applied) VALUES (999999999, TRUE)")
	refusesNewer(t, b, "serve")
	refusesNewer(t, b, "migrate")
	refusesNewer(t, b, "accounts", "list")
}

// refusesNewer wants a command to end with an error that says that the database is newer.
func refusesNewer(t *testing.T, b *harness.Binary, args ...string) {
	t.Helper()
	if args[0] == "serve" {
		server := b.Start(t, "", args[1:]...)
		code := server.Ended(t)
		assert.NotZero(t, code, "%v: exit code", args)
		assert.Contains(t, server.Log(), "newer", "%v: exit code", args)
		return
	}
	out, err := b.Command(args...).CombinedOutput()
	require.Error(t, err, args)
	assert.Contains(t, string(out), "newer", args)
}

// inProduction is the program with what production asks for.
func inProduction(t *testing.T) *harness.Binary {
	t.Helper()
	b := in(t, t.TempDir())
	b.Env = append(b.Env, "TILLWRIGHT_ENV=production", "TILLWRIGHT_DATABASE_URL=sqlite://"+filepath.Join(t.TempDir(), "shop.db"), "TILLWRIGHT_SECRET_KEY="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	return b
}

// Nobody should find out from their bank that no money has moved.
func TestServe_SaysInProductionThatPaymentsAreATest(t *testing.T) {
	t.Parallel()
	const warning = "test cards are taken"
	b := in(t, t.TempDir())
	if log := b.Serve(t, "").Log(); strings.Contains(log, warning) {
		t.Errorf("a developer is warned: %s", log)
	}
	b = inProduction(t)
	server := b.Serve(t, "")
	server.Terminate(t)
	if strings.Contains(server.Log(), warning) {
		t.Errorf("nobody asked for test cards: %s", server.Log())
	}
	b.Env = append(b.Env, "TILLWRIGHT_TEST_PAYMENTS=true")
	server = b.Serve(t, "")
	server.Terminate(t)
	for _, want := range []string{`"level":"WARN"`, warning, "TILLWRIGHT_TEST_PAYMENTS"} {
		if !strings.Contains(server.Log(), want) {
			t.Errorf("the log lacks %s: %s", want, server.Log())
		}
	}
}

// Links that only the machine itself can open are found out by the first buyer.
func TestServe_SaysInProductionThatNobodyReachesItsLinks(t *testing.T) {
	t.Parallel()
	const warning = "TILLWRIGHT_PUBLIC_URL"
	b := in(t, t.TempDir())
	if log := b.Serve(t, "").Log(); strings.Contains(log, warning) {
		t.Errorf("a developer is warned: %s", log)
	}
	b = inProduction(t)
	server := b.Serve(t, "")
	server.Terminate(t)
	if !strings.Contains(server.Log(), warning) {
		t.Errorf("the log lacks %s: %s", warning, server.Log())
	}
	server = b.Serve(t, "", "--public-url", "https://shop.example")
	server.Terminate(t)
	if strings.Contains(server.Log(), warning) {
		t.Errorf("the address was given: %s", server.Log())
	}
}

func TestServe_RefusesASecondProcessOnOneFile(t *testing.T) {
	t.Parallel()
	s := newSite(t, database.URL(t, "sqlite"))
	first := s.binary.Serve(t, "")
	second := s.binary.Start(t, "")
	if code := second.Ended(t); code == 0 {
		t.Errorf("a second server runs on the same file: %s", second.Log())
	}
	// Tools may work beside the server, and it goes on.
	s.binary.JSON(t, "accounts", "create", "--name", "Second", "--email", "second@example.com", "--json")
	s.client(first).Must(t, http.MethodGet, "/v1/account", nil)
}

func TestHealth_TellsReadyFromAlive(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSite(t, url)
		server := s.binary.Serve(t, "")
		c := s.client(server).As("")
		restore := harness.OpenDatabase(t, url).BreakTables(t)
		if alive := c.Do(t, http.MethodGet, "/healthz", nil); alive.Status != http.StatusOK {
			t.Errorf("/healthz answers %d", alive.Status)
		}
		if ready := c.Do(t, http.MethodGet, "/readyz", nil); ready.Status != http.StatusServiceUnavailable {
			t.Errorf("/readyz answers %d without a schema", ready.Status)
		}
		restore()
		if ready := c.Do(t, http.MethodGet, "/readyz", nil); ready.Status != http.StatusOK {
			t.Errorf("/readyz answers %d once the schema is back", ready.Status)
		}
	})
}

func TestKeys_AreMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	for _, engine := range database.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			b := in(t, t.TempDir())
			b.Env = append(b.Env, "TILLWRIGHT_DATABASE_URL="+database.Empty(t, engine))
			if out, err := b.Command("migrate").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			account := b.JSON(t, "accounts", "create", "--name", "Ops", "--email", "ops@example.com", "--plan", "business", "--json")
			assert.Equal(t, "account", account["object"], "the account")
			assert.Equal(t, "business", account["plan"], "the account")
			id := account["id"].(string)
			key := b.JSON(t, "keys", "create", "--account", id, "--name", "reader", "--scope", "products:read", "--json")
			c := (&site{key: key["token"].(string)}).client(b.Serve(t, ""))
			c.Must(t, http.MethodGet, "/v1/products", nil)
			c.Do(t, http.MethodPost, "/v1/products", map[string]any{"name": "x"}).Fault(t, http.StatusForbidden, "forbidden")
			list, err := b.Command("keys", "list", "--account", id).CombinedOutput()
			require.NoError(t, err)
			assert.Contains(t, string(list), key["id"].(string))
			assert.NotContains(t, string(list), key["token"].(string))
			if out, err := b.Command("keys", "revoke", key["id"].(string), "--account", id).CombinedOutput(); err != nil {
				t.Errorf("keys revoke: %v\n%s", err, out)
			}
			c.Do(t, http.MethodGet, "/v1/products", nil).Fault(t, http.StatusUnauthorized, "authentication_required")
		})
	}
}

// TestLog_NamesRequestsAndKeepsSecrets looks for what must and what must not be in the log.
func TestLog_NamesRequestsAndKeepsSecrets(t *testing.T) {
	t.Parallel()
	s := newSite(t, database.URL(t, "sqlite"))
	s.binary.Env = append(s.binary.Env, "TILLWRIGHT_LOG=json")
	server := s.binary.Serve(t, "")
	c := s.client(server)
	endpoint := c.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": "http://127.0.0.1:1/"})
	made := c.Must(t, http.MethodPost, "/v1/auth/keys", map[string]any{"name": "other"})
	resp := c.Do(t, http.MethodPost, "/v1/products", map[string]any{"name": "x", "unknown": 1})
	server.Terminate(t)
	log := server.Log()
	if !strings.Contains(log, resp.Header.Get("x-request-id")) {
		t.Errorf("the log does not name the request %s:\n%s", resp.Header.Get("x-request-id"), log)
	}
	for _, secret := range []string{s.key, endpoint["secret"].(string), made["token"].(string), "Bearer"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}
