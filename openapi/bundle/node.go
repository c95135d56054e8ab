package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// flatten returns a copy of n without aliases, anchors and merge keys, so that all that follows sees plain mappings. A
// mapping's own key is preferred to one that is merged into it, wherever it is written.
func flatten(n *yaml.Node) *yaml.Node {
	switch n.Kind {
	case yaml.AliasNode:
		return flatten(n.Alias)
	case yaml.MappingNode:
		return flattenMapping(n)
	}
	flat := *n
	flat.Anchor, flat.Alias, flat.Content = "", nil, nil
	for _, child := range n.Content {
		flat.Content = append(flat.Content, flatten(child))
	}
	return &flat
}

// flattenMapping is flatten for a mapping, which may have merge keys.
func flattenMapping(n *yaml.Node) *yaml.Node {
	flat := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], flatten(n.Content[i+1])
		if key.Tag != "!!merge" {
			set(flat, key.Value, value)
			continue
		}
		each(value, func(merged string, child *yaml.Node) {
			if get(flat, merged) == nil {
				set(flat, merged, child)
			}
		})
	}
	return flat
}

// get returns the value of key in the mapping n, or nil.
func get(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		n = child(n, key)
	}
	return n
}

func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// scalarAt returns the scalar at path, or "".
func scalarAt(n *yaml.Node, path ...string) string {
	if v := get(n, path...); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// set replaces or appends key in the mapping n.
func set(n *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Style: keyStyle(key)}, value)
}

// keyStyle quotes keys that would otherwise be read as numbers, such as statuses, which are strings.
func keyStyle(key string) yaml.Style {
	if key != "" && key[0] >= '0' && key[0] <= '9' {
		return yaml.SingleQuotedStyle
	}
	return 0
}

// drop removes key from the mapping n.
func drop(n *yaml.Node, key string) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = append(n.Content[:i], n.Content[i+2:]...)
			return
		}
	}
}

// each calls f for every key of the mapping n. It goes over a copy, so that f may change n.
func each(n *yaml.Node, f func(key string, value *yaml.Node)) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	content := append([]*yaml.Node(nil), n.Content...)
	for i := 0; i < len(content); i += 2 {
		f(content[i].Value, content[i+1])
	}
}

// items returns the scalars of the sequence n.
func items(n *yaml.Node) []string {
	var out []string
	if n != nil {
		for _, item := range n.Content {
			out = append(out, item.Value)
		}
	}
	return out
}

// nodes returns the members of the sequence n.
func nodes(n *yaml.Node) []*yaml.Node {
	if n == nil {
		return nil
	}
	return n.Content
}

// resolve returns the node of the document that n refers to, or n itself if it is no reference.
func resolve(doc, n *yaml.Node) *yaml.Node {
	if path, found := strings.CutPrefix(scalarAt(n, "$ref"), "#/"); found {
		return get(doc, strings.Split(path, "/")...)
	}
	return n
}

// walk calls f for n and everything below it, parents first.
func walk(n *yaml.Node, f func(*yaml.Node)) {
	if n == nil {
		return
	}
	f(n)
	for _, child := range n.Content {
		walk(child, f)
	}
}

// parse reads a fragment of YAML that this program itself writes; it panics on a mistake in it.
func parse(format string, args ...any) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal(fmt.Appendf(nil, format, args...), &doc); err != nil {
		panic(err)
	}
	return doc.Content[0]
}
