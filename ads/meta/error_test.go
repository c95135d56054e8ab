package meta_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/meta"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

func TestRateLimit_SaysWhenToAskAgainAndIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for _, code := range []int{4, 17, 32, 613, 80000, 80004, 80014} {
		w := newWorld(t, advert.PlatformFacebook)
		w.fake.Fail(metafake.Fault{Kind: metafake.FaultRateLimit, Code: code, Minutes: 7, Times: -1})
		var limited *ads.RateLimited
		_, err := w.net.AdAccounts(t.Context(), w.conn)
		require.ErrorAs(t, err, &limited, code)
		assert.Equal(t, 7*time.Minute, limited.After)
		_, err = w.net.Create(t.Context(), w.conn, plan(nil))
		require.ErrorAs(t, err, &limited, code)
	}
}

func TestRateLimit_OfACreateLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultRateLimit, Method: "POST", Edge: "ads", Code: 613})
	var limited *ads.RateLimited
	_, err := w.net.Create(t.Context(), w.conn, plan(nil))
	require.ErrorAs(t, err, &limited)
	assert.Zero(t, limited.After, "nobody said how long")
	assert.Empty(t, w.fake.Live("Campaign"))
}

func TestReads_AreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, kind := range []metafake.FaultKind{metafake.FaultServerError, metafake.FaultCutBefore, metafake.FaultCutAfter, metafake.FaultGarbageAfter, metafake.FaultTimeoutBefore} {
		w := newWorld(t, advert.PlatformFacebook)
		w.fake.Fail(metafake.Fault{Kind: kind, Method: "GET", Times: 2})
		accounts, err := w.net.AdAccounts(t.Context(), w.conn)
		require.NoError(t, err, kind)
		assert.Len(t, accounts, 4)
	}
}

func TestReads_GiveUpAfterAFewTries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultErrorAfter, Method: "GET", Times: -1})
	_, err := w.net.AdAccounts(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnavailable)
	assert.Len(t, w.fake.Calls(), 3)
}

func TestReads_EndByThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.OnHang = nil
	w.net = w.driver(20 * time.Millisecond)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultTimeoutBefore, Times: -1})
	_, err := w.net.AdAccounts(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnavailable)
}

func TestCalls_EndWithinTheirTotal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.OnHang = nil
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultTimeoutBefore, Times: -1})
	n := meta.New(advert.PlatformFacebook, meta.Options{Client: &http.Client{}, BaseURL: w.address, Timeout: time.Hour, Total: 30 * time.Millisecond})
	_, err := n.Audiences(t.Context(), w.conn, dollars)
	require.ErrorIs(t, err, ads.ErrUnavailable)
}

func TestCreates_AreSentOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []metafake.FaultKind{metafake.FaultServerError, metafake.FaultCutBefore, metafake.FaultTimeoutBefore, metafake.FaultReject, metafake.FaultRateLimit} {
		for _, edge := range []string{"campaigns", "adsets", "adcreatives", "ads"} {
			var posts []string
			w := worldThrough(t, advert.PlatformFacebook, func(_ *metafake.Fake, next http.RoundTripper) http.RoundTripper {
				return tripper(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPost {
						posts = append(posts, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
					}
					return next.RoundTrip(r)
				})
			})
			w.fake.Fail(metafake.Fault{Kind: kind, Method: "POST", Edge: edge, Code: 17, Times: -1})
			_, err := w.net.Create(t.Context(), w.conn, plan(nil))
			require.Error(t, err)
			steps := []string{"campaigns", "adsets", "adcreatives", "ads"}
			assert.Equal(t, steps[:indexOf(steps, edge)+1], posts, "%s at %s", kind, edge)
		}
	}
}

func indexOf(list []string, v string) int {
	for i, s := range list {
		if s == v {
			return i
		}
	}
	return -1
}

type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestCreate_ThatReachedNobodyIsNotIndeterminate(t *testing.T) {
	t.Parallel()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, dead.Close())
	w := worldThrough(t, advert.PlatformFacebook, func(_ *metafake.Fake, next http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				r = r.Clone(r.Context())
				r.URL.Host = dead.Addr().String()
			}
			return next.RoundTrip(r)
		})
	})
	_, err = w.net.Create(t.Context(), w.conn, plan(nil))
	require.ErrorIs(t, err, ads.ErrUnavailable)
	require.NotErrorIs(t, err, ads.ErrIndeterminate)
}

func TestErrors_NeverHaveATokenInThem(t *testing.T) {
	t.Parallel()
	for _, p := range platforms {
		w := newWorld(t, p)
		w.conn.Token = token + "Revoked" // the fake repeats it in its answer
		calls := map[string]func() error{
			"accounts": func() error { _, err := w.net.AdAccounts(t.Context(), w.conn); return err },
			"create":   func() error { _, err := w.net.Create(t.Context(), w.conn, plan(nil)); return err },
			"posts":    func() error { _, err := w.net.Posts(t.Context(), w.conn); return err },
			"delete":   func() error { return w.net.DeleteAudience(t.Context(), w.conn, dollars, "1") },
		}
		for name, call := range calls {
			err := call()
			require.ErrorIs(t, err, ads.ErrUnauthorized, name)
			assert.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), token, name)
		}
	}
}

func TestErrors_OfTheConnectionHaveNoTokenInThem(t *testing.T) {
	t.Parallel()
	w := worldThrough(t, advert.PlatformFacebook, func(_ *metafake.Fake, _ http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			return nil, errors.New("proxy refused " + r.Header.Get("Authorization") + " and access_token=EAAsomethingElse1234567890&x=1")
		})
	})
	_, err := w.net.AdAccounts(t.Context(), w.conn)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), token)
	assert.NotContains(t, err.Error(), "EAAsomethingElse")
}

func TestToken_IsInNoAddressAndGoesNowhereElse(t *testing.T) {
	t.Parallel()
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the token was taken to another host") }))
	defer stranger.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.NotContains(t, r.URL.String(), token)
		assert.Equal(t, "Bearer "+token, r.Header.Get("Authorization"))
		http.Redirect(w, r, stranger.URL, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	n := meta.New(advert.PlatformFacebook, meta.Options{Client: &http.Client{}, BaseURL: first.URL, Backoff: time.Millisecond})
	_, err := n.AdAccounts(t.Context(), ads.Conn{Token: token, Now: func() time.Time { return now }})
	require.ErrorIs(t, err, ads.ErrUnavailable)
}

func TestToken_IsNotInTheParametersOfAnyCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	for _, part := range parts[:2] {
		require.NoError(t, part(t, w))
	}
	for _, c := range w.fake.Calls() {
		assert.NotContains(t, c.Params.Encode(), token[:20], c.Path)
	}
	text := &strings.Builder{}
	slog.New(slog.NewTextHandler(text, nil)).Info("channel", "conn", w.conn)
	assert.NotContains(t, text.String(), token)
}

func TestIDs_ThatAreNoneAreNotFoundWithoutACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	for _, id := range []string{"", "me", "1/campaigns", "1/", "1?fields=id", "../1", "act_", "urn:li:1", strings.Repeat("1", 40)} {
		_, err := w.net.Audience(t.Context(), w.conn, dollars, id)
		require.ErrorIs(t, err, ads.ErrNotFound, id)
	}
	assert.Empty(t, w.fake.Calls())
}
