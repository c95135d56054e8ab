package conformance

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

// Expandable returns the names that the operation's expand parameter allows.
func (o *Operation) Expandable() []string {
	var names []string
	for _, p := range o.QueryParameters() {
		if p.Name == "expand" {
			for _, v := range p.Schema.Value.Items.Value.Enum {
				names = append(names, fmt.Sprint(v))
			}
		}
	}
	return names
}

// ExpandsWhatItNames asks each GET that expands for no name, for an unknown one, and for all of them at once. The transport
// checks the inlined objects against their schemas.
func ExpandsWhatItNames(t T, s *Subject) {
	s.Every(t, func(op *Operation) bool { return Gets(op) && op.HasQuery("expand") }, func(t T, op *Operation, turn int) {
		client, names := s.Fresh(t), op.Expandable()
		if len(names) == 0 {
			t.Fatal("the specification lists no names")
		}
		s.refusesQuery(t, client, op, "expand=surprise", "expand")
		expanded := func(query string) map[string]any {
			resp := s.asks(t, client, op, query)
			if resp == nil || s.excuses(t, op, resp) {
				return nil
			}
			if resp.Status == http.StatusNotFound && !s.Thorough && s.asks(t, s.Client, op, "").Status == http.StatusNotFound {
				t.NotChecked("it is gone")
				return nil
			}
			if resp.Status >= 300 {
				t.Errorf("?%s is answered %d: %s", query, resp.Status, resp.Body)
				return nil
			}
			return resp.Object(t)
		}
		for _, none := range turns(s, turn, 1, []string{"", "expand="}) {
			plain := expanded(none)
			compare := func(names ...string) {
				id, name, why := inlines(names, plain, expanded("expand="+strings.Join(names, ",")))
				if why == "" {
					return
				}
				if !s.Thorough { // asked by another client, so that a break shows the request it is about
					again := s.asks(t, s.Client, op, none)
					if again.Status >= 300 || !reflect.DeepEqual(rows(again.Object(t))[id][name], rows(plain)[id][name]) {
						t.NotChecked("it changed meanwhile")
						return
					}
				}
				t.Fatalf("%s", why)
			}
			compare(names...)
			for _, name := range names {
				if s.Thorough && none == "" && !strings.Contains(name, ".") {
					compare(name)
				}
			}
		}
	})
}

// inlines compares an answer without names with one that was asked for some: what is an id there is the object of that id here. Nil is no answer.
// It says what is wrong, and in which field of which row.
func inlines(names []string, plain, whole map[string]any) (id any, field, why string) {
	here := rows(whole)
	for id, row := range rows(plain) {
		for _, name := range names {
			if strings.Contains(name, ".") || here[id] == nil { // a new row took its place
				continue
			}
			before, after := several(row[name]), several(here[id][name])
			for i := range min(len(before), len(after)) {
				named, isID := before[i].(string)
				inlined, isObject := after[i].(map[string]any)
				switch {
				case before[i] != nil && !isID:
					return id, name, fmt.Sprintf("without expand, %s is no id: %.200v", name, before[i])
				case isID && !isObject:
					return id, name, fmt.Sprintf("expand=%s leaves the id %v", name, named)
				case isID && inlined["id"] != named:
					return id, name, fmt.Sprintf("expand=%s inlines %v, and its id is %s", name, inlined["id"], named)
				}
			}
		}
	}
	return nil, "", ""
}

// rows returns the items of a list by their ids, or the one object that is no list.
func rows(object map[string]any) map[any]map[string]any {
	found := map[any]map[string]any{}
	data, isList := object["data"].([]any)
	if !isList && object != nil {
		data = []any{object}
	}
	for _, item := range data {
		if row, is := item.(map[string]any); is {
			found[row["id"]] = row
		}
	}
	return found
}

// several returns the items of a field that is a list, or what else it is as the only one.
func several(value any) []any {
	if items, is := value.([]any); is {
		return items
	}
	return []any{value}
}
