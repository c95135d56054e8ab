package meta_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/meta"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

const redirect = "https://shop.example/connect/facebook"

// consents is a world whose user has an app to consent to.
func consents(t *testing.T, appSecret ads.Secret) *world {
	t.Helper()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Secret, w.fake.App = "s3cret", metafake.App{ID: "4711", Secret: "s3cret", RedirectURIs: []string{redirect}}
	w.net = meta.New(advert.PlatformFacebook, meta.Options{
		Client: &http.Client{Transport: w.transport}, BaseURL: w.address, Consent: w.address, App: "4711", Secret: appSecret, Backoff: time.Millisecond,
	})
	return w
}

// allow looks at the page that asks for consent, and returns the code of whoever allows it.
func allow(t *testing.T, page string) ads.Secret {
	t.Helper()
	res, err := http.Get(page)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, string(text))
	link := regexp.MustCompile(`id="allow" href="[^"]*[?&;]code=([A-Z0-9]+)`).FindStringSubmatch(string(text))
	require.NotNil(t, link, string(text))
	return ads.Secret(link[1])
}

func TestExchange_GivesAnAccessThatIsRenewed(t *testing.T) {
	w := consents(t, "s3cret")
	page, err := w.net.Consent(t.Context(), ads.ConsentQuestion{State: "state", RedirectURI: redirect})
	require.NoError(t, err)
	u, err := url.Parse(page)
	require.NoError(t, err)
	assert.Equal(t, "/"+metafake.Version+"/dialog/oauth", u.Path)
	code := allow(t, page)
	g, err := w.net.Exchange(t.Context(), ads.ConsentAnswer{Code: code, RedirectURI: redirect})
	require.NoError(t, err)
	assert.Equal(t, metafake.LongLife, g.Life, "the token for hours is exchanged for one for sixty days")
	assert.Contains(t, g.Scopes, "ads_management")
	assert.NotContains(t, g.Scopes, "email", "what was declined")
	_, err = w.net.Exchange(t.Context(), ads.ConsentAnswer{Code: code, RedirectURI: redirect})
	require.ErrorIs(t, err, ads.ErrUnauthorized, "a code is good once")

	w.conn.Token = g.Token
	profiles, err := w.net.Profiles(t.Context(), w.conn)
	require.NoError(t, err)
	assert.Equal(t, pageID, profiles[0].ID)
	again, err := w.net.Refresh(t.Context(), g.Refresh)
	require.NoError(t, err)
	assert.NotEqual(t, g.Token, again.Token)
	at := w.fake.Now()
	w.fake.Now = func() time.Time { return at.Add(metafake.LongLife + time.Hour) }
	_, err = w.net.Refresh(t.Context(), again.Refresh)
	require.ErrorIs(t, err, ads.ErrUnauthorized)
	_, err = w.net.Profiles(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnauthorized)
}

func TestExchange_IsRefusedWhatIsNotItsOwn(t *testing.T) {
	w := consents(t, "s3cret")
	page, err := w.net.Consent(t.Context(), ads.ConsentQuestion{State: "state", RedirectURI: redirect})
	require.NoError(t, err)
	for what, answer := range map[string]ads.ConsentAnswer{
		"another redirect": {Code: allow(t, page), RedirectURI: redirect + "/"},
		"no code":          {Code: "none", RedirectURI: redirect},
	} {
		_, err := w.net.Exchange(t.Context(), answer)
		require.ErrorIs(t, err, ads.ErrUnauthorized, what)
	}
	code := allow(t, page)
	at := w.fake.Now()
	w.fake.Now = func() time.Time { return at.Add(time.Hour) }
	_, err = w.net.Exchange(t.Context(), ads.ConsentAnswer{Code: code, RedirectURI: redirect})
	require.ErrorIs(t, err, ads.ErrUnauthorized, "late")

	other := consents(t, "wrong")
	page, err = other.net.Consent(t.Context(), ads.ConsentQuestion{State: "state", RedirectURI: redirect})
	require.NoError(t, err)
	_, err = other.net.Exchange(t.Context(), ads.ConsentAnswer{Code: allow(t, page), RedirectURI: redirect})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "wrong")
	_, err = meta.New(advert.PlatformFacebook, meta.Options{Client: &http.Client{}}).Consent(t.Context(), ads.ConsentQuestion{})
	var none *ads.NoAppError
	require.ErrorAs(t, err, &none)
}

func TestRefresh_IsNotOverBecauseOfTheApp(t *testing.T) {
	for body, again := range map[string]bool{
		`{"error": {"code": 4, "message": "Application request limit reached"}}`:                                true,
		`{"error": {"code": 368, "message": "The action attempted has been deemed abusive"}}`:                   true,
		`{"error": {"code": 101, "message": "Error validating application. Cannot get application info."}}`:     true,
		`{"error": {"code": 1, "message": "Error validating client secret."}}`:                                  true,
		`{"error": {"code": 2635, "message": "You are calling a deprecated version"}}`:                          true,
		`{"error": {"code": 190, "message": "Error validating access token: The user has logged out"}}`:         false,
		`{"error": {"code": 100, "error_subcode": 36009, "message": "This authorization code has been used."}}`: false,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(body))
		}))
		n := meta.New(advert.PlatformFacebook, meta.Options{Client: s.Client(), BaseURL: s.URL, App: "4711", Secret: "s3cret"})
		_, err := n.Refresh(t.Context(), "EAAsecretsecretsecret")
		assert.Equal(t, again, errors.Is(err, ads.ErrUnavailable), body)
		assert.Equal(t, !again, errors.Is(err, ads.ErrUnauthorized), body)
		s.Close()
	}
}

func TestRefresh_ThatIsNotAnsweredMayBeAskedAgain(t *testing.T) {
	n := meta.New(advert.PlatformFacebook, meta.Options{Client: &http.Client{}, BaseURL: "http://127.0.0.1:1", App: "4711", Secret: "s3cret"})
	_, err := n.Refresh(t.Context(), "EAAsecretsecretsecret")
	require.ErrorIs(t, err, ads.ErrUnavailable)
	assert.NotContains(t, err.Error(), "s3cret")
	assert.NotContains(t, err.Error(), "EAAsecret")
}
