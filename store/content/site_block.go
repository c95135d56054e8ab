package content

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/content/markdown"
	"github.com/tillwright/tillwright/store/core"
)

// SiteBlock is one part of a page. Which fields it has follows from its type: see blockRules.
type SiteBlock struct {
	ID       string     `json:"id"`
	Type     string     `json:"type"`
	Hidden   bool       `json:"hidden,omitempty"` // kept, but not shown
	Heading  *string    `json:"heading,omitempty"`
	Text     *string    `json:"text,omitempty"`
	ImageURL *string    `json:"image_url,omitempty"`
	Button   *SiteLink  `json:"button,omitempty"`
	Items    []SiteItem `json:"items,omitempty"`
	Products []string   `json:"products,omitempty"` // ids; none: the newest that are public and on sale
	Limit    *int64     `json:"limit,omitempty"`
	Tag      *string    `json:"tag,omitempty"` // none: all posts
	Markdown *string    `json:"markdown,omitempty"`
	URL      *string    `json:"url,omitempty"`
	Alt      *string    `json:"alt,omitempty"`
	Caption  *string    `json:"caption,omitempty"`
	EndsAt   *core.Time `json:"ends_at,omitempty"`
	Label    *string    `json:"label,omitempty"`

	Product     *string `json:"product,omitempty"`      // id of what a form asks about
	ConsentText *string `json:"consent_text,omitempty"` // none: nobody is asked to agree to anything
}

// SiteLink is a label that leads somewhere.
type SiteLink struct {
	Label string `json:"label"`
	URL   string `json:"url"`
}

// SiteItem is one of a block's links (label, url), questions (question, answer) or testimonials (quote, name).
type SiteItem struct {
	Label    *string `json:"label,omitempty"`
	URL      *string `json:"url,omitempty"`
	Question *string `json:"question,omitempty"`
	Answer   *string `json:"answer,omitempty"`
	Quote    *string `json:"quote,omitempty"`
	Name     *string `json:"name,omitempty"`
}

// The types of blocks.
const (
	SiteBlockHero         = "hero"
	SiteBlockLinks        = "links"
	SiteBlockProducts     = "products"
	SiteBlockPosts        = "posts"
	SiteBlockText         = "text"
	SiteBlockImage        = "image"
	SiteBlockVideo        = "video"
	SiteBlockLeadForm     = "lead_form"
	SiteBlockFAQ          = "faq"
	SiteBlockTestimonials = "testimonials"
	SiteBlockCountdown    = "countdown"
)

// blockRule says which fields a block of a type has besides id, type and hidden, and which of them it must have. Items are the
// fields that each of its items must have.
type blockRule struct {
	fields, required, items []string
}

var blockRules = map[string]blockRule{
	SiteBlockHero:         {fields: []string{"heading", "text", "image_url", "button"}, required: []string{"heading"}},
	SiteBlockLinks:        {fields: []string{"items"}, required: []string{"items"}, items: []string{"label", "url"}},
	SiteBlockProducts:     {fields: []string{"products", "limit"}},
	SiteBlockPosts:        {fields: []string{"tag", "limit"}},
	SiteBlockLeadForm:     {fields: []string{"heading", "text", "product", "consent_text"}, required: []string{"heading"}},
	SiteBlockText:         {fields: []string{"markdown"}, required: []string{"markdown"}},
	SiteBlockImage:        {fields: []string{"url", "alt", "caption"}, required: []string{"url", "alt"}},
	SiteBlockVideo:        {fields: []string{"url"}, required: []string{"url"}},
	SiteBlockFAQ:          {fields: []string{"items"}, required: []string{"items"}, items: []string{"question", "answer"}},
	SiteBlockTestimonials: {fields: []string{"items"}, required: []string{"items"}, items: []string{"quote", "name"}},
	SiteBlockCountdown:    {fields: []string{"ends_at", "label"}, required: []string{"ends_at", "label"}},
}

// SiteBlockLimitMax is how many products or posts a block shows at most.
const SiteBlockLimitMax = 50

const siteItemsMax = 50

// siteProductsMax is how many products the blocks of a page show together. Each is looked up and written out for every visitor.
const siteProductsMax = 200

// sitePostBlocksMax is how many blocks of posts a page has: each is looked up for every visitor.
const sitePostBlocksMax = 10

// siteProductsUsual is how many products or posts a block shows unless it says otherwise.
const siteProductsUsual = 12

// PostsShown returns how many posts a block shows at most.
func (b *SiteBlock) PostsShown() int {
	switch {
	case b.Type != SiteBlockPosts:
		return 0
	case b.Limit != nil:
		return int(*b.Limit)
	}
	return siteProductsUsual
}

// ProductsShown returns how many products a block shows at most.
func (b *SiteBlock) ProductsShown() int {
	switch {
	case b.Type != SiteBlockProducts:
		return 0
	case b.Limit != nil:
		return int(*b.Limit)
	case b.Products != nil:
		return len(b.Products)
	}
	return siteProductsUsual
}

// textLimits is how many characters the texts of blocks and items may have.
var textLimits = map[string]int{
	"heading": 200, "text": 2000, "label": 100, "alt": 500, "caption": 500, "question": 500, "answer": 5000, "quote": 2000, "name": 120, "markdown": 20_000, "tag": 40, "consent_text": 500,
}

// readSiteBlock reads one block that somebody sent, and adds everything that is wrong with it. At is its path.
func readSiteBlock(p *core.Problems, at string, text json.RawMessage) SiteBlock {
	var b SiteBlock
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		p.Add(at, "Send an object with the type of the block.")
		return b
	}
	_ = json.Unmarshal(fields["type"], &b.Type)
	rule, ok := blockRules[b.Type]
	if !ok {
		p.Add(at+".type", "Send one of: "+strings.Join(blockTypes(), ", ")+".")
		return b
	}
	refuseOthers(p, at, fields, append([]string{"id", "type", "hidden"}, rule.fields...)...)
	if !decode(p, at, text, &b) {
		return b
	}
	for _, name := range rule.required {
		p.Check(fields[name] != nil && !isNull(fields[name]), at+"."+name, "A block of this type needs it.")
	}
	if b.Button != nil {
		var sent map[string]json.RawMessage
		_ = json.Unmarshal(fields["button"], &sent) // it was read already
		refuseOthers(p, at+".button", sent, "label", "url")
	}
	b.check(p, at)
	if rule.items != nil {
		readItems(p, at, fields["items"], b.Items, rule.items)
	}
	return b
}

func blockTypes() []string {
	types := make([]string, 0, len(blockRules))
	for name := range blockRules {
		types = append(types, name)
	}
	slices.Sort(types)
	return types
}

// decode reads JSON, and adds a problem for a field of another type than it has to be.
func decode(p *core.Problems, at string, text []byte, into any) bool {
	err := json.Unmarshal(text, into)
	if err == nil {
		return true
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		at += "." + wrong.Field
	}
	p.Add(at, "This is not of the type that it has to be.")
	return false
}

// check adds what is wrong with the values of a block whose fields are those of its type.
func (b *SiteBlock) check(p *core.Problems, at string) {
	checkText(p, at, "heading", b.Heading)
	checkText(p, at, "text", b.Text)
	checkText(p, at, "alt", b.Alt)
	checkText(p, at, "caption", b.Caption)
	checkText(p, at, "label", b.Label)
	checkText(p, at, "markdown", b.Markdown)
	checkText(p, at, "tag", b.Tag)
	checkText(p, at, "consent_text", b.ConsentText)
	if b.Markdown != nil {
		_, problem := markdown.Render(*b.Markdown)
		p.Check(problem == "", at+".markdown", problem)
	}
	p.Check(b.ImageURL == nil || isWebURL(*b.ImageURL), at+".image_url", "Send an https:// address of an image.")
	switch {
	case b.URL == nil:
	case b.Type == SiteBlockVideo:
		p.Check(isWebURL(*b.URL) && isEmbeddable(*b.URL), at+".url", "Send an https:// address on one of "+strings.Join(embedHosts, ", ")+".")
	default:
		p.Check(isWebURL(*b.URL), at+".url", "Send an https:// address of an image.")
	}
	if b.Button != nil {
		checkText(p, at+".button", "label", &b.Button.Label)
		p.Check(IsSiteURL(b.Button.URL), at+".button.url", siteURLMessage)
	}
	p.Check(b.Limit == nil || 1 <= *b.Limit && *b.Limit <= SiteBlockLimitMax, at+".limit", fmt.Sprintf("Send a number from 1 to %d.", SiteBlockLimitMax))
	p.Check(len(b.Products) <= SiteBlockLimitMax, at+".products", fmt.Sprintf("A block shows at most %d products.", SiteBlockLimitMax))
}

// readItems adds what is wrong with the items of a block, of which each has exactly the named fields.
func readItems(p *core.Problems, at string, text json.RawMessage, items []SiteItem, names []string) {
	p.Check(1 <= len(items) && len(items) <= siteItemsMax, at+".items", fmt.Sprintf("Send 1 to %d items.", siteItemsMax))
	var sent []map[string]json.RawMessage
	_ = json.Unmarshal(text, &sent) // it was read already
	for i := range items {
		item, at := &items[i], fmt.Sprintf("%s.items.%d", at, i)
		refuseOthers(p, at, sent[i], names...)
		for _, name := range names {
			p.Check(sent[i][name] != nil && !isNull(sent[i][name]), at+"."+name, "An item of this block needs it.")
		}
		for name, value := range map[string]*string{"label": item.Label, "question": item.Question, "answer": item.Answer, "quote": item.Quote, "name": item.Name} {
			checkText(p, at, name, value)
		}
		p.Check(item.URL == nil || IsSiteURL(*item.URL), at+".url", siteURLMessage)
	}
}

// checkText adds a problem for a text that is empty, too long or not plain; nil is none.
func checkText(p *core.Problems, at, name string, text *string) {
	if text == nil {
		return
	}
	limit := textLimits[name]
	p.Check(strings.TrimSpace(*text) != "" && utf8.RuneCountInString(*text) <= limit, at+"."+name, fmt.Sprintf("Send 1 to %d characters.", limit))
	p.Check(isPlain(*text), at+"."+name, "Send plain text without control characters.")
}

// isPlain reports whether a text has no control characters but line breaks and tabs.
func isPlain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' })
}

const (
	siteURLMax     = 2048
	siteURLMessage = "Send an https://, mailto: or tel: address, or a path of this server that begins with one slash."
)

// IsSiteURL reports whether a link of a page may lead to an address. It may lead to another site by https, to a mail or phone program, or to a
// path of the page's own host.
func IsSiteURL(address string) bool {
	u := parseURL(address)
	if u == nil {
		return false
	}
	switch u.Scheme {
	case "https":
		return isWebURL(address)
	case "mailto", "tel":
		return u.Opaque != ""
	}
	return u.Scheme == "" && u.Host == "" && strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//")
}

// isWebURL reports whether an address is one of https that names a host, and no user.
func isWebURL(address string) bool {
	u := parseURL(address)
	return u != nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}

// parseURL returns an address, nil for what browsers and this program might read differently.
func parseURL(address string) *url.URL {
	odd := func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune(`\"<>^{|}`+"`", r)
	}
	if address == "" || len(address) > siteURLMax || !utf8.ValidString(address) || strings.ContainsFunc(address, odd) {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	return u
}
