package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/spec"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/effort"
)

func TestValidate_Query(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, query := range []string{
		"", "limit=1", "limit=100&status=draft", "expand=parts,owner", "expand=parts&expand=owner", "expand=", "limit=1&expand=", "metadata[a]=b&metadata[c]=d", "metadata%5Ba%5D=b",
		"created_after=2026-01-31T12:00:00Z", "day=2024-02-29", "sold=true", "sold=false",
	} {
		a := f.send("GET", "/v1/widgets?"+query, "")
		assert.Equal(t, 200, a.StatusCode, "%s: %s", query, a.body)
	}
	cases := []struct{ query, param, message string }{
		{"limit=0", "limit", "an integer from 1 to 100"},
		{"limit=101", "limit", "an integer from 1 to 100"},
		{"limit=ten", "limit", "an integer from 1 to 100"},
		{"limit=", "limit", "an integer from 1 to 100"},
		{"limit=0100", "limit", "an integer from 1 to 100"},
		{"limit=%2B1", "limit", "an integer from 1 to 100"},
		{"limit=1.0", "limit", "an integer from 1 to 100"},
		{"limit=1e1", "limit", "an integer from 1 to 100"},
		{"limit=1&limit=2", "limit", "once"},
		{"expand=parts&expand=price", "expand", "a list of: parts, owner"},
		{"expand=parts&expand=", "expand", "a list of: parts, owner"},
		{"status=sold", "status", "one of: draft, active"},
		{"status=", "status", "one of: draft, active"},
		{"owner=", "owner", "text of 1 to 20 characters"},
		{"created_after=", "created_after", "RFC 3339"},
		{"created_after=yesterday", "created_after", "RFC 3339"},
		{"expand=parts,price", "expand", "a list of: parts, owner"},
		{"color=red", "color", "takes limit, status, owner, created_after, day, sold, expand, metadata[key]"},
		{"zebra=1&apple=2", "apple", "Unknown"},
		{"metadata=x", "metadata", "Unknown"},
		{"metadata[]=x", "metadata[]", "Unknown"},
		{"metadata[a][b]=x", "metadata[a][b]", "Unknown"},
		{"metadata[a]=longer", "metadata[a]", "text of at most 5 characters"},
		{"metadata[a]=b&metadata[c]=d&metadata[e]=f", "metadata", "at most 2 keys"},
		{"metadata[a%00]=x", "metadata[a\x00]", "NUL"},
		{"metadata[%ff]=x", "metadata[\ufffd]", "UTF-8"},
		{"created_after=2026-02-30T00:00:00Z", "created_after", "RFC 3339"},
		{"created_after=2026-01-31T23:58:60Z", "created_after", "RFC 3339"},
		{"created_after=2026-01-31T12:00:00%2B99:99", "created_after", "RFC 3339"},
		{"created_after=9999-12-31T23:59:59-01:00", "created_after", "RFC 3339"},
		{"day=", "day", "YYYY-MM-DD"},
		{"day=2026-02-30", "day", "YYYY-MM-DD"},
		{"day=2026-1-31", "day", "YYYY-MM-DD"},
		{"day=2026-01-31T00:00:00Z", "day", "YYYY-MM-DD"},
		{"sold=1", "sold", "true or false"},
		{"sold=T", "sold", "true or false"},
		{"sold=False", "sold", "true or false"},
		{"sold=", "sold", "true or false"},
		{"sold=maybe", "sold", "true or false"},
		{"status=%ff", "status", "UTF-8"},
		{"status=a%00b", "status", "NUL"},
		{"status=%zz", "", "malformed"},
		{"a;b", "", "malformed"},
	}
	for _, c := range cases {
		a := f.send("GET", "/v1/widgets?"+c.query, "")
		require.Equal(t, 400, a.StatusCode, "%s: %s", c.query, a.body)
		problem := a.problem(t)
		assert.Equal(t, core.CodeBadRequest, problem.Code, c.query)
		assert.Equal(t, c.param, problem.Param, c.query)
		assert.Contains(t, problem.Message, c.message, c.query)
		assert.Empty(t, problem.Errors)
	}
	assert.Contains(t, f.send("GET", "/v1/widgets/events?a=1", "").problem(t).Message, "takes none")
}

func TestValidate_PathThatIsNoText(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	assert.Equal(t, 404, f.send("POST", "/v1/widgets//publish", "").StatusCode, "no id at all")
	for _, id := range []string{"%00", "%ff", "a%00b"} {
		a := f.send("GET", "/v1/widgets/"+id, "")
		assert.Equal(t, 404, a.StatusCode, id)
	}
	assert.Zero(t, f.calls.of("getWidget"))
	assert.Equal(t, 200, f.send("GET", "/v1/widgets/%C3%A9%2Fx", "").StatusCode)
}

// create is one POST of a body, and what is wrong with it.
type create struct {
	body, param, message string
}

func TestValidate_BodyThatIsMalformed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	check := func(code core.Code, cases ...create) {
		t.Helper()
		for _, c := range cases {
			a := f.send("POST", "/v1/widgets", c.body)
			require.Equal(t, 400, a.StatusCode, "%s: %s", c.body, a.body)
			problem := a.problem(t)
			assert.Equal(t, code, problem.Code, c.body)
			assert.Equal(t, c.param, problem.Param, c.body)
			assert.Contains(t, problem.Message, c.message, c.body)
			assert.Empty(t, problem.Errors, c.body)
		}
	}
	check(core.CodeParameterMissing,
		create{``, "name", "body is missing"},
		create{"  \n ", "name", "body is missing"},
		create{`{}`, "name", "Missing required parameter: name."},
		create{`{"name":"a"}`, "amount", "Missing required parameter: amount."},
		create{`{"widget":{"name":"a","amount":1}}`, "name", `at the top level of the body, not inside of "widget"`},
		create{`{"name":"a","amount":1,"budget":{}}`, "budget.amount", "budget.amount"},
		create{`{"name":"a","amount":1,"line_items":[{"product":"p"},{"quantity":1}]}`, "line_items.1.product", "line_items.1.product"},
		create{`{"name":"a","amount":1,"payer":{"year":2030}}`, "payer.number", "payer.number"},
		create{`{"name":1,"color":"red"}`, "amount", "Missing"},
	)
	check(core.CodeBadRequest,
		create{`{"name":"a","amount":1,"color":"red"}`, "color", `Unknown field "color"`},
		create{`{"name":"a","amount":1,"Status":"bogus"}`, "Status", "Unknown field"},
		create{`{"name":"a","amount":1,"id":"x"}`, "id", "cannot be set"},
		create{`{"name":"a","amount":1,"budget":{"amount":2,"kind":1}}`, "budget.kind", "Unknown field"},
		create{`{"name":"a","amount":1,"line_items":[{"product":"p","x":1}]}`, "line_items.0.x", "Unknown field"},
		create{`{"name":"a","amount":"19"}`, "amount", "amount must be an integer from 0 to 1000000, e.g. 1900: in minor units."},
		create{`{"name":"a","amount":19.5}`, "amount", "an integer"},
		create{`{"name":null,"amount":1}`, "name", "text of 1 to 10 characters"},
		create{`{"name":"a","amount":1,"status":null}`, "status", "one of: draft, active"},
		create{`{"name":"a","amount":1,"status":1}`, "status", "one of: draft, active"},
		create{`{"name":"a","amount":1,"status":["draft"]}`, "status", "one of: draft, active"},
		create{`{"name":"a","amount":1,"tags":"x"}`, "tags", "an array"},
		create{`{"name":"a","amount":1,"line_items":[1]}`, "line_items.0", "an object"},
		create{`{"name":"a","amount":1,"payer":1}`, "payer", "payer must be text of at most 3 characters or an object."},
		create{`{"name":"a","amount":1,"payer":{"number":"1234","x":1}}`, "payer.x", "Unknown field"},
		create{`null`, "", "The body must be an object"},
		create{`[]`, "", "The body must be an object"},
		create{`{"name":"a","amount":1,"amount":2}`, "amount", "appears twice"},
		create{`{"name":"a`, "name", "ends in the middle"},
	)
	assert.Zero(t, f.calls.of("createWidget"))
}

func TestValidate_BodyThatLacksOneOfSeveral(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, c := range []struct{ method, body, param string }{
		{"POST", ``, "name"},
		{"POST", `{}`, "name"},
		{"POST", `{"name":"a"}`, "weight"},
		{"POST", `{"name":"a","weight":1}`, "width"},
		{"POST", `{"parcel":{"name":"a","box":"b"}}`, "name"},
		{"POST", `{"weight":1,"width":1}`, "name"},
		{"PATCH", ``, "carrier"},
		{"PATCH", `{}`, "carrier"},
	} {
		a := f.send(c.method, "/v1/parcels", c.body)
		require.Equal(t, 400, a.StatusCode, "%s: %s", c.body, a.body)
		problem := a.problem(t)
		assert.Equal(t, core.CodeParameterMissing, problem.Code, c.body)
		assert.Equal(t, c.param, problem.Param, c.body)
	}
	assert.Equal(t, 201, f.send("POST", "/v1/parcels", `{"name":"a","box":"b"}`).StatusCode)
	assert.Equal(t, 201, f.send("POST", "/v1/parcels", `{"name":"a","weight":1,"width":2,"colour":"red"}`).StatusCode)
	assert.Equal(t, 200, f.send("PATCH", "/v1/parcels", `{"to":"x"}`).StatusCode)
}

func TestValidate_BodyWithTooManyItems(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	assert.Equal(t, 200, f.send("PATCH", "/v1/parcels", `{"stops":[{"towns":["a","b"]},{},{}]}`).StatusCode)
	for body, field := range map[string]string{
		`{"stops":[{},{},{},{}]}`:                            "stops",
		`{"stops":[{"towns":["a","b","c"]}]}`:                "stops.0.towns",
		`{"stops":[{},{"towns":["a","b","c","d","e"]}]}`:     "stops.1.towns",
		`{"stops":[` + strings.Repeat("1,", 400_000) + `1]}`: "stops",
	} {
		a := f.send("PATCH", "/v1/parcels", body)
		require.Equal(t, 422, a.StatusCode, "%.100s: %.100s", body, a.body)
		problem := a.problem(t)
		assert.Equal(t, core.CodeInvalid, problem.Code)
		assert.Equal(t, field, problem.Param)
		assert.Len(t, problem.Errors[field], 1, "not one for each of the items")
	}
}

// It ends at the first item too many, which costs less than reading them all.
func TestValidate_LooksAtNoItemOfTooMany(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	body := `{"stops":[` + strings.Repeat("1,", 400_000) + `1]}`
	var reading, refusing time.Duration
	for try := range 3 { // a busy machine makes both dearer
		read := effort.Of(func() { var v any; _ = json.Unmarshal([]byte(body), &v) })
		w, r := httptest.NewRecorder(), httptest.NewRequest("PATCH", "/v1/parcels", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+f.token)
		r.Header.Set("Content-Type", "application/json")
		refuse := effort.Of(func() { f.server.ServeHTTP(w, r) })
		require.Equal(t, 422, w.Code, w.Body)
		if try == 0 {
			reading, refusing = read, refuse
		}
		reading, refusing = min(reading, read), min(refusing, refuse)
	}
	assert.Less(t, refusing, reading, "read in %s, refused in %s", reading, refusing)
}

func TestValidate_BodyWithTooMuchInIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	free := func(n int) string { return manyKeys(n) + "}" }
	values := func(n int) string { return `{"name":"a","extra":[` + strings.Repeat("1,", n-1) + `1]}` }
	for _, c := range []struct {
		body           string
		status         int
		param, message string
	}{
		{free(maxKeys), 400, "name", "Missing"}, // read to its end
		{free(maxKeys + 1), 400, "", "The body must have at most 1000 keys."},
		{`{"name":"a","extra":` + free(maxKeys+1) + `}`, 422, "extra", "must have at most 1000 keys"},
		{`{"name":"a","extra":[{},` + free(maxKeys+1) + `]}`, 422, "extra.1", "must have at most 1000 keys"},
		{values(maxValues - 3), 400, "weight", "Missing"},
		{values(maxValues), 400, "extra." + strconv.Itoa(maxValues-3), "more than the 20000 values"},
	} {
		a := f.send("POST", "/v1/parcels", c.body)
		require.Equal(t, c.status, a.StatusCode, "%.60s: %s", c.body, a.body)
		assert.Equal(t, c.param, a.problem(t).Param)
		assert.Contains(t, a.problem(t).Message, c.message)
	}
}

// A name that is shortened in an error may stand for many: neither they nor their messages make it long.
func TestRefusals_KeepAHundredFieldsAndTenMessagesOfEach(t *testing.T) {
	t.Parallel()
	schema := openapi3.NewObjectSchema().WithAdditionalProperties(openapi3.NewStringSchema().WithMinLength(1))
	value := map[string]any{}
	for i := range 500 {
		value[fmt.Sprintf("%03d", i)] = ""
		value[strings.Repeat("0", 100)+strconv.Itoa(i)] = ""
	}
	var e *core.Error
	require.ErrorAs(t, bodyRefusal(schema.VisitJSON(value, openapi3.MultiErrors())), &e)
	assert.Len(t, e.Fields, maxFields)
	assert.Len(t, e.Fields[strings.Repeat("0", 100)+"…"], maxMessages)
	assert.Equal(t, "000", e.Param)
}

func TestValidate_BodyThatIsNotAcceptable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	cases := []struct{ body, field, message string }{
		{`{"name":"","amount":1}`, "name", "must have at least 1 character"},
		{`{"name":"12345678901","amount":1}`, "name", "must have at most 10 characters"},
		{`{"name":"a","amount":-1}`, "amount", "must be an integer from 0 to 1000000"},
		{`{"name":"a","amount":1,"status":"sold"}`, "status", "must be one of: draft, active"},
		{`{"name":"a","amount":1,"sold_at":"2026-02-30T00:00:00Z"}`, "sold_at", "must be an RFC 3339 timestamp"},
		{`{"name":"a","amount":1,"sold_at":"2026-01-31T23:58:60Z"}`, "sold_at", "must be an RFC 3339 timestamp"},
		{`{"name":"a","amount":1,"sold_at":"2026-01-31T12:00:00+99:99"}`, "sold_at", "must be an RFC 3339 timestamp"},
		{`{"name":"a","amount":1,"code":"A1"}`, "code", "must be text that matches ^[a-z]+$"},
		{`{"name":"a","amount":1,"tags":["a","b","c"]}`, "tags", "must have at most 2 items"},
		{`{"name":"a","amount":1,"tags":["a","a"]}`, "tags", "must not have the same item twice"},
		{`{"name":"a","amount":1,"tags":["abcd"]}`, "tags.0", "must have at most 3 characters"},
		{`{"name":"a","amount":1,"budget":{"amount":0}}`, "budget.amount", "must be a number of at least 1"},
		{`{"name":"a","amount":1,"line_items":[{"product":"p","quantity":0}]}`, "line_items.0.quantity", "must be an integer of at least 1"},
		{`{"name":"a","amount":1,"payer":"long"}`, "payer", "must have at most 3 characters"},
		{`{"name":"a","amount":1,"payer":{"number":"1234","year":3000}}`, "payer.year", "must be an integer of at most 2100"},
		{`{"name":"a","amount":1,"metadata":{"a":"1","b":"2","c":"3"}}`, "metadata", "must have at most 2 keys"},
	}
	for _, c := range cases {
		a := f.send("POST", "/v1/widgets", c.body)
		require.Equal(t, http.StatusUnprocessableEntity, a.StatusCode, "%s: %s", c.body, a.body)
		problem := a.problem(t)
		assert.Equal(t, typeValidation, problem.Type)
		assert.Equal(t, core.CodeInvalid, problem.Code)
		assert.Equal(t, c.field, problem.Param)
		require.Len(t, problem.Errors, 1, c.body)
		assert.Contains(t, problem.Errors[c.field][0], c.message, c.body)
	}
	problem := f.send("POST", "/v1/widgets", `{"name":"","amount":-1,"status":"x"}`).problem(t)
	assert.Equal(t, "amount", problem.Param, "all are reported, the first one as param")
	assert.Len(t, problem.Errors, 3)
}

func TestUncapitalized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "A": "A", "An amount.": "an amount.", "ISO 3166-1.": "ISO 3166-1.", "`test` or not": "`test` or not"} {
		assert.Equal(t, want, uncapitalized(text))
	}
}

func TestValidate_PatchTakesNullAndNoWrapper(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	assert.Equal(t, 200, f.send("PATCH", "/v1/widgets/w", `{"name":null}`).StatusCode)
	assert.Equal(t, 200, f.send("PATCH", "/v1/widgets/w", `{}`).StatusCode)
	problem := f.send("PATCH", "/v1/widgets/w", `{"widget":{"name":"a"}}`).problem(t)
	assert.Equal(t, core.CodeBadRequest, problem.Code)
	assert.Equal(t, "widget", problem.Param)
	assert.Contains(t, problem.Message, "top level")
	problem = f.send("PATCH", "/v1/widgets/w", ``).problem(t)
	assert.Equal(t, core.CodeParameterMissing, problem.Code)
	assert.Equal(t, "body", problem.Param)
}

func TestValidate_HintsAtAWrapperOnlyIfItHoldsAField(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for body, hint := range map[string]bool{
		`{"widget":{"name":"a"}}`: true, `{"extra":{},"widget":{"name":"a"}}`: true,
		`{"extra":{}}`: false, `{"extra":{"color":"red"}}`: false, `{"name":"a","amount":1,"extra":{}}`: false,
	} {
		assert.Equal(t, hint, strings.Contains(f.send("POST", "/v1/widgets", body).problem(t).Message, "top level"), body)
	}
}

func TestValidate_HandsOnWhatItLookedAt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	a := f.send("POST", "/v1/widgets", `{"amount":1,"name":"a"}`)
	require.Equal(t, 201, a.StatusCode)
	assert.JSONEq(t, `{"operation":"createWidget","account":"`+f.account+`","body":{"name":"a","amount":1}}`, a.body)
}

// What format: date-time promises is all of RFC 3339.
func TestValidate_TakesEveryMomentOfRFC3339(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, moment := range []string{"2026-01-31t12:00:00z", "2026-01-31t12:00:00.25z", "2016-12-31T23:59:60Z", "2016-12-31t23:59:60z"} {
		assert.Equal(t, 200, f.send("GET", "/v1/widgets?created_after="+moment, "").StatusCode, moment)
		assert.Equal(t, 201, f.send("POST", "/v1/widgets", `{"name":"a","amount":1,"sold_at":"`+moment+`"}`).StatusCode, moment)
	}
}

// A regular expression is no answer to somebody who sent a wrong value.
func TestPattern_IsSaidInWords(t *testing.T) {
	t.Parallel()
	var document any
	require.NoError(t, json.Unmarshal(spec.Requests, &document))
	patterns := map[string]bool{}
	var walk func(any)
	walk = func(node any) {
		switch n := node.(type) {
		case map[string]any:
			if pattern, ok := n["pattern"].(string); ok {
				patterns[pattern] = true
			}
			for _, inner := range n {
				walk(inner)
			}
		case []any:
			for _, inner := range n {
				walk(inner)
			}
		}
	}
	walk(document)
	require.Greater(t, len(patterns), 10)
	for pattern := range patterns {
		require.NotContains(t, wire.PatternWords(pattern), "matches", "put it into words in sdk/wire/pattern.go")
	}
}
