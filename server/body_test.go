package server

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBody_TypesAndSizes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	good := `{"name":"a","amount":1}`
	for _, contentType := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"} {
		a := f.send("POST", "/v1/widgets", good, "Content-Type", contentType)
		assert.Equal(t, 201, a.StatusCode, "%s: %s", contentType, a.body)
	}
	for _, contentType := range []string{"", "text/json", "application/json; charset=latin1", "application/problem+json", "nonsense/"} {
		assert.Equal(t, 415, f.send("POST", "/v1/widgets", good, "Content-Type", contentType).StatusCode, contentType)
	}
	assert.Equal(t, 415, f.send("POST", "/v1/widgets", good, "Content-Encoding", "gzip").StatusCode)

	pad := func(size int) string { return good + strings.Repeat(" ", size-len(good)) }
	assert.Equal(t, 201, f.send("POST", "/v1/widgets", pad(2000)).StatusCode)
	assert.Equal(t, 413, f.send("POST", "/v1/widgets", pad(2001)).StatusCode)
	chunked := func(body string) int {
		return f.sendBody("POST", "/v1/widgets", struct{ *strings.Reader }{strings.NewReader(body)}, "Content-Type", "application/json").StatusCode
	}
	assert.Equal(t, 201, chunked(pad(2000)))
	assert.Equal(t, 413, chunked(pad(2001)))
	assert.Equal(t, 413, chunked(pad(3<<20)))
}

func TestBody_OfOperationsWithoutOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, body := range []string{``, `{}`, `{"a":1}`, `a=1`, strings.Repeat(" ", 2<<20)} {
		for _, contentType := range []string{"application/json", "text/plain", ""} {
			assert.Equal(t, 200, f.send("POST", "/v1/widgets/w/publish", body, "Content-Type", contentType).StatusCode, body)
			assert.Equal(t, 200, f.send("GET", "/v1/widgets/w", body, "Content-Type", contentType).StatusCode, body)
		}
	}
	first := f.send("POST", "/v1/widgets/w/publish", `a=1`, "Idempotency-Key", "k")
	assert.Equal(t, 200, first.StatusCode)
	assert.Equal(t, "true", f.send("POST", "/v1/widgets/w/publish", ``, "Idempotency-Key", "k").Header.Get("Idempotent-Replayed"))
}

func TestUnwrap(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, body := range []string{`{"url":"x"}`, `{"hook":{"url":"x"}}`, ` { "hook" : { "url" : "x" } } `} {
		a := f.send("POST", "/v1/hooks", body)
		require.Equal(t, 201, a.StatusCode, a.body)
		var got struct{ Body map[string]any }
		require.NoError(t, json.Unmarshal([]byte(a.body), &got))
		assert.Equal(t, map[string]any{"url": "x"}, got.Body)
	}
	for body, param := range map[string]string{
		`{"hook":{}}`: "url", `{"hook":{"url":"x"},"more":1}`: "url", `{"hook":"x"}`: "url", `{"hook":{"url":"x","name":1}}`: "name",
		`{"hook":{"hook":{"url":"x"}}}`: "url",
	} {
		assert.Equal(t, param, f.send("POST", "/v1/hooks", body).problem(t).Param, body)
	}
}

// Whoever asks first is told by the headers alone that a body is not taken.
func TestTakeBody_RefusesByTheHeadersAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	address := f.serveRaw()
	head := "POST /v1/widgets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + f.token + "\r\nExpect: 100-continue\r\n"
	for name, c := range map[string]struct {
		headers string
		status  int
	}{
		"a wrong type":               {"Content-Type: text/plain\r\nContent-Length: 100\r\n", 415},
		"a wrong type in chunks":     {"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n", 415},
		"no type":                    {"Content-Length: 100\r\n", 415},
		"a wrong encoding":           {"Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\n", 415},
		"a wrong encoding in chunks": {"Content-Type: application/json\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 415},
		"too much":                   {"Content-Type: application/json\r\nContent-Length: 100000000\r\n", 413},
	} {
		a := readAnswer(t, silent(t, address, head+c.headers+"\r\n"))
		assert.Equal(t, c.status, a.StatusCode, "%s: %s", name, a.body)
	}
}

// White space is no body, whatever its headers say of it.
func TestTakeBody_TakesWhiteSpaceForNoBody(t *testing.T) {
	t.Parallel()
	for _, isRequired := range []bool{false, true} {
		op := &Operation{body: &openapi3.RequestBody{Required: isRequired}, MaxBody: 100}
		for name, c := range map[string]struct {
			body, contentType string
			wrong             int // of one that may be missing
		}{
			"white space of no type":      {" \r\n\t", "", 0},
			"white space of another type": {" ", "text/plain", 0},
			"white space":                 {"\n", "application/json", 0},
			"nothing":                     {"", "", 0},
			"a text":                      {" a", "text/plain", 415},
			"an object of no type":        {"{}", "", 415},
		} {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body))
			if c.contentType != "" {
				r.Header.Set("Content-Type", c.contentType)
			}
			var left []byte
			err := takeBody(op, unshared)(func(c echo.Context) (err error) {
				left, err = io.ReadAll(c.Request().Body)
				return err
			})(echo.New().NewContext(r, httptest.NewRecorder()))
			if isRequired {
				assert.Error(t, err, name)
				continue
			}
			if c.wrong == 0 {
				assert.NoError(t, err, name)
				assert.Empty(t, left, name)
				continue
			}
			status, _ := statusOf(explain(err, r).Code)
			assert.Equal(t, c.wrong, status, name)
		}
	}
}
