package activity

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func fields(t *testing.T, text string) Fields {
	t.Helper()
	f := ReadFields([]byte(text))
	require.NotNil(t, f)
	return f
}

func diff(t *testing.T, before, after string) string {
	t.Helper()
	changes := Diff(fields(t, before), ReadFields([]byte(after)))
	text, err := json.Marshal(changes)
	require.NoError(t, err)
	return string(text)
}

func TestDiff_NamesWhatIsDifferent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][3]string{
		"equal":                  {`{"a":1,"b":{"x":"<"}}`, `{"a":1,"b":{ "x" : "\u003c" }}`, `null`},
		"a value":                {`{"a":1,"b":2,"updated_at":"then"}`, `{"a":1,"b":3,"updated_at":"now"}`, `{"b":{"before":2,"after":3}}`},
		"from nothing":           {`{"a":null}`, `{"a":"x"}`, `{"a":{"after":"x"}}`},
		"to nothing":             {`{"a":"x"}`, `{"a":null}`, `{"a":{"before":"x"}}`},
		"not shown":              {`{"a":1,"b":2}`, `{"b":2,"c":3}`, `null`},
		"expanded":               {`{"c":"cus_1","l":["p_1","p_2"]}`, `{"c":{"id":"cus_1","object":"customer","email":"a@b"},"l":[{"id":"p_1","object":"p"},{"id":"p_2","object":"p"}]}`, `null`},
		"another one expanded":   {`{"c":"cus_1"}`, `{"c":{"id":"cus_2","object":"customer","email":"a@b"}}`, `{"c":{"before":"cus_1","after":"cus_2"}}`},
		"deleted":                {`{"id":"x","object":"x","a":1,"b":null}`, ``, `{"a":{"before":1}}`},
		"a secret":               {`{"object":"license_key","key":"OLD"}`, `{"object":"license_key","key":"NEW"}`, `{"key":{"before":"***","after":"***"}}`},
		"only a secret inside":   {`{"a":{"token":"OLD"}}`, `{"a":{"token":"NEW"}}`, `{"a":{"before":{"token":"***"},"after":{"token":"***"}}}`},
		"a name of the seller's": {`{"metadata":{"token":"red"}}`, `{"metadata":{"token":"blue"}}`, `{"metadata":{"before":{"token":"red"},"after":{"token":"blue"}}}`},
		"credentials":            {`{"object":"webhook_endpoint","url":"https://a:b@example.com/x?k=1"}`, `{"object":"webhook_endpoint","url":"https://example.com/x"}`, `{"url":{"before":"https://%2A%2A%2A@example.com/x?***","after":"https://example.com/x"}}`},
		"who buys":               {`{"object":"checkout","customer_name":"Ada"}`, `{"object":"checkout","customer_name":"Grace"}`, `{"customer_name":{"before":"***","after":"***"}}`},
		"a secret inside":        {`{"a":{"token":"OLD","n":1}}`, `{"a":{"token":"NEW","n":2}}`, `{"a":{"before":{"n":1,"token":"***"},"after":{"n":2,"token":"***"}}}`},
	} {
		assert.Equal(t, c[2], diff(t, c[0], c[1]), name)
	}
}

func TestDiff_CutsLongValues(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", maxValue)
	changes := *Diff(fields(t, `{"text":"","list":[],"short":"a"}`), fields(t, `{"text":"`+long+`","list":["`+long+`"],"short":"b"}`))
	for field, beginning := range map[string]string{"text": `ää`, "list": `["ää`} {
		var text string
		require.NoError(t, json.Unmarshal(changes[field].After, &text))
		assert.True(t, strings.HasPrefix(text, beginning), text)
		assert.LessOrEqual(t, len(text), maxValue)
		assert.NotContains(t, text, "\uFFFD")
		assert.True(t, changes[field].Cut)
	}
	assert.False(t, changes["short"].Cut)
}
