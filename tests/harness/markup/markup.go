// Package markup reads pages as a browser does, for tests that hold what is in them.
package markup

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Elements returns the elements of a page in their order.
func Elements(t testing.TB, page string) []*html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var all []*html.Node
	for node := range root.Descendants() {
		if node.Type == html.ElementNode {
			all = append(all, node)
		}
	}
	return all
}

// Attribute returns an attribute of an element, empty if it has none of that name.
func Attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Text returns all text within an element.
func Text(node *html.Node) string {
	var all strings.Builder
	for n := range node.Descendants() {
		if n.Type == html.TextNode {
			all.WriteString(n.Data)
		}
	}
	return all.String()
}

// Form returns where the first form with a button leads, empty for the page's own address. It also returns what a browser sends if nothing is typed
// into it and the button is pressed.
func Form(t testing.TB, page, button string) (action string, sent url.Values) {
	t.Helper()
	for _, node := range Elements(t, page) {
		if node.Data != "form" {
			continue
		}
		if sent := pressed(node, button); sent != nil {
			return Attribute(node, "action"), sent
		}
	}
	t.Fatalf("no form has a button %q", button)
	return "", nil
}

// pressed returns what a form sends when its first button with a text is pressed, nil if it has none.
func pressed(form *html.Node, button string) url.Values {
	sent, found := url.Values{}, false
	for c := range form.Descendants() {
		name, value := Attribute(c, "name"), Attribute(c, "value")
		switch {
		case c.Type != html.ElementNode:
		case c.Data == "button" && Text(c) == button && !found:
			found = true
			if name != "" {
				sent.Set(name, value)
			}
		case c.Data == "textarea":
			sent.Add(name, Text(c))
		case c.Data == "select":
			for o := range c.ChildNodes() {
				if o.Data == "option" && (has(o, "selected") || !sent.Has(name)) {
					sent.Set(name, Attribute(o, "value"))
				}
			}
		case c.Data == "input" && name != "" && (Attribute(c, "type") != "checkbox" || has(c, "checked")):
			sent.Add(name, value)
		}
	}
	if !found {
		return nil
	}
	return sent
}

func has(node *html.Node, attribute string) bool {
	return slices.ContainsFunc(node.Attr, func(a html.Attribute) bool { return a.Key == attribute })
}
