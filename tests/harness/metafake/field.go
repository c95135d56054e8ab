package metafake

import (
	"fmt"
	"strings"
)

// selection says which fields of a node a request asks for. Each maps to the selection of the node that it refers to, nil for
// the field alone.
type selection map[string]selection

// parseFields reads Meta's field expansion: id,name,creative{id,object_story_id}.
func parseFields(text string) (selection, error) {
	s, rest, err := parseSelection(text)
	if err == nil && rest != "" {
		err = fmt.Errorf("unexpected %q in fields", rest)
	}
	return s, err
}

// parseSelection reads fields up to a closing brace or the end, and returns the text that is left.
func parseSelection(text string) (selection, string, error) {
	s := selection{}
	for {
		i := strings.IndexAny(text, ",{}")
		if i < 0 {
			i = len(text)
		}
		name := text[:i]
		if name == "" || strings.ContainsAny(name, " .()") {
			return nil, "", fmt.Errorf("field %q cannot be read", name)
		}
		s[name], text = nil, text[i:]
		if strings.HasPrefix(text, "{") {
			inner, rest, err := parseSelection(text[1:])
			if err != nil || !strings.HasPrefix(rest, "}") {
				return nil, "", fmt.Errorf("field %s is not closed", name)
			}
			s[name], text = inner, rest[1:]
		}
		if !strings.HasPrefix(text, ",") {
			return s, text, nil
		}
		text = text[1:]
	}
}

// checkFields refuses a field that the node does not have.
func (t *table) checkFields(node string, s selection) error {
	for name, inner := range s {
		kind := t.nodes[node][name]
		if kind == "" {
			return fmt.Errorf("(#100) Tried accessing nonexisting field (%s) on node type (%s)", name, node)
		}
		if inner == nil {
			continue
		}
		kind = strings.TrimSuffix(strings.TrimPrefix(kind, "list<"), ">")
		if t.nodes[kind] == nil {
			return fmt.Errorf("(#100) Field %s of %s cannot be expanded", name, node)
		}
		if err := t.checkFields(kind, inner); err != nil {
			return err
		}
	}
	return nil
}

// object is a node with the values of its fields, as they are answered. A reference to another node is an *object.
type object struct {
	node   string
	fields map[string]any
}

func (o *object) id() string { return o.text("id") }

// text returns a field that is a string, "" if it is absent.
func (o *object) text(field string) string {
	s, _ := o.fields[field].(string)
	return s
}

// set changes a field. A value that the table does not allow there is a mistake of this fake: Meta could not answer it.
func (o *object) set(t *table, field string, value any) {
	kind := t.nodes[o.node][field]
	if kind == "" {
		panic(fmt.Sprintf("metafake: %s has no field %s", o.node, field))
	}
	if text, ok := value.(string); ok && t.nodes[kind] == nil && !t.isJSON(kind) && t.isKnown(kind) {
		if err := t.checkScalar(kind, text); err != nil {
			panic(fmt.Sprintf("metafake: %s.%s %v", o.node, field, err))
		}
	}
	o.fields[field] = value
}

func (t *table) isKnown(kind string) bool {
	switch kind {
	case "unsigned int", "int", "float", "bool", "datetime", "string":
		return true
	}
	return t.enums[kind] != nil
}

// show returns the selected fields, and always the id. Fields that the node does not have are left out, as by Meta.
func (o *object) show(s selection) map[string]any {
	shown := map[string]any{}
	if id, ok := o.fields["id"]; ok {
		shown["id"] = id
	}
	for name, inner := range s {
		if v, ok := o.fields[name]; ok {
			shown[name] = showValue(v, inner)
		}
	}
	return shown
}

func showValue(v any, inner selection) any {
	switch v := v.(type) {
	case *object:
		return v.show(inner)
	case []*object:
		list := make([]any, len(v))
		for i, o := range v {
			list[i] = o.show(inner)
		}
		return list
	}
	return v
}
