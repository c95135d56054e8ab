package pinterest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

// place is where a name stands on the wire: in the query, the body or the answer of an operation.
type place struct{ operation, part, name string }

func (p place) String() string { return p.operation + " " + p.part + " " + p.name }

// resource is what the answers of several operations have in common: ads/list and ads/update answer with ads.
func resource(operation string) string {
	if strings.HasSuffix(operation, "/analytics") {
		return operation
	}
	before, _, _ := strings.Cut(operation, "/")
	return before
}

// wraps are what an entity stands in: nothing, a list, and an outcome of a batch.
var wraps = []string{"", "items.", "items.data."}

// bare is a name of an answer without what its entity stands in.
func bare(name string) string {
	for _, wrap := range slices.Backward(wraps) {
		if inner, found := strings.CutPrefix(name, wrap); found {
			return inner
		}
	}
	return name
}

// recorder lets everything pass and keeps the names that it sees.
type recorder struct {
	next http.RoundTripper
	seen map[place]bool
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	operation := pinterestfake.OperationOf(req).ID
	for name := range req.URL.Query() {
		r.seen[place{operation, "query", name}] = true
	}
	body := readBody(req)
	each(body, "", func(name string) { r.seen[place{operation, "body", name}] = true })
	res, err := r.next.RoundTrip(req)
	if err != nil {
		return res, err
	}
	answer, _ := io.ReadAll(res.Body)
	res.Body = io.NopCloser(bytes.NewReader(answer))
	if res.StatusCode < 300 && operation != "targeting_options/get" { // whose keys are ids
		each(decode(answer), "", func(name string) { r.seen[place{resource(operation), "answer", bare(name)}] = true })
	}
	return res, nil
}

// mutant misspells one name, or what stands there, wherever it goes over the wire.
type mutant struct {
	next  http.RoundTripper
	at    place
	value bool // the value, not the name
}

func (m *mutant) RoundTrip(req *http.Request) (*http.Response, error) {
	operation := pinterestfake.OperationOf(req).ID
	if m.at.operation == operation && m.at.part == "query" {
		query := req.URL.Query()
		m.misspellQuery(query)
		req.URL.RawQuery = query.Encode()
	}
	if m.at.operation == operation && m.at.part == "body" {
		body := readBody(req)
		m.misspell(body, strings.Split(m.at.name, "."))
		writeBody(req, body)
	}
	res, err := m.next.RoundTrip(req)
	if err != nil || m.at.part != "answer" || m.at.operation != resource(operation) || res.StatusCode >= 300 {
		return res, err
	}
	answer, _ := io.ReadAll(res.Body)
	body := decode(answer)
	for _, wrap := range wraps {
		m.misspell(body, strings.Split(wrap+m.at.name, "."))
	}
	text, err := json.Marshal(body)
	res.Body = io.NopCloser(bytes.NewReader(text))
	return res, err
}

func (m *mutant) misspellQuery(query url.Values) {
	values, has := query[m.at.name]
	switch {
	case !has:
	case m.value:
		query[m.at.name] = []string{"NONSENSE"}
	default:
		delete(query, m.at.name)
		query[m.at.name+"z"] = values
	}
}

func (m *mutant) misspell(value any, path []string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			m.misspell(item, path)
		}
	case map[string]any:
		inner, has := value[path[0]]
		switch {
		case !has:
		case len(path) > 1:
			m.misspell(inner, path[1:])
		case m.value:
			value[path[0]] = nonsense(inner)
		default:
			delete(value, path[0])
			value[path[0]+"z"] = inner
		}
	}
}

func nonsense(value any) any {
	if _, several := value.([]any); several {
		return []any{"NONSENSE"}
	}
	return "NONSENSE"
}

// each calls see with the names of all properties.
func each(value any, prefix string, see func(string)) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			each(item, prefix, see)
		}
	case map[string]any:
		for name, inner := range value {
			see(prefix + name)
			each(inner, prefix+name+".", see)
		}
	}
}

func decode(text []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&value)
	return value
}

func readBody(req *http.Request) any {
	if req.Body == nil {
		return nil
	}
	text, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(text))
	return decode(text)
}

func writeBody(req *http.Request, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
}

// tourThrough takes a driver through everything, with its requests passing wire.
func tourThrough(t *testing.T, wire func(http.RoundTripper) http.RoundTripper, right []string) []string {
	through := func(n http.RoundTripper) http.RoundTripper {
		if wire == nil {
			return shop{n, n}
		}
		return shop{wire(n), n}
	}
	tour := &tour{world: newWorld("USD", through), ctx: t.Context(), right: right}
	return tour.run()
}

// notices reports whether a tour differs from the right one when something is misspelled.
func notices(t *testing.T, right []string, m mutant) bool {
	wrong := tourThrough(t, func(next http.RoundTripper) http.RoundTripper {
		m.next = next
		return &m
	}, right)
	return !slices.Equal(right, wrong)
}

// undisturbed returns what a tour is when nothing is misspelled, and every name that goes over the wire in it.
func undisturbed(t *testing.T) ([]string, map[place]bool) {
	seen := map[place]bool{}
	lines := tourThrough(t, func(next http.RoundTripper) http.RoundTripper { return &recorder{next, seen} }, nil)
	require.False(t, strings.HasPrefix(lines[len(lines)-1], "stopped"), lines[len(lines)-1])
	return lines, seen
}

// unread are names that the network has to send and that nobody reads.
var unread = []place{{"boards", "answer", "name"}, {"ad_groups", "answer", windowsOfGoal}, {"ad_groups", "answer", windowsOfGoal + ".click_window_days"},
	{"ad_groups", "answer", windowsOfGoal + ".engagement_window_days"}, {"ad_groups", "answer", windowsOfGoal + ".view_window_days"}}

const windowsOfGoal = "optimization_goal_metadata.conversion_tag_v3_goal_metadata.attribution_windows"

func TestTour_IsTheSameEachTime(t *testing.T) {
	t.Parallel()
	first, _ := undisturbed(t)
	again := tourThrough(t, nil, nil)
	assert.True(t, slices.Equal(first, again))
}

func TestTour_GoesOnWhereNothingIsMisspelled(t *testing.T) {
	t.Parallel()
	right, _ := undisturbed(t)
	assert.False(t, notices(t, right, mutant{at: place{"campaigns/create", "body", "no such name"}}))
}

func TestTour_UsesEveryNameOfTheDescriptionAndNoOther(t *testing.T) {
	t.Parallel()
	_, seen := undisturbed(t)
	known := map[place]bool{}
	for _, operation := range pinterestfake.Operations() {
		names := operation.Names()
		for _, name := range names.Query {
			known[place{operation.ID, "query", name}] = true
		}
		for _, name := range names.Body {
			known[place{operation.ID, "body", name}] = true
		}
		for _, name := range names.Answer {
			known[place{resource(operation.ID), "answer", bare(name)}] = true
		}
	}
	for p := range known {
		assert.True(t, seen[p], "%s is in the description, but the tour does not need it", p)
	}
	for p := range seen {
		assert.True(t, known[p], "%s is not in the description", p)
	}
}

func TestTour_FailsOnEveryMisspelledName(t *testing.T) {
	t.Parallel()
	right, seen := undisturbed(t)
	for p := range seen {
		if slices.Contains(unread, p) {
			continue
		}
		assert.True(t, notices(t, right, mutant{at: p}), "%s can be misspelled", p)
	}
}

func TestTour_FailsOnEveryWordThatIsNoneOfItsEnum(t *testing.T) {
	t.Parallel()
	right, seen := undisturbed(t)
	checked := 0
	for _, operation := range pinterestfake.Operations() {
		for p := range seen {
			if p.operation != operation.ID || p.part == "answer" || !operation.HasEnum(p.name) {
				continue
			}
			checked++
			assert.True(t, notices(t, right, mutant{at: p, value: true}), "%s can be any word", p)
		}
	}
	assert.Greater(t, checked, 20)
}
