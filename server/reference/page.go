package reference

import (
	"encoding/json"
	"html/template"
	"strings"

	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/content/markdown"
)

// eventsName is the page about events, which no tag has.
const eventsName = "events"

// frame is what stands around every page.
type frame struct {
	Sheet, Script string // addresses
	Develops      bool
	OnGuides      bool // the page in hand lists the guides, or is one
	Guides        []link
	Groups        []link // the pages of the reference
	Inside        []link // what the page in hand has
}

// link leads to a page, or to an operation of one.
type link struct {
	Text, Method, Address string
	Current, Deprecated   bool
	About                 template.HTML
	Count                 int // of operations
}

// frame returns what stands around the page with a name.
func (r *Reference) frame(d *document, name string) frame {
	f := frame{Sheet: r.sheet.Address, Script: r.script.Address, Develops: r.develops}
	f.OnGuides = name == guidesName || strings.HasPrefix(name, guidesName+"/")
	for _, g := range r.guides {
		f.Guides = append(f.Guides, link{Text: g.Title, Address: g.address(), Current: guidesName+"/"+g.Name == name, About: template.HTML(template.HTMLEscapeString(g.Lead))})
	}
	for _, tag := range d.Tags {
		l := link{Text: title(tag.Name, tag.DisplayName), About: marked(summary(tag.Description))}
		l.Address = "/docs/" + slug(l.Text)
		l.Current = slug(l.Text) == name
		for _, op := range d.operations {
			if op.Tags[0] != tag.Name {
				continue
			}
			l.Count++
			if l.Current {
				f.Inside = append(f.Inside, link{Text: op.Summary, Method: op.Method, Address: "#" + op.ID, Deprecated: op.Deprecated})
			}
		}
		if l.Count > 0 {
			f.Groups = append(f.Groups, l)
		}
	}
	return f
}

func title(name, shown string) string {
	if shown != "" {
		return shown
	}
	return name
}

func slug(title string) string { return strings.ReplaceAll(strings.ToLower(title), " ", "-") }

// tagAt returns the tag whose page has a name, empty if there is none.
func (d *document) tagAt(name string) string {
	for _, op := range d.operations {
		if slug(d.titleOf(op.Tags[0])) == name {
			return op.Tags[0]
		}
	}
	return ""
}

// titleOf returns what the page of a tag is called.
func (d *document) titleOf(name string) string {
	for _, tag := range d.Tags {
		if tag.Name == name {
			return title(name, tag.DisplayName)
		}
	}
	return name
}

// summary returns the first paragraph of a description, for where the others would be too much.
func summary(description string) string {
	first, _, _ := strings.Cut(description, "\n\n")
	return first
}

// marked returns a description, which is Markdown, as HTML in which nothing runs.
func marked(text string) template.HTML {
	rendered, _ := markdown.Render(text)
	return template.HTML(rendered)
}

type overview struct {
	frame
	Version, URL string
	About        template.HTML
	Deprecated   []link
	Curl, Go     string
}

func (r *Reference) overview(d *document) overview {
	o := overview{frame: r.frame(d, ""), Version: d.Info.Version, URL: r.address + "/v1", About: marked(d.Info.Description)}
	o.Curl = "curl " + quote(r.address+"/v1/account") + " \\\n  -H \"Authorization: Bearer $TILLWRIGHT_API_KEY\""
	o.Go = "client := sdk.New(os.Getenv(\"TILLWRIGHT_API_KEY\"), sdk.WithBaseURL(" + quoted(r.address+"/v1") + "))\naccount, err := client.Account.Get(ctx)"
	for _, op := range d.operations {
		if op.Deprecated {
			o.Deprecated = append(o.Deprecated, link{Text: op.Summary, Method: op.Method, Address: d.addressOf(op)})
		}
	}
	return o
}

// addressOf returns where an operation is described.
func (d *document) addressOf(op *operation) string {
	return "/docs/" + slug(d.titleOf(op.Tags[0])) + "#" + op.ID
}

type event struct {
	Type, Body string
	About      template.HTML
}

type events struct {
	frame
	Events []event
}

func (r *Reference) events(d *document) events {
	e := events{frame: r.frame(d, eventsName)}
	for _, t := range view.EventTypes().Data {
		e.Events = append(e.Events, event{t.Type, indented(t.Example, ""), marked(t.Description)})
		e.Inside = append(e.Inside, link{Text: t.Type, Address: "#" + t.Type})
	}
	return e
}

// index returns what the search looks through: each operation with its name, method, path and address, each event and each guide.
func (r *Reference) index(d *document) []byte {
	all := [][5]string{}
	for _, op := range d.operations {
		all = append(all, [5]string{op.ID, op.Summary, op.Method, op.Path, d.addressOf(op)})
	}
	for _, t := range view.EventTypes().Data {
		all = append(all, [5]string{t.Type, "Event", "", "", "/docs/events#" + t.Type})
	}
	for _, g := range r.guides {
		all = append(all, [5]string{g.Title, "Guide. " + g.Lead, "", "", g.address()})
	}
	text, _ := json.Marshal(all) // of strings alone
	return text
}

// llms returns what programs that read for a model begin with: https://llmstxt.org
func (r *Reference) llms(d *document) string {
	var s strings.Builder
	s.WriteString("# " + d.Info.Title + "\n\n> Sell digital products by API. The whole API is described in " + r.address + "/openapi.json (OpenAPI 3.0) and " + r.address + "/openapi-3.1.json (OpenAPI 3.1).\n\n")
	s.WriteString(strings.TrimSpace(d.Info.Description) + "\n\n## Guides\n\n")
	s.WriteString("- [Guides](" + r.address + "/docs/guide)\n")
	for _, g := range r.guides {
		s.WriteString("- [" + g.Title + "](" + r.address + g.address() + "): " + g.Lead + "\n")
	}
	s.WriteString("\n## Reference\n\n")
	s.WriteString("- [Overview](" + r.address + "/docs)\n- [Events](" + r.address + "/docs/events): what webhooks deliver, with an example of each\n")
	for _, tag := range d.Tags {
		name := d.titleOf(tag.Name)
		if d.tagAt(slug(name)) != "" {
			s.WriteString("- [" + name + "](" + r.address + "/docs/" + slug(name) + "): " + strings.Join(strings.Fields(summary(tag.Description)), " ") + "\n")
		}
	}
	return s.String()
}
