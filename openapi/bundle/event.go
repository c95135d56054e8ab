package main

import (
	"bytes"
	"go/format"
	"path/filepath"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// event is a type of event, as x-events of a schema names it.
type event struct{ Name, Type, Description string }

// addTypeScopes says in x-type-scopes what reading an object of each type takes.
func addTypeScopes(doc *yaml.Node) {
	each(get(doc, "components", "schemas"), func(_ string, schema *yaml.Node) {
		types := get(schema, "x-events")
		if types == nil {
			return
		}
		scopes := parse("{}")
		each(types, func(name string, e *yaml.Node) { set(scopes, name, flatten(get(e, "scopes"))) })
		set(schema, "x-type-scopes", scopes)
	})
}

// events returns the types of event in the order of the document.
func events(doc *yaml.Node) []event {
	var all []event
	each(get(doc, "components", "schemas"), func(_ string, schema *yaml.Node) {
		each(get(schema, "x-events"), func(name string, e *yaml.Node) {
			all = append(all, event{eventName(name), name, scalarAt(e, "description")})
		})
	})
	return all
}

// eventName returns a type of event as part of a Go name: InvoicePastDue of invoice.past_due.
func eventName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' })
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// writeEvents writes the types of event for those who emit them and for those who receive them.
func writeEvents(store, sdk, templates string, doc *yaml.Node) error {
	for file, templateFile := range map[string]string{
		filepath.Join(store, "outbox", "event_type.gen.go"): "store.event.tmpl",
		filepath.Join(sdk, "event.gen.go"):                  "sdk.event.tmpl",
	} {
		if err := execute(file, filepath.Join(templates, templateFile), events(doc)); err != nil {
			return err
		}
	}
	return nil
}

// execute writes the Go code that a template makes of data.
func execute(file, templateFile string, data any) error {
	t, err := template.ParseFiles(templateFile)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return err
	}
	code, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return write(file, code)
}
