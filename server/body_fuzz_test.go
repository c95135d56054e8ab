//go:build unix

package server

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/gen/spec"
)

// door is the way of a body to its handler. The body is read, held against the document, and bound by the generated code to the type of
// its operation. There it ends, and what would be handed over is kept.
type door struct {
	echo       *echo.Echo
	operations []*Operation // those with a body
	validated  any          // of the request before
	bound      bool         // whether it got as far as the handler
}

func newDoor(f *testing.F) *door {
	f.Helper()
	table, err := bundled()
	require.NoError(f, err)
	d := &door{echo: echo.New()}
	for _, op := range table.All() {
		if op.body != nil {
			d.operations = append(d.operations, op)
		}
	}
	keep := func(api.StrictHandlerFunc, string) api.StrictHandlerFunc {
		return func(c echo.Context, _ any) (any, error) {
			d.bound = true
			return nil, c.NoContent(http.StatusNoContent)
		}
	}
	d.echo.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			op := table.Find(c.Request().Method, c.Path())
			return takeBody(op, unshared)(validate(op)(d.look(next)))(c)
		}
	})
	api.RegisterHandlers(d.echo, api.NewStrictHandler(nil, []api.StrictMiddlewareFunc{keep}))
	server := &Server{log: slog.New(slog.DiscardHandler)}
	d.echo.HTTPErrorHandler = func(err error, c echo.Context) { server.refuse(c, err) }
	return d
}

func (d *door) look(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if body, ok := c.Request().Body.(interface{ ValidatedValue() any }); ok {
			d.validated = body.ValidatedValue()
		}
		return next(c)
	}
}

func (d *door) send(op *Operation, contentType string, body []byte) *httptest.ResponseRecorder {
	d.validated, d.bound = nil, false
	r := httptest.NewRequest(op.Method, routerPattern(op.Path), bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	d.echo.ServeHTTP(w, r)
	return w
}

// FuzzBody: any body reaches its handler as what encoding/json reads in it, or is refused by an error of ours. The error blames the
// client and is no longer than it may be. Neither costs more than a multiple of reading it.
func FuzzBody(f *testing.F) {
	d, shown := newDoor(f), examples(f)
	for number, op := range d.operations {
		body := shown[op.Path][strings.ToLower(op.Method)]
		require.NotEmpty(f, body, op.ID)
		require.Equal(f, http.StatusNoContent, d.send(op, "application/json", body).Code, op.ID)
		f.Add(uint8(number), "application/json", []byte(body))
		twice := string(bytes.TrimSuffix(body, []byte("}"))) + "," + string(body[1:])
		f.Add(uint8(number), "application/json", []byte(twice))
	}
	for _, body := range []string{
		"", "null", "{}", "[]", `{"a":1,"a":2}`, `{"name":null}`, `{"name":"\ud800"}`, `{"amount":1e400}`, `{"amount":19.0}`, `{"AMOUNT":1}`, "\xef\xbb\xbf{}", "{}{}",
		`{"product":{"name":"x"}}`, `{"webhook_endpoint":{"url":"https://example.com"}}`, `{"metadata":{"a":{"b":[1]}}}`, strings.Repeat(`{"a":[`, 40), `{"a":"` + strings.Repeat(`\u00e9`, 300),
	} {
		for number := 0; number < len(d.operations); number += 9 {
			f.Add(uint8(number), "application/json", []byte(body))
		}
	}
	for _, contentType := range []string{"", "text/plain", "application/json; charset=utf-16", "application/json;charset=UTF-8", "application/json, text/html", "\x00"} {
		f.Add(uint8(0), contentType, []byte(`{"name":"x"}`))
	}
	f.Fuzz(func(t *testing.T, number uint8, contentType string, body []byte) {
		op := d.operations[int(number)%len(d.operations)]
		var w *httptest.ResponseRecorder
		reading := processorTime(func() { var v any; _ = json.Unmarshal(body, &v) })
		answering := processorTime(func() { w = d.send(op, contentType, body) })
		require.LessOrEqual(t, answering, maxTimes*reading+time.Second)
		if d.bound {
			require.Equal(t, http.StatusNoContent, w.Code)
			requireValidated(t, d.validated, op, body)
			return
		}
		require.GreaterOrEqual(t, w.Code, 400)
		require.Less(t, w.Code, 500, w.Body)
		require.Less(t, w.Body.Len(), 200_000)
		(&answer{w.Result(), w.Body.String()}).problem(t)
	})
}

// requireValidated wants what a handler gets to be what encoding/json reads in the body that was sent.
func requireValidated(t *testing.T, validated any, op *Operation, body []byte) {
	t.Helper()
	if op.Unwrap != "" {
		body = unwrap(body, op.Unwrap)
	}
	var sent any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&sent); err != nil {
		require.ErrorIs(t, err, io.EOF, "only no body at all is taken besides JSON")
	} else {
		require.True(t, acceptable(body), "%q", body)
	}
	require.Equal(t, sent, validated)
}

// examples are the bodies that the document shows, by the path and the method of their operation.
func examples(f *testing.F) map[string]map[string]json.RawMessage {
	f.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	require.NoError(f, json.Unmarshal(spec.JSON, &document))
	all := map[string]map[string]json.RawMessage{}
	for path, item := range document.Paths {
		all[path] = map[string]json.RawMessage{}
		for method, text := range item {
			var operation struct {
				RequestBody struct {
					Content map[string]struct{ Example json.RawMessage }
				}
			}
			_ = json.Unmarshal(text, &operation) // what is no operation shows no body
			all[path][method] = operation.RequestBody.Content[echo.MIMEApplicationJSON].Example
		}
	}
	return all
}
