package conformance_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tillwright/tillwright/tests/conformance"
)

// altering sends requests to a server, and changes them and their answers, as a server would answer that breaks a promise.
type altering struct {
	base     http.RoundTripper
	question func(req *http.Request, body []byte) []byte
	answer   func(req *http.Request, resp *http.Response, body []byte) []byte
}

// RoundTrip implements http.RoundTripper.
func (a *altering) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path == "/openapi.json" {
		return a.base.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	if a.question != nil {
		var body []byte
		if req.Body != nil {
			body, _ = io.ReadAll(req.Body)
		}
		if body = a.question(req, body); body != nil {
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
	}
	resp, err := a.base.RoundTrip(req)
	if err != nil || a.answer == nil {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	body = a.answer(req, resp, body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp, err
}

// header has an answer changed by its headers alone.
func header(change func(h http.Header, req *http.Request)) *altering {
	return &altering{answer: func(req *http.Request, resp *http.Response, body []byte) []byte {
		change(resp.Header, req)
		return body
	}}
}

// replaced has a text of answers replaced.
func replaced(old, new string) *altering {
	return &altering{answer: func(_ *http.Request, _ *http.Response, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(old), []byte(new))
	}}
}

// unasked has parameters of a query left out that fit.
func unasked(name string, fits func(value string) bool) *altering {
	return &altering{question: func(req *http.Request, body []byte) []byte {
		if query := req.URL.Query(); query.Has(name) && fits(query.Get(name)) {
			query.Del(name)
			req.URL.RawQuery = query.Encode()
		}
		return body
	}}
}

// asked has a request changed.
func asked(change func(req *http.Request, body string) string) *altering {
	return &altering{question: func(req *http.Request, body []byte) []byte {
		if body == nil {
			change(req, "")
			return nil
		}
		return []byte(change(req, string(body)))
	}}
}

// strangers answers 403 for what another key has seen, in other words each time.
func strangers() *altering {
	var mu sync.Mutex
	seen, times := map[string]string{}, 0
	anID := regexp.MustCompile(`[a-z]+_[0-9a-hjkmnp-tv-z]{26}`)
	return &altering{answer: func(req *http.Request, resp *http.Response, body []byte) []byte {
		mu.Lock()
		defer mu.Unlock()
		who := req.Header.Get("Authorization")
		if id := anID.FindString(req.URL.Path); resp.StatusCode == http.StatusNotFound && seen[id] != "" && seen[id] != who {
			resp.StatusCode = http.StatusForbidden
			times++
			body = bytes.Replace(body, []byte(`"message":"`), fmt.Appendf(nil, `"message":"%d: `, times), 1)
			return bytes.Replace(body, []byte("resource_missing"), []byte("forbidden"), 1)
		}
		if resp.StatusCode < 300 {
			for _, id := range anID.FindAllString(string(body), -1) {
				if seen[id] == "" {
					seen[id] = who
				}
			}
		}
		return body
	}}
}

// goesOn answers though nothing is left. Before it answers the first request beyond the quota a minute begins.
func goesOn() *altering {
	times, reset := 0, 4102444800
	return header(func(h http.Header, req *http.Request) {
		if times > 0 && req.URL.Path == "/v1/account" && reset == 4102444800 {
			reset += 60
		}
		h.Set("X-RateLimit-Reset", fmt.Sprint(reset))
		if req.Method == http.MethodGet && strings.HasPrefix(req.URL.Path, "/v1/products") && req.URL.Query().Has("surprise") && times < 2 {
			times++
			h.Set("RateLimit", regexp.MustCompile(`r=.*`).ReplaceAllString(h.Get("RateLimit"), "r=0;t=1"))
		}
	})
}

// servers break the promise each whose name stands before the slash.
func servers() map[string]*altering {
	return map[string]*altering{
		"request-id":   header(func(h http.Header, _ *http.Request) { h.Set("X-Request-Id", "req_01m7y0ft9h0z5y70nmaqr71adk") }),
		"nosniff":      header(func(h http.Header, _ *http.Request) { h.Del("X-Content-Type-Options") }),
		"json":         header(func(h http.Header, _ *http.Request) { h.Set("Content-Type", "text/html") }),
		"rate-headers": header(func(h http.Header, _ *http.Request) { h.Set("RateLimit-Policy", "600;w=60") }),
		"deprecation":  header(func(h http.Header, _ *http.Request) { h.Set("Deprecation", "@1767225600") }),
		"methods":      header(func(h http.Header, _ *http.Request) { h.Del("Allow") }),
		"envelope":     replaced(`"message":"`, `"hint":"","message":"`),
		"document":     replaced(`"object":"product"`, `"object":"thing"`),
		"lists":        replaced(`"url":"/v1/`, `"url":"/v2/`),
		"walks":        replaced(`"has_more":true`, `"has_more":false`),
		"quota": header(func(h http.Header, _ *http.Request) {
			h.Set("RateLimit", regexp.MustCompile(`r=\d+`).ReplaceAllString(h.Get("RateLimit"), "r=599"))
		}),
		"quota/nothing left": goesOn(),
		"order/created_at": {answer: func(req *http.Request, _ *http.Response, body []byte) []byte {
			return bytes.Replace(body, []byte(`"created_at":"20`), []byte(`"created_at":"19`), 1)
		}},
		"expand/another one": {answer: func(req *http.Request, _ *http.Response, body []byte) []byte {
			if !strings.HasPrefix(req.URL.Path, "/v1/products") || !strings.Contains(req.URL.Query().Get("expand"), "price") {
				return body
			}
			return regexp.MustCompile(`"id":"price_\w+`).ReplaceAll(body, []byte(`"id":"price_01m7y0ft9h0z5y70nmaqr71adk`))
		}},
		"routes": {answer: func(req *http.Request, _ *http.Response, body []byte) []byte {
			if req.URL.Path != "/v1/nothing" {
				return body
			}
			return bytes.Replace(body, []byte("resource_missing"), []byte("no_route"), 1)
		}},
		"authentication": asked(func(req *http.Request, body string) string {
			req.Header.Set("Authorization", strings.Replace(req.Header.Get("Authorization"), "Basic ", "Bearer ", 1))
			return body
		}),
		"unknown-parameters": unasked("surprise", func(string) bool { return true }),
		"parameters": asked(func(req *http.Request, body string) string {
			query := req.URL.Query()
			for name := range query {
				if value := query.Get(name); name != "limit" && name != "sort" && name != "expand" && (value == "" || value == "\x00" || strings.HasPrefix(value, "2026-0")) {
					query.Del(name)
				}
			}
			req.URL.RawQuery = query.Encode()
			return body
		}),
		"positions": unasked("limit", func(value string) bool { return len(value) != 1 }),
		"order":     unasked("sort", func(value string) bool { return value == "created_at" }),
		"expand":    unasked("expand", func(value string) bool { return strings.HasPrefix(value, "price_variants") }),
		"unknown-fields": asked(func(_ *http.Request, body string) string {
			return strings.ReplaceAll(regexp.MustCompile(`"(surprise|account_id|object|id|created_at|secret)":"x",?`).ReplaceAllString(body, ""), ",}", "}")
		}),
		"content-type": asked(func(req *http.Request, body string) string {
			if req.Header.Get("Content-Type") != "" {
				req.Header.Set("Content-Type", "application/json")
				req.Header.Del("Content-Encoding")
			}
			return body
		}),
		"idempotency-key": asked(func(req *http.Request, body string) string {
			if key := req.Header["Idempotency-Key"]; len(key) > 1 || len(key) == 1 && (key[0] == "" || len(key[0]) > 255 || key[0] == "schlüssel") {
				req.Header.Set("Idempotency-Key", "valid "+conformance.Unique())
			}
			return body
		}),
		"replay": asked(func(req *http.Request, body string) string {
			if strings.HasPrefix(body, "\n ") {
				req.Header.Del("Idempotency-Key")
			}
			return body
		}),
		"thirty-callers": asked(func(req *http.Request, body string) string {
			if strings.Contains(body, " once") {
				req.Header.Del("Idempotency-Key")
			}
			return body
		}),
		"isolation": strangers(),
		"delivery":  replaced(`"secret":"whsec_`, `"secret":"whsec_0`),
	}
}

// from connects from an address of the loopback network, of which each has a quota without a key.
func from(t *testing.T, number int) http.RoundTripper {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 7, byte(2+number))}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
