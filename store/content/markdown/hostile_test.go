package markdown

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness/effort"
)

// fill repeats a text to n bytes.
func fill(s string, n int) string { return strings.Repeat(s, n/len(s)+1)[:n] }

// inEachOther has each item indented further than the one before.
func inEachOther(item string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.Repeat("  ", i) + item + "\n")
		}
		return b.String()[:n]
	}
}

// hostile are texts of about n bytes that a parser of Markdown takes long for, or makes much of.
var hostile = map[string]func(n int) string{
	"brackets":   func(n int) string { return fill("[", n) },
	"brackets2":  func(n int) string { return fill("[", n/2) + fill("]", n/2) },
	"brackets a": func(n int) string { return fill("[a](", n) },
	"brackets b": func(n int) string { return fill("![[](", n) },
	"images":     func(n int) string { return fill("![", n/2) + fill("](a)", n/2) },
	"links nest": func(n int) string { return fill("[", n/5) + fill("](a)", 4*n/5) },
	"link refs":  func(n int) string { return fill("[a]", n) },
	"ref defs": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[%d]: /a\n", i)
		}
		return b.String()
	},
	"ref amplify": func(n int) string {
		return "[a]: /" + fill("x", n/12) + "\n\n" + fill(fill("[a] ", 400)+"\n\n", 15_000)
	},
	"blockquote one line":    func(n int) string { return fill(">", n) },
	"blockquote lines":       func(n int) string { return fill(fill(">", 300)+"a\n", n) },
	"blockquote then blanks": func(n int) string { return fill(">", n/2) + "\n" + fill("\n", n/2) },
	"blockquote lazy":        func(n int) string { return fill(">", n/2) + "a\n" + fill("a\n", n/2) },
	"list one line":          func(n int) string { return fill("- ", n) + "a" },
	"list one line blanks":   func(n int) string { return fill("- ", n/2) + "a\n" + fill("\n", n/2) },
	"list one line lazy":     func(n int) string { return fill("- ", n/2) + "a\n" + fill("a\n", n/2) },
	"list nested":            inEachOther("- a"),
	"list nested num":        inEachOther("1. a"),
	"list flat":              func(n int) string { return fill("- a\n", n) },
	"list flat loose":        func(n int) string { return fill("- a\n\n", n) },
	"emphasis":               func(n int) string { return fill("*a **a ", n) },
	"emphasis2":              func(n int) string { return fill("*a_ ", n) },
	"emphasis3":              func(n int) string { return fill("*", n/2) + "a" + fill("*", n/2) },
	"emphasis4":              func(n int) string { return fill("a**b", n) + fill("c* ", n) },
	"emphasis5":              func(n int) string { return fill("**a", n/2) + "b" + fill("a_", n/2) },
	"emphasis open":          func(n int) string { return fill(" *a", n) },
	"emphasis close":         func(n int) string { return fill("a* ", n) },
	"emphasis openclose":     func(n int) string { return fill(" *a", n/2) + fill("a_ ", n/2) },
	"strike":                 func(n int) string { return fill("~a ~~a ", n) },
	"strike2":                func(n int) string { return fill(" ~~a", n/2) + fill("a* ", n/2) },
	"backticks": func(n int) string {
		var b strings.Builder
		for i := 1; b.Len() < n; i++ {
			b.WriteString("e" + strings.Repeat("`", i))
		}
		return b.String()[:n]
	},
	"backticks2":    func(n int) string { return fill("`", n) },
	"backticks3":    func(n int) string { return fill("`a``", n) },
	"fences":        func(n int) string { return fill("```\n~~~\n", n) },
	"lt":            func(n int) string { return fill("<", n) },
	"lt2":           func(n int) string { return fill("<a ", n) },
	"lt3":           func(n int) string { return fill("<!--", n) },
	"lt4":           func(n int) string { return fill("<?", n) },
	"lt5":           func(n int) string { return fill("<![CDATA[", n) },
	"lt6":           func(n int) string { return fill("a <!A ", n) },
	"lt7":           func(n int) string { return fill("<http:", n) },
	"lt8":           func(n int) string { return fill("a<a@", n) },
	"html attr":     func(n int) string { return fill("x <a b=\"", n) },
	"autolink":      func(n int) string { return fill("http://", n) },
	"autolink2":     func(n int) string { return fill("www.", n) },
	"autolink3":     func(n int) string { return fill("a@b.", n) },
	"autolink4":     func(n int) string { return fill("a.", n) + "@" },
	"autolink5":     func(n int) string { return "http://a.b/" + fill(")", n) },
	"autolink6":     func(n int) string { return "http://a.b/" + fill("&a;", n) },
	"autolink7":     func(n int) string { return fill("http://a.b/", n) },
	"autolink8":     func(n int) string { return fill("a@", n) },
	"autolink9":     func(n int) string { return fill("_www.a_", n) },
	"amp":           func(n int) string { return fill("&", n) },
	"amp2":          func(n int) string { return fill("&#", n) },
	"table wide":    func(n int) string { return fill("|a", n/4) + "|\n" + fill("|-", n/4) + "|\n" + fill("|a\n", n/2) },
	"table tall":    func(n int) string { return "|a|b|\n|-|-|\n" + fill("|a|b|\n", n) },
	"table escaped": func(n int) string { return "|a|b|\n|-|-|\n" + fill("|`a\\|b`|c|\n", n) },
	"table pipes":   func(n int) string { return fill("|", n) },
	"table many":    func(n int) string { return fill("|a\n|-\n", n) },
	"table para":    func(n int) string { return fill("a\n", n/2) + "|-|\n" + fill("a\n-|\n", n/2) },
	"footnotes": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[^%d]\n\n[^%d]: a\n\n", i, i)
		}
		return b.String()
	},
	"footnotes undefined": func(n int) string { return "[^a]: b\n\n" + fill("[^b]", n) },
	"footnotes refs":      func(n int) string { return "[^a]: b\n\n" + fill("[^a] ", n) },
	"footnotes defs": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[^%d]: a\n", i)
		}
		return b.String()
	},
	"footnotes nested": func(n int) string { return fill("[^a]: ", n) },
	"footnotes self":   func(n int) string { return "[^a]: " + fill("[^a]", n) },
	"headings same":    func(n int) string { return fill("# a\n", n) },
	"headings empty":   func(n int) string { return fill("#\n", n) },
	"setext":           func(n int) string { return fill("a\n===\n", n) },
	"setext2":          func(n int) string { return fill("a\n", n/2) + fill("===\n", n/2) },
	"paragraph":        func(n int) string { return fill("a\n", n) },
	"hard breaks":      func(n int) string { return fill("a  \n", n) },
	"backslash":        func(n int) string { return fill("\\", n) },
	"hash":             func(n int) string { return fill("#", n) },
	"hr":               func(n int) string { return fill("***\n", n) },
	"tabs":             func(n int) string { return fill("\t", n) },
	"tabs quote":       func(n int) string { return fill(">\t", n) },
	"tabs list":        func(n int) string { return fill("-\t", n) },
	"spaces":           func(n int) string { return fill(" ", n) + "a" },
	"task":             func(n int) string { return fill("- [ ] a\n", n) },
	"task2":            func(n int) string { return fill("- [ ] ", n) },
	"link title":       func(n int) string { return fill("[a](b \"", n) },
	"link title2":      func(n int) string { return fill("[a](<b", n) },
	"link title3":      func(n int) string { return fill("[a](b 'x\n", n) },
	"link parens":      func(n int) string { return "[a](" + fill("(", n) },
	"link parens2":     func(n int) string { return fill("[a](((((", n) },
	"ref def bad":      func(n int) string { return fill("[a]: b \"\n", n) },
	"ref def bad2":     func(n int) string { return fill("[", n) + "]:" },
	"ref def bad3":     func(n int) string { return fill("[a]: <\n", n) },
	"ref def bad4":     func(n int) string { return fill("[a\n", n) },
	"long word":        func(n int) string { return fill("a", n) },
	"unicode":          func(n int) string { return fill("é*", n) },
	"nul":              func(n int) string { return fill("\x00", n) },
	"cr":               func(n int) string { return fill("\r", n) },
	"crlf":             func(n int) string { return fill("> a\r\n", n) },
	"indent code":      func(n int) string { return fill("    a\n\n", n) },
	"list code":        func(n int) string { return fill("-     a\n", n) },
	"quote list":       func(n int) string { return fill("> - ", n) },
	"mixed":            func(n int) string { return fill("> 1. * ", n) },
	"codespan nl":      func(n int) string { return fill("`\n", n) },
	"open code, many lines": func(n int) string {
		var b strings.Builder
		for i := 1; b.Len() < n/2; i++ {
			b.WriteString("e" + strings.Repeat("`", i))
		}
		return b.String() + "\n" + fill("a\n", n/2)
	},
	"link titles, many lines":      func(n int) string { return fill("[a](b \"c\n", n/2) + fill("a\n", n/2) },
	"link titles, many paragraphs": func(n int) string { return fill(fill("[a](b \"c\n", n/20)+"\n\n", n) },
	"brackets, many paragraphs":    func(n int) string { return fill(fill("[", 240)+fill("]", 240)+"\n\n", n) },
	"marks, many paragraphs":       func(n int) string { return fill(fill(" *a", 1400)+fill("a_ ", 1400)+"\n\n", n) },
	"definitions, many paragraphs": func(n int) string { return fill(fill("[a]: b \"\n", 18_999)+"\n", n) },
	"footnotes, many references": func(n int) string {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, "[^%d]: a\n\n", i)
		}
		return b.String() + fill("[^999] ", n/2)
	},
	"quotes at the limit":  func(n int) string { return fill(fill(">", 20)+"a\n", n) },
	"lists at the limit":   func(n int) string { return fill("- ", 40) + "a\n" + fill("\n"+fill(" ", 40)+"a\n", n) },
	"blank lines in lists": func(n int) string { return fill("- ", 38) + "a\n" + fill("\n", n) },
	"images in images":     func(n int) string { return fill(fill("![", 480)+fill("](a)", 960)+"\n\n", n) },
}

// problems are parts of what is said of the texts that ask for too much. All others are rendered.
var problems = map[string]string{
	"blockquote lazy": "nested", "blockquote lines": "nested", "blockquote one line": "nested", "blockquote then blanks": "nested", "footnotes nested": "nested",
	"blank lines in lists": "too many lines", "list nested": "nested", "list nested num": "nested", "list one line": "nested", "list one line blanks": "nested", "list one line lazy": "nested",
	"mixed": "nested", "quote list": "nested", "tabs quote": "nested",

	"brackets": "brackets", "brackets2": "brackets", "footnotes undefined": "brackets", "images": "brackets", "link refs": "brackets", "links nest": "brackets", "lt5": "brackets", "task2": "brackets",
	"ref def bad2": "brackets", "ref def bad4": "brackets", "brackets, many paragraphs": "brackets", "images in images": "brackets",
	"brackets a": "not closed", "brackets b": "not closed", "link parens2": "not closed", "link title": "not closed", "link title2": "not closed",
	"link title3": "not closed", "link titles, many lines": "not closed", "link titles, many paragraphs": "not closed",

	"emphasis": "*, _ and ~", "emphasis2": "*, _ and ~", "emphasis4": "*, _ and ~", "emphasis5": "*, _ and ~", "emphasis close": "*, _ and ~",
	"emphasis open": "*, _ and ~", "emphasis openclose": "*, _ and ~", "strike": "*, _ and ~", "strike2": "*, _ and ~", "unicode": "*, _ and ~",

	"backticks": "nothing closes", "open code, many lines": "nothing closes",
	"footnotes": "footnotes", "footnotes defs": "footnotes",
	"headings empty": "too long", "footnotes self": "too long", "footnotes refs": "too long", "footnotes, many references": "too long",
	"ref amplify": "addresses",
	"ref def bad": "defines", "ref def bad3": "defines", "ref defs": "defines",
	"table escaped": `\|`, "table wide": "cells", "table para": "cells",
}

// TestRender_CostsAMultipleOfReading gives the parser what it would take minutes for, or fill the memory with.
func TestRender_CostsAMultipleOfReading(t *testing.T) {
	t.Parallel()
	size, patience := 30_000, 10*time.Second // of the processor, with the race detector
	if os.Getenv("TILLWRIGHT_SOAK") != "" {
		size = 200_000
	}
	for name, text := range hostile {
		source := text(size)
		var rendered, problem string
		took := effort.Of(func() { rendered, problem = Render(source) })
		assert.Less(t, took, patience, name)
		assert.LessOrEqual(t, len(rendered), 10*len(source)+64<<10, name)
		if want := problems[name]; want == "" {
			assert.Empty(t, problem, name)
		} else {
			assert.Contains(t, problem, want, name)
		}
		requireHarmless(t, rendered)
		t.Logf("%s: %s", name, took)
	}
}
