package pinterest_test

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
	"github.com/tillwright/tillwright/ads/pinterest"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

const redirect = "https://shop.example/connect/pinterest"

// consents is a world whose user has an app to consent to, and a clock.
func consents(t *testing.T, secretOfDriver string) (*world, *time.Time) {
	t.Helper()
	now := noon
	w := newWorldAt(func() time.Time { return now }, "USD", nil)
	w.net.ConsentTo(pinterestfake.App{ID: "app", Secret: "s3cret", RedirectURIs: []string{redirect}}, secret)
	w.driver = pinterest.New(pinterest.Config{
		Client: &http.Client{Transport: w.net}, App: "app", Secret: ads.Secret(secretOfDriver), ConsentURL: "https://consent.example", Tries: 1, Pause: time.Microsecond,
	})
	return w, &now
}

// allow looks at the page that asks for consent, and returns the code of whoever allows it.
func (w *world) allow(t *testing.T, page string) ads.Secret {
	t.Helper()
	u, err := url.Parse(page)
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodGet, u.RequestURI(), nil)
	seen := httptest.NewRecorder()
	w.net.ServeHTTP(seen, r)
	require.Equal(t, http.StatusOK, seen.Code, seen.Body.String())
	link := regexp.MustCompile(`id="allow" href="[^"]*[?&;]code=([A-Z0-9]+)`).FindStringSubmatch(seen.Body.String())
	require.NotNil(t, link, seen.Body.String())
	return ads.Secret(link[1])
}

func TestExchange_GivesAnAccessThatIsRenewed(t *testing.T) {
	w, now := consents(t, "s3cret")
	page, err := w.driver.Consent(t.Context(), ads.ConsentQuestion{State: "state", RedirectURI: redirect})
	require.NoError(t, err)
	assert.Regexp(t, `^https://consent\.example/oauth/\?client_id=app&redirect_uri=.*&response_type=code&scope=.*&state=state$`, page)
	code := w.allow(t, page)
	g, err := w.driver.Exchange(t.Context(), ads.ConsentAnswer{Code: code, RedirectURI: redirect})
	require.NoError(t, err)
	assert.Equal(t, pinterestfake.AccessLife, g.Life)
	assert.Contains(t, g.Scopes, "ads:write")
	_, err = w.driver.Exchange(t.Context(), ads.ConsentAnswer{Code: code, RedirectURI: redirect})
	require.ErrorIs(t, err, ads.ErrUnauthorized, "a code is good once")

	w.conn.Token = g.Token
	profiles, err := w.driver.Profiles(t.Context(), w.conn)
	require.NoError(t, err)
	id, _ := w.net.User(secret)
	assert.Equal(t, id, profiles[0].ID)

	*now = now.Add(pinterestfake.AccessLife)
	_, err = w.driver.Profiles(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnauthorized)
	again, err := w.driver.Refresh(t.Context(), g.Refresh)
	require.NoError(t, err)
	assert.NotEqual(t, g.Token, again.Token)
	assert.NotEqual(t, g.Refresh, again.Refresh)
	*now = now.Add(pinterestfake.RefreshLife)
	_, err = w.driver.Refresh(t.Context(), again.Refresh)
	require.ErrorIs(t, err, ads.ErrOperator)
}

func TestExchange_IsRefusedWhatIsNotItsOwn(t *testing.T) {
	w, now := consents(t, "s3cret")
	page, err := w.driver.Consent(t.Context(), ads.ConsentQuestion{State: "state", RedirectURI: redirect})
	require.NoError(t, err)
	for what, answer := range map[string]ads.ConsentAnswer{
		"another redirect": {Code: w.allow(t, page), RedirectURI: redirect + "/"},
		"no code":          {Code: "none", RedirectURI: redirect},
	} {
		_, err := w.driver.Exchange(t.Context(), answer)
		require.ErrorIs(t, err, ads.ErrUnauthorized, what)
	}
	code := w.allow(t, page)
	*now = now.Add(time.Hour)
	_, err = w.driver.Exchange(t.Context(), ads.ConsentAnswer{Code: code, RedirectURI: redirect})
	require.ErrorIs(t, err, ads.ErrUnauthorized, "late")
	other, _ := consents(t, "wrong")
	_, err = other.driver.Exchange(t.Context(), ads.ConsentAnswer{Code: other.allow(t, page), RedirectURI: redirect})
	require.ErrorIs(t, err, ads.ErrUnauthorized, "another secret")
	_, err = other.driver.Refresh(t.Context(), "pinr_secret")
	require.ErrorIs(t, err, ads.ErrOperator, "of an app that is not let in, no channel loses its access")
	assert.NotContains(t, err.Error(), "wrong")
	_, err = pinterest.New(pinterest.Config{Client: &http.Client{}}).Consent(t.Context(), ads.ConsentQuestion{})
	var none *ads.NoAppError
	require.ErrorAs(t, err, &none)
}

func TestRefresh_SaysNoSecretThatPinterestRepeats(t *testing.T) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"code": 283, "message": "Your refresh token is invalid: ` + r.FormValue("refresh_token") + `."}`))
	}))
	defer echo.Close()
	d := pinterest.New(pinterest.Config{Client: &http.Client{}, BaseURL: echo.URL, App: "app", Secret: "s3cret"})
	_, err := d.Refresh(t.Context(), "pinr_secret")
	require.ErrorIs(t, err, ads.ErrUnauthorized)
	assert.Contains(t, err.Error(), "Your refresh token is invalid: [secret].")
}

func TestRefresh_ThatIsNotAnsweredMayBeAskedAgain(t *testing.T) {
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer down.Close()
	for _, address := range []string{down.URL, "http://127.0.0.1:1"} {
		d := pinterest.New(pinterest.Config{Client: &http.Client{}, BaseURL: address, App: "app", Secret: "s3cret"})
		_, err := d.Refresh(t.Context(), "pinr_secret")
		require.ErrorIs(t, err, ads.ErrUnavailable)
		assert.NotContains(t, err.Error(), "pinr_secret")
	}
}
