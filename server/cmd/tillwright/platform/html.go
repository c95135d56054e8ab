package platform

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// signs are what Markdown would take for more than a sign.
var signs = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "`", "\\`")

var (
	spaces = regexp.MustCompile(`\s+`)
	blanks = regexp.MustCompile(`[ \t]*\n[ \t]*`)
	gaps   = regexp.MustCompile(`\n{3,}`)
)

// markdown returns a description in HTML as Markdown: its paragraphs, headings, lists, links and what is stressed. The rest of it, such as
// pictures and what runs, is left out.
func markdown(cells []string, _ string) (string, string) {
	if !strings.Contains(cells[0], "<") && !strings.Contains(cells[0], "&") {
		return cells[0], ""
	}
	var out strings.Builder
	var links []string
	hidden := 0
	for z := html.NewTokenizer(strings.NewReader(cells[0])); ; {
		switch z.Next() {
		case html.ErrorToken: // the end
			for len(links) > 0 {
				links = left(&out, links)
			}
			text := blanks.ReplaceAllString(out.String(), "\n")
			return strings.TrimSpace(gaps.ReplaceAllString(text, "\n\n")), ""
		case html.TextToken:
			if hidden == 0 {
				out.WriteString(signs.Replace(spaces.ReplaceAllString(z.Token().Data, " ")))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if token.DataAtom == atom.Script || token.DataAtom == atom.Style {
				hidden++
			}
			if token.DataAtom == atom.A {
				links = append(links, address(token))
			}
			out.WriteString(opening(token))
		case html.EndTagToken:
			token := z.Token()
			if (token.DataAtom == atom.Script || token.DataAtom == atom.Style) && hidden > 0 {
				hidden--
			}
			if token.DataAtom == atom.A && len(links) > 0 {
				links = left(&out, links)
			}
			out.WriteString(closing(token.DataAtom))
		}
	}
}

// left ends the last of the links that are open, and returns the others.
func left(out *strings.Builder, links []string) []string {
	last := len(links) - 1
	if to := links[last]; to != "" {
		out.WriteString("](" + to + ")")
	}
	return links[:last]
}

// opening returns what stands for the beginning of an element.
func opening(t html.Token) string {
	switch t.DataAtom {
	case atom.P, atom.Div, atom.Ul, atom.Ol, atom.Table, atom.Blockquote:
		return "\n\n"
	case atom.Br, atom.Tr:
		return "\n"
	case atom.Li:
		return "\n- "
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return "\n\n" + strings.Repeat("#", int(t.Data[1]-'0')) + " "
	case atom.B, atom.Strong:
		return "**"
	case atom.I, atom.Em:
		return "*"
	case atom.A:
		if address(t) != "" {
			return "["
		}
	}
	return ""
}

// closing returns what stands for the end of an element.
func closing(name atom.Atom) string {
	switch name {
	case atom.P, atom.Div, atom.Ul, atom.Ol, atom.Table, atom.Blockquote, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return "\n\n"
	case atom.Td, atom.Th:
		return " "
	case atom.B, atom.Strong:
		return "**"
	case atom.I, atom.Em:
		return "*"
	}
	return ""
}

// address returns where a link leads, if that is a page.
func address(t html.Token) string {
	for _, a := range t.Attr {
		if a.Key == "href" && (strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "http://")) && !strings.ContainsAny(a.Val, " ()<>\n") {
			return a.Val
		}
	}
	return ""
}
