package conformance

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/sdk"
)

// TB is what a check needs of a test, or of whatever counts what fails.
type TB interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Failed() bool
}

// Client sends single requests. It is for tests about the bytes of a request, where the SDK would be in the way.
type Client struct {
	URL     string // http://host:port
	Key     string // "" sends no Authorization
	Account string // the key's, where it is known
	HTTP    *http.Client
}

// Response is an answer whose body was read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// As returns the same client with another API key.
func (c *Client) As(key string) *Client {
	other := *c
	other.Key = key
	return &other
}

// At returns the same client for a server at another address.
func (c *Client) At(url string) *Client {
	client := *c
	client.URL = url
	return &client
}

// SDK returns an SDK client with the same key. It does not retry: a test wants to see the first answer.
func (c *Client) SDK() *sdk.Client {
	return sdk.New(c.Key, sdk.WithBaseURL(c.URL+"/v1"), sdk.WithHTTPClient(c.HTTP), sdk.WithRetries(0))
}

// For returns the same client for another test, which an answer that breaks the contract fails.
func (c *Client) For(t TB) *Client {
	other := *c
	if checked, ok := c.HTTP.Transport.(*Transport); ok {
		transport, client := *checked, *c.HTTP
		transport.T, client.Transport = t, &transport
		other.HTTP = &client
	}
	return &other
}

// Do sends a request. A body that is a string or bytes is sent as it is, any other one as JSON, and none for nil. Headers come
// in pairs; an empty value removes a header that Do would have set.
func (c *Client) Do(t TB, method, path string, body any, headers ...string) *Response {
	t.Helper()
	resp, err := c.Try(method, path, body, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

// Try is Do for a server that may not answer.
func (c *Client) Try(method, path string, body any, headers ...string) (*Response, error) {
	req, err := http.NewRequest(method, c.URL+path, reader(body))
	if err != nil {
		return nil, err
	}
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Del(headers[i])
		if headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: data}, err
}

func reader(body any) io.Reader {
	switch b := body.(type) {
	case nil:
		return nil
	case string:
		return strings.NewReader(b)
	case []byte:
		return bytes.NewReader(b)
	case io.Reader:
		return b
	}
	return bytes.NewReader(Encode(body))
}

// Encode returns the JSON of a value, and panics if there is none.
func Encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// Must sends a request that has to succeed, and returns the object that is answered.
func (c *Client) Must(t TB, method, path string, body any, headers ...string) map[string]any {
	t.Helper()
	resp := c.Do(t, method, path, body, headers...)
	if resp.Status >= 300 {
		t.Fatalf("%s %s answered %d: %s", method, path, resp.Status, resp.Body)
	}
	return resp.Object(t)
}

// Object decodes the body.
func (r *Response) Object(t TB) map[string]any {
	t.Helper()
	object := map[string]any{}
	if err := json.Unmarshal(r.Body, &object); err != nil {
		t.Fatalf("the answer is no JSON object: %v\n%s", err, r.Body)
	}
	return object
}

// Fault decodes the error envelope and fails the test unless status and code are as expected.
func (r *Response) Fault(t TB, status int, code string) *Fault {
	t.Helper()
	f, err := ParseFault(r.Body)
	if err != nil {
		t.Errorf("%d was answered, %d %s is expected: %v\n%s", r.Status, status, code, err, r.Body)
		return &Fault{}
	}
	if r.Status != status || f.Code != code {
		t.Errorf("%d %s was answered, %d %s is expected: %s", r.Status, f.Code, status, code, f.Message)
	}
	return f
}
