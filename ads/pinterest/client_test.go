package pinterest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/pinterest"
	"github.com/tillwright/tillwright/tests/harness/impatient"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

func TestRead_IsTriedAgainAfterAFault(t *testing.T) {
	t.Parallel()
	for _, fault := range []pinterestfake.Fault{
		pinterestfake.FaultUnavailable, pinterestfake.FaultUnavailableAfter, pinterestfake.FaultDrop,
		pinterestfake.FaultDropAfter, pinterestfake.FaultGarbageAfter,
	} {
		w := newWorld("USD", nil)
		w.net.Break("ad_accounts/list", 0, fault)
		w.net.Break("ad_accounts/list", 0, fault)
		accounts, err := w.driver.AdAccounts(t.Context(), w.conn)
		require.NoError(t, err)
		assert.Len(t, accounts, 1)

		w.net.Forget()
		for range 3 {
			w.net.Break("ad_accounts/list", 0, fault)
		}
		_, err = w.driver.AdAccounts(t.Context(), w.conn)
		require.ErrorIs(t, err, ads.ErrUnavailable)
		assert.Len(t, w.net.Calls(), 3)
	}
}

func TestRead_EndsWhenTheNetworkDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	w.net.OnHang = nil
	driver := pinterest.New(pinterest.Config{
		Client: &http.Client{Transport: w.net}, Request: time.Hour, Total: 50 * time.Millisecond,
	})
	w.net.Break("", 0, pinterestfake.FaultHang)
	began := time.Now()
	_, err := driver.AdAccounts(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnavailable)
	assert.Less(t, time.Since(began), time.Minute)
}

// A request that was sent may have been carried out, however soon nobody waits for its answer any more.
func TestWrite_EndsWhenTheNetworkDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	w.net.OnHang = nil
	driver := pinterest.New(pinterest.Config{
		Client: &http.Client{Transport: w.net}, Request: time.Second, Total: time.Hour,
	})
	w.net.Break("campaigns/create", 0, pinterestfake.FaultHang)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := driver.Create(ctx, w.conn, w.boost("hanging"))
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	require.NoError(t, ctx.Err(), "it was the request's own time that was up")
}

func TestRateLimit_IsToldAtOnceAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	w.net.Break("pins/list", 0, pinterestfake.FaultRateLimit)
	_, err := w.driver.Posts(t.Context(), w.conn)
	var limited *ads.RateLimited
	require.ErrorAs(t, err, &limited)
	assert.Equal(t, pinterestfake.RetryAfter, limited.After)
	assert.Equal(t, []string{"pins/list"}, w.net.Calls())

	w.net.Break("ad_groups/create", 0, pinterestfake.FaultRateLimit)
	_, err = w.driver.Create(t.Context(), w.conn, w.boost("limited"))
	require.ErrorAs(t, err, &limited)
	assert.Equal(t, pinterestfake.RetryAfter, limited.After)
	assert.Zero(t, w.running(), "the campaign is archived")
}

func TestRefusals_HaveTheirTypes(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	_, err := w.driver.Audience(t.Context(), w.conn, w.account.ID, "404")
	require.ErrorIs(t, err, ads.ErrNotFound)
	assert.Contains(t, err.Error(), "Audience not found.")

	stranger := w.net.AddAccount("somebody else's", "Theirs", "USD", "OWNER")
	_, _, err = w.driver.Sync(t.Context(), w.conn, stranger.ID, "")
	require.ErrorIs(t, err, ads.ErrForbidden)
	assert.Contains(t, err.Error(), "You are not permitted to access that resource.")

	w.conn.Token = "revoked"
	_, err = w.driver.AdAccounts(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnauthorized)

	_, err = w.driver.BusinessCenters(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnsupported)
}

// leaky lets the token stand in whatever comes back.
type leaky struct{ status int }

func (l leaky) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.status == 0 {
		return nil, fmt.Errorf("cannot send %v", r.Header)
	}
	body := fmt.Sprintf(`{"code": 1, "message": "bad header %s"}`, r.Header.Get("Authorization"))
	return answer(l.status, body), nil
}

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}}
}

func TestToken_IsInNoError(t *testing.T) {
	t.Parallel()
	for _, status := range []int{0, 200, 302, 400, 401, 403, 404, 500} {
		w := newWorld("USD", func(http.RoundTripper) http.RoundTripper { return leaky{status} })
		_, read := w.driver.AdAccounts(t.Context(), w.conn)
		write := w.driver.DeleteAudience(t.Context(), w.conn, w.account.ID, "1")
		_, create := w.driver.CreateAudience(t.Context(), w.conn, ads.AudiencePlan{AdAccount: w.ad, Type: "retargeting", PixelID: "1"})
		for _, err := range []error{read, write, create} {
			var refused *ads.Rejected
			if errors.As(err, &refused) {
				assert.NotContains(t, refused.Message+refused.Raw, secret, status)
			}
			assert.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), secret, status)
		}
	}
}

func TestRedirect_IsNotFollowed(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	w := newWorld("USD", nil)
	driver := pinterest.New(pinterest.Config{Client: server.Client(), BaseURL: server.URL})
	err := driver.DeleteAudience(t.Context(), w.conn, w.account.ID, "1")
	require.ErrorIs(t, err, ads.ErrUnavailable)
	assert.Zero(t, elsewhere.Load())
}

func TestWrite_WithoutAConnectionWasNotSent(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	l.Close()
	w := newWorld("USD", nil)
	driver := pinterest.New(pinterest.Config{Client: &http.Client{Transport: &http.Transport{}}, BaseURL: "http://" + address})
	err = driver.DeleteAudience(t.Context(), w.conn, w.account.ID, "1")
	require.ErrorIs(t, err, ads.ErrUnavailable)
	assert.NotErrorIs(t, err, ads.ErrIndeterminate)
}

func TestWrite_IsSentOnceOverARealConnection(t *testing.T) {
	t.Parallel()
	for _, fault := range []pinterestfake.Fault{pinterestfake.FaultDrop, pinterestfake.FaultDropAfter, pinterestfake.FaultHangAfter} {
		w := newWorld("USD", nil)
		server := httptest.NewServer(w.net)
		t.Cleanup(server.Close)
		client := &impatient.Transport{Next: server.Client().Transport}
		w.net.OnHang = client.GiveUp
		driver := pinterest.New(pinterest.Config{
			Client: &http.Client{Transport: client}, BaseURL: server.URL + pinterestfake.Prefix + "/", Request: time.Minute,
		})
		_, err := driver.AdAccounts(t.Context(), w.conn) // so that the connection is one that has been used
		require.NoError(t, err)
		w.net.Break("campaigns/create", 0, fault)
		w.net.Forget()
		_, err = driver.Create(t.Context(), w.conn, w.boost("once"))
		require.ErrorIs(t, err, ads.ErrIndeterminate)
		assert.Equal(t, []string{"pins/get", "campaigns/create"}, w.net.Calls())
	}
}

// vague answers an operation with a success that says too little, after the network has done it.
type vague struct {
	next      http.RoundTripper
	operation string
	body      string
}

func (v vague) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := v.next.RoundTrip(r)
	if err != nil || pinterestfake.OperationOf(r).ID != v.operation {
		return res, err
	}
	return answer(http.StatusOK, v.body), nil
}

func TestWrite_ThatIsNotToldWhatItMadeIsIndeterminate(t *testing.T) {
	t.Parallel()
	for operation, bodies := range map[string][]string{
		"campaigns/create": {`{}`, `{"items": []}`, `{"items": [{}]}`, `{"items": [{"data": {}}]}`, `{"items": [{"data": {"id": "1"}}, {"data": {"id": "2"}}]}`},
		"ads/create":       {`{"items": [{}]}`, `{"items": [{"data": {}}]}`},
		"pins/create":      {`{}`},
	} {
		for _, body := range bodies {
			w := newWorld("USD", func(next http.RoundTripper) http.RoundTripper { return vague{next, operation, body} })
			_, err := w.driver.Create(t.Context(), w.conn, w.standalone("vague"))
			require.ErrorIs(t, err, ads.ErrIndeterminate, "%s %s", operation, body)
			calls := w.net.Calls()
			assert.Equal(t, operation, calls[len(calls)-1], "nothing is done after it: %s", body)
		}
	}
	for _, operation := range []string{"audiences/create", "customer_lists/create"} {
		w := newWorld("USD", func(next http.RoundTripper) http.RoundTripper { return vague{next, operation, `{}`} })
		_, err := w.driver.UploadUsers(t.Context(), w.conn, w.buyers(1))
		require.ErrorIs(t, err, ads.ErrIndeterminate, operation)
	}
}
