package dashboard_test

import (
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// world is a server with one shop, its owner in a browser, and a program of theirs.
type world struct {
	*harness.Server
	t     *testing.T
	api   *harness.Client
	owner *harness.Person
}

var shared = harness.NewSharedServers()

func TestMain(m *testing.M) {
	code := m.Run()
	if !shared.End() {
		code = max(code, 1)
	}
	os.Exit(code)
}

func newWorld(t *testing.T, url string) *world {
	t.Helper()
	return newWorldOf(t, harness.Boot(t, url))
}

func newWorldOf(t *testing.T, s *harness.Server) *world {
	t.Helper()
	api := s.Account(t)
	return &world{Server: s, t: t, api: api, owner: s.Member(t, api.Account, person.RoleOwner)}
}

// newStranger returns another shop on the same server.
func newStranger(w *world) *world {
	w.t.Helper()
	api := w.Account(w.t)
	return &world{Server: w.Server, t: w.t, api: api, owner: w.Member(w.t, api.Account, person.RoleOwner)}
}

// each runs a test of a shop of its own on both databases. Its server has the shops and people of other tests as well. Use eachAlone for a test that
// looks at all that is there or was sent, makes people with known addresses, or moves the clock.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for _, engine := range database.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, newWorldOf(t, shared.Server(t, engine)))
		})
	}
}

// eachAlone is each with a server that no other test has.
func eachAlone(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	database.Each(t, func(t *testing.T, url string) { test(t, newWorld(t, url)) })
}

// sees opens a page, which must have all these pieces.
func sees(t *testing.T, p *harness.Person, path string, pieces ...string) string {
	t.Helper()
	status, text := p.Get(path)
	require.Equal(t, http.StatusOK, status, path+" "+text)
	for _, piece := range pieces {
		require.Contains(t, text, piece, path)
	}
	return text
}

// sends sends a form that succeeds, and returns where it leads.
func sends(t *testing.T, p *harness.Person, path string, form url.Values) string {
	t.Helper()
	status, to := p.Post(path, form)
	require.Equal(t, http.StatusSeeOther, status, path+" "+to)
	return to
}

// between returns what stands between two pieces of a page.
func between(t *testing.T, page, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, before)
	require.True(t, found, "%q is not on the page", before)
	inner, _, found := strings.Cut(rest, after)
	require.True(t, found)
	return inner
}

// shown is how a letter writes the address of somebody, so that no mail program makes a link of it.
func shown(p *harness.Person) string {
	return strings.NewReplacer("@", "[at]", ".", "[.]").Replace(p.Email)
}

// told waits for a letter under a subject to somebody who signs in, and returns it.
func (w *world) told(t *testing.T, to, subject string) (letter mail.Letter) {
	t.Helper()
	require.Eventually(t, func() bool {
		at := slices.IndexFunc(w.Mail.Letters(), func(l mail.Letter) bool { return l.To == to && l.Subject == subject })
		if at >= 0 {
			letter = w.Mail.Letters()[at]
		}
		return at >= 0
	}, harness.Patience, 20*time.Millisecond, subject)
	return letter
}

// newMemberElsewhere returns the owner of another account.
func newMemberElsewhere(t *testing.T, w *world) *harness.Person {
	t.Helper()
	return w.Member(t, w.Account(t).Account, person.RoleOwner)
}
