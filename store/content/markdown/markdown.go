// Package markdown turns what creators write into HTML that can stand in any page. Nothing in it runs, and making it costs no more than a
// multiple of reading the text.
package markdown

import (
	"bytes"
	"html"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Version is that of what Render makes of a text. Whoever changes the parser or the policy, or loosens a limit, raises it, and what is stored is
// rendered anew.
const Version = 2

// Render returns a text of GitHub's Markdown with footnotes as HTML. Raw HTML is shown as text. A text that asks for more than the limits allow
// has a problem, which says what to write instead. Its HTML is harmless all the same.
func Render(source string) (rendered, problem string) { return render(source, policy) }

// RenderLetter is Render for a letter, which loads nothing and takes no input: pictures and boxes are left out.
func RenderLetter(source string) (rendered, problem string) { return render(source, letterPolicy) }

func render(source string, allowed *bluemonday.Policy) (rendered, problem string) {
	b := &budget{most: len(source)*10 + 64<<10}
	reader := text.NewReader([]byte(source))
	document := converter.Parser().Parse(reader, parser.WithContext(b.context()))
	b.spendOnLinks(document)
	if b.problem != "" {
		return plain(source), b.problem
	}
	var out bytes.Buffer
	if err := converter.Renderer().Render(&out, reader.Source(), document); err != nil {
		return plain(source), "It cannot be rendered: " + err.Error() + "."
	}
	if out.Len() > b.most {
		return plain(source), "It becomes too long as HTML. Use fewer empty headings, quotes, cells and footnotes."
	}
	return allowed.Sanitize(out.String()), ""
}

// plain returns the HTML of a text that is shown as it is.
func plain(source string) string { return "<pre>" + html.EscapeString(source) + "</pre>" }

// converter is what all texts go through. It keeps nothing of them.
var converter = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(blockParsers()...),
		parser.WithInlineParsers(inlineParsers()...),
		parser.WithParagraphTransformers(
			util.Prioritized(&tables{extension.NewTableParagraphTransformer()}, 200),
			util.Prioritized(&definitions{parser.LinkReferenceParagraphTransformer}, 100),
		),
		parser.WithASTTransformers(
			util.Prioritized(extension.NewTableASTTransformer(), 0),
			util.Prioritized(extension.NewFootnoteASTTransformer(), 999),
			util.Prioritized(noOpener{}, 1000),
		),
		parser.WithAutoHeadingID(),
	)),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers( // beside those of plain Markdown, which are there
		util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 500),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
		util.Prioritized(extension.NewTaskCheckBoxHTMLRenderer(), 500),
		util.Prioritized(extension.NewFootnoteHTMLRenderer(), 500),
	)),
)

func blockParsers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(&nested{parser.NewListParser()}, 300),
		util.Prioritized(&nested{parser.NewListItemParser()}, 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(&nested{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(&footnotes{nested{extension.NewFootnoteBlockParser()}}, 999),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
}

func inlineParsers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(&code{parser.NewCodeSpanParser()}, 100),
		util.Prioritized(extension.NewFootnoteParser(), 101),
		util.Prioritized(&links{parser.NewLinkParser()}, 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(&marks{parser.NewEmphasisParser()}, 500),
		util.Prioritized(&marks{extension.NewStrikethroughParser()}, 500),
		util.Prioritized(extension.NewLinkifyParser(), 999),
	}
}

// noOpener keeps pages that are opened by a link from reaching back to the one with the link.
type noOpener struct{}

// Transform implements parser.ASTTransformer.
func (noOpener) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && (n.Kind() == ast.KindLink || n.Kind() == ast.KindAutoLink) {
			n.SetAttributeString("rel", []byte("noopener"))
		}
		return ast.WalkContinue, nil
	})
}
