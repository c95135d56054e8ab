package markdown

import (
	"regexp"

	"github.com/microcosm-cc/bluemonday"
)

// policy is what HTML may hold: nothing but what is named here. The parser makes no more than that; whatever it might let through ends here.
var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	p := newLetterPolicy()
	p.AllowAttrs("title").Matching(bluemonday.Paragraph).OnElements("img")
	p.AllowAttrs("src").Matching(regexp.MustCompile(`(?i)^https://`)).OnElements("img")
	p.AllowAttrs("alt").OnElements("img")

	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").Matching(regexp.MustCompile(`^$`)).OnElements("input")
	return p
}

// letterPolicy is policy without what a page loads, or takes input by.
var letterPolicy = newLetterPolicy()

func newLetterPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "del", "pre", "code", "blockquote", "ul", "ol", "li", "sup",
		"table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^h-[a-z0-9-]+$`)).OnElements("h1", "h2", "h3", "h4", "h5", "h6")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^fn(ref\d*)?:\d+$`)).OnElements("li", "sup")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[A-Za-z0-9_+#-]{1,40}$`)).OnElements("code")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")

	p.RequireParseableURLs(true)
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true) // of footnotes; the pattern lets no others through
	p.AllowAttrs("href").Matching(regexp.MustCompile(`(?i)^(https?://|mailto:|#fn(ref\d*)?:\d+$)`)).OnElements("a")
	p.AllowAttrs("rel").Matching(regexp.MustCompile(`^noopener$`)).OnElements("a")
	p.AllowAttrs("title").Matching(bluemonday.Paragraph).OnElements("a")
	return p
}
