package server

import (
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/core"
)

// TestServer_GuardsEveryOperationOfTheDocument walks the bundled document with
// handlers that panic if anything reaches them.
func TestServer_GuardsEveryOperationOfTheDocument(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	server, err := New(Deps{Store: s, Handlers: struct{ api.StrictServerInterface }{}, Log: NewLogger(io.Discard, LogText), Development: true})
	require.NoError(t, err)
	_, everything := makeKey(t, s)
	_, nothing := makeKey(t, s, "metrics:write") // which nothing asks for any more
	parameter := regexp.MustCompile(`:[a-z_]+`)
	ask := func(op *Operation, token, query string) (int, string) {
		r := httptest.NewRequest(op.Method, parameter.ReplaceAllString(op.Pattern, "x")+query, strings.NewReader(""))
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	require.NotEmpty(t, server.Operations().All())
	for _, op := range server.Operations().All() {
		assert.Contains(t, []string{"allow", "ask"}, op.Approval, op.ID)
		assert.Equal(t, op.Write(), op.Idempotent, op.ID)
		if !op.Public {
			assert.NotEmpty(t, op.Scope, op.ID)
			status, _ := ask(op, "", "")
			assert.Equal(t, 401, status, op.ID)
			status, body := ask(op, nothing, "")
			if op.Scope == scopeNone {
				continue
			}
			assert.Equal(t, 403, status, op.ID)
			assert.Contains(t, body, op.Scope)
		}
		if op.body == nil || !op.body.Required {
			status, body := ask(op, everything, "?nonsense=1")
			assert.Equal(t, 400, status, op.ID)
			assert.Contains(t, body, `"param":"nonsense"`, op.ID)
		} else {
			status, body := ask(op, everything, "")
			assert.Equal(t, 400, status, op.ID)
			assert.Contains(t, body, core.CodeParameterMissing, op.ID)
		}
	}
}
