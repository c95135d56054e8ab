// Package chat turns the body of an event into a message for people in a chat. It is pure: the same event gives
// the same bytes. Whatever somebody typed, a message calls nobody, links nowhere but to the object, keeps its shape and
// is within the limits of its service.
package chat

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Slack writes an event as the body for an incoming webhook. base is the public address of the API, for the link to the
// object. Without a usable one there is no link.
//
// The limits are Slack's (docs.slack.dev/reference/block-kit). The lengths in text.go keep a message below them.
//   - A message has 50 blocks (.../blocks).
//   - A section has 3,000 characters and 10 fields of 2,000 (.../blocks/section-block).
//   - A context has 10 elements (.../blocks/context-block).
//   - A text object has 3,000 characters (.../composition-objects/text-object).
func Slack(event []byte, base string) ([]byte, error) {
	m, err := compose(event, base)
	if err != nil {
		return nil, err
	}
	section := slackBlock{Type: "section", Text: mrkdwn("*" + slackEscape(m.title) + "*\n" + m.sentence.slack(true))}
	for _, f := range m.fields {
		section.Fields = append(section.Fields, *mrkdwn("*" + f.name + "*\n" + slackEscape(f.value)))
	}
	context := []string{}
	if m.link != "" {
		context = append(context, "<"+slackEntities.Replace(m.link)+"|View "+slackEscape(m.noun)+">")
	}
	if at, ok := parseTime(m.event.createdAt); ok {
		context = append(context, at.Format("2 Jan 2006, 15:04 UTC"))
	}
	for _, s := range []string{m.event.kind, m.event.id} {
		if s != "" {
			context = append(context, slackEscape(s))
		}
	}
	fallback := m.sentence.slack(false)
	if m.event.test {
		fallback = "Test event: " + fallback
	}
	out := slackMessage{Text: fallback, Blocks: []slackBlock{section}}
	if len(context) > 0 {
		out.Blocks = append(out.Blocks, slackBlock{Type: "context", Elements: []slackText{*mrkdwn(strings.Join(context, " · "))}})
	}
	return encode(out)
}

// slackMessage asks for no previews: Slack would fetch the address of the object, for which it has no key.
type slackMessage struct {
	Text        string       `json:"text"`
	Blocks      []slackBlock `json:"blocks"`
	UnfurlLinks bool         `json:"unfurl_links"`
	UnfurlMedia bool         `json:"unfurl_media"`
}

type slackBlock struct {
	Type     string      `json:"type"`
	Text     *slackText  `json:"text,omitempty"`
	Fields   []slackText `json:"fields,omitempty"`
	Elements []slackText `json:"elements,omitempty"`
}

// slackText is verbatim, so that Slack makes no links of addresses and names of channels in it.
type slackText struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim"`
}

func mrkdwn(s string) *slackText { return &slackText{Type: "mrkdwn", Text: s, Verbatim: true} }

// slack writes the text in Slack's markup. With bold, the strong parts are bold.
func (t phrase) slack(bold bool) string {
	var b strings.Builder
	for _, p := range t {
		escaped := slackEscape(p.words)
		if p.strong && bold {
			escaped = "*" + escaped + "*"
		}
		b.WriteString(escaped)
	}
	return b.String()
}

// slackEntities escapes the three control characters of Slack's markup
// (docs.slack.dev/messaging/formatting-message-text). Mentions and links need a < that is not escaped.
var slackEntities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slackLookalikes replace the characters that format text with others that look like them. Slack has no escape for
// them, and an invisible space beside one makes it work all the more. They are jsx-slack's, see its
// docs/about-escape-and-exact-mode.md. Slack takes the wide forms for formatting, too.
var slackLookalikes = map[rune]rune{
	'*': '∗', '＊': '﹡', '_': 'ˍ', '＿': '⸏', '`': 'ˋ', '｀': 'ˋ', '~': '∼', '～': '∼',
}

// slackEscape makes text harmless in Slack's markup and in the plain fallback. A formatting character between two
// letters formats nothing and is left as it is, except a backtick, so that ada_b@example.com can be copied.
func slackEscape(s string) string {
	marked := []byte{}
	for i, r := range s {
		inWord := i > 0 && i+1 < len(s) && alphanumeric(s[i-1]) && alphanumeric(s[i+1])
		if other, ok := slackLookalikes[r]; ok && (!inWord || r == '`') {
			r = other
		}
		marked = append(marked, string(r)...)
	}
	out := slackEntities.Replace(uncall(string(marked)))
	if strings.HasPrefix(s, ">") || strings.HasPrefix(s, "＞") { // a quotation even as &gt;, at the beginning of a line
		out = "\u00ad" + out
	}
	return out
}

// encode writes JSON without the escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
