package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// secretKeys is the setting for keys of 32 equal bytes.
func secretKeys(keys ...byte) string {
	var list []string
	for _, key := range keys {
		list = append(list, base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{key}, 32)))
	}
	return "TILLWRIGHT_SECRET_KEY=" + strings.Join(list, ",")
}

// with is the program with secret keys.
func (s *site) with(keys ...byte) *harness.Binary {
	return &harness.Binary{Path: s.binary.Path, Env: append(s.binary.Env[:len(s.binary.Env):len(s.binary.Env)], secretKeys(keys...))}
}

// refuses starts a server that has the wrong keys.
func (s *site) refuses(t *testing.T, keys ...byte) {
	t.Helper()
	server := s.with(keys...).Start(t, "")
	code := server.Ended(t)
	assert.Equal(t, 1, code, "with keys %v the server", keys)
	assert.Contains(t, server.Log(), "Set it to the key that the database was served with before", "with keys %v the server", keys)
}

// A server with another key does not start, beside one that is at work or alone, and so nothing happens to what waits.
func TestSecretKey_AServerWithAnotherOneDoesNotStart(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSite(t, url)
		first := s.with(1).Serve(t, "")
		receiver := harness.NewReceiver(t)
		s.client(first).Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": receiver.URL})
		if strings.HasPrefix(url, "postgres") { // an embedded database has one server anyway
			s.refuses(t, 2)
		}
		first.Kill()
		s.refuses(t, 2)
		s.refuses(t, 2, 3)

		second := s.with(2, 1).Serve(t, "")
		s.client(second).Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "sealed with the old key"})
		receiver.Await(t, 1, "product.created")
		if !strings.Contains(second.Log(), "does not start again") {
			t.Errorf("nothing says that servers with the old key alone do not start again:\n%s", second.Log())
		}
		s.client(second).Must(t, http.MethodPatch, "/v1/account", map[string]any{"stripe_secret_key": "sk_test_sealedwiththenewkey"})
		second.Terminate(t)
		s.refuses(t, 1)

		third := s.with(2).Serve(t, "")
		s.client(third).Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "waits for the old key"})
		named := func() int { return strings.Count(third.Log(), "TILLWRIGHT_SECRET_KEY") }
		require.Eventually(t, func() bool { return named() >= 2 }, harness.Patience, 10*time.Millisecond, "nothing says that a key is missing")
		time.Sleep(2 * time.Second) // for what must not come
		if states := harness.OpenDatabase(t, url).Strings(t, "SELECT state || attempts FROM webhook_deliveries WHERE state = 'pending'"); fmt.Sprint(states) != "[pending0]" {
			t.Errorf("what waits for the old key is %v", states)
		}
		if named() != 2 {
			t.Errorf("that a key is missing is said once at the start and once when it is needed:\n%s", third.Log())
		}
		third.Terminate(t)
		s.with(2, 1).Serve(t, "")
		receiver.Await(t, 2, "product.created")
	})
}

func TestSecretKey_OfTwoThatStartAtOnceOneServes(t *testing.T) {
	t.Parallel()
	s := newSite(t, database.URL(t, "postgres"))
	servers := []*harness.Process{s.with(1).Start(t, ""), s.with(2).Start(t, "")}
	ready := make(chan int, 2)
	for i, server := range servers {
		go func() {
			if server.Ready(harness.Patience) == nil {
				ready <- i
			}
		}()
	}
	winner := <-ready
	if code := servers[1-winner].Ended(t); code != 1 {
		t.Errorf("the other one ended with %d", code)
	}
	select {
	case <-ready:
		t.Error("both serve")
	default:
	}
}

// command runs the program beside no server, and returns what it prints and whether it ended well.
func (s *site) command(t *testing.T, key byte, args ...string) (string, bool) {
	t.Helper()
	out, err := s.with(key).Command(args...).CombinedOutput()
	return string(out), err == nil
}

// Somebody who has lost the key is told what is lost with it, and serves on with another one.
func TestSecretKey_ALostOneIsReplacedOnPurpose(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSite(t, url)
		first := s.with(1).Serve(t, "")
		receiver := harness.NewReceiver(t)
		endpoint := s.client(first).Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": receiver.URL})["id"].(string)
		if out, ok := s.command(t, 2, "secret", "adopt", "--lost"); ok && strings.HasPrefix(url, "sqlite") {
			t.Errorf("the key is replaced under a server at work: %s", out)
		} else if strings.HasPrefix(url, "postgres") { // which nobody can know there
			s.command(t, 1, "secret", "adopt", "--lost")
		}
		first.Kill()
		s.refuses(t, 2)
		out, ok := s.command(t, 2, "secret", "adopt")
		require.False(t, ok, "without leave")
		assert.Contains(t, out, "nothing was changed", "without leave")
		assert.Contains(t, out, "among it 1 ", "without leave")
		s.refuses(t, 2)
		out, ok = s.command(t, 2, "secret", "adopt", "--lost")
		require.True(t, ok, "with leave")
		assert.Contains(t, out, "1 signing secrets", "with leave")
		out, ok = s.command(t, 2, "doctor")
		require.False(t, ok, "doctor")
		assert.Contains(t, out, endpoint, "doctor")

		second := s.with(2).Serve(t, "")
		c := s.client(second)
		c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "waits for a secret"})
		c.Must(t, http.MethodPost, "/v1/webhook_endpoints/"+endpoint+"/rotate_secret", nil)
		second.Terminate(t) // which would look again after a minute
		third := s.with(2).Serve(t, "")
		receiver.Await(t, 1, "product.created")
		third.Terminate(t)
		if out, ok := s.command(t, 2, "doctor"); !ok {
			t.Errorf("doctor says %s", out)
		}
		s.refuses(t, 1)
	})
}

// The key that development makes by itself is a file that can get lost, or mixed up with that of another database.
func TestSecretKey_OfDevelopmentIsAFileThatIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSite(t, database.URL(t, "sqlite"))
	s.binary.Env = append(s.binary.Env, "TILLWRIGHT_DATA_DIR="+dir)
	file := filepath.Join(dir, "secret.key")
	begin := func() *harness.Process { return s.binary.Start(t, "") }
	lose := func() {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}

	server := s.binary.Serve(t, "")
	server.Terminate(t)
	lose()
	server = s.binary.Serve(t, "") // nothing is sealed
	if !strings.Contains(server.Log(), "nothing is sealed") {
		t.Errorf("that the key has changed is not said:\n%s", server.Log())
	}
	s.client(server).Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": harness.NewReceiver(t).URL})
	server.Terminate(t)
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lose()
	server = begin()
	code := server.Ended(t)
	assert.Equal(t, 1, code)
	assert.Contains(t, server.Log(), file)
	assert.Contains(t, server.Log(), "Put the file back")
	if err := os.WriteFile(file, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	s.binary.Serve(t, "")
}
