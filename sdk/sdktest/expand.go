package sdktest

import (
	"maps"
	"strings"
)

// expand returns an answer with the references expanded that the request asks for: of an object, or of each of a list.
func (c *call) expand(o object) object {
	names, _ := c.query["expand"].([]string)
	if len(names) == 0 {
		return o
	}
	if o["object"] != "list" {
		return c.expanded(o, names...)
	}
	page := maps.Clone(o)
	data := appended(list(o, "data"))
	for i := range data {
		data[i] = c.expanded(data[i].(object), names...)
	}
	page["data"] = data
	return page
}

// expanded returns a copy of an object with references as whole objects, by the names of their fields. Dots lead further.
func (s *state) expanded(o object, names ...string) object {
	inside := map[string][]string{} // by the first part of the name
	for _, name := range names {
		first, rest, dotted := strings.Cut(name, ".")
		further := inside[first]
		if dotted {
			further = append(further, rest)
		}
		inside[first] = further
	}
	whole := maps.Clone(o)
	for name, further := range inside {
		if all, ok := whole[name].([]any); ok {
			all = appended(all)
			for i := range all {
				all[i] = s.whole(all[i], further)
			}
			whole[name] = all
			continue
		}
		whole[name] = s.whole(whole[name], further)
	}
	return whole
}

// whole returns the object that a reference names. One that was deleted is its confirmation, and one that is none stays.
func (s *state) whole(ref any, further []string) any {
	id, isID := ref.(string)
	switch {
	case !isID:
		return ref
	case s.objects[id] != nil:
		return s.expanded(s.objects[id], further...)
	case s.deleted[id] != "":
		return object{"id": id, "object": s.deleted[id], "deleted": true}
	}
	return ref
}
