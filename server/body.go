package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store/core"
)

// takeBody reads the body of a request, at most as much as the operation takes, and leaves strict JSON for those behind it. A
// body that is too large is refused before all of it is read. Once it is there, inShare decides when it is looked at. An operation that has no
// body ignores one: many clients send {} or an empty form.
func takeBody(op *Operation, inShare echo.MiddlewareFunc) echo.MiddlewareFunc {
	if op.body == nil {
		return func(next echo.HandlerFunc) echo.HandlerFunc { return ignoreBody(inShare(next)) }
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if err := checkHead(r, op.MaxBody, op.body.Required); err != nil {
				return err
			}
			data, err := readBody(r, op.MaxBody)
			if err != nil {
				return err
			}
			return inShare(func(c echo.Context) error {
				if data, err = op.accept(data, r.Header); err != nil {
					return err
				}
				r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
				return next(c)
			})(c)
		}
	}
}

// ignoreBody hides the body of a request from everything behind it, and does not read it either.
func ignoreBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		r.Body, r.ContentLength, r.GetBody = http.NoBody, 0, nil
		return next(c)
	}
}

// limitForm limits how much of a form a page may read.
func limitForm(limit int64, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		r.Body = http.MaxBytesReader(c.Response(), r.Body, limit)
		return next(c)
	}
}

// checkHead refuses a body for what its headers say of it, before any of it is read. Whoever sends Expect: 100-continue has not sent it yet.
// One that may be missing and was sent is read before its type is looked at: if it is white space alone, it is none.
func checkHead(r *http.Request, limit int64, isRequired bool) error {
	if r.ContentLength > limit {
		return tooLarge(limit)
	}
	waits := r.Header.Get("Expect") != ""
	if isRequired && r.ContentLength > 0 || r.ContentLength != 0 && waits { // else nobody knows that there is one
		return checkContentType(r.Header)
	}
	return nil
}

func tooLarge(limit int64) error {
	return &core.Error{Code: core.CodeTooLarge, Message: fmt.Sprintf("The body is larger than the %d bytes that this operation takes.", limit)}
}

// announced is how many bytes of memory are set aside for a body before any of it has arrived. What its client announces may be
// wrong.
const announced = 16 << 10

// readBody returns the body without white space around it.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength == 0 {
		return nil, nil
	}
	var buffer bytes.Buffer
	if r.ContentLength > 0 { // what only was announced reserves no memory
		buffer.Grow(int(min(r.ContentLength, announced)) + bytes.MinRead)
	}
	_, err := buffer.ReadFrom(io.LimitReader(r.Body, limit+1))
	known, ours := errors.AsType[*core.Error](err)
	_, isCrowded := errors.AsType[*core.CrowdedError](err)
	switch {
	case ours:
		return nil, known
	case isCrowded:
		return nil, err
	case err != nil:
		return nil, bodyCut
	case int64(buffer.Len()) > limit:
		return nil, tooLarge(limit)
	}
	return bytes.Trim(buffer.Bytes(), " \t\r\n"), nil
}

// accept checks the body and returns its JSON. If the operation allows a wrapper around it, that is taken off.
func (o *Operation) accept(data []byte, h http.Header) ([]byte, error) {
	if len(data) == 0 {
		if o.body.Required {
			return nil, o.bodyMissing()
		}
		return nil, nil
	}
	if err := checkContentType(h); err != nil {
		return nil, err
	}
	fault := checkJSON(data, o.limits)
	if fault != nil && fault.tooMany {
		if len(fault.path) == 0 {
			return nil, &core.Error{Code: core.CodeBadRequest, Message: "The body " + fault.message + "."}
		}
		refusals := refusals{problems: core.Problems{fault.param(): {fault.message}}}
		return nil, refusals.unacceptable()
	}
	if fault != nil {
		return nil, &core.Error{Code: core.CodeBadRequest, Param: fault.param(), Message: fault.message}
	}
	if o.Unwrap != "" {
		data = unwrap(data, o.Unwrap)
	}
	return data, nil
}

// checkContentType refuses everything but plain JSON in UTF-8. It also normalises the header, so that nobody behind it has to
// read its parameters again.
func checkContentType(h http.Header) error {
	if encoding := h.Get(echo.HeaderContentEncoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return &core.Error{Code: core.CodeMediaType, Message: "Send the body without a Content-Encoding."}
	}
	if values := h["Content-Type"]; len(values) == 1 && values[0] == echo.MIMEApplicationJSON {
		return nil
	}
	media, parameters, err := mime.ParseMediaType(strings.Join(h["Content-Type"], ","))
	charset := parameters["charset"]
	if err != nil || media != echo.MIMEApplicationJSON || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return &core.Error{Code: core.CodeMediaType, Message: "Send the body as Content-Type: application/json, in UTF-8."}
	}
	h["Content-Type"] = contentTypeJSON
	return nil
}

// bodyMissing names the first field that the body should have had.
func (o *Operation) bodyMissing() error {
	param := "body"
	if media := o.body.Content.Get(echo.MIMEApplicationJSON); media != nil {
		schema := media.Schema.Value
		if expected, ok := schema.Extensions["x-expects"].(string); ok {
			param = expected
		}
		if len(schema.Required) > 0 {
			param = schema.Required[0]
		}
	}
	return &core.Error{Code: core.CodeParameterMissing, Param: param, Message: "The body is missing. Send a JSON object, Content-Type: application/json."}
}

// How much a body may contain. It is more than any honest body has, and so little that refusing one full of errors costs little.
const (
	maxKeys   = 1000   // of an object
	maxValues = 20_000 // for each MiB that the operation takes
)

// limitsOf returns how much the body of an operation may contain. Where items are judged one by one, all its values are counted and nothing else. One
// item with too much in it does not refuse the others.
func (o *Operation) limitsOf(schema *openapi3.Schema) jsonLimits {
	limits := jsonLimits{values: maxValues * max(1, int(o.MaxBody>>20))}
	if o.Each == "" {
		limits.items, limits.keys = mostItems(schema), maxKeys
	}
	return limits
}

// mostItems returns how many items the longest array of a schema may have. It is 0 if an array has no bound, or if there is
// none.
func mostItems(schema *openapi3.Schema) int {
	most, bounded := 0, true
	seen := map[*openapi3.Schema]bool{}
	var visit func(refs ...*openapi3.SchemaRef)
	visit = func(refs ...*openapi3.SchemaRef) {
		for _, ref := range refs {
			if ref == nil || seen[ref.Value] {
				continue
			}
			s := ref.Value
			seen[s] = true
			if s.Type.Is(openapi3.TypeArray) {
				bounded = bounded && s.MaxItems != nil
				if s.MaxItems != nil {
					most = max(most, int(*s.MaxItems))
				}
			}
			visit(s.Items, s.AdditionalProperties.Schema)
			visit(slices.Concat(s.AllOf, s.OneOf, s.AnyOf)...)
			visit(slices.Collect(maps.Values(s.Properties))...)
		}
	}
	visit(schema.NewRef())
	if !bounded {
		return 0
	}
	return most
}
