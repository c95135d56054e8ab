package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	xast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The parser takes time by the square of these, so there may not be more of them. No text for people comes near.
const (
	mostDepth       = 20      // lists and quotes in each other
	mostBrackets    = 500     // of a paragraph
	mostMarks       = 1_000   // runs of *, _ and ~ of a paragraph
	mostLinkSigns   = 8_000   // of a text: its brackets
	mostBrokenLinks = 25      // of a text: "](" that makes no link, for which all that follows is looked through
	mostOpenCode    = 50      // of a text: runs of ` that nothing closes
	mostFootnotes   = 1_000   // of a text
	mostBars        = 2_000   // of a text: \| in its tables
	mostDefinitions = 20_000  // bytes of a paragraph that begins with definitions of links
	mostLabel       = 1_002   // bytes up to the "]:" of a definition
	mostEmptyCells  = 10_000  // that the rows of a table leave out
	mostNestedLines = 500_000 // of a text: its lines, each for every list, item and quote around it
)

// budget counts what one text asks for. Once it has a problem, signs that are expensive are taken as they stand, and the rest
// is parsed quickly.
type budget struct {
	most    int // how long its HTML may be
	problem string

	paragraph       ast.Node // whose brackets and marks are counted
	brackets, marks int

	linkSigns, brokenLinks, openCode, footnotes, bars, nestedLines int
}

var budgetKey = parser.NewContextKey()

// context returns the state of a parser, which carries the budget.
func (b *budget) context() parser.Context {
	pc := parser.NewContext()
	pc = parser.NewContext(parser.WithIDs(prefixed{pc.IDs()}))
	pc.Set(budgetKey, b)
	return pc
}

func budgetOf(pc parser.Context) *budget { return pc.Get(budgetKey).(*budget) }

// spend adds one to a count, and reports whether that is within the budget. If not, what is said becomes the problem of the text.
func (b *budget) spend(count *int, most int, problem string) bool {
	if b.problem != "" {
		return false
	}
	if *count++; *count > most {
		b.problem = problem
		return false
	}
	return true
}

// enter begins to count anew if a paragraph is another one than the last.
func (b *budget) enter(paragraph ast.Node) {
	if b.paragraph != paragraph {
		b.paragraph, b.brackets, b.marks = paragraph, 0, 0
	}
}

// spendOnLinks counts what the addresses of the links come to, because a short link may name a long address that is defined once.
func (b *budget) spendOnLinks(document ast.Node) {
	total := 0
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			total += len(n.Destination) + len(n.Title)
		case *ast.Image:
			total += len(n.Destination) + len(n.Title)
		}
		return ast.WalkContinue, nil
	})
	b.spend(&total, 2*b.most, "Its links repeat long addresses too often. Shorten the addresses.") // each is met twice
}

// nested is a parser of blocks that stand in each other.
type nested struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (p *nested) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if k := n.Kind(); k == ast.KindListItem || k == ast.KindBlockquote || k == xast.KindFootnote {
			depth++
		}
	}
	if depth >= mostDepth {
		depth = 0
		budgetOf(pc).spend(&depth, 0, "Its lists and quotes are nested too deeply. At most 20 stand in each other.")
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// Continue implements parser.BlockParser.
func (p *nested) Continue(n ast.Node, reader text.Reader, pc parser.Context) parser.State {
	b := budgetOf(pc)
	if !b.spend(&b.nestedLines, mostNestedLines, "Its lists and quotes have too many lines. Nest them less, or leave out empty lines.") {
		return parser.Close
	}
	return p.BlockParser.Continue(n, reader, pc)
}

// footnotes is the parser of what footnotes say.
type footnotes struct{ nested }

// Open implements parser.BlockParser.
func (p *footnotes) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	n, state := p.nested.Open(parent, reader, pc)
	b := budgetOf(pc)
	if n != nil && !b.spend(&b.footnotes, mostFootnotes, "It has too many footnotes. At most 1,000 are possible.") {
		return nil, parser.NoChildren
	}
	return n, state
}

// links is the parser of links and images.
type links struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (p *links) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	b := budgetOf(pc)
	b.enter(parent)
	line, _ := block.PeekLine()
	if line[0] == '!' && !bytes.HasPrefix(line, []byte("![")) {
		return nil
	}
	if !b.spend(&b.brackets, mostBrackets, "A paragraph has too many brackets. Begin a new one, or write them as code.") ||
		!b.spend(&b.linkSigns, mostLinkSigns, "It has too many brackets. At most 8,000 are possible, which make 4,000 links. Write others as code.") {
		return nil
	}
	link := p.InlineParser.Parse(parent, block, pc)
	if link == nil && bytes.HasPrefix(line, []byte("](")) {
		b.spend(&b.brokenLinks, mostBrokenLinks, "It has too many links that are not closed. Write them as [text](https://address).")
	}
	return link
}

// CloseBlock implements parser.CloseBlocker.
func (p *links) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	p.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}

// marks is a parser of what is emphasised or struck through.
type marks struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (p *marks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	b := budgetOf(pc)
	b.enter(parent)
	if !b.spend(&b.marks, mostMarks, "A paragraph has too many *, _ and ~. Begin a new one, or write them as code.") {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// code is the parser of code within a paragraph.
type code struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (p *code) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	b := budgetOf(pc)
	if b.problem != "" {
		return nil
	}
	n := p.InlineParser.Parse(parent, block, pc)
	if n != nil && n.Kind() == ast.KindText {
		b.spend(&b.openCode, mostOpenCode, "It has too many ` that nothing closes. Write \\` where no code begins.")
	}
	return n
}

// tables makes a table of a paragraph.
type tables struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (t *tables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	b, lines := budgetOf(pc), node.Lines()
	columns, size, bars := 0, 0, 0
	for i := range lines.Len() {
		segment := lines.At(i)
		line := segment.Value(reader.Source())
		size += len(line)
		bars += bytes.Count(line, []byte(`\|`))
		if len(bytes.Trim(line, "|:- \t\r\n")) == 0 { // the line below the head
			columns = max(columns, bytes.Count(line, []byte("|"))+1)
		}
	}
	if columns == 0 {
		return
	}
	b.bars += bars
	switch {
	case b.bars > mostBars:
		b.spend(&b.bars, 0, `Its tables have too many \|. At most 2,000 are possible.`)
	case columns*lines.Len() > size+mostEmptyCells:
		b.spend(&columns, 0, "A table leaves out too many cells. Give its rows as many as its head has.")
	case b.problem == "":
		t.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// definitions takes the definitions of links from the beginning of a paragraph.
type definitions struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (d *definitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if lines := node.Lines(); lines.Len() > 0 {
		start, stop := lines.At(0).Start, lines.At(lines.Len()-1).Stop
		size := stop - start
		label := reader.Source()[start:min(stop, start+mostLabel)]
		if size > mostDefinitions && label[0] == '[' && bytes.Contains(label, []byte("]:")) {
			budgetOf(pc).spend(&size, 0, "It defines too many links in a row. Leave a line empty after each 20,000 characters.")
			return
		}
	}
	d.ParagraphTransformer.Transform(node, reader, pc)
}

// prefixed are the ids of headings. The prefix keeps them apart from the names that a page or its scripts go by.
type prefixed struct{ parser.IDs }

// Generate implements parser.IDs.
func (p prefixed) Generate(value []byte, kind ast.NodeKind) []byte {
	return append([]byte("h-"), p.IDs.Generate(value, kind)...)
}
