package sdktest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/internal/require"
	"github.com/tillwright/tillwright/sdk/sdktest"
)

var background = context.Background()

// once is a client that sees the first answer.
func once(s *sdktest.Server) *sdk.Client { return s.Client(sdk.WithRetries(0)) }

func TestExample_IsTrue(t *testing.T) {
	t.Parallel()
	testShop(t)
}

// This one runs before those that are parallel, so that all new goroutines are its own.
func TestServer_LeavesNoGoroutine(t *testing.T) { //nolint:paralleltest // see above
	before := runtime.NumGoroutine()
	t.Run("in use", func(t *testing.T) {
		s := sdktest.New(t)
		s.Webhooks(http.NotFoundHandler(), secret)
		_, err := s.Client().Products.Create(background, &sdk.ProductCreate{Name: "A"})
		require.NoError(t, err)
		s.Fail(sdktest.Fault{Delay: time.Hour})
		go func() { _, _ = once(s).Products.List(background, nil) }() // it is never answered
		for len(s.Requests()) < 2 {
			runtime.Gosched()
		}
	})
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func TestServer_IsOfOneTestAlone(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for n := range 4 {
		s := sdktest.New(t)
		for range 4 {
			all.Go(func() {
				for range n {
					if _, err := s.Client().Products.Create(background, &sdk.ProductCreate{Name: "A"}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		t.Cleanup(func() {
			page, err := s.Client().Products.List(background, nil)
			if err != nil || len(page.Data) != 4*n {
				t.Errorf("%d products, %d were made: %v", len(page.Data), 4*n, err)
			}
		})
	}
	all.Wait()
}

func TestServer_SaysWhatItDoesNotDo(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	var r sdk.Response
	_, err := s.Client().Subscriptions.List(background, nil, sdk.WithResponse(&r))
	require.Equal(t, "not_faked", sdk.CodeOf(err))
	require.ErrorContains(t, err, "sdktest does not do listSubscriptions.")
	require.Equal(t, 1, r.Attempts, "it is not repeated")
	_, err = s.Client().Orders.List(background, &sdk.ListOrdersParams{TotalMin: new(int64(5))})
	require.ErrorContains(t, err, "sdktest does not filter orders by total_min.")
	_, err = s.Client().Products.Create(background, &sdk.ProductCreate{Name: "A"})
	require.NoError(t, err)
	for range 50 { // whatever the order of the parameters
		_, err = s.Client().Products.List(background, &sdk.ListProductsParams{Status: new(sdk.ProductStatusArchived), HasRecurring: new(true)})
		require.ErrorContains(t, err, "sdktest does not filter products by has_recurring.")
	}
}

// Every operation of the API is either done or named, whatever is sent.
func TestServer_AnswersEveryOperation(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	faked := 0
	for id, op := range sdk.Operations {
		url := s.URL + op.Path
		if op.Public {
			url = strings.TrimSuffix(s.URL, "/v1") + op.Path
		}
		req, err := http.NewRequest(op.Method, strings.NewReplacer("{", "", "}", "").Replace(url), strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+sdktest.Key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err, "%s", id)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		switch {
		case resp.StatusCode == http.StatusNotImplemented:
			require.Contains(t, string(body), "sdktest does not do "+id+".")
		default:
			faked++
			require.True(t, resp.StatusCode < http.StatusInternalServerError, "%s: %d %s", id, resp.StatusCode, body)
		}
	}
	require.True(t, faked > 50, "%d operations are done", faked)
	http.DefaultClient.CloseIdleConnections()
}

func TestServer_NeedsAKey(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	_, err := sdk.New("pk_1", sdk.WithBaseURL(s.URL)).Products.List(background, nil)
	require.Equal(t, sdk.CodeAuthentication, sdk.CodeOf(err))
}

// How the scheme is written is up to the client, as at the real server.
func TestServer_TakesTheSchemeInAnyCase(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	for header, want := range map[string]int{
		"Bearer sk_1": http.StatusOK, "bearer sk_1": http.StatusOK, "Bearer  sk_1": http.StatusOK, "sk_1": http.StatusUnauthorized, "Basic sk_1": http.StatusUnauthorized,
	} {
		req, err := http.NewRequest(http.MethodGet, s.URL+"/products", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Authorization", header)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, resp.StatusCode, "%s", header)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestRequests_AreWhatWasAsked(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	_, err := s.Client().Products.Create(background, &sdk.ProductCreate{Name: "A"}, sdk.WithIdempotencyKey("mine"))
	require.NoError(t, err)
	_, err = s.Client().Products.List(background, &sdk.ListProductsParams{Limit: new(int64(5))})
	require.NoError(t, err)
	asked := s.Requests()
	require.Len(t, asked, 2)
	require.Equal(t, "createProduct 201 mine", fmt.Sprint(asked[0].Operation, " ", asked[0].Status, " ", asked[0].Header.Get("Idempotency-Key")))
	require.JSONEq(t, `{"name":"A"}`, string(asked[0].Body))
	require.Equal(t, "GET /v1/products 5", asked[1].Method+" "+asked[1].Path+" "+asked[1].Query.Get("limit"))
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		s := sdktest.New(b)
		if _, err := s.Client().Products.Create(background, &sdk.ProductCreate{Name: "A"}); err != nil {
			b.Fatal(err)
		}
	}
}
