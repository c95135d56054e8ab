package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckJSON_Accepts(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{}`, ` [ ] `, `null`, `true`, `"text"`, `0`, `-1.5e-3`, `1e308`, "\t{\"a\" : [1, {\"a\": \"\\u00e9\\n\"}]}\r\n",
		`{"a":{"a":{"a":1}}}`, `"\ud83d\ude00"`, `"é€😀"`, `"\uFFFD"`, `{"":0}`,
		strings.Repeat("[", 64) + strings.Repeat("]", 64),
	} {
		assert.Nil(t, checkJSON([]byte(body), jsonLimits{}), body)
	}
}

func TestCheckJSON_Refuses(t *testing.T) {
	t.Parallel()
	cases := []struct{ body, param, message string }{
		{`{"a":1,"a":2}`, "a", "appears twice"},
		{`{"a":1,"\u0061":2}`, "a", "appears twice"},
		{`{"items":[{"x":1},{"x":1,"x":1}]}`, "items.1.x", "appears twice"},
		{`{} {}`, "", "after the JSON value, at byte 3"},
		{`{}x`, "", "after the JSON value"},
		{"\xef\xbb\xbf{}", "", "byte order mark"},
		{"{\"a\":\"\xff\"}", "", "UTF-8"},
		{`{"a":"x\u0000y"}`, "a", "NUL"},
		{`{"x\u0000":1}`, "", "NUL"},
		{`{"a":["\ud800"]}`, "a.0", "surrogate"},
		{`{"a":"\udc00\ud800"}`, "a", "surrogate"},
		{`{"a":"\ud800\u0041"}`, "a", "surrogate"},
		{`{"a":1e400}`, "a", "too large"},
		{`{"a":` + strings.Repeat("9", 101) + `}`, "a", "100 characters"},
		{strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat("0.", 63) + "0", "64 levels"},
		{strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), strings.Repeat("a.", 63) + "a", "64 levels"},
		{"", "", "ends in the middle"},
		{`{"a"`, "", "expected a colon"},
		{`{"a":1,}`, "", "expected a key"},
		{`[1,]`, "1", "expected a value"},
		{`{'a':1}`, "", "expected a key"},
		{`{"a":01}`, "", "expected a comma or }"},
		{`{"a":-}`, "a", "expected a digit"},
		{`{"a":1.}`, "a", "expected a digit"},
		{`{"a":1e}`, "a", "expected a digit"},
		{`{"a":tru}`, "a", "expected a value"},
		{`{"a":"b`, "a", "closing double quote"},
		{`{"a":"\`, "a", "escape"},
		{`{"a":"\x"}`, "a", "escape"},
		{`{"a":"\u12g4"}`, "a", "hexadecimal"},
		{"{\"a\":\"\n\"}", "a", "control character"},
		{"{\"a\":\"\\n\n\"}", "a", "control character"},
		{`NaN`, "", "expected a value"},
	}
	for _, c := range cases {
		fault := checkJSON([]byte(c.body), jsonLimits{})
		if assert.NotNil(t, fault, c.body) {
			assert.Equal(t, c.param, fault.param(), c.body)
			assert.Contains(t, fault.message, c.message, c.body)
		}
	}
}

func TestCheckJSON_FindsADuplicateAmongManyKeys(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, fewKeys, fewKeys + 1, fewKeys + 2, 1000} {
		body := manyKeys(n)
		require.Nil(t, checkJSON([]byte(body+"}"), jsonLimits{}), n)
		fault := checkJSON([]byte(body+`,"key_1":0}`), jsonLimits{})
		require.NotNil(t, fault, n)
		assert.Equal(t, "key_1", fault.param())
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	b.WriteString(`{"key_0":0`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, `,"key_%d":{"key_1":1}`, i)
	}
	return b.String()
}

// FuzzCheckJSON compares the scan with encoding/json: whatever one side takes and
// the stricter rules do not forbid, the other takes too.
func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{
		`{"name":"Guide","price":{"amount":1900,"currency":"usd"},"tags":["a","b"],"ok":true,"none":null}`,
		`{"a":1,"a":2}`, `{"a":"\ud83d\ude00\u0000"}`, `[1e400,-0.5E+2,01]`, "\xef\xbb\xbf{}", `{"a":"\"\\\/\b"} `, `[[[]]]`, `"\ud800"`, "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		accepted := checkJSON(data, jsonLimits{}) == nil
		if accepted && !acceptable(data) {
			t.Fatalf("accepted, but it should not be: %q", data)
		}
		surrogates := bytes.Contains(bytes.ToLower(data), []byte(`\ud`)) // encoding/json does not tell lone ones
		if !accepted && !surrogates && acceptable(data) {
			t.Fatalf("refused, but it is fine: %q: %s", data, checkJSON(data, jsonLimits{}).message)
		}
	})
}

// acceptable is the slow and plain statement of what checkJSON does, but for surrogates.
func acceptable(data []byte) bool {
	if !utf8.Valid(data) || !json.Valid(data) {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []map[string]bool // nil for an array
	key := false               // whether the next string is a key
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return true
		}
		if err != nil {
			return false
		}
		top := func() map[string]bool {
			if len(open) == 0 {
				return nil
			}
			return open[len(open)-1]
		}
		switch v := token.(type) {
		case json.Delim:
			switch v {
			case '{':
				open = append(open, map[string]bool{})
			case '[':
				open = append(open, nil)
			default:
				open = open[:len(open)-1]
			}
			if len(open) > maxJSONDepth {
				return false
			}
			key = top() != nil
			continue
		case string:
			if strings.ContainsRune(v, 0) {
				return false
			}
			if key {
				if top()[v] {
					return false
				}
				top()[v] = true
				key = false
				continue
			}
		case json.Number:
			if _, err := strconv.ParseFloat(string(v), 64); err != nil || len(v) > maxJSONNumber {
				return false
			}
		}
		key = top() != nil
	}
}

func BenchmarkCheckJSON(b *testing.B) {
	body := []byte(`{"name":"The Go Handbook","description":"` + strings.Repeat("Nine hundred characters of text. ", 28) +
		`","status":"draft","price_variants":[{"amount":1900,"currency":"usd","name":"Standard"}],"metadata":{"a":"1","b":"2"}}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if checkJSON(body, jsonLimits{}) != nil {
			b.Fatal("refused")
		}
	}
}
