package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// keep writes a document without what nobody can trip over.
func keep(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	strip(doc, false)
	if text, err = lines(doc, 3); err != nil {
		return err
	}
	return os.WriteFile(to, append(text, '\n'), 0o644)
}

// lines writes a node as JSON with a line for each member of its first levels, which keeps the differences between two releases
// readable.
func lines(node any, levels int) ([]byte, error) {
	n, ok := node.(map[string]any)
	if !ok || levels == 0 || len(n) == 0 {
		return encode(node)
	}
	var members []string
	for _, key := range slices.Sorted(maps.Keys(n)) {
		text, err := lines(n[key], levels-1)
		if err != nil {
			return nil, err
		}
		name, err := encode(key)
		if err != nil {
			return nil, err
		}
		members = append(members, string(name)+":"+string(text))
	}
	return []byte("{\n" + strings.Join(members, ",\n") + "\n}"), nil
}

// encode writes a value as JSON. The characters <, > and & stay as they are.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// strip takes texts, examples and most extensions out. Named says that the keys of a node are names of the interface.
func strip(node any, named bool) {
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			strip(item, false)
		}
	case map[string]any:
		for key, child := range n {
			text, isText := child.(string)
			switch {
			case named:
			case key == "description" && isText && text != "" && n["content"] == nil && n["headers"] == nil && n["schema"] == nil && n["$ref"] == nil:
				n[key] = ""
				if n["type"] != nil || n["allOf"] != nil || n["oneOf"] != nil || n["operationId"] != nil {
					delete(n, key)
				}
			case key == "example", key == "examples", key == "summary", key == "externalDocs",
				strings.HasPrefix(key, "x-") && !kept(key):
				delete(n, key)
				continue
			}
			strip(child, !named && (key == "properties" || key == "schemas" || key == "parameters" || key == "responses" || key == "headers"))
		}
	}
}

func kept(extension string) bool {
	switch extension {
	case "x-scope", "x-more-scopes", "x-deprecated-at", "x-sunset-at", "x-deprecation-link", "x-public", "x-development":
		return true
	}
	return false
}

// plain writes a document so that a reference that may be null looks the same, whichever way it is said. It becomes the
// schema that is meant, with nullable beside it.
func plain(text []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	components, _ := doc["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	p := &plainer{schemas: schemas, done: map[string]bool{}}
	p.walk(doc)
	return json.Marshal(doc)
}

type plainer struct {
	schemas map[string]any
	done    map[string]bool // schemas by name
}

func (p *plainer) walk(node any) {
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			p.walk(item)
		}
	case map[string]any:
		p.flatten(n)
		for _, child := range n {
			p.walk(child)
		}
	}
}

// flatten takes the place of an allOf of one, or of a oneOf of something and null.
func (p *plainer) flatten(n map[string]any) {
	if all, ok := n["allOf"].([]any); ok && len(all) == 1 {
		delete(n, "allOf")
		p.merge(n, all[0])
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		if either, ok := n[word].([]any); ok && len(either) == 2 && isNull(either[0]) != isNull(either[1]) {
			delete(n, word)
			meant := either[0]
			if isNull(meant) {
				meant = either[1]
			}
			n["nullable"] = true
			p.merge(n, meant)
		}
	}
}

// merge copies what is meant to where it is meant, by one level: below it references stay references.
func (p *plainer) merge(n map[string]any, meant any) {
	from, _ := meant.(map[string]any)
	if ref, ok := from["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		from, _ = p.schemas[name].(map[string]any)
		if !p.done[name] {
			p.done[name] = true
			p.flatten(from)
		}
	}
	own := maps.Clone(n)
	maps.Copy(n, from)
	maps.Copy(n, own)
	if values, ok := n["enum"].([]any); ok && n["nullable"] == true { // that null is one of them is said by nullable
		n["enum"] = withoutNull(values)
	}
}

func withoutNull(values []any) []any {
	var rest []any
	for _, value := range values {
		if value != nil {
			rest = append(rest, value)
		}
	}
	return rest
}

// isNull reports whether a schema allows null alone.
func isNull(schema any) bool {
	n, _ := schema.(map[string]any)
	values, ok := n["enum"].([]any)
	return ok && len(values) == 1 && values[0] == nil
}
