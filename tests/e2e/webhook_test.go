package e2e

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// settled returns the state of every delivery once none is under way any more.
func settled(t *testing.T, db *harness.Database, n int) []string {
	t.Helper()
	const query = "SELECT state || ' ' || COALESCE(reason, '') FROM webhook_deliveries WHERE state IN ('succeeded', 'failed') ORDER BY id"
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if states := db.Strings(t, query); len(states) >= n {
			return states
		}
	}
	t.Fatalf("not all of %d deliveries have ended: %v", n, db.Strings(t, query))
	return nil
}

// production returns a site that runs as production does.
func production(t *testing.T) *site {
	t.Helper()
	s := newSite(t, database.URL(t, "sqlite"))
	s.binary.Env = append(s.binary.Env, "TILLWRIGHT_ENV=production", "TILLWRIGHT_SECRET_KEY="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	return s
}

func TestWebhooks_OfProductionGoToPublicHTTPSOnly(t *testing.T) {
	t.Parallel()
	s := production(t)
	c := s.client(s.binary.Serve(t, ""))
	const public = "https://hooks.example.com/tillwright"
	endpoint := c.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": public})
	for _, wrong := range []string{
		"http://hooks.example.com/", "https://hooks.example.com:22/", "https://hooks.example.com:5432/", "https://hooks.example.com:6379/",
		"https://127.0.0.1/", "https://127.1/", "https://0x7f000001/", "https://2130706433/", "https://017700000001/", "https://0/", "https://0.0.0.0/",
		"https://localhost/", "https://localhost./", "https://LOCALHOST/", "https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/",
		"https://[::ffff:7f00:1]/", "https://[64:ff9b::7f00:1]/", "https://[64:ff9b:1::1]/", "https://[2002:7f00:1::]/", "https://[2001::1]/",
		"https://[fe80::1%25eth0]/", "https://169.254.169.254/", "https://169.254.170.2/", "https://[fd00:ec2::254]/", "https://100.100.100.200/",
		"https://192.168.0.1/", "https://10.0.0.1/", "https://172.16.0.1/", "https://168.63.129.16/", "https://metadata.google.internal/",
		"https://[3fff::1]/", "https://[5f00::1]/", "https://user:pass@hooks.example.com/", "https://hooks.example.com#@evil.example/",
		`https://hooks.example.com\@evil.example/`, "https://hooks.ex\tample.com/", "https://hooks.example.com/\n", "file:///etc/passwd",
		"gopher://hooks.example.com/", "ftp://hooks.example.com/", "https://127。0。0。1/", "https://１２７.0.0.1/", "https://xn--a/",
	} {
		for method, path := range map[string]string{http.MethodPost: "/v1/webhook_endpoints", http.MethodPatch: "/v1/webhook_endpoints/" + endpoint["id"].(string)} {
			fault := c.Do(t, method, path, map[string]any{"url": wrong}).Fault(t, http.StatusUnprocessableEntity, "validation_failed")
			if len(fault.Errors["url"]) == 0 {
				t.Errorf("%s %q: the errors are %v", method, wrong, fault.Errors)
			}
		}
	}
	if got := c.Must(t, http.MethodGet, "/v1/webhook_endpoints/"+endpoint["id"].(string), nil); got["url"] != public {
		t.Errorf("the URL is %v", got["url"])
	}
}

// A proxy would connect for us, behind the guard's back. Loopback never goes through one, so the receiver is a name; it
// need not be there.
func TestWebhooks_IgnoreTheProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(proxy.Close)
	s := newSite(t, database.URL(t, "sqlite"))
	s.binary.Env = append(s.binary.Env, "NO_PROXY=", "no_proxy=")
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		s.binary.Env = append(s.binary.Env, name+"="+proxy.URL)
	}
	c := s.client(s.binary.Serve(t, ""))
	for _, scheme := range []string{"http", "https"} {
		c.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": scheme + "://nowhere.example.com:81/"})
	}
	c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "told to no proxy"})
	for _, state := range settled(t, harness.OpenDatabase(t, s.url), 2) {
		if !strings.HasPrefix(state, "failed ") {
			t.Errorf("a delivery to nowhere %s", state)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

// Development allows loopback, so a setting denies it here. The name is accepted, because names are not resolved when
// they are written, and its address is not dialled. Whoever owns the name learns the same of a port where something
// listens and of one where nothing does. They have test events, the log and the clock to learn from.
func TestWebhooks_SayNothingOfWhatListensInside(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		var came atomic.Int32
		inside := httptest.NewUnstartedServer(http.NotFoundHandler())
		inside.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				came.Add(1)
			}
		}
		inside.Start()
		t.Cleanup(inside.Close)
		s := newSite(t, address)
		s.binary.Env = append(s.binary.Env, "TILLWRIGHT_WEBHOOK_DENY_CIDRS=127.0.0.0/8,::1")
		c := s.client(s.binary.Serve(t, ""))
		var paths []string
		for _, listener := range []string{inside.Listener.Addr().String(), harness.FreeAddr(t)} {
			_, port, _ := net.SplitHostPort(listener)
			made := c.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": "http://localhost:" + port + "/"})
			paths = append(paths, "/v1/webhook_endpoints/"+made["id"].(string))
		}
		c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "blocked twice"})
		settled(t, harness.OpenDatabase(t, s.url), 2)
		var shown []string
		for _, path := range paths {
			tried := c.Must(t, http.MethodPost, path+"/test", map[string]any{})
			logged := c.Must(t, http.MethodGet, path+"/deliveries", nil)["data"].([]any)[0].(map[string]any)
			for _, object := range []map[string]any{tried, logged} {
				harness.Within(t, 500*time.Millisecond, time.Duration(object["duration_ms"].(float64))*time.Millisecond, "refusing")
				for _, differs := range []string{"id", "event", "webhook_endpoint", "duration_ms", "created_at", "updated_at", "finished_at"} {
					delete(object, differs)
				}
			}
			shown = append(shown, fmt.Sprint(tried, logged))
		}
		assert.Equal(t, shown[1], shown[0])
		assert.Contains(t, shown[0], "blocked_ip")
		if n := came.Load(); n != 0 {
			t.Errorf("%d connections came", n)
		}
	})
}

// TestLog_KeepsTheSecretsOfWebhooks makes, rotates, tests, delivers and fails in every way that the log has a line for.
func TestLog_KeepsTheSecretsOfWebhooks(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		const password, email, path = "dsn-pass-word", "ada.lovelace@example.com", "path-that-is-a-secret"
		s := newSite(t, withPassword(t, address, password))
		s.binary.Env = append(s.binary.Env, "TILLWRIGHT_LOG=json")
		secrets := []string{s.key, password, email, path, "whsec_", "sk_", "Bearer", "Authorization"}
		receiver := harness.NewReceiver(t)
		refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, path, http.StatusInternalServerError) }))
		t.Cleanup(refusing.Close)

		server := s.binary.Serve(t, "")
		c := s.client(server)
		for _, base := range []string{receiver.URL, refusing.URL, "http://" + harness.FreeAddr(t)} {
			made := c.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": base + "/" + path}, "Idempotency-Key", base)
			of := "/v1/webhook_endpoints/" + made["id"].(string)
			rotated := c.Must(t, http.MethodPost, of+"/rotate_secret", map[string]any{})
			secrets = append(secrets, made["secret"].(string), rotated["secret"].(string))
			c.Must(t, http.MethodPost, of+"/test", map[string]any{})
			c.Do(t, http.MethodPost, of+"/test", map[string]any{"type": "whsec_"}) // refused
			c.Do(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": base + "/" + path, "secret": made["secret"]})
			c.Do(t, http.MethodGet, "/v1/webhook_endpoints?q="+url.QueryEscape(made["secret"].(string)), nil)
		}
		c.Must(t, http.MethodPost, "/v1/customers", map[string]any{"email": email})
		c.Do(t, http.MethodGet, "/v1/customers?email="+url.QueryEscape(email), nil)
		c.As(s.key[:len(s.key)-1]).Do(t, http.MethodGet, "/v1/customers", nil)
		c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "delivered, refused and lost"})
		db := harness.OpenDatabase(t, s.url)
		settled(t, db, 3)
		restore := db.BreakTables(t)
		c.Do(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": receiver.URL + "/" + path})
		awaitLog(t, server, "release expired deliveries")
		restore()
		server.Terminate(t)

		// Another key can open nothing that is sealed, so that a server with it does not start.
		s.binary.Env = append(s.binary.Env, "TILLWRIGHT_SECRET_KEY="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
		blind := s.binary.Start(t, "")
		blind.Ended(t)

		log := server.Log() + blind.Log()
		for _, secret := range secrets {
			if strings.Contains(log, secret) {
				t.Errorf("the log holds %q", secret)
			}
		}
	})
}

// withPassword adds a password to the address of a PostgreSQL database, which does not ask for one.
func withPassword(t *testing.T, address, password string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if u.User != nil {
		u.User = url.UserPassword(u.User.Username(), password)
	}
	return u.String()
}

func awaitLog(t *testing.T, p *harness.Process, line string) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); !strings.Contains(p.Log(), line); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log does not say %q:\n%s", line, p.Log())
		}
	}
}
