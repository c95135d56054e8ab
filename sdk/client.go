package sdk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultBaseURL is where `make run` serves.
const DefaultBaseURL = "http://127.0.0.1:8080/v1"

const (
	defaultRetryTime = 30 * time.Second // longer than a restart takes
	defaultTimeout   = time.Minute
	idlePerHost      = 64
)

// clientSettings are the settings that a client was made with.
type clientSettings struct {
	key       string
	baseURL   string
	publicURL string
	userAgent string
	retries   int // negative: as often as the time allows
	retryTime time.Duration
	timeout   time.Duration
	http      *http.Client
	hooks     []func(context.Context, Attempt)
	// misuse is what New could not accept. Every call returns it.
	misuse error
}

// ClientOption configures New.
type ClientOption func(*Client)

// New returns a client that authenticates with an API key (`sk_...`). It sends nothing. If a setting cannot work, such as
// a base URL without a scheme, the first call returns the error. Without a key only public operations work.
func New(key string, options ...ClientOption) *Client {
	c := newClient(clientSettings{
		key:       strings.TrimSpace(key),
		userAgent: "tillwright-go/v1",
		retries:   -1,
		retryTime: defaultRetryTime,
		timeout:   defaultTimeout,
		http:      &http.Client{Transport: newTransport()},
	})
	WithBaseURL(DefaultBaseURL)(c)
	for _, option := range options {
		option(c)
	}
	if c.http.CheckRedirect == nil {
		c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return c
}

// WithBaseURL sets the server's base address, which ends in the version: "https://shop.example/v1".
func WithBaseURL(address string) ClientOption {
	return func(c *Client) {
		c.baseURL = strings.TrimRight(address, "/")
		c.publicURL = strings.TrimSuffix(c.baseURL, "/v1")
		c.misuse = checkBaseURL(address)
	}
}

func checkBaseURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("the base URL cannot be parsed: pass one such as " + DefaultBaseURL)
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("the base URL %q is not an absolute http(s) address: pass one such as %s", u.Redacted(), DefaultBaseURL)
	}
	return nil
}

// WithHTTPClient sends through h: for a proxy, your own certificates, or a tracing transport. The client itself is copied;
// its transport is shared. Redirects are not followed unless h has a CheckRedirect, because the API never redirects.
func WithHTTPClient(h *http.Client) ClientOption {
	return func(c *Client) {
		own := *h
		c.http = &own
	}
}

// WithRetryTime sets for how long a call is repeated: no attempt begins later than that after the first, but for the second one. The default is 30
// seconds, in which a server restarts. The wait that Retry-After asks for comes on top, up to two minutes for a call. 0 never repeats.
func WithRetryTime(most time.Duration) ClientOption {
	return func(c *Client) { c.retryTime = most }
}

// WithRetries sets how often a call is repeated at most, within WithRetryTime. Unless it is given only the time counts. 0 never repeats.
func WithRetries(most int) ClientOption {
	return func(c *Client) { c.retries = max(0, most) }
}

// WithTimeout bounds one attempt. The default is a minute; 0 sets no bound. An attempt that takes longer is a network error,
// and is repeated as any other: once, and while WithRetryTime lasts. WithCallTimeout and the context bound all attempts of a call together.
func WithTimeout(each time.Duration) ClientOption {
	return func(c *Client) { c.timeout = each }
}

// WithUserAgent names your program to the server, "tillwright-go/v1" unless set.
func WithUserAgent(name string) ClientOption {
	return func(c *Client) { c.userAgent = name }
}

// WithHook calls hook after every attempt of every call, with the call's context and from its goroutine: for logs, metrics
// and traces. Several hooks are called in the order in which they were given.
func WithHook(hook func(context.Context, Attempt)) ClientOption {
	return func(c *Client) { c.hooks = append(c.hooks, hook) }
}

// newTransport returns a transport that keeps more idle connections to one host than the standard library's two, which are too
// few for a busy shop.
func newTransport() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t := standard.Clone()
	t.MaxIdleConnsPerHost = idlePerHost
	return t
}
