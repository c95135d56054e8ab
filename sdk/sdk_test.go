package sdk

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

const testKey = "sk_test_secret"

// reply answers one request without a network, so that time can be faked around it.
type reply func(*http.Request) (*http.Response, error)

func answered(status int, body string, headers ...string) reply {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{"X-Request-Id": {"req_1"}}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

func refused(status int, code string, headers ...string) reply {
	return answered(status, `{"error":{"type":"invalid_request_error","code":"`+code+`","message":"No."}}`, headers...)
}

func broken(err error) reply {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// script answers each request with the next reply and repeats the last one. It keeps what was sent.
type script struct {
	replies []reply
	sent    []*http.Request
	bodies  []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(text)
	}
	next := s.replies[min(len(s.sent), len(s.replies)-1)]
	s.sent = append(s.sent, r)
	s.bodies = append(s.bodies, body)
	return next(r)
}

// scripted returns a client whose requests are answered by replies.
func scripted(replies ...reply) (*script, ClientOption) {
	s := &script{replies: replies}
	return s, WithHTTPClient(&http.Client{Transport: s})
}

// refusal returns the *Error in err and fails the test if there is none.
func refusal(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	return e
}

// Each service has an example on its page: how its calls look is seen before one is written.
func TestEveryService_HasAnExample(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("example*_test.go")
	require.NoError(t, err)
	var examples strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		examples.Write(text)
	}
	services := reflect.TypeFor[Client]()
	found := 0
	for i := range services.NumField() {
		field := services.Field(i)
		if name, ok := strings.CutSuffix(field.Type.String(), "Service"); ok {
			found++
			service := strings.TrimPrefix(name, "*sdk.") + "Service"
			require.True(t, strings.Contains(examples.String(), "func Example"+service+"_"), service)
		}
	}
	require.True(t, found >= 40)
}
