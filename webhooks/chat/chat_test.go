package chat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/webhooks/chat"
)

const base = "https://shop.example/v1"

// services are the two forms of a message, each with the check of everything that its service documents.
var services = []struct {
	name   string
	render func([]byte, string) ([]byte, error)
	check  func([]byte) (seen string, err error)
}{
	{"slack", chat.Slack, checkSlack},
	{"discord", chat.Discord, checkDiscord},
}

// TestMessages_OfEveryTypeReadAsWritten holds the messages of the catalogue's examples to testdata. To see what a
// change does to them, delete the file: the test writes it anew, and fails.
func TestMessages_OfEveryTypeReadAsWritten(t *testing.T) {
	t.Parallel()
	examples := view.EventTypes().Data
	if len(examples) != len(outbox.EventTypes()) {
		t.Fatalf("%d examples of %d types", len(examples), len(outbox.EventTypes()))
	}
	for _, s := range services {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			for _, example := range examples {
				fmt.Fprintf(&got, "// %s\n", example.Type)
				body := render(t, s.render, exampleBody(t, example))
				if _, err := s.check(body); err != nil {
					t.Errorf("%s: %v", example.Type, err)
				}
				if err := json.Indent(&got, body, "", "  "); err != nil {
					t.Fatal(err)
				}
				got.WriteString("\n\n")
			}
			golden := filepath.Join("testdata", s.name+".jsonc")
			want, err := os.ReadFile(golden)
			if os.IsNotExist(err) {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				t.Fatalf("%s was missing and is written: read it", golden)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("the messages differ from %s:\n%s", golden, firstDifference(got.String(), string(want)))
			}
		})
	}
}

// TestMessages_SayWhoBoughtWhatForHowMuch reads the sentences of cases that the catalogue has no example of.
func TestMessages_SayWhoBoughtWhatForHowMuch(t *testing.T) {
	t.Parallel()
	order := func(fields string) string {
		return `{"id":"order_1","object":"order","customer":{"name":"Ada"},"line_items":[{"product_name":"Book","quantity":1}]` + fields + `}`
	}
	for name, c := range map[string]struct{ kind, data, want string }{
		"yen have no minor unit":      {"order.paid", order(`,"total_amount":1900,"currency":"jpy"`), "Ada paid JPY\u00a01,900 for Book."},
		"dinars have three":           {"order.paid", order(`,"total_amount":1900,"currency":"kwd"`), "Ada paid KWD\u00a01.900 for Book."},
		"beyond what a float holds":   {"order.paid", order(`,"total_amount":9007199254740993,"currency":"usd"`), "Ada paid USD\u00a090,071,992,547,409.93 for Book."},
		"paid nothing":                {"order.paid", order(`,"total_amount":0,"currency":"usd"`), "Ada got Book for free."},
		"ordered for nothing":         {"order.created", order(`,"total_amount":0,"currency":"usd"`), "Ada ordered Book for free."},
		"no amount":                   {"order.paid", order(``), "Ada paid for Book."},
		"an amount that is a float":   {"order.paid", order(`,"total_amount":19.5,"currency":"usd"`), "Ada paid for Book."},
		"no currency to speak of":     {"order.paid", order(`,"total_amount":1900,"currency":"gold"`), "Ada paid for Book."},
		"nothing at all":              {"order.paid", `{}`, "A customer paid."},
		"no data":                     {"order.paid", `null`, "A customer paid."},
		"collapsed":                   {"order.paid", `{"customer":"cus_1","line_items":["li_1"],"total_amount":100,"currency":"usd"}`, "A customer paid USD\u00a01.00."},
		"only an address":             {"order.created", `{"customer":{"name":null,"email":"a_b@example.com"}}`, "a_b@example.com ordered something."},
		"two things":                  {"order.created", `{"line_items":[{"product_name":"A"},{"product_name":"B"}]}`, "A customer ordered A and 1 more item."},
		"three things":                {"order.created", `{"line_items":[{"product_name":"A"},{"product_name":"B"},{"product_name":"C"}]}`, "A customer ordered A and 2 more items."},
		"refund that failed":          {"refund.updated", order(`,"refund":{"amount":500,"currency":"usd","status":"failed"}`), "The refund of USD\u00a05.00 to Ada for Book failed."},
		"refund that was canceled":    {"refund.updated", order(`,"refund":{"amount":500,"currency":"usd","status":"canceled"}`), "The refund of USD\u00a05.00 to Ada for Book was canceled."},
		"refund by itself":            {"refund.created", `{"object":"refund","amount":500,"currency":"usd","status":"pending"}`, "A customer is being refunded USD\u00a05.00."},
		"draft without a number":      {"invoice.created", `{"status":"draft","number":null,"total_amount":500,"currency":"usd"}`, "An invoice of USD\u00a05.00 to a customer was drafted."},
		"lead by itself":              {"lead.created", `{"object":"lead","email":"x@example.com","product":{"name":"Book"}}`, "x@example.com is a new lead for Book."},
		"product of several prices":   {"product.created", `{"name":"Book","price_range":{"min_amount":100,"max_amount":500,"currency":"usd"}}`, "Book was added to the products for USD\u00a01.00 to USD\u00a05.00."},
		"product that is free":        {"product.created", `{"name":"Book","price_range":{"min_amount":0,"max_amount":0,"currency":"usd"}}`, "Book was added to the products for free."},
		"product without a price":     {"product.created", `{"name":"Book","price_range":null}`, "Book was added to the products."},
		"a type of a later release":   {"payout.sent", `{"id":"po1","object":"payout"}`, "Event payout.sent happened to po1."},
		"a type without an object":    {"payout.sent", `[]`, "Event payout.sent happened."},
		"cut at a rune, not a byte":   {"order.created", `{"customer":{"name":"` + strings.Repeat("é", 121) + `"}}`, strings.Repeat("é", 119) + "… ordered something."},
		"not cut when it fits":        {"order.created", `{"customer":{"name":"` + strings.Repeat("é", 120) + `"}}`, strings.Repeat("é", 120) + " ordered something."},
		"a name that nobody sees":     {"order.created", `{"customer":{"name":"\u200d\u00ad \u200b"}}`, "A customer ordered something."},
		"one line, whatever is typed": {"order.created", `{"customer":{"name":"Ada\n\u2028\u0000 \u202eByron\u2069"},"line_items":[{"product_name":"\t"}]}`, "Ada Byron ordered something."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := []byte(`{"id":"whev_1","created_at":"2026-11-21T09:30:00.000Z","type":"` + c.kind + `","api_version":"v1","data":` + c.data + `}`)
			for _, s := range services {
				seen, err := s.check(render(t, s.render, body))
				if err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
				if !strings.Contains(seen, c.want+"\n") {
					t.Errorf("%s says\n%s\nand not %q", s.name, seen, c.want)
				}
			}
		})
	}
}

func TestMessages_OfTestsAreMarked(t *testing.T) {
	t.Parallel()
	for _, example := range view.EventTypes().Data {
		real := exampleBody(t, example)
		test := append(bytes.TrimSuffix(bytes.Clone(real), []byte("}")), `,"test":true}`...)
		for _, s := range services {
			if seen, _ := s.check(render(t, s.render, test)); strings.Count(seen, "Test") != 2 {
				t.Errorf("%s: the title and the sentence of a test of %s do not both say so:\n%s", s.name, example.Type, seen)
			}
			if seen, _ := s.check(render(t, s.render, real)); strings.Contains(seen, "Test") {
				t.Errorf("%s: %s is no test:\n%s", s.name, example.Type, seen)
			}
		}
	}
}

func TestMessages_LinkToTheObjectOrNowhere(t *testing.T) {
	t.Parallel()
	const order = `{"id":"whev_1","type":"order.paid","data":{"id":"order_1","object":"order"}}`
	for _, c := range []struct{ event, base, want string }{
		{order, "https://shop.example/v1", "https://shop.example/v1/orders/order_1"},
		{order, "http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/orders/order_1"},
		{order, "", ""},
		{order, "javascript:alert(1)", ""},
		{order, "/v1", ""},
		{`{"type":"order.paid","data":{"id":"../x|y>?z","object":"order"}}`, base, base + "/orders/..%2Fx%7Cy%3E%3Fz"},
		{`{"type":"order.paid","data":{"object":"order"}}`, base, ""},
		{`{"type":"payout.sent","data":{"id":"po_1","object":"payout"}}`, base, ""},
	} {
		slack, err := chat.Slack([]byte(c.event), c.base)
		if err != nil {
			t.Fatal(err)
		}
		assert.False(t, c.want == "" && bytes.Contains(slack, []byte("<")))
		assert.False(t, c.want != "" && !bytes.Contains(slack, []byte("<"+c.want+"|View order>")))
		discord, err := chat.Discord([]byte(c.event), c.base)
		if err != nil {
			t.Fatal(err)
		}
		var message discordMessage
		err = json.Unmarshal(discord, &message)
		require.NoError(t, err, discord)
		assert.Equal(t, c.want, message.Embeds[0].URL, discord)
	}
}

func TestMessages_NeedAnEvent(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{`, `null`, `[]`, `"order.paid"`} {
		for _, s := range services {
			if out, err := s.render([]byte(body), base); err == nil {
				t.Errorf("%s makes %s of %q", s.name, out, body)
			}
		}
	}
}

func render(t *testing.T, render func([]byte, string) ([]byte, error), event []byte) []byte {
	t.Helper()
	body, err := render(event, base)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func exampleBody(t *testing.T, e api.EventType) []byte {
	t.Helper()
	body, err := json.Marshal(e.Example)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d: %q, and not %q", i+1, g[i], strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""))
		}
	}
	return "it ends early"
}
