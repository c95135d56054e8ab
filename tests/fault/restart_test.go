package fault

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestRestart_NoCallFails restarts the server under programs that use the SDK as it comes, told to stop and killed in turn.
// None of their calls may fail, and each is done once.
func TestRestart_NoCallFails(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSite(t, harness.Build(t), url, 40)
		addr := harness.FreeAddr(t)
		server := s.binary.Serve(t, addr)
		s.useWhile(t, server.URL, func() {
			for n := range count(4, 20) {
				time.Sleep(500 * time.Millisecond)
				if n%2 == 0 {
					server.Terminate(t)
				} else {
					server.Kill()
				}
				server = s.binary.Serve(t, addr)
			}
		})
	})
}

// TestRestart_OfTheDatabaseIsBridged takes PostgreSQL away for some seconds, several times.
func TestRestart_OfTheDatabaseIsBridged(t *testing.T) {
	t.Parallel()
	url := database.URL(t, "postgres")
	s := newSite(t, harness.Build(t), url, 40)
	proxy := database.NewProxy(t, url)
	through := &harness.Binary{Path: s.binary.Path, Env: append(s.binary.Env, "TILLWRIGHT_DATABASE_URL="+proxy.URL)}
	server := through.Serve(t, "")
	s.useWhile(t, server.URL, func() {
		for range count(2, 10) {
			time.Sleep(time.Duration(count(1, 20)) * 500 * time.Millisecond) // calls that pause for seconds must not meet one outage after the other
			proxy.Down()
			page := s.client(server, 0).As("").Do(t, http.MethodGet, "/checkout/nobody's", nil)
			kind := page.Header.Get("Content-Type")
			assert.Equal(t, http.StatusServiceUnavailable, page.Status)
			assert.True(t, strings.HasPrefix(kind, "text/html"), kind)
			for range 4 {
				time.Sleep(time.Second)
				resp := s.client(server, 0).Do(t, http.MethodPost, "/v1/products", map[string]any{"name": "unheard"})
				resp.Fault(t, http.StatusServiceUnavailable, "api_error")
				if wait := resp.Header.Get("Retry-After"); wait != "1" {
					t.Errorf("Retry-After is %q", wait)
				}
			}
			proxy.Up(t)
		}
	})
}

// useWhile has programs make and read products until disturb is over, and finds nothing failed and nothing done twice.
func (s *site) useWhile(t *testing.T, address string, disturb func()) {
	t.Helper()
	var made, repeated atomic.Int64
	attempts := func(_ context.Context, a sdk.Attempt) {
		if a.Number > 1 {
			repeated.Add(1)
		}
	}
	stop := make(chan struct{})
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for {
				for _, key := range s.keys[5*n : 5*n+5] {
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Millisecond):
					}
					c := sdk.New(key, sdk.WithBaseURL(address+"/v1"), sdk.WithHook(attempts))
					name := fmt.Sprint("product ", made.Add(1))
					p, err := c.Products.Create(t.Context(), &sdk.ProductCreate{Name: name})
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					if _, err := c.Products.Get(t.Context(), p.ID); err != nil {
						t.Errorf("read %s: %v", name, err)
					}
				}
			}
		})
	}
	end := sync.OnceFunc(func() {
		close(stop)
		group.Wait()
	})
	defer end() // also when disturb gives up: nothing may fail after the test
	disturb()
	end()
	db := harness.OpenDatabase(t, s.url)
	defer db.Close()
	found := db.Strings(t, `SELECT name FROM products`)
	once := map[string]bool{}
	for _, name := range found {
		once[name] = true
	}
	assert.Len(t, found, int(made.Load()))
	assert.Len(t, once, len(found))
	t.Logf("%d calls, %d attempts repeated", 2*made.Load(), repeated.Load())
	if repeated.Load() == 0 {
		t.Error("no attempt was repeated: this test shows nothing")
	}
}
