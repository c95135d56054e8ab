package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/tillwright/tillwright/gen/spec"
)

// described returns the API's document as this server shows it: with its own address and release, and without the operations that it does not have.
func (d Deps) described() (*yaml.Node, error) {
	text := spec.JSON
	if d.Document != nil {
		text = d.Document
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil { // YAML, of which JSON is a part, keeps the order
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	d.describe(root.Content[0])
	return &root, nil
}

// describedAs returns what writes the document in a form. To make it takes longer than starting the server.
func (d Deps) describedAs(form func(*yaml.Node) ([]byte, error)) func() ([]byte, error) {
	return func() ([]byte, error) {
		root, err := d.described()
		if err != nil {
			return nil, err
		}
		text, err := form(root)
		if err != nil {
			return nil, fmt.Errorf("write the API document: %w", err)
		}
		return text, nil
	}
}

// asJSON writes the document as JSON.
func asJSON(root *yaml.Node) ([]byte, error) {
	var value any
	if err := root.Decode(&value); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(value, "", " ")
	return append(text, '\n'), err
}

// asYAML writes the document as YAML, and changes how its nodes look.
func asYAML(root *yaml.Node) ([]byte, error) {
	unquote(root)
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err := encoder.Encode(root)
	return text.Bytes(), err
}

// notText matches texts that readers of YAML 1.1 take for something else without quotes: ON and y for true, 1:30 for ninety. What
// YAML 1.2 takes for something else has quotes anyway.
var notText = regexp.MustCompile(`^(?:[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|=|<<|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)$`)

// unquote removes JSON's braces and quotes, so that the document looks like YAML that people write.
func unquote(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && notText.MatchString(n.Value) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range n.Content {
		unquote(child)
	}
}

// describe writes into the document where the server is and which release it is. The document's version stays that of the
// contract.
func (d Deps) describe(doc *yaml.Node) {
	if d.PublicURL != "" {
		setField(doc, "servers", serverAt(d.PublicURL+"/v1", "This server."))
	}
	if d.Release != "" {
		setField(field(doc, "info"), "x-release", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: d.Release})
	}
	before := referenced(doc)
	paths := field(doc, "paths")
	for i := 0; i < len(paths.Content); {
		item := paths.Content[i+1]
		if d.PublicURL != "" && field(item, "servers") != nil {
			setField(item, "servers", serverAt(d.PublicURL, "This server, without the version."))
		}
		if !d.Development {
			dropDevelopment(item)
		}
		if hasOperation(item) {
			i += 2
			continue
		}
		paths.Content = slices.Delete(paths.Content, i, i+2)
	}
	dropOrphans(doc, before)
}

func serverAt(url, description string) *yaml.Node {
	var list yaml.Node
	_ = list.Encode([]map[string]string{{"url": url, "description": description}}) // of strings alone
	return &list
}

// verbs are the fields of a path in the document that are operations.
var verbs = []string{"get", "put", "post", "delete", "patch"}

// dropDevelopment removes the operations of a path that only a development server has.
func dropDevelopment(item *yaml.Node) {
	for i := 0; i < len(item.Content); {
		if flag := field(item.Content[i+1], "x-development"); flag != nil && flag.Value == "true" {
			item.Content = slices.Delete(item.Content, i, i+2)
			continue
		}
		i += 2
	}
}

func hasOperation(item *yaml.Node) bool {
	return slices.ContainsFunc(verbs, func(verb string) bool { return field(item, verb) != nil })
}

// dropOrphans removes tags that no operation has any more, and whatever was referenced before and is not any more.
func dropOrphans(doc *yaml.Node, before map[string]bool) {
	used := map[string]bool{}
	for _, item := range fields(field(doc, "paths")) {
		for _, operation := range fields(item) {
			if tags := field(operation, "tags"); tags != nil {
				for _, tag := range tags.Content {
					used[tag.Value] = true
				}
			}
		}
	}
	tags := field(doc, "tags")
	tags.Content = slices.DeleteFunc(tags.Content, func(tag *yaml.Node) bool { return !used[field(tag, "name").Value] })
	for gone := true; gone; {
		gone = false
		after := referenced(doc)
		components := field(doc, "components")
		for i := 0; i < len(components.Content); i += 2 {
			kind := components.Content[i+1]
			for j := 0; j < len(kind.Content); {
				ref := "#/components/" + components.Content[i].Value + "/" + kind.Content[j].Value
				if before[ref] && !after[ref] {
					kind.Content = slices.Delete(kind.Content, j, j+2)
					gone = true
					continue
				}
				j += 2
			}
		}
	}
}

// referenced returns every reference in the document.
func referenced(n *yaml.Node) map[string]bool {
	refs := map[string]bool{}
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "$ref" {
				refs[child.Value] = true
			}
			walk(child)
		}
	}
	walk(n)
	return refs
}

// field returns a field of a mapping, nil if there is none.
func field(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// fields returns the values of a mapping.
func fields(n *yaml.Node) []*yaml.Node {
	var values []*yaml.Node
	for i := 1; n != nil && n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		values = append(values, n.Content[i])
	}
	return values
}

func setField(n *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, value)
}
