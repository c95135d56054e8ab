package markdown

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

func TestRender_KnowsGitHubsMarkdownAndFootnotes(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"# Añb c\n\n## x\n\n## x":        "<h1 id=\"h-ab-c\">Añb c</h1>\n<h2 id=\"h-x\">x</h2>\n<h2 id=\"h-x-1\">x</h2>\n",
		"**b** *e* ~~s~~ `c<`  \nn":      "<p><strong>b</strong> <em>e</em> <del>s</del> <code>c&lt;</code><br>\nn</p>\n",
		"[l](https://a.b/?c=1&d \"t\")":  "<p><a href=\"https://a.b/?c=1&amp;d\" title=\"t\" rel=\"noopener\">l</a></p>\n",
		"www.a.com x@b.com":              "<p><a href=\"http://www.a.com\" rel=\"noopener\">www.a.com</a> <a href=\"mailto:x@b.com\" rel=\"noopener\">x@b.com</a></p>\n",
		"![i](https://a.b/c.png)":        "<p><img src=\"https://a.b/c.png\" alt=\"i\"></p>\n",
		"![i](http://a.b/c.png)":         "<p><img alt=\"i\"></p>\n",
		"- [x] d\n- [ ] o":               "<ul>\n<li><input checked=\"\" disabled=\"\" type=\"checkbox\"> d</li>\n<li><input disabled=\"\" type=\"checkbox\"> o</li>\n</ul>\n",
		"3. a\n4. b":                     "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n",
		"> q\n\n---":                     "<blockquote>\n<p>q</p>\n</blockquote>\n<hr>\n",
		"```go\nx<y\n```":                "<pre><code class=\"language-go\">x&lt;y\n</code></pre>\n",
		"|a|b|\n|-|-:|\n|1|2|":           "<table>\n<thead>\n<tr>\n<th>a</th>\n<th align=\"right\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td align=\"right\">2</td>\n</tr>\n</tbody>\n</table>\n",
		"a <b>raw</b> &amp; <!-- no -->": "<p>a &lt;b&gt;raw&lt;/b&gt; &amp; &lt;!-- no --&gt;</p>\n",
		"":                               "",
	} {
		rendered, problem := Render(source)
		require.Empty(t, problem, source)
		require.Equal(t, want, rendered, source)
	}
	rendered, problem := Render("n[^a]\n\n[^a]: note")
	require.Empty(t, problem)
	require.Contains(t, rendered, `<sup id="fnref:1"><a href="#fn:1">1</a></sup>`)
	require.Contains(t, rendered, `<li id="fn:1">`)
	require.Contains(t, rendered, `<a href="#fnref:1">`)
}

// scripts are what browsers were made to run by texts that others took for harmless: raw, in addresses, in attributes, and misread.
var scripts = []string{
	`<script>alert(1)</script>`, `<ScRiPt src=//x.example/a.js></sCrIpT>`, `<img src=x onerror=alert(1)>`, `<svg onload=alert(1)>`, `<svg/onload=alert(1)//`,
	`<iframe src="javascript:alert(1)"></iframe>`, `<iframe srcdoc="<script>alert(1)</script>">`, `<body onload=alert(1)>`, `<math><mi xlink:href="data:x,alert(1)">`,
	`<a href="javascript:alert(1)">x</a>`, `<object data="data:text/html,<script>alert(1)</script>">`, `<embed src="javascript:alert(1)">`,
	`<form action="javascript:alert(1)"><button>x</button></form>`, `<input autofocus onfocus=alert(1)>`, `<details open ontoggle=alert(1)>`,
	`<style>@import 'javascript:alert(1)'</style>`, `<link rel=stylesheet href="javascript:alert(1)">`, `<meta http-equiv=refresh content="0;url=javascript:alert(1)">`,
	`<base href="javascript:alert(1)//">`, `<video><source onerror=alert(1)></video>`, `<template><script>alert(1)</script></template>`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
	`<!--><img src=x onerror=alert(1)>-->`, `<![CDATA[<img src=x onerror=alert(1)>]]>`, `<?xml version="1.0"?><x onload=alert(1)>`, `<plaintext><script>alert(1)</script>`,
	"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java&#115;cript:alert(1))", "[x](&#106;avascript&colon;alert(1))", "[x](java\tscript:alert(1))",
	"[x](<java\tscript:alert(1)>)", "[x](<java&NewLine;script:alert(1)>)", "[x](\x01javascript:alert(1))", "[x](&#x20;javascript:alert(1))", "[x](javascript://a.example/%0aalert(1))",
	"[x](vbscript:msgbox(1))", "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)", "[x](file:///etc/passwd)", "[x](blob:https://a.example/x)", "[x](//x.example/a)",
	"![x](javascript:alert(1))", "![x](data:image/svg+xml,<svg/onload=alert(1)>)", "![x](https://a.example/\"onerror=\"alert(1))", "![x\"onerror=\"alert(1)](https://a.example/i.png)",
	"![x](https://a.example/i.png \"a\\\" onerror=alert(1) x=\\\"\")", "[x](https://a.example \"' onmouseover='alert(1)\")", "[x]: javascript:alert(1)\n\n[x]", "<javascript:alert(1)>",
	"<data:text/html,x>", "```\" onmouseover=\"alert(1)\nx\n```", "```x\"><script>alert(1)</script>\nx\n```", "# x {onclick=alert(1)}", "# \"><script>alert(1)</script>",
	"[^\"><script>alert(1)</script>]\n\n[^\"><script>alert(1)</script>]: y", "|<script>alert(1)</script>|\n|-|\n|<img src=x onerror=alert(1)>|", "`<script>alert(1)</script>`",
	"&lt;script&gt;alert(1)&lt;/script&gt;", "https://a.example/\"onmouseover=\"alert(1)", "www.a.example/'onmouseover='alert(1)", "a@b.co\"onmouseover=\"alert(1)", "<https://a.example/\" onclick=alert(1)>",
	"[<img src=x onerror=alert(1)>](https://a.example)", "[a](https://a.example)<script>alert(1)</script>", "\x00<script>alert(1)</script>", "<scr\x00ipt>alert(1)</script>", "<scr<script>ipt>alert(1)</script>",
	"</p></div></body><script>alert(1)</script>", "* <script>\nalert(1)\n</script>", "    <script>alert(1)</script>", "~~<script>~~alert(1)</script>", "\xff<script>alert(1)</script>", "＜script＞alert(1)＜/script＞",
}

func TestRender_LetsNoScriptThrough(t *testing.T) {
	t.Parallel()
	for _, script := range scripts {
		rendered, problem := Render(script)
		require.Empty(t, problem, script)
		requireHarmless(t, rendered)
	}
	rendered, problem := Render(strings.Join(scripts, "\n\n"))
	require.Empty(t, problem)
	requireHarmless(t, rendered)
}

// TestPolicy_LetsNoScriptThrough asks the second barrier alone, as if the parser let raw HTML through.
func TestPolicy_LetsNoScriptThrough(t *testing.T) {
	t.Parallel()
	for _, script := range scripts {
		requireHarmless(t, policy.Sanitize(script))
		requireHarmless(t, policy.Sanitize(html.UnescapeString(script)))
	}
}

// allowed are the attributes that elements may have.
var allowed = map[string][]string{
	"a": {"href", "title", "rel"}, "img": {"src", "alt", "title"}, "code": {"class"}, "ol": {"start"}, "li": {"id"}, "sup": {"id"}, "th": {"align"}, "td": {"align"},
	"input": {"type", "checked", "disabled"}, "h1": {"id"}, "h2": {"id"}, "h3": {"id"}, "h4": {"id"}, "h5": {"id"}, "h6": {"id"},
	"p": {}, "br": {}, "hr": {}, "strong": {}, "em": {}, "del": {}, "pre": {}, "blockquote": {}, "ul": {}, "table": {}, "thead": {}, "tbody": {}, "tr": {},
}

// requireHarmless reads HTML as browsers do, and requires that it holds nothing but what the policy names.
func requireHarmless(t *testing.T, rendered string) {
	t.Helper()
	for z := html.NewTokenizer(strings.NewReader(rendered)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		require.NotContains(t, []html.TokenType{html.CommentToken, html.DoctypeToken}, kind, rendered)
		token := z.Token()
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		names, known := allowed[token.Data]
		require.True(t, known, "%s in %s", token.Data, rendered)
		for _, a := range token.Attr {
			require.True(t, slices.Contains(names, a.Key), "%s of %s in %s", a.Key, token.Data, rendered)
			switch a.Key {
			case "src", "href":
				u, err := url.Parse(a.Val)
				require.NoError(t, err)
				require.True(t, slices.Contains([]string{"https", "http", "mailto"}, u.Scheme) && (a.Key == "href" || u.Scheme == "https") ||
					strings.HasPrefix(a.Val, "#fn"), "%s in %s", a.Val, rendered)
			}
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, script := range scripts {
		f.Add(script)
	}
	for _, text := range hostile {
		f.Add(text(300))
	}
	f.Fuzz(func(t *testing.T, source string) {
		rendered, _ := Render(source)
		requireHarmless(t, rendered)
		require.LessOrEqual(t, len(rendered), 10*len(source)+64<<10)
	})
}
