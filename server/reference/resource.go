package reference

import (
	"encoding/json"
	"html/template"
	"slices"
	"strings"
)

type resource struct {
	frame
	Title      string
	About      template.HTML
	Operations []shown
	Objects    []field
}

// shown is an operation as its page shows it.
type shown struct {
	*operation
	About        template.HTML
	Writes       bool
	Scopes       []string
	Params       []group
	Body         *field
	BodyExample  string
	Answers      []answer // that are good
	Errors       []answer
	Samples      []sample
	IDs          []parameter // of the path
	Query        string      // that it needs
	TakesKey     bool
	NeedsNoToken bool
}

// group is parameters that stand in one place.
type group struct {
	In     string
	Fields []field
}

type answer struct {
	Status, Code, Example string
	About                 template.HTML
	Type                  []part
	Fields                []field
}

// resource returns the page with a name.
func (r *Reference) resource(d *document, name string) (*resource, error) {
	tag := d.tagAt(name)
	p := &resource{frame: r.frame(d, name), Title: d.titleOf(tag)}
	for _, t := range d.Tags {
		if t.Name == tag {
			p.About = marked(t.Description)
		}
	}
	v := viewer{d, tag, false}
	for _, op := range d.operations {
		if op.Tags[0] != tag {
			continue
		}
		s, err := r.operation(v, op)
		if err != nil {
			return nil, err
		}
		p.Operations = append(p.Operations, s)
	}
	v.answered = true
	for _, object := range slices.Sorted(keys(d.owners, tag)) {
		f := v.field(object, d.named(object), nil)
		p.Objects = append(p.Objects, f)
		p.Inside = append(p.Inside, link{Text: object, Method: "object", Address: "#object-" + object})
	}
	return p, nil
}

// keys yields the objects that the page of a tag shows.
func keys(owners map[string]string, tag string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for object, owner := range owners {
			if owner == tag && !yield(object) {
				return
			}
		}
	}
}

func (r *Reference) operation(v viewer, op *operation) (shown, error) {
	s := shown{operation: op, About: marked(op.Description), Writes: op.writes(), Params: v.groups(op), IDs: op.inPath(), TakesKey: op.takesKey(), NeedsNoToken: op.Public}
	if op.Scope != "" && op.Scope != "none" {
		s.Scopes = append([]string{op.Scope}, op.MoreScopes...)
	}
	if body := op.body(); body != nil {
		f := v.field("", op.RequestBody.Content.JSON.Schema, nil)
		s.Body, s.BodyExample = &f, indented(body, "")
	}
	if _, query, found := strings.Cut(op.address(), "?"); found {
		s.Query = query
	}
	for _, response := range op.Responses {
		a := v.answer(response.Name, response.Value)
		if strings.HasPrefix(a.Status, "2") {
			s.Answers = append(s.Answers, a)
		} else {
			s.Errors = append(s.Errors, a)
		}
	}
	slices.SortFunc(s.Errors, func(a, b answer) int { return strings.Compare(a.Status, b.Status) })
	var err error
	s.Samples, err = r.samples(op)
	return s, err
}

// groups returns the parameters of an operation by where they stand.
func (v viewer) groups(op *operation) []group {
	var all []group
	for _, in := range []string{"path", "query", "header"} {
		g := group{In: in}
		for _, p := range op.Parameters {
			if p.In != in {
				continue
			}
			f := v.field(p.Name, p.Schema, nil)
			f.Required = p.Required
			if p.Description != "" {
				f.About = marked(p.Description)
			}
			if p.Deprecated {
				f.Notice = &p.notice
			}
			g.Fields = append(g.Fields, f)
		}
		if g.Fields != nil {
			all = append(all, g)
		}
	}
	return all
}

// answer returns a response. An object that has a page is named, not shown.
func (v viewer) answer(status string, r response) answer {
	v.answered = true
	a := answer{Status: status, About: marked(r.Description)}
	if r.Content.JSON == nil {
		return a
	}
	if !strings.HasPrefix(status, "2") {
		var example struct{ Error struct{ Code string } }
		if json.Unmarshal(r.Content.JSON.Example, &example) == nil {
			a.Code = example.Error.Code
		}
		return a
	}
	a.Example = indented(r.Content.JSON.Example, "")
	if name, many := v.object(r.Content); name != "" {
		if many {
			a.Type = append(a.Type, part{Text: "list of "})
		}
		a.Type = append(a.Type, v.part(name))
		return a
	}
	f := v.field("", r.Content.JSON.Schema, nil)
	a.Type, a.Fields = f.Type, f.Fields
	return a
}
