package meta_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

func TestDriver_GoesThroughEverything(t *testing.T) {
	t.Parallel()
	for _, p := range platforms {
		for _, part := range parts {
			w := newWorld(t, p)
			require.NoError(t, part(t, w))
			for _, c := range w.fake.Calls() {
				if c.Refused != nil {
					assert.Contains(t, c.Refused.User, "Advertising Standards", "%s %s %v", c.Method, c.Path, c.Params)
				}
			}
		}
	}
}

// spot is a name on the wire: a parameter of a call, a key in its JSON, or a field that is asked for.
type spot struct{ node, method, edge, path string }

func (s spot) String() string { return strings.Join([]string{s.node, s.method, s.edge, s.path}, " ") }

// spots are all names that a run sends.
func spots(calls []metafake.Call) []spot {
	found := map[spot]bool{}
	for _, c := range calls {
		for name, values := range c.Params {
			s := spot{c.Node, c.Method, c.Edge, name}
			found[s] = true
			for _, path := range inside(name, values[0]) {
				found[spot{c.Node, c.Method, c.Edge, path}] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b spot) int { return strings.Compare(a.String(), b.String()) })
}

// inside lists the paths of the keys in a value. Fields are keys, too; ids that are keys are not names.
func inside(name, text string) []string {
	var paths []string
	if name == "fields" {
		for i := range fieldNames(text) {
			paths = append(paths, "fields#"+strconv.Itoa(i))
		}
		return paths
	}
	var value any
	if json.Unmarshal([]byte(text), &value) == nil {
		_ = rename(value, name, func(path string) bool {
			paths = append(paths, path)
			return false
		})
	}
	return paths
}

// fieldNames are where the names in a field expansion begin and end.
func fieldNames(text string) [][2]int {
	var names [][2]int
	start := 0
	for i := range len(text) + 1 {
		if i == len(text) || strings.ContainsRune(",{}", rune(text[i])) {
			if i > start {
				names = append(names, [2]int{start, i})
			}
			start = i + 1
		}
	}
	return names
}

// rename misspells the keys that `hit` wants.
func rename(value any, path string, hit func(string) bool) any {
	switch v := value.(type) {
	case map[string]any:
		renamed := map[string]any{}
		for key, inner := range v {
			at := path + "." + key
			if unicodeDigits(key) {
				at = path + ".<id>"
			}
			inner = rename(inner, at, hit)
			if hit(at) {
				key += "x"
			}
			renamed[key] = inner
		}
		return renamed
	case []any:
		for i := range v {
			v[i] = rename(v[i], path, hit)
		}
	}
	return value
}

func unicodeDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// misspell changes one name in a request's parameters. It reports whether it was there.
func misspell(params url.Values, path string) bool {
	name, _, _ := strings.Cut(path, ".")
	name, number, isField := strings.Cut(name, "#")
	if !params.Has(name) {
		return false
	}
	text := params.Get(name)
	switch {
	case isField:
		n, _ := strconv.Atoi(number)
		names := fieldNames(text)
		if n >= len(names) {
			return false
		}
		params.Set(name, text[:names[n][1]]+"x"+text[names[n][1]:])
		return true
	case path == name:
		params.Del(name)
		params.Set(name+"x", text)
		return true
	}
	var value any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return false
	}
	changed := false
	renamed, err := json.Marshal(rename(value, name, func(at string) bool {
		changed = changed || at == path
		return at == path
	}))
	params.Set(name, string(renamed))
	return changed && err == nil
}

// rewriter changes the parameters of requests of one call on their way.
type rewriter struct {
	fake   *metafake.Fake
	next   http.RoundTripper
	at     spot
	change func(url.Values) bool
	hits   int
}

func (r *rewriter) RoundTrip(h *http.Request) (*http.Response, error) {
	segments := strings.Split(strings.Trim(h.URL.Path, "/"), "/")
	edge := "."
	if len(segments) == 3 {
		edge = segments[2]
	}
	if h.Method != r.at.method || edge != r.at.edge || r.fake.Node(segments[1]) != r.at.node {
		return r.next.RoundTrip(h)
	}
	h = h.Clone(h.Context())
	if h.Method != http.MethodPost {
		params := h.URL.Query()
		if r.change(params) {
			r.hits++
		}
		h.URL.RawQuery = params.Encode()
		return r.next.RoundTrip(h)
	}
	body, err := io.ReadAll(h.Body)
	if err != nil {
		return nil, err
	}
	params, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	if r.change(params) {
		r.hits++
	}
	text := []byte(params.Encode())
	h.Body, h.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	h.GetBody = nil
	return r.next.RoundTrip(h)
}

// mutate runs through a part with one change on the wire and returns how it failed.
func mutate(t *testing.T, p advert.Platform, part func(*testing.T, *world) error, at spot, change func(url.Values) bool) error {
	t.Helper()
	var r *rewriter
	w := worldThrough(t, p, func(f *metafake.Fake, next http.RoundTripper) http.RoundTripper {
		r = &rewriter{fake: f, next: next, at: at, change: change}
		return r
	})
	err := part(t, w)
	require.NotZero(t, r.hits, "%s was not changed", at)
	return err
}

// eachSpot calls try for every name that a platform's parts send, with the first part that does.
func eachSpot(t *testing.T, p advert.Platform, done map[spot]bool, try func(part func(*testing.T, *world) error, at spot, c *metafake.Fake)) {
	t.Helper()
	for _, part := range parts {
		w := newWorld(t, p)
		require.NoError(t, part(t, w))
		for _, at := range spots(w.fake.Calls()) {
			if !done[at] {
				done[at] = true
				try(part, at, w.fake)
			}
		}
	}
}

func TestEveryName_OnTheWireIsCheckedByTheFake(t *testing.T) {
	t.Parallel()
	done := map[spot]bool{}
	for _, p := range platforms {
		eachSpot(t, p, done, func(part func(*testing.T, *world) error, at spot, _ *metafake.Fake) {
			err := mutate(t, p, part, at, func(params url.Values) bool { return misspell(params, at.path) })
			assert.Error(t, err, "%s misspelt on %s goes unnoticed", at, p)
		})
	}
	assert.Greater(t, len(done), 300)
}

func TestEveryCall_IsFineWhenNothingIsChanged(t *testing.T) {
	t.Parallel()
	edges := map[spot]bool{}
	eachSpot(t, advert.PlatformFacebook, map[spot]bool{}, func(part func(*testing.T, *world) error, at spot, _ *metafake.Fake) {
		call := spot{node: at.node, method: at.method, edge: at.edge}
		if !edges[call] {
			edges[call] = true
			assert.NoError(t, mutate(t, advert.PlatformFacebook, part, at, func(url.Values) bool { return true }), call)
		}
	})
	assert.Greater(t, len(edges), 15)
}

func TestEveryWord_OfAnEnumerationIsCheckedByTheFake(t *testing.T) {
	t.Parallel()
	tried := 0
	eachSpot(t, advert.PlatformFacebook, map[spot]bool{}, func(part func(*testing.T, *world) error, at spot, f *metafake.Fake) {
		if !f.IsEnum(metafake.Call{Node: at.node, Method: at.method, Edge: at.edge}, at.path) {
			return
		}
		tried++
		err := mutate(t, advert.PlatformFacebook, part, at, func(params url.Values) bool { return anotherWord(params, at.path) })
		assert.Error(t, err, "%s takes any word", at)
	})
	assert.Greater(t, tried, 15)
}

// anotherWord replaces the value of a parameter by a word that no enumeration has.
func anotherWord(params url.Values, name string) bool {
	word := "NOT_A_WORD"
	if strings.HasPrefix(params.Get(name), "[") {
		word = `["NOT_A_WORD"]`
	}
	if !params.Has(name) {
		return false
	}
	params.Set(name, word)
	return true
}
