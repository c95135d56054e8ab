package reference

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

//go:embed guide/*.md
var texts embed.FS

// guidesName is the page that lists the guides. The name of a guide's own page is its file's, below that.
const guidesName = "guide"

// guides are the names of the guides, in the order in which they are listed.
var guides = []string{
	"start", "sell", "customers", "deliver", "subscriptions", "tax-and-invoices", "stripe", "webhooks", "advertise", "publish", "move",
	"api", "keys", "errors", "limits", "test", "conformance", "production", "backup", "upgrade", "settings",
}

// guide says how something is done.
type guide struct {
	Name, Title string
	Lead        string // its first paragraph, which has no marks
	source      string // what follows the title
}

func (g guide) address() string { return addressOfGuide(g.Name) }

func addressOfGuide(name string) string { return "/docs/" + guidesName + "/" + name }

// readGuides reads all guides, and renders none.
func readGuides() ([]guide, error) {
	var all []guide
	for _, name := range guides {
		source, err := texts.ReadFile("guide/" + name + ".md")
		if err != nil {
			return nil, fmt.Errorf("read a guide: %w", err)
		}
		title, rest, _ := strings.Cut(strings.TrimPrefix(string(source), "# "), "\n")
		all = append(all, guide{Name: name, Title: title, Lead: strings.Join(strings.Fields(summary(strings.TrimSpace(rest))), " "), source: rest})
	}
	return all, nil
}

type guidePage struct {
	frame
	Title string
	Text  template.HTML
}

// guide returns the page of a guide, whose sections stand in the contents.
func (r *Reference) guide(d *document, name string) (*guidePage, error) {
	p := &guidePage{frame: r.frame(d, name)}
	for _, g := range r.guides {
		if guidesName+"/"+g.Name == name {
			var err error
			p.Title = g.Title
			p.Text, p.Inside, err = written(g.source)
			return p, err
		}
	}
	return nil, fmt.Errorf("there is no guide %q", name)
}

// written returns a text of ours as HTML, and its sections.
func written(source string) (template.HTML, []link, error) {
	var out bytes.Buffer
	reader := gmtext.NewReader([]byte(source))
	document := writer.Parser().Parse(reader)
	var sections []link
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		if heading, ok := node.(*ast.Heading); ok && heading.Level == 2 {
			id, _ := heading.AttributeString("id")
			sections = append(sections, link{Text: textIn(heading, reader.Source()), Address: "#" + string(id.([]byte))})
		}
	}
	if err := writer.Renderer().Render(&out, reader.Source(), document); err != nil {
		return "", nil, fmt.Errorf("render a guide: %w", err)
	}
	return template.HTML(scrolled.Replace(out.String())), sections, nil
}

// scrolled has what is wider than the page scrolled, by the keyboard too.
var scrolled = strings.NewReplacer("<pre>", `<pre tabindex="0" aria-label="Example">`, "<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>")

// textIn returns the text of a node without its marks.
func textIn(node ast.Node, source []byte) string {
	var s strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			s.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return s.String()
}

// writer is what the guides go through. They are ours, so nothing in them is guarded against: of other people's texts package markdown makes HTML.
var writer = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(addresses{}, 1000))),
)

// addresses makes links of what leads somewhere in the repository, or stands in code there, and is a page here.
type addresses struct{}

// Transform implements parser.ASTTransformer.
func (addresses) Transform(document *ast.Document, reader gmtext.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			if file, id, _ := strings.Cut(string(n.Destination), "#"); strings.HasSuffix(file, ".md") {
				n.Destination = []byte(addressOfGuide(strings.TrimSuffix(file, ".md")))
				if id != "" {
					n.Destination = append(n.Destination, "#"+id...)
				}
			}
		case *ast.CodeSpan:
			if address := textIn(n, reader.Source()); strings.HasPrefix(address, "/docs") || address == "/llms.txt" || strings.HasPrefix(address, "/openapi") {
				to := ast.NewLink()
				to.Destination = []byte(address)
				n.Parent().ReplaceChild(n.Parent(), n, to)
				to.AppendChild(to, n)
				return ast.WalkSkipChildren, nil
			}
		}
		return ast.WalkContinue, nil
	})
}
