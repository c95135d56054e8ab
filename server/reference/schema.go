package reference

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// viewer shows the schemas of a document on the page of a tag.
type viewer struct {
	*document
	tag      string
	answered bool // what is shown is answered: all fields that are required are there, which nobody has to be told
}

// part is a word of what a field's type is. It may lead to where that is shown.
type part struct{ Text, Address string }

// field is one of an object, or a parameter.
type field struct {
	Name     string
	Type     []part
	About    template.HTML
	Required bool
	Limits   []string
	Values   []value // all that it may be
	Notice   *notice // if it is deprecated
	Fields   []field // of the object that it is
}

type value struct {
	Text   string
	Notice *notice
}

// part returns the name of an object, which leads to where it is shown.
func (v viewer) part(name string) part {
	owner := v.owners[name]
	if owner == "" {
		return part{Text: name}
	}
	address := "#object-" + name
	if owner != v.tag {
		address = "/docs/" + slug(v.titleOf(owner)) + address
	}
	return part{name, address}
}

// field returns a field with everything in it. The schemas in which it stands are within: one that stands in itself is only named.
func (v viewer) field(name string, s *schema, within []string) field {
	f := field{Name: name}
	if s == nil {
		return f
	}
	if s.Ref != "" {
		return v.reference(name, base(s.Ref), within)
	}
	f.About, f.Limits = marked(s.Description), s.limits()
	if s.Deprecated {
		f.Notice = &s.notice
	}
	f.Values = s.values()
	switch {
	case s.variants() != nil:
		v.choose(&f, s, within)
		if s.Properties == nil {
			return f
		}
	case s.Items != nil:
		item := v.field("", s.Items, within)
		f.Type = append([]part{{Text: "list of "}}, item.Type...)
		f.Fields = item.Fields
		f.Limits, f.Values = append(f.Limits, item.Limits...), item.Values
		if s.Description == "" {
			f.About = item.About
		}
	default:
		f.Type = []part{{Text: s.kind()}}
	}
	if s.Nullable {
		f.Type = append(f.Type, part{Text: " or null"})
	}
	for _, p := range s.Properties {
		inner := v.field(p.Name, p.Value, within)
		inner.Required = !v.answered && slices.Contains(s.Required, p.Name)
		f.Fields = append(f.Fields, inner)
	}
	var additional *schema
	if json.Unmarshal(s.Additional, &additional) == nil && additional != nil && s.Properties == nil {
		each := v.field("", additional, within)
		f.Type, f.Fields = append([]part{{Text: "object of "}}, each.Type...), each.Fields
	}
	return f
}

// reference returns a field whose schema has a name. What another place shows is only named.
func (v viewer) reference(name, of string, within []string) field {
	if v.owners[of] != "" || slices.Contains(within, of) {
		return field{Name: name, Type: []part{v.part(of)}}
	}
	return v.field(name, v.named(of), append(slices.Clone(within), of))
}

// variants returns the schemas of which one, some or all hold.
func (s *schema) variants() []*schema { return slices.Concat(s.OneOf, s.AnyOf, s.AllOf) }

// choose writes into a field what it may be.
func (v viewer) choose(f *field, s *schema, within []string) {
	var needs []string
	for _, variant := range s.variants() {
		if variant.Type == "" && variant.Required != nil { // it only says which fields go together
			needs = append(needs, strings.Join(variant.Required, " with "))
			continue
		}
		one := v.field("", variant, within)
		if slices.Equal(variant.Enum, []any{nil}) {
			one = field{Type: []part{{Text: "null"}}}
		}
		if variant.Ref != "" && slices.Equal(one.Type, []part{{Text: "object"}}) { // to tell it from the others
			one.Type = []part{{Text: base(variant.Ref)}}
		}
		if f.Type != nil {
			f.Type = append(f.Type, part{Text: " or "})
		}
		f.Type = append(f.Type, one.Type...)
		f.Fields = append(f.Fields, one.Fields...)
		f.Values = append(f.Values, one.Values...)
		f.Limits = append(f.Limits, one.Limits...)
		if f.About == "" {
			f.About = one.About
		}
	}
	if needs != nil {
		f.Type, f.Limits = append(f.Type, part{Text: s.kind()}), append(f.Limits, "needs "+strings.Join(needs, ", or "))
	}
}

// kind returns the type of a schema in a word.
func (s *schema) kind() string {
	switch s.Format {
	case "date-time":
		return "time"
	case "date", "uri", "email":
		return s.Format
	}
	if s.Type == "" {
		return "any JSON"
	}
	return s.Type
}

// values returns all that a field may be, with until when.
func (s *schema) values() []value {
	var all []value
	for _, v := range s.Enum {
		one := value{Text: "null"}
		if v != nil {
			one.Text = fmt.Sprint(v)
		}
		if n, found := s.Outdated[one.Text]; found {
			one.Notice = &n
		}
		all = append(all, one)
	}
	return all
}

// limits returns how long, large or many something may be.
func (s *schema) limits() []string {
	var all []string
	add := func(what string, least, most any) {
		switch {
		case least != nil && most != nil:
			all = append(all, fmt.Sprintf("%v to %v%s", least, most, what))
		case least != nil:
			all = append(all, fmt.Sprintf("at least %v%s", least, what))
		case most != nil:
			all = append(all, fmt.Sprintf("at most %v%s", most, what))
		}
	}
	add(" characters", optional(s.MinLength), optional(s.MaxLength))
	add("", optional(s.Minimum), optional(s.Maximum))
	add(" items", optional(s.MinItems), optional(s.MaxItems))
	if s.Pattern != "" {
		all = append(all, "matches "+s.Pattern)
	}
	if s.Default != nil {
		all = append(all, fmt.Sprintf("default %v", s.Default))
	}
	return all
}

// optional returns what p leads to, nil if it leads nowhere.
func optional[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
