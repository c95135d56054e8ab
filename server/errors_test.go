package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store"
)

func TestStatusOf(t *testing.T) {
	t.Parallel()
	table := map[store.Code]int{
		store.CodeBadRequest: 400, store.CodeParameterMissing: 400, store.CodeUnauthenticated: 401, store.CodePlan: 402,
		store.CodeForbidden: 403, store.CodeMissing: 404, codeMethodNotAllowed: 405, store.CodeInProgress: 409, codeTooLarge: 413,
		codeMediaType: 415, store.CodeInvalid: 422, store.CodeKeyReused: 422, store.CodeRateLimit: 429, codeHeadersTooLarge: 431,
		codeInternal: 500, "something new": 500,
	}
	for code, want := range table {
		status, kind := statusOf(code)
		assert.Equal(t, want, status, code)
		switch {
		case want == 500:
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
	e := translate(bind(`{"amount":19.0}`, &body))
	assert.Equal(t, store.CodeBadRequest, e.Code)
	assert.Equal(t, "amount", e.Param)
	assert.Equal(t, "amount must be an integer in plain digits, not 19.0.", e.Message)

	e = translate(echo.NewHTTPError(400, "Invalid format for parameter created_after: parsing time"))
	assert.Equal(t, store.CodeBadRequest, e.Code)
	assert.Equal(t, "created_after", e.Param)
}

func TestTranslate_HidesWhatIsOurs(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errors.New("password=1"), echo.NewHTTPError(502, "password=1"), &json.SyntaxError{}} {
		e := translate(err)
		assert.Equal(t, codeInternal, e.Code)
		assert.NotContains(t, e.Message, "password")
	}
	wrapped := fmt.Errorf("insert: %w", store.Missing("product", "product", "prod_x"))
	assert.Equal(t, store.CodeMissing, translate(wrapped).Code)
}
