package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store/core"
)

func TestStatusOf(t *testing.T) {
	t.Parallel()
	table := map[core.Code]int{
		core.CodeBadRequest: 400, core.CodeParameterMissing: 400, core.CodeUnauthenticated: 401, core.CodePlan: 402,
		core.CodeForbidden: 403, core.CodeMissing: 404, codeMethodNotAllowed: 405, core.CodeInProgress: 409, core.CodeTooLarge: 413,
		core.CodeMediaType: 415, core.CodeInvalid: 422, core.CodeKeyReused: 422, core.CodeNotActivated: 409, core.CodePermission: 409, core.CodeMedia: 409, core.CodeSpendLimit: 422, core.CodeRateLimit: 429, codeHeadersTooLarge: 431,
		codeInternal: 500, outOfReach: 503, "something new": 500,
	}
	for code, want := range table {
		status, kind := statusOf(code)
		assert.Equal(t, want, status, code)
		switch {
		case want >= 500:
			assert.Equal(t, typeAPI, kind, code)
		case want == 422:
			assert.Equal(t, typeValidation, kind, code)
		default:
			assert.Equal(t, typeInvalidRequest, kind, code)
		}
	}
}

func TestTranslate_WhatGoTypesRefuse(t *testing.T) {
	t.Parallel()
	bind := func(body string, into any) error {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return new(echo.DefaultBinder).BindBody(echo.New().NewContext(r, nil), into)
	}
	var body struct {
		Amount int64 `json:"amount"`
	}
	e := translate(bind(`{"amount":19.0}`, &body), nil)
	assert.Equal(t, core.CodeBadRequest, e.Code)
	assert.Equal(t, "amount", e.Param)
	assert.Equal(t, "amount must be an integer in plain digits, not 19.0.", e.Message)

	mistyped := echo.NewHTTPError(400).SetInternal(&json.UnmarshalTypeError{Value: "number 19.0", Field: "variants.tiers.amount"})
	sent := map[string]any{"variants": []any{
		map[string]any{"name": "a"},
		map[string]any{"tiers": []any{map[string]any{"amount": json.Number("19")}, map[string]any{"amount": json.Number("19.0")}}},
	}}
	assert.Equal(t, "variants.1.tiers.1.amount", translate(mistyped, validated{value: sent}).Param)

	e = translate(echo.NewHTTPError(400, "Invalid format for parameter created_after: parsing time"), nil)
	assert.Equal(t, core.CodeBadRequest, e.Code)
	assert.Equal(t, "created_after", e.Param)
}

func TestErrors_DoNotRepeatARequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]echo.HandlerFunc{
		"getWidget": func(c echo.Context) error { return core.Missing("widget", "", c.Param("id")) },
	})
	long := strings.Repeat("ü", 1500)
	for name, a := range map[string]*answer{
		"unknown field":     f.send("POST", "/v1/hooks", `{"url":"x","`+long+`":1}`),
		"duplicate key":     f.send("POST", "/v1/hooks", `{"`+long+`":1,"`+long+`":1}`),
		"wrapper":           f.send("POST", "/v1/hooks", `{"`+long+`":{"url":"x"}}`),
		"unknown parameter": f.send("GET", "/v1/widgets?"+long+"=1", ""),
		"repeated filter":   f.send("GET", "/v1/widgets?metadata["+long+"]=1&metadata["+long+"]=2", ""),
		"wrong filter":      f.send("GET", "/v1/widgets?metadata["+long+"]=longer", ""),
		"path":              f.send("GET", "/v1/widgets/"+long, ""),
	} {
		assert.Less(t, len(a.body), 1000, "%s: %s", name, a.body)
		assert.Contains(t, a.problem(t).Message, "…", name)
		assert.NotContains(t, a.body, "\ufffd", name)
	}
	assert.Less(t, len(f.send("POST", "/v1/widgets", `{"name":"a","amount":1,"line_items":[`+strings.Repeat(`{"product":"p","quantity":0},`, 60)+`1]}`).body), 3000)
}

func TestBounded_ReportsAtMostAHundredFields(t *testing.T) {
	t.Parallel()
	problems := map[string][]string{}
	for i := range 1000 {
		problems[fmt.Sprintf("tags.%04d", i)] = []string{strings.Repeat("x", 2000)}
	}
	e := bounded(envelopeError{Errors: problems})
	assert.Len(t, e.Errors, 100)
	assert.Equal(t, maxMessage+len("…"), len(e.Errors["tags.0000"][0]), "the first ones, shortened")
	assert.Len(t, problems, 1000, "what is shared with others is left alone")
}

func TestTranslate_HidesWhatIsOurs(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errors.New("password=1"), echo.NewHTTPError(502, "password=1"), &json.SyntaxError{}} {
		e := translate(err, nil)
		assert.Equal(t, codeInternal, e.Code)
		assert.NotContains(t, e.Message, "password")
	}
	wrapped := fmt.Errorf("insert: %w", core.Missing("product", "product", "prod_x"))
	assert.Equal(t, core.CodeMissing, translate(wrapped, nil).Code)
}

// validated is a body as the validator leaves it.
type validated struct {
	io.Reader
	value any
}

func (v validated) ValidatedValue() any { return v.value }
