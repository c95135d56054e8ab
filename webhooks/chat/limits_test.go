package chat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

type slackMessage struct {
	Text        string `json:"text"`
	UnfurlLinks *bool  `json:"unfurl_links"`
	UnfurlMedia *bool  `json:"unfurl_media"`
	Blocks      []struct {
		Type     string      `json:"type"`
		Text     *slackText  `json:"text"`
		Fields   []slackText `json:"fields"`
		Elements []slackText `json:"elements"`
	} `json:"blocks"`
}

type slackText struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim"`
}

type discordMessage struct {
	Content         string `json:"content"`
	AllowedMentions struct {
		Parse []string `json:"parse"`
	} `json:"allowed_mentions"`
	Embeds []struct {
		Title     string `json:"title"`
		URL       string `json:"url"`
		Color     int    `json:"color"`
		Timestamp string `json:"timestamp"`
		Footer    *struct {
			Text string `json:"text"`
		} `json:"footer"`
		Fields []struct {
			Name   string `json:"name"`
			Value  string `json:"value"`
			Inline bool   `json:"inline"`
		} `json:"fields"`
	} `json:"embeds"`
}

// checker collects what a service would object to.
type checker struct{ errs []error }

func (c *checker) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// length counts in units of UTF-16, the strictest of the ways in which the services may count.
func length(s string) int { return len(utf16.Encode([]rune(s))) }

func (c *checker) between(what, s string, least, most int) {
	if n := length(strings.TrimSpace(s)); n < least || length(s) > most {
		c.fail("%s has %d characters, %d to %d are allowed: %.60q", what, length(s), least, most, s)
	}
}

func (c *checker) count(what string, n, least, most int) {
	if n < least || n > most {
		c.fail("%d %s, %d to %d are allowed", n, what, least, most)
	}
}

// call is an @ that reads as one: in front of a word that calls people, or of a name and not within an address.
var call = regexp.MustCompile(`(?i)@(everyone|here|channel|group)|(^|[^a-z0-9])@[a-z0-9]`)

// text checks what holds for every text of both services.
func (c *checker) text(what, s string) {
	if !utf8.ValidString(s) {
		c.fail("%s is not UTF-8: %q", what, s)
	}
	if call.MatchString(s) {
		c.fail("%s calls somebody: %q", what, s)
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			c.fail("%s holds %U: %q", what, r, s)
			return
		}
	}
}

// strict decodes all of the body into known fields.
func strict(body []byte, into any) error {
	if !utf8.Valid(body) {
		return errors.New("the body is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("the body goes on after its object")
	}
	return nil
}

var (
	slackLink    = regexp.MustCompile(`^<https://shop\.example/v1/[a-z]+/[^<>|\s]+\|View [a-z]+>`)
	slackEntity  = regexp.MustCompile(`&(amp|lt|gt);`)
	slackLead    = regexp.MustCompile(`(^|\n)(&gt;|＞)`)
	slackMark    = regexp.MustCompile("(^|[^A-Za-z0-9])[*_~]|[*_~]($|[^A-Za-z0-9])|[`＊＿｀～]")
	slackTitle   = regexp.MustCompile(`^\*([^\n]*)\*(\n|$)`)
	slackAmount  = regexp.MustCompile(`\*(money|(free|[A-Z]{3}\x{a0}-?[0-9,.]+)( to [A-Z]{3}\x{a0}-?[0-9,.]+)?)\*`)
	discordLead  = regexp.MustCompile(`(?m)^(#|-|>|\*)`)
	discordPlain = regexp.MustCompile(`\\[\\*_~` + "`" + `|<>\[\]:#-]`)
	discordMark  = regexp.MustCompile(`[\\*_~` + "`" + `|<>\[\]]|:[^ ]`)
)

// checkSlack holds a body to docs.slack.dev and returns what a reader sees, line by line.
func checkSlack(body []byte) (string, error) {
	var m slackMessage
	if err := strict(body, &m); err != nil {
		return "", err
	}
	c, seen := &checker{}, []string{}
	inert := func(what, s string) {
		c.text(what, s)
		if left := slackEntity.ReplaceAllString(s, ""); strings.ContainsAny(left, "<>&") {
			c.fail("%s holds a character of control: %q", what, s)
		}
		if slackLead.MatchString(s) {
			c.fail("%s quotes: %q", what, s)
		}
		if slackMark.MatchString(s) {
			c.fail("%s formats: %q", what, s)
		}
		for _, entity := range []string{"&lt;=<", "&gt;=>", "&amp;=&"} {
			from, to, _ := strings.Cut(entity, "=")
			s = strings.ReplaceAll(s, from, to)
		}
		seen = append(seen, s)
	}
	mrkdwn := func(what string, t slackText, most int) string {
		c.between(what, t.Text, 1, most)
		if t.Type != "mrkdwn" || !t.Verbatim {
			c.fail("%s makes links of what it finds: %+v", what, t)
		}
		return t.Text
	}
	headed := func(what, s string) {
		title := slackTitle.FindStringSubmatch(s)
		if title == nil {
			c.fail("%s has no title: %q", what, s)
			return
		}
		inert(what+" title", title[1])
		inert(what, slackAmount.ReplaceAllString(strings.TrimPrefix(s, title[0]), "$1"))
	}
	c.between("text", m.Text, 1, 3000)
	inert("text", m.Text)
	if m.UnfurlLinks == nil || *m.UnfurlLinks || m.UnfurlMedia == nil || *m.UnfurlMedia {
		c.fail("Slack looks for previews")
	}
	c.count("blocks", len(m.Blocks), 1, 50)
	for _, b := range m.Blocks {
		switch b.Type {
		case "section":
			headed("section", mrkdwn("section", *b.Text, 3000))
			c.count("fields", len(b.Fields), 0, 10)
			for _, f := range b.Fields {
				headed("field", mrkdwn("field", f, 2000))
			}
		case "context":
			c.count("elements", len(b.Elements), 1, 10)
			for _, e := range b.Elements {
				inert("context", slackLink.ReplaceAllString(mrkdwn("context", e, 3000), ""))
			}
		default:
			c.fail("a block of type %q", b.Type)
		}
	}
	return strings.Join(seen, "\n") + "\n", errors.Join(c.errs...)
}

// checkDiscord holds a body to discord-api-docs and returns what a reader sees, line by line.
func checkDiscord(body []byte) (string, error) {
	var m discordMessage
	if err := strict(body, &m); err != nil {
		return "", err
	}
	c, seen, total := &checker{}, []string{}, 0
	inert := func(what, s string) {
		c.text(what, s)
		if discordLead.MatchString(s) && !strings.HasPrefix(s, "**") {
			c.fail("%s begins a heading, a list or a quotation: %q", what, s)
		}
		left := discordPlain.ReplaceAllString(strings.ReplaceAll(s, "**", ""), "")
		if discordMark.MatchString(left) {
			c.fail("%s formats or links: %q", what, s)
		}
		seen = append(seen, discordPlain.ReplaceAllStringFunc(strings.ReplaceAll(s, "**", ""), func(p string) string { return p[1:] }))
	}
	embedded := func(what, s string, most int) {
		c.between(what, s, 1, most)
		total += length(s)
	}
	if m.AllowedMentions.Parse == nil || len(m.AllowedMentions.Parse) != 0 {
		c.fail("mentions are allowed: %v", m.AllowedMentions.Parse)
	}
	c.between("content", m.Content, 1, 2000)
	inert("content", m.Content)
	c.count("embeds", len(m.Embeds), 1, 10)
	for _, e := range m.Embeds {
		embedded("title", e.Title, 256)
		inert("title", e.Title)
		if e.URL != "" && !strings.HasPrefix(e.URL, "https://") && !strings.HasPrefix(e.URL, "http://") {
			c.fail("url %q", e.URL)
		}
		if _, err := time.Parse(time.RFC3339, e.Timestamp); e.Timestamp != "" && err != nil {
			c.fail("timestamp: %v", err)
		}
		c.count("colour", e.Color, 0, 0xffffff)
		c.count("fields", len(e.Fields), 0, 25)
		for _, f := range e.Fields {
			embedded("field name", f.Name, 256)
			embedded("field value", f.Value, 1024)
			inert("field name", f.Name)
			inert("field value", f.Value)
		}
		if e.Footer != nil {
			embedded("footer", e.Footer.Text, 2048)
			c.text("footer", e.Footer.Text)
		}
	}
	if total > 6000 {
		c.fail("the embeds have %d characters, 6000 are allowed", total)
	}
	return strings.Join(seen, "\n") + "\n", errors.Join(c.errs...)
}
