package activity

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	fast "github.com/segmentio/encoding/json"
)

// maxValue is how many bytes of a value are kept.
const maxValue = 4096

// masked is what is kept of a secret.
var masked = json.RawMessage(`"***"`)

// Change is a field that became different. What is null is left out.
type Change struct {
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	Cut    bool            `json:"cut,omitempty"` // a value is the beginning of its text: of a string that of what it says, else that of its JSON
}

// Changes are those of an object, by field.
type Changes map[string]Change

// Fields are those of an object, as it is shown.
type Fields map[string]json.RawMessage

// ReadFields reads the JSON of an object, nil if it is none.
func ReadFields(object []byte) Fields {
	var f Fields
	if len(object) == 0 || object[0] != '{' || fast.Unmarshal(object, &f) != nil {
		return nil
	}
	return f
}

// First returns the first object of a field that is a list of some, nil if there is none.
func (f Fields) First(field string) Fields {
	var list []Fields
	if json.Unmarshal(f[field], &list) != nil || len(list) == 0 {
		return nil
	}
	return list[0]
}

// Text returns a field that is a string, else "".
func (f Fields) Text(field string) string {
	var text string
	if value := f[field]; len(value) > 0 && value[0] == '"' {
		_ = fast.Unmarshal(value, &text)
	}
	return text
}

// Ref returns the id that a reference holds, whether the object stands in its place or not, else "".
func (f Fields) Ref(field string) string {
	if text := f.Text(field); text != "" {
		return text
	}
	return ReadFields(f[field]).Text("id")
}

// unsaid are the fields that no change names.
var unsaid = []string{"id", "object", "updated_at"}

// Diff returns what became different between two states of an object, nil for nothing. Without the later one that is all that the object
// had: it was deleted. A field that one of the states does not show is left out.
func Diff(before, after Fields) *Changes {
	object, changes := before.Text("object"), Changes{}
	for field, was := range before {
		is, shown := after[field]
		if after == nil {
			is, shown = json.RawMessage("null"), true
		}
		if !shown || slices.Contains(unsaid, field) || bytes.Equal(was, is) {
			continue
		}
		if was, is = folded(was), folded(is); bytes.Equal(was, is) {
			continue
		}
		changes[field] = changeOf(object, field, was, is)
	}
	if len(changes) == 0 {
		return nil
	}
	return &changes
}

// changeOf keeps a field's values: without what is secret, and no more of them than maxValue.
func changeOf(object, field string, was, is json.RawMessage) (c Change) {
	for kept, value := range map[*json.RawMessage]json.RawMessage{&c.Before: was, &c.After: is} {
		isCut := false
		switch {
		case string(value) == "null":
			continue
		case isSecret(object, field):
			value = masked
		case object == "webhook_endpoint" && field == "url":
			value = withoutCredentials(value)
		default:
			value, isCut = cut(shown(field, value))
		}
		*kept, c.Cut = value, c.Cut || isCut
	}
	return c
}

// folded returns a value in one spelling, in which objects that stand in the place of a reference are ids again.
func folded(value json.RawMessage) json.RawMessage { return rewritten(value, fold) }

// shown returns a value without the secrets within it. What the seller names themselves is none, whatever it is called.
func shown(field string, value json.RawMessage) json.RawMessage {
	if slices.Contains(named, field) {
		return value
	}
	return rewritten(value, mask)
}

// rewritten returns a value with all that is in it as change returns it, or the value itself if nothing is in it.
func rewritten(value json.RawMessage, change func(any) any) json.RawMessage {
	if len(value) == 0 || value[0] != '{' && value[0] != '[' {
		return value
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return value
	}
	text, err := json.Marshal(change(v))
	if err != nil {
		return value
	}
	return text
}

func fold(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if id, ok := v["id"].(string); ok && v["object"] != nil {
			return id
		}
		for key, value := range v {
			v[key] = fold(value)
		}
	case []any:
		for i := range v {
			v[i] = fold(v[i])
		}
	}
	return v
}

func mask(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch {
			case slices.Contains(named, key):
			case isSecret("", key) && value != nil:
				v[key] = "***"
			default:
				v[key] = mask(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = mask(v[i])
		}
	}
	return v
}

// withoutCredentials returns an address without the parts in which a receiver may want a secret.
func withoutCredentials(value json.RawMessage) json.RawMessage {
	var address string
	_ = json.Unmarshal(value, &address) // it is a string
	u, err := url.Parse(address)
	if err != nil {
		return masked
	}
	if u.User != nil {
		u.User = url.User("***")
	}
	if u.RawQuery != "" {
		u.RawQuery = "***"
	}
	text, err := json.Marshal(u.String())
	if err != nil {
		return masked
	}
	return text
}

// cut returns a value, or the beginning of its text if it is longer than maxValue, and whether it was.
func cut(value json.RawMessage) (json.RawMessage, bool) {
	if len(value) <= maxValue {
		return value, false
	}
	text := string(value)
	if value[0] == '"' {
		_ = json.Unmarshal(value, &text) // it is a string
	}
	if len(text) <= maxValue { // it is only written longer
		return value, false
	}
	end := maxValue
	for !utf8.RuneStart(text[end]) {
		end--
	}
	beginning, err := json.Marshal(text[:end])
	return beginning, err == nil
}

// named are the fields whose keys the seller names.
var named = []string{"metadata", "custom_field_data"}

// secrets are the fields that let their reader do something, of every object and of some: tokens, keys, and addresses that need nothing else. They are
// also those that say who somebody is of an object which may be another's later, so that Forget would not find it.
var secrets = map[string][]string{
	"":            {"secret", "token", "client_secret", "hosted_url", "pdf_url", "receipt_url", "preview_url"},
	"checkout":    {"url", "next_action", "deliveries", "customer_email", "customer_name", "billing_address", "tax_id", "custom_field_data"},
	"invoice":     {"customer_email", "customer_name", "customer_address", "customer_tax_id"},
	"file":        {"upload"},
	"license_key": {"key"},
}

// isSecret reports whether a field of an object is a secret.
func isSecret(object, field string) bool {
	return slices.Contains(secrets[""], field) || object != "" && slices.Contains(secrets[object], field) || strings.HasSuffix(field, "_secret")
}
