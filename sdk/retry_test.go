package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

var errReset = errors.New("connection reset by peer")

func TestRetry_RepeatsWhatMaySucceed(t *testing.T) {
	t.Parallel()
	cut := func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 201, Body: io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)), Request: r}, nil
	}
	for name, failure := range map[string]reply{
		"network error":   broken(errReset),
		"cut answer":      cut,
		"500":             refused(500, CodeAPIError),
		"internal_error":  refused(500, "internal_error"),
		"a proxy's 502":   answered(502, "<html>bad gateway</html>"),
		"503":             answered(503, ""),
		"429":             refused(429, CodeRateLimitExceeded, "Retry-After", "1"),
		"409 in progress": refused(409, CodeRequestInProgress, "Retry-After", "1"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, replies := scripted(failure, failure, answered(201, `{"id":"prod_1"}`))
				var response Response
				product, err := New(testKey, replies).Products.Create(t.Context(), &ProductCreate{Name: "Guide"}, WithResponse(&response))
				require.NoError(t, err)
				require.Equal(t, "prod_1", product.ID)
				require.Equal(t, 3, response.Attempts)
				require.Len(t, s.sent, 3)
				for i := range s.sent {
					require.Equal(t, s.sent[0].Header, s.sent[i].Header, "the same Idempotency-Key each time")
					require.Equal(t, `{"name":"Guide"}`, s.bodies[i])
				}
			})
		})
	}
}

func TestRetry_NeverRepeatsARefusal(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{
		400: CodeBadRequest, 401: CodeAuthentication, 402: CodePlanUpgradeRequired, 403: CodeForbidden, 404: CodeResourceMissing,
		405: CodeMethodNotAllowed, 409: "account_not_activated", 413: CodeRequestTooLarge, 415: CodeUnsupportedMediaType, 422: CodeValidationFailed,
		501: "not_implemented",
	} {
		s, replies := scripted(refused(status, code, "Retry-After", "1"))
		_, err := New(testKey, replies).Products.Create(t.Context(), &ProductCreate{Name: "Guide"})
		require.Equal(t, code, CodeOf(err))
		require.Equal(t, status, refusal(t, err).Status)
		require.Len(t, s.sent, 1, code)
	}
}

func TestRetry_EndsAndReturnsTheLastError(t *testing.T) {
	t.Parallel()
	for retries, failure := range []reply{refused(500, CodeAPIError), broken(errReset), refused(500, CodeAPIError), broken(errReset)} {
		synctest.Test(t, func(t *testing.T) {
			s, replies := scripted(failure)
			var response Response
			_, err := New(testKey, replies, WithRetries(retries)).Account.Get(t.Context(), WithResponse(&response))
			require.Error(t, err)
			require.Equal(t, retries%2 == 1, errors.Is(err, errReset))
			require.Len(t, s.sent, retries+1)
			require.Equal(t, retries+1, response.Attempts)
		})
	}
}

func TestRetry_BacksOffFurtherEachTimeWithinItsBounds(t *testing.T) {
	t.Parallel()
	bounds := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second}
	for i, bound := range bounds {
		longest := time.Duration(0)
		for range 200 {
			wait := backoff(i + 1)
			require.Less(t, wait, bound)
			longest = max(longest, wait)
		}
		require.Greater(t, longest, bound*3/4, "the whole bound is used")
	}
	require.Less(t, backoff(1_000_000), lastBackoff)
}

func TestRetry_BridgesARestart(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]reply{
		"connection refused":      broken(errReset),
		"503 with Retry-After":    refused(503, CodeAPIError, "Retry-After", "1"),
		"a proxy without servers": answered(502, ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 50 { // the waits are random
				synctest.Test(t, func(t *testing.T) {
					back := time.Now().Add(20 * time.Second)
					_, replies := scripted(func(r *http.Request) (*http.Response, error) {
						if time.Now().Before(back) {
							return failure(r)
						}
						return answered(200, `{}`)(r)
					})
					_, err := New(testKey, replies).Account.Get(t.Context())
					require.NoError(t, err)
				})
			}
		})
	}
}

func TestRetry_EndsWithItsTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failure       reply
		options       []ClientOption
		least, within time.Duration // after which the last attempt begins
	}{
		"by default":               {broken(errReset), nil, 22 * time.Second, 30 * time.Second},
		"a time":                   {broken(errReset), []ClientOption{WithRetryTime(2 * time.Minute)}, 112 * time.Second, 2 * time.Minute},
		"no time":                  {broken(errReset), []ClientOption{WithRetryTime(0)}, 0, 0},
		"a number":                 {broken(errReset), []ClientOption{WithRetries(1)}, 250 * time.Millisecond, 500 * time.Millisecond},
		"what the server asks for": {refused(429, CodeRateLimitExceeded, "Retry-After", "50"), nil, 100 * time.Second, 102 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, replies := scripted(c.failure)
				begun := time.Now()
				_, err := New(testKey, append(c.options, replies)...).Account.Get(t.Context())
				require.Error(t, err)
				require.GreaterOrEqual(t, time.Since(begun), c.least)
				require.True(t, time.Since(begun) <= c.within)
			})
		})
	}
}

func TestRetry_WaitsForTheFirstRequestLongerThanForAnythingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		running := refused(409, CodeRequestInProgress, "Retry-After", "1")
		freed := time.Now().Add(time.Minute)
		_, replies := scripted(func(r *http.Request) (*http.Response, error) {
			if time.Now().Before(freed) {
				return running(r)
			}
			return answered(200, `{}`)(r)
		})
		_, err := New(testKey, replies).Products.Publish(t.Context(), "prod_1")
		require.NoError(t, err)
	})
	synctest.Test(t, func(t *testing.T) {
		_, replies := scripted(refused(409, CodeRequestInProgress, "Retry-After", "1"))
		begun := time.Now()
		_, err := New(testKey, replies).Products.Publish(t.Context(), "prod_1")
		require.Equal(t, CodeRequestInProgress, CodeOf(err))
		require.Less(t, time.Since(begun), 2*longestClaim)
	})
	s, replies := scripted(refused(409, CodeRequestInProgress, "Retry-After", "1"))
	_, err := New(testKey, replies, WithRetries(0)).Products.Publish(t.Context(), "prod_1")
	require.Equal(t, CodeRequestInProgress, CodeOf(err))
	require.Len(t, s.sent, 1)
}

func TestRetry_WaitsAsLongAsTheServerAsks(t *testing.T) {
	t.Parallel()
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // synctest's clock
	reset := strconv.FormatInt(start.Add(40*time.Second).Unix(), 10)
	ahead := start.Add(30 * time.Second).Format(http.TimeFormat)
	for name, c := range map[string]struct {
		failure reply
		least   time.Duration
	}{
		"429 Retry-After":                 {refused(429, CodeRateLimitExceeded, "Retry-After", "17", "X-RateLimit-Reset", reset), 17 * time.Second},
		"429 X-RateLimit-Reset":           {refused(429, CodeRateLimitExceeded, "X-RateLimit-Reset", reset), 40 * time.Second},
		"429 reset by the server's clock": {refused(429, CodeRateLimitExceeded, "X-RateLimit-Reset", reset, "Date", ahead), 10 * time.Second},
		"409 Retry-After":                 {refused(409, CodeRequestInProgress, "Retry-After", "3"), 3 * time.Second},
		"503 with a date":                 {answered(503, "", "Retry-After", ahead), 30 * time.Second},
		"500 ignores the quota":           {refused(500, CodeAPIError, "X-RateLimit-Reset", reset), 0},
		"429 in the past":                 {refused(429, CodeRateLimitExceeded, "Retry-After", "-5"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, replies := scripted(c.failure, answered(200, `{}`))
				begun := time.Now()
				_, err := New(testKey, replies).Account.Get(t.Context())
				require.NoError(t, err)
				require.Len(t, s.sent, 2)
				require.GreaterOrEqual(t, time.Since(begun), c.least)
				require.Less(t, time.Since(begun), c.least+firstBackoff)
			})
		})
	}
}

func TestRetry_DoesNotWaitBeyondItsTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait    string
		options []Option
	}{
		"the call's timeout":    {"17", []Option{WithCallTimeout(10 * time.Second)}},
		"more than is sensible": {"3600", nil},
		"a year":                {"31536000", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, replies := scripted(refused(429, CodeRateLimitExceeded, "Retry-After", c.wait))
				begun := time.Now()
				_, err := New(testKey, replies).Account.Get(t.Context(), c.options...)
				require.Equal(t, c.wait+"s", fmt.Sprintf("%.0fs", refusal(t, err).RetryAfter.Seconds()))
				require.Len(t, s.sent, 1)
				require.Zero(t, time.Since(begun))
			})
		})
	}
}

func TestRetry_ACanceledContextEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, replies := scripted(refused(429, CodeRateLimitExceeded, "Retry-After", "17"))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		begun := time.Now()
		_, err := New(testKey, replies).Account.Get(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, CodeRateLimitExceeded, CodeOf(err), "and why it was waiting")
		require.Equal(t, 5*time.Second, time.Since(begun))
		require.Len(t, s.sent, 1)
	})
}

func TestRetry_ACanceledContextEndsTheAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, replies := scripted(hang)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := New(testKey, replies).Account.Get(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.EqualError(t, err, "sdk: getAccount: context canceled")
		require.Len(t, s.sent, 1)
	})
}

func TestTimeout_OfAnAttemptIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, replies := scripted(hang, answered(200, `{}`))
		begun := time.Now()
		_, err := New(testKey, replies, WithTimeout(3*time.Second)).Account.Get(t.Context())
		require.NoError(t, err)
		require.Len(t, s.sent, 2)
		require.GreaterOrEqual(t, time.Since(begun), 3*time.Second)
	})
}

// The answer to an attempt may be lost. Sent once more with its key, the server gives it again.
func TestTimeout_LongerThanTheRetryTimeIsRepeatedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, replies := scripted(hang)
		_, err := New(testKey, replies).Products.Create(t.Context(), &ProductCreate{Name: "Guide"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, s.sent, 2)
		require.Equal(t, s.sent[0].Header, s.sent[1].Header)
	})
}

func TestTimeout_OfTheCallBoundsAllAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, replies := scripted(hang)
		begun := time.Now()
		_, err := New(testKey, replies, WithTimeout(0)).Account.Get(t.Context(), WithCallTimeout(7*time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 7*time.Second, time.Since(begun))
	})
}

// hang answers never.
func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestRetry_WaitsForNoNumberThatIsNoTime(t *testing.T) {
	t.Parallel()
	for name, refusing := range map[string]reply{
		"more than nanoseconds hold": refused(429, CodeRateLimitExceeded, "Retry-After", "9999999999"),
		"more than 64 bits hold":     refused(503, CodeAPIError, "Retry-After", "99999999999999999999"),
		"the year 9999":              refused(503, CodeAPIError, "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"),
		"a reset in a far future":    refused(429, CodeRateLimitExceeded, "X-RateLimit-Reset", "9223372036854775807"),
	} {
		synctest.Test(t, func(t *testing.T) {
			s, replies := scripted(refusing)
			_, err := New(testKey, replies).Account.Get(t.Context())
			require.Equal(t, longestAsked.Hours(), refusal(t, err).RetryAfter.Round(time.Hour).Hours(), name)
			require.Len(t, s.sent, 1, name)
		})
	}
	s, replies := scripted(refused(503, CodeAPIError, "Retry-After", "-99999999999999999999"), answered(200, `{}`))
	_, err := New(testKey, replies).Account.Get(t.Context())
	require.NoError(t, err)
	require.Len(t, s.sent, 2)
}

func TestRetry_NeverRepeatsWhatIsMisdirected(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it says that its certificate was refused
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	trusting := secure.Client().Transport.(*http.Transport).Clone()
	trusting.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, secure.Listener.Addr().String())
	}
	for name, c := range map[string]struct {
		url       string
		transport http.RoundTripper
		want      string
	}{
		"an unknown authority":      {secure.URL, http.DefaultTransport, "certificate"},
		"a certificate of another":  {"https://shop.example.net", trusting, "certificate"},
		"plain HTTP where TLS is":   {"https://" + plain.Listener.Addr().String(), http.DefaultTransport, "HTTP response to HTTPS client"},
		"a host that nobody has":    {"https://tillwright.invalid", unknownHost{}, "no such host"},
		"the same, behind a dialer": {"https://tillwright.invalid", unknownHost{wrapped: true}, "no such host"},
	} {
		var response Response
		counted := &http.Client{Transport: c.transport}
		_, err := New(testKey, WithBaseURL(c.url), WithHTTPClient(counted)).Account.Get(t.Context(), WithResponse(&response))
		require.ErrorContains(t, err, c.want, name)
		require.Equal(t, 1, response.Attempts, name)
	}
}

// unknownHost fails as a dialer does whose DNS knows no such host.
type unknownHost struct{ wrapped bool }

func (u unknownHost) RoundTrip(*http.Request) (*http.Response, error) {
	var err error = &net.DNSError{Err: "no such host", Name: "tillwright.invalid", IsNotFound: true}
	if u.wrapped {
		err = &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	return nil, err
}

func TestRetry_RepeatsADNSThatIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, replies := scripted(broken(&net.DNSError{Err: "server misbehaving", IsTemporary: true}), answered(200, `{}`))
		_, err := New(testKey, replies).Account.Get(t.Context())
		require.NoError(t, err)
		require.Len(t, s.sent, 2)
	})
}
