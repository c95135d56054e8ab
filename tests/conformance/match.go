package conformance

import "strings"

// template is a path of the specification with its operations by their methods.
type template struct {
	segments   []string
	operations map[string]*Operation
}

// templates are the paths of a specification by how many segments they have, in its order.
func templates(operations []*Operation) map[int][]*template {
	byLength, byPath := map[int][]*template{}, map[string]*template{}
	for _, o := range operations {
		if byPath[o.Path] == nil {
			t := &template{strings.Split(o.Path, "/"), map[string]*Operation{}}
			byPath[o.Path] = t
			byLength[len(t.segments)] = append(byLength[len(t.segments)], t)
		}
		byPath[o.Path].operations[o.Method] = o
	}
	return byLength
}

// Match finds the operation of a request and its path parameters; nil for an unknown path or another method.
func (d *Document) Match(method, path string) (*Operation, map[string]string) {
	actual := strings.Split(path, "/")
	var best *template
	var params map[string]string
	for _, t := range d.templates[len(actual)] { // a fixed segment wins over a variable one, whatever the method
		if found, ok := t.parse(actual); ok && (best == nil || len(found) < len(params)) {
			best, params = t, found
		}
	}
	if best == nil || best.operations[method] == nil {
		return nil, nil
	}
	return best.operations[method], params
}

// parse matches the segments of a path, as many as the template has, and returns the values of the variable ones.
func (t *template) parse(actual []string) (map[string]string, bool) {
	for i, segment := range t.segments {
		if variable := strings.HasPrefix(segment, "{"); variable && actual[i] == "" || !variable && segment != actual[i] {
			return nil, false
		}
	}
	params := map[string]string{}
	for i, segment := range t.segments {
		if strings.HasPrefix(segment, "{") {
			params[strings.Trim(segment, "{}")] = actual[i]
		}
	}
	return params, true
}
