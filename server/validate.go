package server

import (
	"errors"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/sdk/moment"
	"github.com/tillwright/tillwright/store/core"
)

// validate checks a request against the document: path, query, what it may expand, and body. The value that was checked stays
// with the body (KeepValidatedValue), and the generated code binds that value. If the JSON were read a second time, `Status`
// could replace the `status` that was checked. Defaults are set by whoever reads the value: if the validator set them, they would
// also replace a null where none is allowed.
func validate(op *Operation) echo.MiddlewareFunc {
	parameterOptions := &openapi3filter.Options{MultiError: true, SkipSettingDefaults: true, SchemaValidationOptions: schemaOptions()}
	bodyOptions := &openapi3filter.Options{MultiError: true, KeepValidatedValue: true, SkipSettingDefaults: true, SchemaValidationOptions: schemaOptions()}
	expand := op.readExpandScopes()
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if err := checkPath(c); err != nil {
				return err
			}
			query, err := op.readQuery(c)
			if err != nil {
				return err
			}
			input := openapi3filter.RequestValidationInput{Request: r, QueryParams: query, Route: op.route, Options: parameterOptions}
			if err := op.checkQuery(r, &input); err != nil {
				return err
			}
			if err := op.checkPathNumbers(c); err != nil {
				return err
			}
			if err := expand.check(r.Context(), query); err != nil {
				return err
			}
			if op.body != nil && r.ContentLength > 0 {
				input.Options = bodyOptions
				if err := openapi3filter.ValidateRequestBody(r.Context(), &input, op.body); err != nil {
					return bodyRefusal(err)
				}
			}
			return next(c)
		}
	}
}

// schemaOptions returns how values are checked. All operations share it, because the patterns in it are large once compiled.
var schemaOptions = sync.OnceValue(func() []openapi3.SchemaValidationOption {
	return []openapi3.SchemaValidationOption{checkFormats(), wordless()}
})

// wordless keeps the validator from writing out its errors, which nobody reads. Where schemas are combined, it would put the
// whole value into the text of each error.
func wordless() openapi3.SchemaValidationOption {
	return openapi3.SetSchemaErrorMessageCustomizer(func(e *openapi3.SchemaError) string { return e.SchemaField + " does not fit" })
}

// checkFormats makes sure that a date-time is a moment that exists, and a date a day: nobody behind it checks again.
func checkFormats() openapi3.SchemaValidationOption {
	exists := func(text string) error {
		at, err := moment.Parse(text)
		if year := at.UTC().Year(); err == nil && (year < 0 || year > 9999) {
			err = errors.New("the year has four digits in UTC")
		}
		return err
	}
	day := func(text string) error {
		_, err := time.Parse(time.DateOnly, text)
		return err
	}
	return openapi3.WithStringFormatValidators(map[string]openapi3.StringFormatValidator{
		"date-time": openapi3.NewCallbackValidator(exists),
		"date":      openapi3.NewCallbackValidator(day),
	})
}

// checkPath answers 404 to a path with something in it that cannot be an id and that a database might not take. Everything else
// about ids is for the store, which knows their types.
func checkPath(c echo.Context) error {
	for _, value := range c.ParamValues() {
		if plain, err := url.PathUnescape(value); err != nil || plain == "" || plain == "." || plain == ".." || !plainText(plain) {
			return &core.Error{Code: core.CodeMissing, Message: "There is nothing with this id."}
		}
	}
	return nil
}

// checkPathNumbers refuses an integer of the path that is not written in plain digits.
func (o *Operation) checkPathNumbers(c echo.Context) error {
	for i := range o.parameters {
		p := &o.parameters[i]
		if p.In == openapi3.ParameterInPath && p.Schema.Value.Type.Is(openapi3.TypeInteger) && !isPlainInteger(c.Param(p.Name)) {
			return parameterRefusal(p, errNotPlain)
		}
	}
	return nil
}

// isPlainInteger reports whether text is how JSON writes an integer.
func isPlainInteger(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}

var errNotPlain = errors.New("no integer in plain digits")

// plainPath is checkPath of a page, and of what its query says.
func plainPath(page echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := checkPath(c); err != nil {
			return err
		}
		for _, values := range c.QueryParams() {
			if !plainText(strings.Join(values, "")) {
				return &core.Error{Code: core.CodeMissing, Message: "There is nothing with this query."}
			}
		}
		return page(c)
	}
}

// plainText reports whether a database takes s as text.
func plainText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// readQuery parses the query, and refuses parameters that the operation does not have.
func (o *Operation) readQuery(c echo.Context) (url.Values, error) {
	raw := c.Request().URL.RawQuery
	if raw == "" {
		return nil, nil
	}
	if strings.ContainsAny(raw, "%;") { // else it cannot be malformed
		if _, err := url.ParseQuery(raw); err != nil {
			return nil, &core.Error{Code: core.CodeBadRequest, Message: "The query string is malformed: " + err.Error() + "."}
		}
	}
	query := c.QueryParams()
	o.joinRepeated(query)
	o.dropEmpty(query)
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	sort.Strings(names) // always the same one is reported first
	for _, name := range names {
		if err := o.checkQueryName(name, query[name]); err != nil {
			return nil, err
		}
	}
	return query, nil
}

// joinRepeated turns expand=a&expand=b into expand=a,b, which is how the document writes a list. Many clients send the other
// form.
func (o *Operation) joinRepeated(query url.Values) {
	for i := range o.parameters {
		p := &o.parameters[i]
		if values := query[p.Name]; len(values) > 1 && p.In == openapi3.ParameterInQuery && p.Schema.Value.Type.Is(openapi3.TypeArray) {
			query[p.Name] = []string{strings.Join(values, ",")}
		}
	}
}

// dropEmpty removes lists without a value, such as expand=, of those that may be empty. That is how the document writes an empty
// list, and nothing of it is asked for.
func (o *Operation) dropEmpty(query url.Values) {
	for i := range o.parameters {
		p := &o.parameters[i]
		if values := query[p.Name]; len(values) == 1 && values[0] == "" && p.In == openapi3.ParameterInQuery &&
			p.Schema.Value.Type.Is(openapi3.TypeArray) && p.Schema.Value.MinItems == 0 {
			delete(query, p.Name)
		}
	}
}

// checkQueryName refuses a parameter that the operation does not have, that was sent twice, or that is no text.
func (o *Operation) checkQueryName(name string, values []string) error {
	known := o.takesQuery(name)
	name = shorten(name, maxParam)
	switch {
	case !plainText(name): // metadata[key] has a part of the client's own
		return &core.Error{Code: core.CodeBadRequest, Param: name, Message: "The name of a query parameter must be valid UTF-8 without NUL characters."}
	case !known:
		return &core.Error{Code: core.CodeBadRequest, Param: name, Message: "Unknown query parameter " + quote(name) + ". " + o.queryNames()}
	case len(values) > 1:
		return &core.Error{Code: core.CodeBadRequest, Param: name, Message: "Send " + quote(name) + " once; separate several values by commas where it takes several."}
	case !plainText(values[0]):
		return &core.Error{Code: core.CodeBadRequest, Param: name, Message: quote(name) + " must be valid UTF-8 without NUL characters."}
	}
	return nil
}

// takesQuery reports whether the operation has a query parameter of that name, or one such as metadata[key].
func (o *Operation) takesQuery(name string) bool {
	for i := range o.parameters {
		p := &o.parameters[i]
		if p.In != openapi3.ParameterInQuery {
			continue
		}
		if p.prefix == "" && p.Name == name {
			return true
		}
		if key, ok := strings.CutPrefix(name, p.prefix); p.prefix != "" && ok && isDeepKey(key) {
			return true
		}
	}
	return false
}

// isDeepKey reports whether key is the rest of a name such as metadata[key].
func isDeepKey(key string) bool {
	inner, ok := strings.CutSuffix(key, "]")
	return ok && inner != "" && !strings.ContainsAny(inner, "[]")
}

// queryNames returns a sentence that lists the query parameters of the operation.
func (o *Operation) queryNames() string {
	var names []string
	for _, p := range o.parameters {
		switch {
		case p.In != openapi3.ParameterInQuery:
		case p.prefix != "":
			names = append(names, p.prefix+"key]")
		default:
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return "This operation takes none."
	}
	return "This operation takes " + strings.Join(names, ", ") + "."
}

// checkQuery checks the query parameters that were sent, and that the required ones were.
func (o *Operation) checkQuery(r *http.Request, input *openapi3filter.RequestValidationInput) error {
	for i := range o.parameters {
		p := &o.parameters[i]
		if p.In != openapi3.ParameterInQuery || !p.Required && !p.sentIn(input.QueryParams) {
			continue
		}
		if p.fits(input.QueryParams[p.Name]) {
			continue
		}
		err := openapi3filter.ValidateParameter(r.Context(), input, p.Parameter)
		if err == nil {
			err = p.checkSpelling(input.QueryParams)
		}
		if err != nil {
			return parameterRefusal(p, err)
		}
	}
	return nil
}

// checkSpelling refuses ways to write a boolean or an integer that JSON does not have. The validator would also take 1, T and the
// like for true, and 0100 and +100 for 100.
func (p *parameter) checkSpelling(query url.Values) error {
	value := query.Get(p.Name)
	switch {
	case p.Schema.Value.Type.Is(openapi3.TypeBoolean):
		if value != "true" && value != "false" {
			return errors.New("neither true nor false")
		}
	case p.Schema.Value.Type.Is(openapi3.TypeInteger):
		if !isPlainInteger(value) {
			return errNotPlain
		}
	}
	return nil
}

// sentIn reports whether a query names the parameter.
func (p *parameter) sentIn(query url.Values) bool {
	if p.prefix == "" {
		return query[p.Name] != nil
	}
	for name := range query {
		if strings.HasPrefix(name, p.prefix) {
			return true
		}
	}
	return false
}

// fits reports whether a value is certainly right because it is an integer within its bounds. Almost every request for a list
// has one, and the general validator takes longer for it than reading the list from the database. That one judges everything
// else.
func (p *parameter) fits(values []string) bool {
	schema := p.Schema.Value
	if len(values) != 1 || !schema.Type.Is(openapi3.TypeInteger) || schema.Min == nil || schema.Max == nil ||
		schema.Enum != nil || schema.MultipleOf != nil || schema.ExclusiveMin.IsSet() || schema.ExclusiveMax.IsSet() {
		return false
	}
	n, err := strconv.Atoi(values[0])
	return err == nil && float64(n) >= *schema.Min && float64(n) <= *schema.Max && values[0] == strconv.Itoa(n)
}
