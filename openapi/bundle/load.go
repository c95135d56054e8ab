package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// load reads dir/openapi.yaml and merges every dir/resources/*.yaml into it: their paths, and the members of their components.
// If two files define the same name, it is an error: one of the definitions would silently be lost.
func load(dir string) (*yaml.Node, error) {
	doc, err := read(filepath.Join(dir, "openapi.yaml"))
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "resources", "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		resource, err := read(file)
		if err != nil {
			return nil, err
		}
		if err := merge(doc, resource); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return doc, nil
}

func read(file string) (*yaml.Node, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("%s is empty", file)
	}
	return flatten(doc.Content[0]), nil
}

// merge puts the paths and components of a resource file into the document.
func merge(doc, resource *yaml.Node) (err error) {
	into := func(target *yaml.Node, what string) func(string, *yaml.Node) {
		return func(name string, value *yaml.Node) {
			if get(target, name) != nil && err == nil {
				err = fmt.Errorf("%s %s is defined twice", what, name)
			}
			set(target, name, value)
		}
	}
	each(resource, func(section string, value *yaml.Node) {
		switch section {
		case "paths":
			each(value, into(get(doc, "paths"), "path"))
		case "components":
			each(value, func(kind string, members *yaml.Node) {
				each(members, into(get(doc, "components", kind), kind))
			})
		default:
			err = fmt.Errorf("a resource file has paths and components, not %s", section)
		}
	})
	return err
}

// operation is one method of one path.
type operation struct {
	path, method string
	node, item   *yaml.Node // of the operation and of its path item
}

func (o operation) write() bool { return o.method != "get" }

// dryRun reports whether the operation can be asked what it would do, without doing it.
func (o operation) dryRun() bool { return scalarAt(o.node, "x-dry-run") == "true" }

func operations(doc *yaml.Node) []operation {
	var ops []operation
	each(get(doc, "paths"), func(path string, item *yaml.Node) {
		each(item, func(method string, node *yaml.Node) {
			switch method {
			case "get", "post", "patch", "put", "delete":
				ops = append(ops, operation{path, method, node, item})
			}
		})
	})
	return ops
}
