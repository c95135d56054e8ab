package sdktest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/sdk"
)

// checkQuery checks the query of a request, and returns its values by name. A value is text, a bool, an int64 or a list of
// texts. For metadata[key] it is texts by key.
func (o *operation) checkQuery(given url.Values) (map[string]any, error) {
	query := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p, key := o.queryParameter(name)
		switch {
		case p == nil:
			return nil, refuse(http.StatusBadRequest, name, fmt.Sprintf("Unknown query parameter %q. %s", name, o.queryNames()))
		case p.isDeep():
			filter, _ := query[p.Name].(map[string]string)
			if filter == nil {
				filter = map[string]string{}
			}
			filter[key] = given.Get(name)
			query[p.Name] = filter
			continue
		case p.Schema.Type == "array":
			given[name] = []string{strings.Join(given[name], ",")}
		case len(given[name]) > 1:
			return nil, refuse(http.StatusBadRequest, name, fmt.Sprintf("Send %q once; separate several values by commas where it takes several.", name))
		}
		value, ok := p.Schema.read(given.Get(name))
		if !ok {
			return nil, refuse(http.StatusBadRequest, name, name+" must be "+describe(p.Schema)+".")
		}
		query[name] = value
	}
	for _, p := range o.Parameters {
		if _, sent := query[p.Name]; p.In == "query" && p.Required && !sent {
			r := refuse(http.StatusBadRequest, p.Name, "Missing required parameter: "+p.Name+".")
			r.Code = sdk.CodeParameterMissing
			return nil, r
		}
	}
	return query, nil
}

// queryParameter returns the parameter of that name in the query, and the key of one such as metadata[key].
func (o *operation) queryParameter(name string) (found *parameter, key string) {
	for _, p := range o.Parameters {
		if p.In != "query" {
			continue
		}
		if inner, ok := strings.CutPrefix(name, p.Name+"["); ok && p.isDeep() && strings.HasSuffix(inner, "]") && len(inner) > 1 {
			return p, strings.TrimSuffix(inner, "]")
		}
		if p.Name == name && !p.isDeep() {
			return p, ""
		}
	}
	return nil, ""
}

// queryNames returns a sentence that lists the parameters of the query.
func (o *operation) queryNames() string {
	var names []string
	for _, p := range o.Parameters {
		switch {
		case p.In != "query":
		case p.isDeep():
			names = append(names, p.Name+"[key]")
		default:
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return "This operation takes none."
	}
	return "This operation takes " + strings.Join(names, ", ") + "."
}

// read reads a value of a query. It returns false if the schema does not take it.
func (s *schema) read(text string) (any, bool) {
	switch s.Type {
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil && strconv.FormatInt(n, 10) == text && s.holds(n)
	case "boolean":
		return text == "true", text == "true" || text == "false"
	case "array":
		var list []string
		for _, item := range strings.Split(text, ",") {
			if item == "" {
				continue
			}
			if !s.Items.fits(item) {
				return nil, false
			}
			list = append(list, item)
		}
		return list, s.MaxItems == nil || len(list) <= *s.MaxItems
	}
	return text, len(text) >= s.MinLength && s.fits(text)
}
