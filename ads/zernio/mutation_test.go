package zernio_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/zerniofake"
)

// place is where a name stands on the wire: in the query or the body of a call, or in an answer. All answers are one place, because the same things
// stand in many of them.
type place struct{ call, part, name string }

func (p place) String() string { return p.call + " " + p.part + " " + p.name }

// recorder lets everything pass and keeps the names that it sees.
type recorder struct {
	next http.RoundTripper
	seen map[place]bool
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	call := zerniofake.CallOf(req).String()
	for name := range req.URL.Query() {
		r.seen[place{call, "query", name}] = true
	}
	each(read(&req.Body), "", func(name string) { r.seen[place{call, "body", name}] = true })
	res, err := r.next.RoundTrip(req)
	if err != nil {
		return res, err
	}
	each(read(&res.Body), "", func(name string) { r.seen[place{"any", "answer", last(name)}] = true })
	return res, nil
}

// mutant misspells one name, or what stands there, wherever it goes over the wire.
type mutant struct {
	next  http.RoundTripper
	at    place
	value bool // the value, not the name
}

func (m *mutant) RoundTrip(req *http.Request) (*http.Response, error) {
	here := zerniofake.CallOf(req).String() == m.at.call
	if here && m.at.part == "query" {
		query := req.URL.Query()
		if values, has := query[m.at.name]; has && m.value {
			query.Set(m.at.name, "NONSENSE")
		} else if has {
			delete(query, m.at.name)
			query[m.at.name+"z"] = values
		}
		req.URL.RawQuery = query.Encode()
	}
	if here && m.at.part == "body" {
		m.rewrite(&req.Body, &req.ContentLength)
	}
	res, err := m.next.RoundTrip(req)
	if err == nil && m.at.part == "answer" && res.StatusCode < 300 {
		value := read(&res.Body)
		everywhere(value, m.at.name)
		text, _ := json.Marshal(value) // it was just read
		res.Body = io.NopCloser(bytes.NewReader(text))
	}
	return res, err
}

// everywhere misspells a name wherever it stands in a value.
func everywhere(value any, name string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			everywhere(item, name)
		}
	case map[string]any:
		for _, inner := range value {
			everywhere(inner, name)
		}
		if inner, has := value[name]; has {
			delete(value, name)
			value[name+"z"] = inner
		}
	}
}

func (m *mutant) rewrite(body *io.ReadCloser, length *int64) {
	value := read(body)
	m.misspell(value, strings.Split(m.at.name, "."))
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	*body, *length = io.NopCloser(bytes.NewReader(text)), int64(len(text))
}

func (m *mutant) misspell(value any, path []string) {
	if list, is := value.([]any); is {
		for _, item := range list {
			m.misspell(item, path)
		}
		return
	}
	object, _ := value.(map[string]any)
	inner, has := object[path[0]]
	switch {
	case !has:
	case len(path) > 1:
		m.misspell(inner, path[1:])
	case m.value:
		object[path[0]] = "NONSENSE"
	default:
		delete(object, path[0])
		object[path[0]+"z"] = inner
	}
}

// read reads a body and leaves it to be read again.
func read(body *io.ReadCloser) any {
	if *body == nil {
		return nil
	}
	text, _ := io.ReadAll(*body)
	*body = io.NopCloser(bytes.NewReader(text))
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	_ = decoder.Decode(&value) // there may be none
	return value
}

// open are objects whose keys are data.
var open = []string{"actions", "targeting", "spec"}

// each calls f with every name in a value. Items of a list are named as if they were the list's.
func each(value any, prefix string, f func(name string)) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			each(item, prefix, f)
		}
	case map[string]any:
		for name, inner := range value {
			f(prefix + name)
			if !slices.Contains(open, name) || strings.HasPrefix(prefix, "spec") {
				each(inner, prefix+name+".", f)
			}
		}
	}
}

// unread are names of answers that the driver does not need, because it knows what they say or asks for nothing else.
var unread = []string{
	"message", "isDefault", "enabled", "hasAnalyticsAccess", "state", "platformAdAccountId", "isExternal", "adSetCount", "deleted", "adAccountId", "page", "limit", "total",
	"budget", "adSetBudget", "campaignBudget", // of which two say the same
}

// TestDriver_EveryNameMatters misspells each name that goes over the wire, one at a time: of a request Zernio refuses it, or the driver does
// something else.
func TestDriver_EveryNameMatters(t *testing.T) {
	t.Parallel()
	done := map[place]bool{}
	for _, p := range []advert.Platform{advert.PlatformFacebook, advert.PlatformTikTok, advert.PlatformLinkedIn, advert.PlatformGoogle, advert.PlatformTwitter} {
		seen := map[place]bool{}
		right := newWorld(p, func(next http.RoundTripper) http.RoundTripper { return &recorder{next, seen} }).run(t.Context(), nil)
		require.NotContains(t, right[len(right)-1], "stopped")
		for at := range seen {
			if done[at] {
				continue
			}
			done[at] = true
			t.Run(string(p)+" "+at.String(), func(t *testing.T) {
				t.Parallel()
				lines := newWorld(p, func(next http.RoundTripper) http.RoundTripper { return &mutant{next: next, at: at} }).run(t.Context(), right)
				if at.part == "answer" && slices.Contains(unread, at.name) {
					assert.Equal(t, right, lines, "it is needed")
				} else {
					assert.NotEqual(t, right, lines)
				}
			})
			if at.part == "answer" || !callNamed(at.call).HasValues(at.part, listed(at)) {
				continue
			}
			t.Run(string(p)+" value of "+at.String(), func(t *testing.T) {
				t.Parallel()
				lines := newWorld(p, func(next http.RoundTripper) http.RoundTripper { return &mutant{next: next, at: at, value: true} }).run(t.Context(), right)
				assert.NotEqual(t, right, lines)
			})
		}
	}
}

func last(name string) string { return name[strings.LastIndex(name, ".")+1:] }

func callNamed(name string) *zerniofake.Call {
	i := slices.IndexFunc(zerniofake.Calls(), func(c *zerniofake.Call) bool { return c.String() == name })
	return zerniofake.Calls()[i]
}

// listed is the name that the table has for a place: there the items of a list are marked.
func listed(at place) string {
	for _, name := range callNamed(at.call).Names(at.part) {
		if strings.ReplaceAll(name, "[]", "") == at.name {
			return name
		}
	}
	return at.name
}
