package sdktest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/internal/require"
	"github.com/tillwright/tillwright/sdk/sdktest"
)

func TestFail_AnswersAsOftenAsItSays(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	s.Fail(sdktest.Fault{Operation: "createProduct", Status: http.StatusServiceUnavailable, RetryAfter: 1500 * time.Millisecond, Times: 2})
	s.Fail(sdktest.Fault{Operation: "createProduct", Status: http.StatusTooManyRequests})
	s.Fail(sdktest.Fault{Operation: "createProduct", Status: http.StatusConflict, Code: "own_code", Message: "Own message."})
	_, err := once(s).Products.List(background, nil)
	require.NoError(t, err, "the fault is another operation's")
	for _, want := range []string{"503 api_error 2s", "503 api_error 2s", "429 rate_limit_exceeded 1s", "409 own_code 0s"} {
		_, err := once(s).Products.Create(background, &sdk.ProductCreate{Name: "A"})
		var refused *sdk.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, want, fmt.Sprint(refused.Status, " ", refused.Code, " ", refused.RetryAfter))
	}
	page, err := once(s).Products.List(background, nil)
	require.NoError(t, err)
	require.Empty(t, page.Data, "nothing was done")
	_, err = once(s).Products.Create(background, &sdk.ProductCreate{Name: "A"})
	require.NoError(t, err)
}

// The call that every integrator fears: it was done, and nobody knows.
func TestFail_LosesAnAnswerThatTheRepeatedCallGets(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sdktest.Fault{
		"dropped": {Drop: true}, "refused": {Status: http.StatusBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sdktest.New(t)
			fault.AfterChange = true
			s.Fail(fault)
			mine := sdk.WithIdempotencyKey("mine")
			_, err := once(s).Products.Create(background, &sdk.ProductCreate{Name: "A"}, mine)
			require.Error(t, err)
			var r sdk.Response
			_, err = once(s).Products.Create(background, &sdk.ProductCreate{Name: "A"}, mine, sdk.WithResponse(&r))
			require.NoError(t, err)
			require.True(t, r.Replayed)
			page, err := once(s).Products.List(background, nil)
			require.NoError(t, err)
			require.Len(t, page.Data, 1)
			_, err = once(s).Products.Create(background, &sdk.ProductCreate{Name: "B"}, mine)
			require.Equal(t, sdk.CodeKeyReused, sdk.CodeOf(err))
		})
	}
}

// net/http repeats a request by itself if a connection that was used before ends without a byte.
func TestFail_DropsOnAConnectionThatWasUsedBefore(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	_, err := once(s).Products.List(background, nil)
	require.NoError(t, err)
	s.Fail(sdktest.Fault{Operation: "createProduct", Drop: true})
	_, err = once(s).Products.Create(background, &sdk.ProductCreate{Name: "A"})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Len(t, s.Requests(), 2)
}

func TestFail_HoldsACallUntilItsClientGivesUp(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			s := sdktest.New(t)
			isAsked := func() bool {
				return slices.ContainsFunc(s.Requests(), func(r sdktest.Request) bool { return r.Operation == "createProduct" })
			}
			s.Fail(sdktest.Fault{Operation: "createProduct", Delay: time.Hour, AfterChange: after})
			ctx, cancel := context.WithCancel(background)
			ended := make(chan error)
			go func() {
				_, err := once(s).Products.Create(ctx, &sdk.ProductCreate{Name: "A"})
				ended <- err
			}()
			made := 0
			for !isAsked() || after && made == 0 {
				page, err := once(s).Products.List(background, nil)
				require.NoError(t, err)
				made = len(page.Data)
				runtime.Gosched()
			}
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
			require.Equal(t, after, made == 1)
		})
	}
}

// recorder is a test that notes how it is ended.
type recorder struct {
	testing.TB

	said string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (r *recorder) Errorf(format string, args ...any) { r.said = fmt.Sprintf(format, args...) }

func TestFail_EndsATestThatAsksForNothing(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]sdktest.Fault{
		`sdktest: Fail: the API has no operation "makeProduct"`: {Operation: "makeProduct", Drop: true},
		"sdktest: Fail: set Status, Delay or Drop":              {Operation: "createProduct"},
		"sdktest: Fail: 200 is no status of an error":           {Status: 200},
	} {
		s := sdktest.New(&recorder{TB: t})
		func() {
			defer func() { require.Equal(t, any(want), recover()) }()
			s.Fail(f)
		}()
	}
}
