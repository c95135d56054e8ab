package chat_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tillwright/tillwright/server/view"
)

// hostile are what people who type names may think of.
var hostile = []string{
	"@everyone", "@here", "@channel", "@Everyone", "x@everyone", "@", "@@here", "@ada", "ada@example.com", "a@", "<!channel>", "<!here|x>",
	"<@U123>", "<@1>", "<@&1>", "<#C1>", "<!subteam^S1>", "<!date^0^{date}^http://evil.example|x>", "<http://evil.example|text>", "</pay:1>",
	"<t:1>", "<a:x:1>", "[text](http://evil.example)", "http://evil.example", "https://evil.example/@everyone", ":smile:", "&lt;!channel&gt;", "&", "&amp;",
	"*", "**", "_", "__", "~", "~~", "`", "```", "||", "\\", "\\\\", "a_b", "_a_", "*a*", "＊a＊", "＿", "｀", "～", "＞", ">", ">>>", "#", "# a", "-# a", "- a",
	"\n", "\r\n", "\t", "\u0000", "\u001b[31m", "\u007f", "\u0085", "\u2028", "\u2029", "\u00a0", "\u200b", "\u200d", "\u202e", "\u2066", "\u2069", "\ufeff", "\u00ad",
	"😀", "👩‍👩‍👧", "🏴\U000e0067\U000e007f", "e\u0301\u0301\u0301", "שלום", "مرحبا", "İ", "ſ", "\ufffd", "\U0010ffff", `"`, `\u0041`, "{{.}}", "…", " ",
	strings.Repeat("a", 10_000), strings.Repeat("&", 10_000), strings.Repeat("@", 10_000), strings.Repeat("*", 10_000), strings.Repeat("😀", 10_000),
	strings.Repeat("_<", 5_000), strings.Repeat("@here ", 2_000), strings.Repeat("\n", 10_000), strings.Repeat(":x", 10_000),
}

func hostileText() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom(hostile), rapid.SampledFrom(hostile), rapid.String())
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "") })
}

// hostileValue replaces a value of an event: mostly by a text, by anything else now and then.
func hostileValue() *rapid.Generator[any] {
	return rapid.OneOf(
		hostileText().AsAny(), hostileText().AsAny(), hostileText().AsAny(), hostileText().AsAny(), hostileText().AsAny(),
		rapid.Int64().AsAny(), rapid.Float64Range(-1e300, 1e300).AsAny(), rapid.Bool().AsAny(),
		rapid.SampledFrom([]any{nil, []any{}, map[string]any{}, []any{map[string]any{}, nil, "x"}}),
	)
}

// TestMessages_KeepTheirShapeWhateverIsTyped replaces values all over the examples by hostile ones.
func TestMessages_KeepTheirShapeWhateverIsTyped(t *testing.T) {
	t.Parallel()
	examples := [][]byte{}
	for _, example := range view.EventTypes().Data {
		examples = append(examples, exampleBody(t, example))
	}
	rapid.Check(t, func(t *rapid.T) {
		var event map[string]any
		if err := json.Unmarshal(rapid.SampledFrom(examples).Draw(t, "example"), &event); err != nil {
			t.Fatal(err)
		}
		spoil(t, event["data"], rapid.Float64Range(0, 1).Draw(t, "how much"))
		if rapid.IntRange(0, 9).Draw(t, "spoil the envelope") == 0 {
			event[rapid.SampledFrom([]string{"id", "type", "created_at", "test", "data"}).Draw(t, "field")] = hostileValue().Draw(t, "value")
		}
		body, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range services {
			message, err := s.render(body, base)
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			if _, err := s.check(message); err != nil {
				t.Fatalf("%s: %v\n%s", s.name, err, message)
			}
			if again, _ := s.render(body, base); !bytes.Equal(message, again) {
				t.Fatalf("%s says of one event\n%s\nand\n%s", s.name, message, again)
			}
		}
	})
}

// TestMessages_StayWithinTheLimitsAtTheirLongest says everything that a message can say, in names that grow the most.
func TestMessages_StayWithinTheLimitsAtTheirLongest(t *testing.T) {
	t.Parallel()
	for _, example := range view.EventTypes().Data {
		for _, r := range []string{"&", "<", "@", "*", "_", ":x", "😀", "\\", "a"} {
			var event map[string]any
			if err := json.Unmarshal(exampleBody(t, example), &event); err != nil {
				t.Fatal(err)
			}
			name := strings.Repeat(r, 500)
			lines := []any{}
			for range 50 {
				lines = append(lines, map[string]any{"product_name": name, "price_variant_name": name, "quantity": math.MaxInt64})
			}
			data := event["data"].(map[string]any)
			for _, part := range []any{data, data["customer"], data["refund"], data["lead"]} {
				object, ok := part.(map[string]any)
				if !ok {
					continue
				}
				for _, key := range told {
					switch object[key].(type) {
					case string, nil:
						if key != "currency" && !strings.HasSuffix(key, "_at") {
							object[key] = name
						}
					case float64:
						object[key] = int64(math.MinInt64)
					case []any:
						object[key] = lines
					}
				}
			}
			body, err := json.Marshal(event)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range services {
				seen, err := s.check(render(t, s.render, body))
				if err != nil {
					t.Errorf("%s, %s of %q: %v", s.name, example.Type, r, err)
				}
				if !strings.Contains(seen, "…") {
					t.Errorf("%s, %s of %q: nothing shows that a name was cut:\n%s", s.name, example.Type, r, seen)
				}
			}
		}
	}
}

// spoil replaces some of the values below v, and multiplies the lines of what was bought. An object keeps what it says
// it is: without it there is no link to check.
func spoil(t *rapid.T, v any, share float64) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range told {
			value, there := v[key]
			if !there {
				continue
			}
			if lines, ok := value.([]any); ok && rapid.Bool().Draw(t, "more lines") {
				v[key] = append(lines, lines...)
			}
			_, branch := value.(map[string]any)
			_, list := value.([]any)
			if !branch && !list || rapid.IntRange(0, 9).Draw(t, "cut off") == 0 {
				if rapid.Float64Range(0, 1).Draw(t, "spoiled") <= share {
					v[key] = hostileValue().Draw(t, key)
				}
			} else {
				spoil(t, value, share)
			}
		}
	case []any:
		for _, item := range v {
			spoil(t, item, share)
		}
	}
}

// told are the fields that messages read, in a fixed order: a seed repeats its run.
var told = []string{
	"amount", "amount_due", "billing_name", "billing_reason", "comment", "currency", "customer", "customer_email", "customer_name", "description",
	"due_at", "email", "failure_reason", "id", "lead", "line_items", "lines", "max_amount", "min_amount", "name", "next_payment_attempt_at", "number",
	"phone", "price_range", "price_variant_name", "product", "product_name", "quantity", "reason", "refund", "source", "status", "total_amount",
	"type", "visibility", "void_reason",
}
