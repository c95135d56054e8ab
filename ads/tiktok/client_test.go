package tiktok_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/tiktok"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/tiktokfake"
)

// count returns how often a call is among others.
func count(calls []string, call string) (n int) {
	for _, one := range calls {
		if one == call {
			n++
		}
	}
	return n
}

func TestRead_IsTriedAgainAfterAFault(t *testing.T) {
	t.Parallel()
	for _, fault := range []tiktokfake.FaultKind{
		tiktokfake.FaultSystem, tiktokfake.FaultStatus, tiktokfake.FaultCutBefore, tiktokfake.FaultCutAfter, tiktokfake.FaultGarbage, tiktokfake.FaultPartly,
	} {
		w := newWorld(nil)
		w.net.Break("GET advertiser/info", 0, fault)
		w.net.Break("GET advertiser/info", 0, fault)
		accounts, err := w.driver.AdAccounts(t.Context(), w.conn)
		require.NoError(t, err)
		assert.Len(t, accounts, 1)
		w.net.BreakAlways("GET advertiser/info", fault)
		_, err = w.driver.AdAccounts(t.Context(), w.conn)
		require.ErrorIs(t, err, ads.ErrUnavailable)
		assert.Equal(t, 6, count(w.net.Calls(), "GET advertiser/info"))
	}
}

func TestRefusals_HaveTheirTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	w.net.Break("GET campaign/get", 0, tiktokfake.FaultRateLimit)
	_, _, err := w.driver.Sync(t.Context(), w.conn, w.account.ID, "")
	require.ErrorAs(t, err, new(*ads.RateLimited))
	assert.Equal(t, 1, count(w.net.Calls(), "GET campaign/get"), "who is told to wait does not ask at once")

	w.net.Break("POST adgroup/create", 0, tiktokfake.FaultRateLimit)
	_, err = w.driver.Create(t.Context(), w.conn, w.plan(t, "limited"))
	require.ErrorAs(t, err, new(*ads.RateLimited))
	campaigns, _, _ := w.net.Live(w.account)
	assert.Zero(t, campaigns)

	stranger := w.net.AddAccount("somebody else's", "Theirs", "USD", "US")
	_, _, err = w.driver.Sync(t.Context(), w.conn, stranger.ID, "")
	require.ErrorIs(t, err, ads.ErrForbidden)
	_, err = w.driver.Audience(t.Context(), w.conn, w.account.ID, "404")
	require.ErrorIs(t, err, ads.ErrNotFound)
	for _, token := range []ads.Secret{"", "revoked"} {
		w.conn.Token = token
		_, err = w.driver.AdAccounts(t.Context(), w.conn)
		require.ErrorIs(t, err, ads.ErrUnauthorized)
	}
	_, err = w.driver.Reach(t.Context(), w.conn, ads.ReachQuery{})
	require.ErrorIs(t, err, ads.ErrUnsupported)
}

// leaky lets the secrets stand in whatever comes back.
type leaky string

func (l leaky) RoundTrip(r *http.Request) (*http.Response, error) {
	if l == "" {
		return nil, fmt.Errorf("cannot send %v", r.Header)
	}
	body := fmt.Sprintf(`{"code": %s, "message": "bad header %s", "request_id": "1", "data": {}}`, l, r.Header.Get("Access-Token"))
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}}, nil
}

func TestSecrets_AreInNoError(t *testing.T) {
	t.Parallel()
	for _, code := range []leaky{"", "0", "20001", "40001", "40002", "40100", "40101", "40105", "50000", `"x"`} {
		w := newWorld(func(http.RoundTripper) http.RoundTripper { return code })
		_, read := w.driver.AdAccounts(t.Context(), w.conn)
		_, update := w.driver.Update(t.Context(), w.conn, ads.Ref{AdAccount: w.account.ID, Level: advert.LevelCampaign, ID: "1"}, ads.Patch{})
		_, create := w.driver.CreateAudience(t.Context(), w.conn, ads.AudiencePlan{AdAccount: w.ad, Type: advert.AudienceTypeRetargeting, PixelID: "1"})
		_, grant := w.driver.Exchange(t.Context(), ads.ConsentAnswer{Code: "code_SECRETSECRET"})
		for _, err := range []error{read, update, create, grant} {
			var refused *ads.Rejected
			if errors.As(err, &refused) {
				assert.NotContains(t, refused.Message+refused.Raw, "SECRET", code)
			}
			assert.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), "SECRETSECRET", code)
		}
	}
}

func TestWrite_WithoutAConnectionWasNotSent(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	w := newWorld(nil)
	driver := tiktok.New(tiktok.Config{Client: &http.Client{Transport: &http.Transport{}}, BaseURL: "http://" + address})
	_, err = driver.CreateAudience(t.Context(), w.conn, ads.AudiencePlan{AdAccount: w.ad, Type: advert.AudienceTypeRetargeting, PixelID: "1"})
	require.ErrorIs(t, err, ads.ErrUnavailable)
	assert.NotErrorIs(t, err, ads.ErrIndeterminate)
}

// vague answers a call with a success that says too little, after the network has done it.
type vague struct {
	next      http.RoundTripper
	operation string
}

func (v vague) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := v.next.RoundTrip(r)
	if err != nil || tiktokfake.OperationOf(r) != v.operation {
		return res, err
	}
	res.Body = io.NopCloser(strings.NewReader(`{"code": 0, "message": "OK", "request_id": "1", "data": {}}`))
	return res, nil
}

func TestWrite_ThatIsNotToldWhatItMadeIsIndeterminate(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"POST campaign/create", "POST adgroup/create", "POST ad/create"} {
		w := newWorld(func(next http.RoundTripper) http.RoundTripper { return vague{next, operation} })
		_, err := w.driver.Create(t.Context(), w.conn, w.plan(t, "vague"))
		require.ErrorIs(t, err, ads.ErrIndeterminate, operation)
		calls := w.net.Calls()
		assert.Equal(t, operation, calls[len(calls)-1], "nothing is done after it")
	}
	w := newWorld(func(next http.RoundTripper) http.RoundTripper { return vague{next, "POST dmp/custom_audience/create"} })
	list := advert.Audience{ID: "aud_" + strings.Repeat("1", 26), AdAccountID: w.account.ID, Name: "Buyers"}
	_, err := w.driver.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: list, Members: people(2)})
	require.ErrorIs(t, err, ads.ErrIndeterminate)
}
