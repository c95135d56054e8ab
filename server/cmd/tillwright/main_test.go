package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tillwright runs a command line on the data directory and returns what it prints.
func tillwright(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newCommand()
	cmd.SetOut(&out)
	cmd.SetArgs(append(args, "--data-dir", dir))
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// printed runs a command with --json and reads what it prints.
func printed(t *testing.T, dir string, args ...string) map[string]any {
	t.Helper()
	out, err := tillwright(t, dir, append(args, "--json")...)
	require.NoError(t, err)
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &object), out)
	return object
}

func TestAccountsAndKeys(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	account := printed(t, dir, "accounts", "create", "--name", "Ada", "--email", "ada@example.com", "--plan", "pro")
	assert.Equal(t, "account", account["object"])
	assert.Equal(t, "pro", account["plan"])
	id := account["id"].(string)

	key := printed(t, dir, "keys", "create", "--account", id, "--name", "Shop", "--scope", "products:read", "--scope", "orders:read")
	assert.Equal(t, "api_key", key["object"])
	assert.Regexp(t, `^sk_[0-9a-z]{85}$`, key["token"])
	assert.Equal(t, []any{"products:read", "orders:read"}, key["scopes"])

	for command, want := range map[string]string{"accounts list": id, "keys list --account " + id: key["id"].(string)} {
		list := printed(t, dir, strings.Fields(command)...)
		assert.Equal(t, "list", list["object"])
		require.Len(t, list["data"], 1)
		assert.Equal(t, want, list["data"].([]any)[0].(map[string]any)["id"])
		out, err := tillwright(t, dir, strings.Fields(command)...)
		require.NoError(t, err)
		assert.Contains(t, out, want)
		assert.NotContains(t, out, key["token"], "a token is shown once")
	}

	revoked := printed(t, dir, "keys", "revoke", "--account", id, key["id"].(string))
	assert.Equal(t, map[string]any{"id": key["id"], "object": "api_key", "deleted": true}, revoked)
	assert.Empty(t, printed(t, dir, "keys", "list", "--account", id)["data"])
}

func TestCommands_RefuseWithTheReason(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for command, reason := range map[string]string{
		"accounts create --name A --email nonsense":             "email: ",
		"accounts create --name A --email a@b.example --plan x": "plan: ",
		"keys create --account acct_nobody":                     "No such account",
		"keys create":                                           `"account" not set`,
		"keys list --account acct_nobody":                       "No such account",
		"keys revoke --account acct_nobody key_none":            "No such api_key",
		"serve --log xml":                                       "TILLWRIGHT_LOG must be json or text",
		"serve --config " + dir + "/none":                       "config file",
		"serve now":                                             "unknown command",
		"accounts creat":                                        "unknown command",
		"keys delete key_none":                                  "unknown command",
		"ads stop":                                              "unknown command",
		"serve --ads-networks tiktok":                           "TILLWRIGHT_ADS_NETWORKS must be",
		"migrate --database-url mysql://host/db":                "TILLWRIGHT_DATABASE_URL must be",
	} {
		_, err := tillwright(t, dir, strings.Fields(command)...)
		require.Error(t, err, command)
		assert.Contains(t, explain(err), reason, command)
	}
}

func TestMigrateAndVersion(t *testing.T) {
	t.Parallel()
	out, err := tillwright(t, t.TempDir(), "migrate")
	require.NoError(t, err)
	assert.Contains(t, out, "current")
	out, err = tillwright(t, t.TempDir(), "version")
	require.NoError(t, err)
	assert.Regexp(t, `^tillwright \S+ \(API v1`, out)
}

func TestServeHelp_ListsEverySetting(t *testing.T) {
	t.Parallel()
	out, err := tillwright(t, t.TempDir(), "serve", "--help")
	require.NoError(t, err)
	for _, text := range []string{"TILLWRIGHT_SECRET_KEY ", "127.0.0.1:8080", "--trusted-proxies", "TILLWRIGHT_LOG ", "--demo", "TILLWRIGHT_SMTP_URL_FILE"} {
		assert.Contains(t, out, text)
	}
}

// TestServe_Demo walks as a newcomer does: serve, and ask with what it prints.
func TestServe_Demo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := serveDemo(t, dir, ask(t, http.StatusOK))
	assert.Regexp(t, `curl http://127\.0\.0\.1:\d+/v1/products -H "Authorization: Bearer sk_`, first)
	second := serveDemo(t, dir, ask(t, http.StatusUnauthorized))
	assert.NotContains(t, second, "sk_", "the demo account is made once")
	assert.Contains(t, second, os.Args[0]+" keys create", "the command as it was called")
}

// ask asks a server for something and wants the status.
func ask(t *testing.T, want int) func(base, token string) {
	return func(base, token string) {
		r, err := http.NewRequest(http.MethodGet, base+"/products", nil)
		require.NoError(t, err)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, want, response.StatusCode)
	}
}

// serveDemo serves while use is at work, with the base URL and the token that were printed, and returns all that was.
func serveDemo(t *testing.T, dir string, use func(base, token string), args ...string) string {
	t.Helper()
	out := &printout{welcomed: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cmd := newCommand()
	cmd.SetOut(out)
	cmd.SetArgs(append([]string{"serve", "--demo", "--addr", "127.0.0.1:0", "--data-dir", dir}, args...))
	served := make(chan error, 1)
	go func() { served <- cmd.ExecuteContext(ctx) }()
	select {
	case <-out.welcomed:
	case err := <-served:
		require.NoError(t, err)
	case <-time.After(time.Minute): // a new database takes its time on a busy machine
		require.Fail(t, "nothing was printed")
	}
	use(regexp.MustCompile(`http://127\.0\.0\.1:\d+/v1`).FindString(out.text), regexp.MustCompile(`sk_\w+`).FindString(out.text))
	stop()
	require.NoError(t, <-served)
	return out.text
}

// printout closes welcomed once something was printed, whole, by one Write.
type printout struct {
	text     string
	welcomed chan struct{}
}

func (p *printout) Write(text []byte) (int, error) {
	p.text = string(text)
	close(p.welcomed)
	return len(text), nil
}
