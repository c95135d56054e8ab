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
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/database"
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

// migratedDir returns a data directory whose database has the schema already: making it takes longer than most commands.
func migratedDir(t *testing.T) string {
	t.Helper()
	return filepath.Dir(strings.TrimPrefix(database.URL(t, "sqlite"), "sqlite://"))
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

// strokes counts how often it is written to.
type strokes int

func (w *strokes) Write(text []byte) (int, error) {
	*w++
	return len(text), nil
}

// Whoever reads the first line alone, as head does, is gone before a second write, which would fail.
func TestLists_AreWrittenAtOnce(t *testing.T) {
	t.Parallel()
	dir := migratedDir(t)
	for _, name := range []string{"Ada", "Grace", "Barbara"} {
		printed(t, dir, "accounts", "create", "--name", name, "--email", "ada@example.com")
	}
	var out strokes
	cmd := newCommand()
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"accounts", "list", "--data-dir", dir})
	require.NoError(t, cmd.ExecuteContext(t.Context()))
	assert.Equal(t, strokes(1), out)
}

func TestAccountsUpdate_ChangesWhatIsGiven(t *testing.T) {
	t.Parallel()
	dir := migratedDir(t)
	id := printed(t, dir, "accounts", "create", "--name", "Ada", "--email", "ada@example.com", "--plan", "pro")["id"].(string)
	renamed := printed(t, dir, "accounts", "update", id, "--name", "Ada Ltd")
	assert.Equal(t, "Ada Ltd", renamed["name"])
	assert.Equal(t, "pro", renamed["plan"])
	assert.Equal(t, "business", printed(t, dir, "accounts", "update", id, "--plan", "business", "--email", "new@example.com")["plan"])
	shown := printed(t, dir, "accounts", "show", id)
	assert.Equal(t, "new@example.com", shown["email"])
	out, err := tillwright(t, dir, "accounts", "show", id)
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^plan +business$`, out)
	for command, reason := range map[string]string{
		"accounts show acct_nobody":                                       "No such account",
		"accounts update acct_nobody --name Eve":                          "No such account",
		"accounts update " + id:                                           "at least one of the flags",
		"accounts update " + id + " --plan gold":                          "plan: A plan is free, pro or business.",
		"accounts update " + id + " --email ada":                          "email: ",
		"keys create --account " + id + " --expires soon":                 "--expires must be a time such as",
		"keys create --account " + id + " --expires 0d":                   "--expires must be a time such as",
		"keys create --account " + id + " --expires -1h":                  "--expires must be a time such as",
		"keys create --account " + id + " --expires 2020-01-01T00:00:00Z": "expires_at: ",
	} {
		_, err := tillwright(t, dir, strings.Fields(command)...)
		require.Error(t, err, command)
		assert.Contains(t, explain(err), reason, command)
	}
}

func TestAccountsDisable_AndEnable(t *testing.T) {
	t.Parallel()
	dir := migratedDir(t)
	id := printed(t, dir, "accounts", "create", "--name", "Ada", "--email", "ada@example.com")["id"].(string)
	assert.Nil(t, printed(t, dir, "accounts", "show", id)["disabled_at"])
	say := func(command, what string) {
		t.Helper()
		out, err := tillwright(t, dir, "accounts", command, id)
		require.NoError(t, err)
		assert.Contains(t, out, id+" "+what)
	}
	say("disable", "is disabled now.")
	since := printed(t, dir, "accounts", "show", id)["disabled_at"]
	require.NotNil(t, since)
	say("disable", "was disabled already: nothing was changed.")
	assert.Equal(t, since, printed(t, dir, "accounts", "disable", id)["disabled_at"], "since the first time")
	assert.Equal(t, since, printed(t, dir, "accounts", "list")["data"].([]any)[0].(map[string]any)["disabled_at"])
	out, err := tillwright(t, dir, "accounts", "list")
	require.NoError(t, err)
	assert.Contains(t, out, since)
	say("enable", "is enabled now.")
	say("enable", "was enabled already: nothing was changed.")
	assert.Nil(t, printed(t, dir, "accounts", "show", id)["disabled_at"])
	for _, command := range []string{"disable", "enable"} {
		_, err := tillwright(t, dir, "accounts", command, "acct_nobody")
		require.ErrorContains(t, err, "No such account")
	}
}

func TestKeysCreate_Expires(t *testing.T) {
	t.Parallel()
	dir := migratedDir(t)
	id := printed(t, dir, "accounts", "create", "--name", "Ada", "--email", "ada@example.com")["id"].(string)
	for expires, after := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute} {
		key := printed(t, dir, "keys", "create", "--account", id, "--expires", expires)
		at, err := time.Parse(time.RFC3339, key["expires_at"].(string))
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now().Add(after), at, time.Minute)
	}
	assert.Equal(t, "2099-01-31T11:00:00.000Z", printed(t, dir, "keys", "create", "--account", id, "--expires", "2099-01-31T12:00:00+01:00")["expires_at"])
	out, err := tillwright(t, dir, "keys", "list", "--account", id)
	require.NoError(t, err)
	assert.Contains(t, out, "2099-01-31T11:00:00.000Z")
}

// What tenants write commands no terminal, and looks like nothing that the program printed.
func TestOutput_QuotesWhatOthersWrote(t *testing.T) {
	t.Parallel()
	dir := migratedDir(t)
	const hostile = "Ada\x1b]0;owned\a\x1b[2J\nacct_fake\tforged\u202egnp.exe\u2028\u009b31m\U000e0041\u200b. Søren\u3000🐦"
	account := printed(t, dir, "accounts", "create", "--name", hostile, "--email", "ada@example.com")
	assert.Equal(t, hostile, account["name"], "JSON says what is stored")
	id := account["id"].(string)
	printed(t, dir, "keys", "create", "--account", id, "--name", hostile)
	quoted := `Ada\x1b]0;owned\a\x1b[2J\nacct_fake\tforged\u202egnp.exe\u2028\u009b31m\U000e0041\u200b. Søren` + "\u3000🐦"
	for _, command := range []string{"accounts list", "keys list --account " + id} {
		out, err := tillwright(t, dir, strings.Fields(command)...)
		require.NoError(t, err)
		assert.Contains(t, out, quoted, command)
		assert.Equal(t, 2, strings.Count(out, "\n"), "a header and a line")
		assertHarmless(t, out)
		list, err := tillwright(t, dir, append(strings.Fields(command), "--json")...)
		require.NoError(t, err)
		assertHarmless(t, list)
		assert.Equal(t, hostile, printed(t, dir, strings.Fields(command)...)["data"].([]any)[0].(map[string]any)["name"])
	}
	_, err := tillwright(t, dir, "keys", "revoke", "--account", id, hostile)
	require.Error(t, err)
	assertHarmless(t, explain(err))
	assert.Equal(t, `a\xffb\ufffdc`, strings.ReplaceAll(printable("a\xffb\uFFFDc"), "\uFFFD", `\ufffd`))
}

// assertHarmless wants nothing in a text but what a terminal prints as it stands.
func assertHarmless(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		assert.False(t, r != '\n' && !unicode.IsPrint(r) && !unicode.IsSpace(r), text)
		assert.NotEqual(t, '\u2028', r, text)
		assert.NotEqual(t, '\t', r, text)
		assert.NotEqual(t, '\r', r, text)
	}
}

func TestCommands_RefuseWithTheReason(t *testing.T) {
	t.Parallel()
	dir := migratedDir(t)
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
		"serve --ads-networks google":                           "TILLWRIGHT_ADS_NETWORKS must be",
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
	dir := migratedDir(t)
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

// printout closes welcomed once something was printed, and keeps that. Each text is printed whole, by one Write.
type printout struct {
	text     string
	welcomed chan struct{}
	once     sync.Once
}

func (p *printout) Write(text []byte) (int, error) {
	p.once.Do(func() {
		p.text = string(text)
		close(p.welcomed)
	})
	return len(text), nil
}
