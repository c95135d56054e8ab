package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// shop is a server with one account, and a client of it as the commands have one.
type shop struct {
	*harness.Server
	*apiClient
	account *harness.Client
}

func newShop(t *testing.T, url string) *shop {
	t.Helper()
	server := harness.Boot(t, url)
	account := server.Account(t)
	return &shop{Server: server, account: account, apiClient: &apiClient{account.SDK(), account.URL + "/v1", "webhooks"}}
}

// sell creates a product, which is two events: the second one by a change.
func (s *shop) sell(t *testing.T) *sdk.Product {
	t.Helper()
	p, err := s.Products.Create(t.Context(), &sdk.ProductCreate{Name: "Zoë's <Guide> & more \u2028"})
	require.NoError(t, err)
	_, err = s.Products.Update(t.Context(), p.ID, &sdk.ProductUpdate{Name: new("Guide")})
	require.NoError(t, err)
	return p
}

// endpoints returns the URLs that are registered.
func (s *shop) endpoints(t *testing.T) []string {
	t.Helper()
	list, err := s.WebhookEndpoints.List(t.Context(), nil)
	require.NoError(t, err)
	urls := []string{}
	for _, e := range list.Data {
		urls = append(urls, e.URL)
	}
	return urls
}

// session is a run of listen.
type session struct {
	out, notes safeText
	stop       func() error // ends it and returns its error
}

func (s *shop) listen(t *testing.T, o listenOptions) *session {
	t.Helper()
	l := &session{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- listen(ctx, s.apiClient, o, newLiveOutput(&l.out, &l.notes, o.json)) }()
	l.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { assert.NoError(t, l.stop()) })
	eventually(t, func() bool { return strings.Contains(l.out.String()+l.notes.String(), "Listening for ") })
	return l
}

func (l *session) secret(t *testing.T) string {
	t.Helper()
	l.sees(t, `whsec_\S+\n`)
	return regexp.MustCompile(`whsec_\S+`).FindString(l.out.String())
}

// sees waits for a line in what is printed about events.
func (l *session) sees(t *testing.T, pattern string) {
	t.Helper()
	line := regexp.MustCompile(pattern)
	eventually(t, func() bool { return line.MatchString(l.out.String()) }, func() string { return l.out.String() })
}

func eventually(t *testing.T, condition func() bool, describe ...func() string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			text := ""
			for _, d := range describe {
				text += d()
			}
			require.FailNow(t, "it did not come true within a minute", text)
		}
	}
}

type safeText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *safeText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *safeText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestListen_PassesTheSameBytesOnSignedAnew(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		target, secretFile := harness.NewReceiver(t), filepath.Join(t.TempDir(), "new", "secret")
		_, err := s.WebhookEndpoints.Create(t.Context(), &sdk.WebhookEndpointCreate{URL: s.Hooks.URL})
		require.NoError(t, err)
		l := s.listen(t, listenOptions{forwardTo: target.URL + "/hooks", secretFile: secretFile})
		require.Len(t, s.endpoints(t), 2)
		product := s.sell(t)

		for _, kind := range []string{sdk.EventProductCreated, sdk.EventProductUpdated} {
			passed, direct := target.Await(t, 1, kind)[0], s.Hooks.Await(t, 1, kind)[0]
			require.Equal(t, string(direct.Body), string(passed.Body))
			standard := passed.Header.Clone()
			standard.Del("X-Service-Hmac-SHA256")
			for _, header := range []http.Header{passed.Header, standard} {
				event, err := sdk.VerifyWebhook(passed.Body, header, l.secret(t))
				require.NoError(t, err)
				l.sees(t, fmt.Sprintf(`\d\d:\d\d:\d\d  --> %s +%s  %s\n`, kind, event.ID, product.ID))
				l.sees(t, fmt.Sprintf(`\d\d:\d\d:\d\d  <-- %s +%s  200 OK in \d+`, kind, event.ID))
			}
			for _, name := range []string{"Content-Type", "User-Agent", "X-Service-Event-Id", "X-Service-Attempt", "Webhook-Id"} {
				require.Equal(t, direct.Header[name], passed.Header[name], name)
			}
		}
		require.NoError(t, l.stop())
		require.Equal(t, []string{s.Hooks.URL}, s.endpoints(t), "the endpoint goes with the command")

		again := s.listen(t, listenOptions{forwardTo: target.URL, secretFile: secretFile})
		require.Equal(t, l.secret(t), again.secret(t))
		info, err := os.Stat(secretFile)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})
}

func TestListen_TellsTheServerThatItCameWhateverTheTargetAnswers(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		var switches atomic.Bool
		target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !switches.Load() {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn) // until the other side hangs up
			_ = conn.Close()
		}))
		l := s.listen(t, listenOptions{forwardTo: target.URL, events: []string{sdk.EventProductUpdated}, secretFile: filepath.Join(t.TempDir(), "secret")})
		s.sell(t)
		l.sees(t, `<-- product.updated .* 418 I'm a teapot in `)
		switches.Store(true)
		s.sell(t)
		l.sees(t, `<-- product.updated .* 101 Switching Protocols in `)
		target.Close()
		s.sell(t)
		l.sees(t, `<-- product.updated .* failed: .*connection refused in `)
		require.NotContains(t, l.out.String(), "product.created")

		page, err := s.WebhookEndpoints.List(t.Context(), nil)
		require.NoError(t, err)
		eventually(t, func() bool {
			done, err := s.WebhookEndpoints.ListDeliveries(t.Context(), page.Data[0].ID, &sdk.ListWebhookDeliveriesParams{Status: new(sdk.WebhookDeliveryStatusSucceeded)})
			require.NoError(t, err)
			return len(done.Data) == 3
		})
	})
}

func TestListen_PrintsOneEventPerLineAsJSON(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, "sqlite"))
	l := s.listen(t, listenOptions{json: true})
	product := s.sell(t)
	l.sees(t, `"product\.updated".*\n`)
	lines := strings.Split(strings.TrimSuffix(l.out.String(), "\n"), "\n")
	require.Len(t, lines, 2)
	for i, kind := range []string{sdk.EventProductCreated, sdk.EventProductUpdated} {
		var event sdk.Event
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &event))
		data, err := event.Product()
		require.NoError(t, err)
		require.Equal(t, kind+product.ID, event.Type+data.ID)
	}
	require.Contains(t, l.notes.String(), "Listening for all events")
}

func TestListen_DeletesWhatAKilledRunLeftBehind(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		other := s.listen(t, listenOptions{})
		register := func(url, host string) {
			_, err := s.WebhookEndpoints.Create(t.Context(), &sdk.WebhookEndpointCreate{URL: url, Metadata: &sdk.Metadata{listenerKey: host}})
			require.NoError(t, err)
		}
		reused := harness.NewReceiver(t) // another program, on the port that the killed run had
		register("http://127.0.0.1:1/killed", hostname())
		register(reused.URL+"/killed", hostname())
		kept := []string{"http://127.0.0.1:1/elsewhere", "http://127.0.0.1:1/marked", "https://example.com/hooks"}
		register(kept[0], "another-host")
		register(kept[1], "")
		register(kept[2], hostname())
		require.Len(t, s.endpoints(t), 6)

		second := s.listen(t, listenOptions{})
		left := s.endpoints(t)
		require.Len(t, left, 5, "the run in the other terminal goes on")
		require.Subset(t, left, kept)
		s.sell(t)
		other.sees(t, `--> product.updated`)
		second.sees(t, `--> product.updated`)
		require.NoError(t, second.stop())
		require.NoError(t, other.stop())
		require.ElementsMatch(t, kept, s.endpoints(t))
	})
}

func TestListen_RefusesWhatTheServerDidNotSign(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, "sqlite"))
	target := harness.NewReceiver(t)
	l := s.listen(t, listenOptions{forwardTo: target.URL, secretFile: filepath.Join(t.TempDir(), "secret")})
	address := s.endpoints(t)[0]
	for url, status := range map[string]int{address: http.StatusUnauthorized, address + "x": http.StatusNotFound} {
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"id":"whev_1","type":"order.paid"}`))
		require.NoError(t, err)
		r.Header.Set("X-Service-Hmac-SHA256", "forged")
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, status, response.StatusCode)
	}
	l.sees(t, `refused a request from 127\.0\.0\.1:\d+: .*does not match`)
	require.Empty(t, target.Deliveries())
}

func TestListen_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, "sqlite"))
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("none"), 0o600))
	as := func(key string) *apiClient { return &apiClient{s.account.As(key).SDK(), s.url, "webhooks"} }
	for name, c := range map[string]struct {
		client *apiClient
		o      listenOptions
		reason string
	}{
		"nobody there":   {&apiClient{sdk.New("sk_x", sdk.WithBaseURL("http://127.0.0.1:1/v1"), sdk.WithRetries(0)), "http://127.0.0.1:1/v1", "webhooks"}, listenOptions{}, "no answer from http://127.0.0.1:1/v1: "},
		"another key":    {as("sk_other"), listenOptions{}, "does not know this API key"},
		"no scope":       {as(s.Key(t, s.account.Account, "orders:read")), listenOptions{}, "needs the scopes webhooks:read and webhooks:write"},
		"reads only":     {as(s.Key(t, s.account.Account, "webhooks:read")), listenOptions{}, "needs the scopes webhooks:read and webhooks:write"},
		"unknown event":  {s.apiClient, listenOptions{events: []string{"order.lost"}}, "enabled_events: 'order.lost' is not an event type"},
		"no address":     {s.apiClient, listenOptions{forwardTo: "ftp://localhost"}, "--forward-to must be an http:// or https:// address"},
		"spoiled secret": {s.apiClient, listenOptions{forwardTo: "localhost:3000", secretFile: file}, "is not base64 of 32 bytes"},
	} {
		err := listen(t.Context(), c.client, c.o, newLiveOutput(&safeText{}, &safeText{}, false))
		require.Error(t, err, name)
		require.Contains(t, explain(err), c.reason, name)
	}
	for range 50 {
		_, err := s.WebhookEndpoints.Create(t.Context(), &sdk.WebhookEndpointCreate{URL: s.Hooks.URL})
		require.NoError(t, err)
	}
	err := listen(t.Context(), s.apiClient, listenOptions{}, newLiveOutput(&safeText{}, &safeText{}, false))
	require.Error(t, err)
	require.Equal(t, "An account has at most 50 webhook endpoints. Delete one first.", explain(err))
}

func TestListen_SaysThatAProductionServerDoesNotDeliverHere(t *testing.T) {
	t.Parallel()
	dir := migratedDir(t)
	config := filepath.Join(dir, "config")
	key := "TILLWRIGHT_SECRET_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"
	require.NoError(t, os.WriteFile(config, []byte("TILLWRIGHT_ENV=production\nTILLWRIGHT_DATABASE_URL=sqlite://"+filepath.Join(dir, "tillwright.db")+"\n"+key), 0o600))
	serveDemo(t, dir, func(base, token string) {
		_, err := tillwright(t, dir, "listen", "--api-url", strings.TrimSuffix(base, "/v1"), "--api-key", token)
		require.Error(t, err)
		require.Contains(t, explain(err), "listen needs one in development")
	}, "--config", config)
}
