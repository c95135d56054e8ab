package chat

import (
	"strings"
	"time"
)

// Discord writes an event as the body for a Discord webhook. base is the public address of the API, for the link to the
// object. Without a usable one there is no link.
//
// The limits are Discord's (github.com/discord/discord-api-docs). The lengths in text.go keep a message below them.
//   - A message has content of 2,000 characters and 10 embeds (developers/resources/webhook.mdx, Execute Webhook).
//   - An embed has a title of 256, a description of 4,096 and a footer of 2,048. It has 25 fields, with names of 256 and values of
//     1,024. Together that is 6,000 (developers/resources/message.mdx, Embed Limits).
func Discord(event []byte, base string) ([]byte, error) {
	m, err := compose(event, base)
	if err != nil {
		return nil, err
	}
	embed := discordEmbed{Title: discordEscape(m.title), URL: m.link, Color: discordColors[m.mood], Fields: []discordField{}}
	for _, f := range m.fields {
		inline := !strings.Contains(f.value, "\n")
		embed.Fields = append(embed.Fields, discordField{Name: f.name, Value: discordEscape(f.value), Inline: inline})
	}
	if at, ok := parseTime(m.event.createdAt); ok {
		embed.Timestamp = at.Format(time.RFC3339)
	}
	// A footer is shown as it is: a backslash would be seen.
	if footer := strings.Trim(m.event.kind+" · "+m.event.id, " ·"); footer != "" {
		embed.Footer = &discordFooter{Text: uncall(footer)}
	}
	content := m.sentence.discord()
	if m.event.test {
		content = "Test event: " + content
	}
	return encode(discordMessage{Content: content, Embeds: []discordEmbed{embed}, AllowedMentions: discordMentions{Parse: []string{}}})
}

// discordMessage allows no mentions, whatever its text looks like.
type discordMessage struct {
	Content         string          `json:"content"`
	Embeds          []discordEmbed  `json:"embeds"`
	AllowedMentions discordMentions `json:"allowed_mentions"`
}

type discordMentions struct {
	Parse []string `json:"parse"` // empty, not absent: absent means all
}

type discordEmbed struct {
	Title     string         `json:"title"`
	URL       string         `json:"url,omitempty"`
	Color     int            `json:"color"`
	Fields    []discordField `json:"fields"`
	Footer    *discordFooter `json:"footer,omitempty"`
	Timestamp string         `json:"timestamp,omitempty"`
}

type discordField struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline"`
}

type discordFooter struct {
	Text string `json:"text"`
}

var discordColors = map[mood]int{moodNeutral: 0x5865f2, moodGood: 0x2e9e5b, moodBad: 0xd83a42}

// discord writes the text in Discord's markdown.
func (t phrase) discord() string {
	var b strings.Builder
	for _, p := range t {
		escaped := discordEscape(p.words)
		if p.strong {
			escaped = "**" + escaped + "**"
		}
		b.WriteString(escaped)
	}
	return b.String()
}

// discordEscape makes text harmless in Discord's markdown: formatting, masked links, <mentions>, :emoji: and addresses,
// which are read as links unless their colon is escaped. Headings and lists are only recognised at the beginning of a
// line.
func discordEscape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case strings.ContainsRune("\\*_~`|<>[]", r),
			r == ':' && !strings.HasPrefix(s[i+1:], " "),
			i == 0 && (r == '#' || r == '-'):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return uncall(b.String())
}
