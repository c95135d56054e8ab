package conformance

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder takes the place of a test and keeps what would have failed it.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// answering is a server that always gives one answer.
type answering struct {
	status int
	header map[string]string
	body   string
}

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	h := http.Header{}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-Request-Id": "req_01m7y0ft9h0z5y70nmaqr71adk", "X-Content-Type-Options": "nosniff",
		"RateLimit-Policy": `"default";q=600;w=60`, "RateLimit": `"default";r=599;t=17`,
		"X-RateLimit-Reset": fmt.Sprint(time.Now().Unix() / 60 * 60),
	} {
		h.Set(name, value)
	}
	for name, value := range a.header {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader(a.body)), Request: req}, nil
}

const (
	types   = `{"object":"list","data":[],"has_more":false,"url":"/v1/webhook_endpoints/events"}`
	missing = `{"error":{"type":"invalid_request_error","code":"resource_missing","message":"No."}}`
)

// TestTransport_SeesEveryBreakOfTheContract shows the transport one answer that keeps the contract and many that do not.
func TestTransport_SeesEveryBreakOfTheContract(t *testing.T) {
	t.Parallel()
	const list = "/v1/webhook_endpoints/events"
	for name, c := range map[string]struct {
		path  string
		give  answering
		fault string // "" when nothing is wrong
	}{
		"valid":               {list, answering{200, nil, types}, ""},
		"undocumented status": {list, answering{418, nil, missing}, "status is not supported"},
		"missing field":       {list, answering{200, nil, `{"object":"list","data":[]}`}, "has_more"},
		"mistyped field":      {list, answering{200, nil, strings.Replace(types, "false", `"no"`, 1)}, "has_more"},
		"no JSON":             {list, answering{200, map[string]string{"Content-Type": "text/html"}, types}, "Content-Type"},
		"no request id":       {list, answering{200, map[string]string{"X-Request-Id": "1"}, types}, "x-request-id"},
		"no nosniff":          {list, answering{200, map[string]string{"X-Content-Type-Options": ""}, types}, "X-Content-Type-Options"},
		"old header syntax":   {list, answering{200, map[string]string{"RateLimit": "limit=600, remaining=599"}, types}, "RateLimit"},
		"other policy":        {list, answering{200, map[string]string{"RateLimit-Policy": `"default";q=100;w=60`}, types}, "RateLimit-Policy"},
		"reset in a minute":   {list, answering{200, map[string]string{"X-RateLimit-Reset": "61"}, types}, "X-RateLimit-Reset"},
		"needless wait":       {list, answering{200, map[string]string{"Retry-After": "1"}, types}, "Retry-After"},
		"429 without wait":    {list, answering{429, nil, strings.Replace(missing, "resource_missing", "rate_limit_exceeded", 1)}, "Retry-After"},
		"unknown route":       {"/v1/nothing", answering{404, nil, missing}, ""},
		"bare 404":            {"/v1/nothing", answering{404, nil, `not found`}, "envelope"},
		"accepted nonsense":   {"/v1/products?limit=1000", answering{200, nil, strings.Replace(types, "webhook_endpoints/events", "products", 1)}, "accepted an invalid request"},
	} {
		var seen recorder
		client := &http.Client{Transport: &Transport{T: &seen, Coverage: &Coverage{}, Base: c.give}}
		resp, err := client.Get("http://shop.test" + c.path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		got := strings.Join(seen.failures, "\n")
		assert.Equal(t, got == "", c.fault == "", "%s: the transport", name)
		assert.Contains(t, got, c.fault, "%s: the transport", name)
	}
}

func TestTransport_WantsEveryRequestIDOnce(t *testing.T) {
	t.Parallel()
	var seen recorder
	client := &http.Client{Transport: &Transport{T: &seen, Coverage: &Coverage{}, Base: answering{200, nil, types}}}
	for range 2 {
		resp, err := client.Get("http://shop.test/v1/webhook_endpoints/events")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	require.Len(t, seen.failures, 1, "a repeated request id is not noticed")
	assert.Contains(t, seen.failures[0], "given twice", "a repeated request id is not noticed")
}

func TestCoverage_NamesWhatWasNeverSeen(t *testing.T) {
	t.Parallel()
	var c Coverage
	op := Promised().ByID("getAccount")
	for _, status := range op.Statuses {
		c.saw(op, status)
	}
	gaps := strings.Join(c.Gaps(nil), "\n")
	assert.NotContains(t, gaps, "getAccount ", "the gaps are\n")
	assert.Contains(t, gaps, "createProduct was never answered 201", "the gaps are\n")
}

func TestParseFault_IsStrict(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no envelope":        `{}`,
		"another type":       `{"error":{"type":"error","code":"x","message":"m"}}`,
		"no code":            `{"error":{"type":"api_error","message":"m"}}`,
		"another field":      `{"error":{"type":"api_error","code":"x","message":"m","stack":"s"}}`,
		"422 without errors": `{"error":{"type":"validation_error","code":"x","message":"m","param":"p"}}`,
	} {
		if f, err := ParseFault([]byte(body)); err == nil {
			t.Errorf("%s is taken for %+v", name, f)
		}
	}
}
