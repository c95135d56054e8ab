package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// sample shows how an operation is called in a language.
type sample struct{ Language, Code string }

func (r *Reference) samples(op *operation) ([]sample, error) {
	written, err := r.goSample(op)
	if err != nil {
		return nil, fmt.Errorf("%s in Go: %w", op.ID, err)
	}
	return []sample{{"curl", r.curl(op)}, {"Go", written}, {"TypeScript", r.typeScript(op)}}, nil
}

// curl returns the operation for a shell.
func (r *Reference) curl(op *operation) string {
	lines := []string{"curl " + quote(r.address+op.address())}
	if op.Method != "GET" && (op.Method != "POST" || op.body() == nil) {
		lines[0] = "curl -X " + op.Method + " " + quote(r.address+op.address())
	}
	if !op.Public {
		lines = append(lines, `-H "Authorization: Bearer $TILLWRIGHT_API_KEY"`)
	}
	if op.takesKey() {
		lines = append(lines, `-H "Idempotency-Key: $(openssl rand -hex 16)"`)
	}
	if body := op.body(); body != nil {
		lines = append(lines, `-H "Content-Type: application/json"`, "-d "+quote(indented(body, "")))
	}
	return strings.Join(lines, " \\\n  ")
}

// quote returns a word for a shell that takes it as it is.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// takesKey reports whether the operation takes an Idempotency-Key.
func (o *operation) takesKey() bool {
	for _, p := range o.Parameters {
		if p.Name == "Idempotency-Key" {
			return true
		}
	}
	return false
}

// typeScript returns the operation for a program that has fetch.
func (r *Reference) typeScript(op *operation) string {
	var s strings.Builder
	s.WriteString("const response = await fetch(" + quoted(r.address+op.address()) + ", {\n")
	if op.Method != "GET" {
		s.WriteString("  method: " + quoted(op.Method) + ",\n")
	}
	s.WriteString("  headers: {\n")
	if !op.Public {
		s.WriteString("    Authorization: `Bearer ${process.env.TILLWRIGHT_API_KEY}`,\n")
	}
	if op.takesKey() {
		s.WriteString("    \"Idempotency-Key\": crypto.randomUUID(),\n")
	}
	if op.body() != nil {
		s.WriteString("    \"Content-Type\": \"application/json\",\n")
	}
	s.WriteString("  },\n")
	if body := op.body(); body != nil {
		s.WriteString("  body: JSON.stringify(" + indented(body, "  ") + "),\n")
	}
	s.WriteString("});\nif (!response.ok) throw new Error(await response.text());\nconst answer = await response.json();")
	return s.String()
}

// quoted returns a string as a literal of TypeScript, Go and JSON.
func quoted(s string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // of a string alone
	return strings.TrimSpace(out.String())
}

// indented returns JSON in lines, each but the first behind prefix.
func indented(text json.RawMessage, prefix string) string {
	var out bytes.Buffer
	if json.Indent(&out, text, prefix, "  ") != nil {
		return string(text)
	}
	return out.String()
}

// escape returns an example as it stands in an address. The values of a list are separated by commas.
func escape(example any) string {
	values, many := example.([]any)
	if !many {
		values = []any{example}
	}
	var all []string
	for _, value := range values {
		all = append(all, strings.ReplaceAll(url.QueryEscape(fmt.Sprint(value)), "+", "%20"))
	}
	return strings.Join(all, ",")
}
