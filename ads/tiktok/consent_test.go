package tiktok_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/tiktok"
	"github.com/tillwright/tillwright/tests/harness/tiktokfake"
)

const redirect = "https://shop.example/connect/tiktok"

// allow looks at the page that asks for consent, and returns the code of whoever allows it.
func (w *world) allow(t *testing.T) ads.Secret {
	t.Helper()
	page, err := w.driver.Consent(t.Context(), ads.ConsentQuestion{State: "state", RedirectURI: redirect})
	require.NoError(t, err)
	u, err := url.Parse(page)
	require.NoError(t, err)
	assert.Equal(t, "https://business-api.tiktok.com/portal/auth", u.Scheme+"://"+u.Host+u.Path)
	seen := httptest.NewRecorder()
	w.net.ServeHTTP(seen, httptest.NewRequest(http.MethodGet, u.RequestURI(), nil))
	require.Equal(t, http.StatusOK, seen.Code, seen.Body.String())
	link := regexp.MustCompile(`id="allow" href="[^"]*[?&;]auth_code=([A-Z0-9]+)`).FindStringSubmatch(seen.Body.String())
	require.NotNil(t, link, seen.Body.String())
	return ads.Secret(link[1])
}

func TestExchange_GivesAnAccessThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	now := noon
	w := newWorldAt(func() time.Time { return now }, nil)
	w.net.ConsentOf(secret, tiktokfake.App{ID: "app", Secret: appSecret, RedirectURIs: []string{redirect}})
	code := w.allow(t)
	g, err := w.driver.Exchange(t.Context(), ads.ConsentAnswer{Code: code, RedirectURI: redirect})
	require.NoError(t, err)
	assert.Equal(t, []string{"4", "5", "300"}, g.Scopes)
	assert.Zero(t, g.Life)
	assert.Empty(t, g.Refresh)
	_, err = w.driver.Exchange(t.Context(), ads.ConsentAnswer{Code: code, RedirectURI: redirect})
	require.ErrorIs(t, err, ads.ErrUnauthorized, "a code is good once")

	now = now.AddDate(5, 0, 0)
	w.conn.Token = g.Token
	profiles, err := w.driver.Profiles(t.Context(), w.conn)
	require.NoError(t, err)
	assert.Equal(t, w.who, profiles[0].ID)
	_, err = w.driver.Refresh(t.Context(), g.Token)
	require.ErrorIs(t, err, ads.ErrUnauthorized)
	w.net.Revoke(g.Token.Reveal())
	_, err = w.driver.Profiles(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnauthorized)
}

func TestExchange_IsRefusedWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	now := noon
	w := newWorldAt(func() time.Time { return now }, nil)
	_, err := w.driver.Exchange(t.Context(), ads.ConsentAnswer{Code: "none", RedirectURI: redirect})
	require.ErrorIs(t, err, ads.ErrUnauthorized)
	code := w.allow(t)
	now = now.Add(2 * time.Hour)
	_, err = w.driver.Exchange(t.Context(), ads.ConsentAnswer{Code: code, RedirectURI: redirect})
	require.ErrorIs(t, err, ads.ErrUnauthorized, "late")
	w.net.App.Secret = "another"
	_, err = w.driver.Exchange(t.Context(), ads.ConsentAnswer{Code: w.allow(t), RedirectURI: redirect})
	require.ErrorIs(t, err, ads.ErrUnauthorized, "another secret")
}

func TestProfiles_AreTheIdentitiesOfEveryAdAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	name := w.net.AddIdentity(w.account, "CUSTOMIZED_USER", "A name")
	second := w.net.AddAccount(secret, "Second", "USD", "US")
	w.net.Share(w.account, second, w.who)
	other := w.net.AddIdentity(second, "TT_USER", "other")
	profiles, err := w.driver.Profiles(t.Context(), w.conn)
	require.NoError(t, err)
	var ids []string
	for _, p := range profiles {
		ids = append(ids, p.ID)
	}
	assert.Equal(t, []string{w.who, other, name}, ids, "each once, accounts before names")
}

func TestAdAccounts_AreListedToTheAppOfTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	w.net.SetStatus(w.account, "STATUS_LIMIT")
	second := w.net.AddAccount(secret, "Second", "JPY", "JP")
	accounts, err := w.driver.AdAccounts(t.Context(), w.conn)
	require.NoError(t, err)
	require.Len(t, accounts, 2)
	w.conn.AdAccounts = []string{second.ID}
	accounts, err = w.driver.AdAccounts(t.Context(), w.conn)
	require.NoError(t, err)
	assert.Equal(t, []any{1, second.ID}, []any{len(accounts), accounts[0].PlatformID})

	none := tiktok.New(tiktok.Config{Client: &http.Client{Transport: w.net}})
	accounts, err = none.AdAccounts(t.Context(), w.conn)
	require.NoError(t, err, "a channel that says its ad accounts needs no app")
	assert.Equal(t, second.ID, accounts[0].PlatformID)
	w.conn.AdAccounts = nil
	_, err = none.AdAccounts(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrOperator)
	assert.Contains(t, err.Error(), "TILLWRIGHT_TIKTOK_APP_ID")
	_, err = none.Consent(t.Context(), ads.ConsentQuestion{})
	require.ErrorAs(t, err, new(*ads.NoAppError))
}
