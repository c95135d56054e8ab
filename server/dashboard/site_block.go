package dashboard

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
)

// siteBlockKind is a kind of block as the editor shows it. It has the controls of the block's fields, by their names in the API, and those of each
// of its items.
type siteBlockKind struct {
	kind, name    string
	fields, items []ui.Control
}

// address is a control for the address to which something leads.
func address(name, label string) ui.Control {
	return ui.Control{Name: name, Label: label, Hint: "An https:// address, mailto:, tel:, or a path of this server.", InputMode: "url", Longest: 2048}
}

// picture is a control for the address of a picture.
func picture(name string) ui.Control {
	return ui.Control{Name: name, Label: "Address of the picture", Hint: "Such as https://example.com/picture.jpg.", InputMode: "url", Longest: 2048}
}

func optional(c ui.Control) ui.Control {
	c.Optional = true
	return c
}

// siteBlockKinds are the kinds of blocks in the order in which they are offered.
var siteBlockKinds = []siteBlockKind{
	{kind: content.SiteBlockText, name: "Text", fields: []ui.Control{
		{Kind: "textarea", Name: "markdown", Label: "Text", Hint: "Markdown: # for a heading, **bold**, [words](https://example.com).", Lines: 10},
	}},
	{kind: content.SiteBlockHero, name: "Heading", fields: []ui.Control{
		{Name: "heading", Label: "Heading", Longest: 200}, {Kind: "textarea", Name: "text", Label: "Words below it", Lines: 3, Optional: true},
		optional(picture("image_url")), {Name: "button.label", Label: "Button", Hint: "What stands on it. Empty for no button.", Longest: 100, Optional: true}, optional(address("button.url", "Where the button leads")),
	}},
	{kind: content.SiteBlockLinks, name: "Links", items: []ui.Control{{Name: "label", Label: "Link", Longest: 100}, {Name: "url", Label: "Address of link", InputMode: "url", Longest: 2048}}},
	{kind: content.SiteBlockProducts, name: "Products", fields: []ui.Control{
		{Kind: "checkboxes", Name: "products", Label: "Products", Hint: "With none chosen it shows the newest ones that are public."}, {Name: "limit", Label: "How many at most", Hint: "Up to 50. Empty for 12, or for all that are chosen.", InputMode: "numeric", Longest: 2, Optional: true},
	}},
	{kind: content.SiteBlockPosts, name: "Posts", fields: []ui.Control{
		{Name: "tag", Label: "Tag", Hint: "Only posts with this tag. Empty for all.", Longest: 40, Optional: true}, {Name: "limit", Label: "How many at most", Hint: "Up to 50. Empty for 12.", InputMode: "numeric", Longest: 2, Optional: true},
	}},
	{kind: content.SiteBlockImage, name: "Image", fields: []ui.Control{
		picture("url"), {Name: "alt", Label: "What it shows", Hint: "For those who do not see it.", Longest: 500}, {Name: "caption", Label: "Caption", Longest: 500, Optional: true},
	}},
	{kind: content.SiteBlockVideo, name: "Video", fields: []ui.Control{{Name: "url", Label: "Address of the video", Hint: "On YouTube, Vimeo or another host of videos. The page leads there.", InputMode: "url", Longest: 2048}}},
	{kind: content.SiteBlockTestimonials, name: "Quotes", items: []ui.Control{{Kind: "textarea", Name: "quote", Label: "Quote", Lines: 3}, {Name: "name", Label: "Who said quote", Longest: 120}}},
	{kind: content.SiteBlockFAQ, name: "Questions", items: []ui.Control{{Name: "question", Label: "Question", Longest: 500}, {Kind: "textarea", Name: "answer", Label: "Answer to question", Lines: 3}}},
	{kind: content.SiteBlockLeadForm, name: "Lead form", fields: []ui.Control{
		{Name: "heading", Label: "Heading", Longest: 200}, {Kind: "textarea", Name: "text", Label: "Words below it", Lines: 3, Optional: true}, {Kind: "select", Name: "product", Label: "The product that it is about"},
		{Name: "consent_text", Label: "What visitors may agree to", Hint: "Such as: Write to me about new books. Without it they agree to nothing.", Longest: 500, Optional: true},
	}},
	{kind: content.SiteBlockCountdown, name: "Countdown", fields: []ui.Control{
		{Name: "label", Label: "Occasion", Longest: 100}, {Kind: "datetime-local", Name: "ends_at", Label: "When it is"},
	}},
}

// blockKind returns the kind with a name of the API, nil for none.
func blockKind(kind string) *siteBlockKind {
	for i := range siteBlockKinds {
		if siteBlockKinds[i].kind == kind {
			return &siteBlockKinds[i]
		}
	}
	return nil
}

// siteBlock is a block as it stands in the editor.
type siteBlock struct {
	kind     *siteBlockKind
	id       string
	isHidden bool
	typed    map[string]string   // by the name of the field
	items    []map[string]string // as typed
	products []string
}

// textFields returns the fields of a block that are texts, by their names.
func textFields(b *sdk.AISiteBlock) map[string]**string {
	return map[string]**string{
		"heading": &b.Heading, "text": &b.Text, "image_url": &b.ImageURL, "tag": &b.Tag, "markdown": &b.Markdown, "url": &b.URL, "alt": &b.Alt, "caption": &b.Caption, "label": &b.Label,
		"product": &b.Product, "consent_text": &b.ConsentText,
	}
}

func itemFields(i *sdk.AISiteItem) map[string]**string {
	return map[string]**string{"label": &i.Label, "url": &i.URL, "question": &i.Question, "answer": &i.Answer, "quote": &i.Quote, "name": &i.Name}
}

// blockOf returns a block as the editor shows it, and false for one of a kind that it does not know.
func (v *visit) blockOf(b *sdk.AISiteBlock) (siteBlock, bool) {
	e := siteBlock{kind: blockKind(b.Type), id: core.Deref(b.ID), isHidden: core.Deref(b.Hidden), typed: map[string]string{}, products: b.Products}
	for name, text := range textFields(b) {
		e.typed[name] = core.Deref(*text)
	}
	if b.Button != nil {
		e.typed["button.label"], e.typed["button.url"] = b.Button.Label, b.Button.URL
	}
	if b.Limit != nil {
		e.typed["limit"] = strconv.FormatInt(*b.Limit, 10)
	}
	if b.EndsAt != nil {
		e.typed["ends_at"] = b.EndsAt.Time().In(v.zone).Format(formMoment)
	}
	for i := range b.Items {
		item := map[string]string{}
		for name, text := range itemFields(&b.Items[i]) {
			item[name] = core.Deref(*text)
		}
		e.items = append(e.items, item)
	}
	return e, e.kind != nil
}

// readBlock reads the block that stands in the editor at a place. It returns false if there is none.
func (v *visit) readBlock(at string) (siteBlock, bool) {
	e := siteBlock{kind: blockKind(v.field(at + ".type")), id: v.field(at + ".id"), isHidden: v.field(at+".hidden") != "", typed: map[string]string{}}
	if e.kind == nil {
		return e, false
	}
	for _, field := range e.kind.fields {
		if field.Kind == "checkboxes" {
			e.products = v.Request().PostForm[at+"."+field.Name]
			continue
		}
		e.typed[field.Name] = v.written(at + "." + field.Name)
	}
	for i := range 200 {
		item, isEmpty := map[string]string{}, true
		for _, field := range e.kind.items {
			item[field.Name] = v.written(fmt.Sprintf("%s.items.%d.%s", at, i, field.Name))
			isEmpty = isEmpty && item[field.Name] == ""
		}
		if !isEmpty {
			e.items = append(e.items, item)
		}
	}
	return e, true
}

// written returns what was typed into a field as it is stored: white space in front of the first line may mean something.
func (v *visit) written(name string) string {
	text := strings.ReplaceAll(v.FormValue(name), "\r\n", "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return strings.TrimRight(text, " \t\n")
}

// block returns the block as the API takes it. What the API would not even read is a problem of the field, at its place.
func (v *visit) block(e siteBlock, at string, p *core.Problems) sdk.AISiteBlock {
	b := sdk.AISiteBlock{Type: e.kind.kind, Products: e.products}
	if e.id != "" {
		b.ID = &e.id
	}
	if e.isHidden {
		b.Hidden = new(true)
	}
	for name, text := range textFields(&b) {
		if typed := e.typed[name]; typed != "" {
			*text = &typed
		}
	}
	if label, url := e.typed["button.label"], e.typed["button.url"]; label != "" || url != "" {
		b.Button = &sdk.AISiteButton{Label: label, URL: url}
	}
	if typed := e.typed["limit"]; typed != "" {
		limit, err := strconv.ParseInt(typed, 10, 64)
		p.Check(err == nil, at+".limit", "Type a number, or nothing.")
		b.Limit = &limit
	}
	if e.typed["ends_at"] != "" {
		moment, err := v.readMoment(at+".ends_at", e.typed["ends_at"])
		if wrong, ok := errors.AsType[*core.Error](err); ok {
			p.Add(at+".ends_at", wrong.Fields[at+".ends_at"][0])
		}
		b.EndsAt = &moment
	}
	for _, typed := range e.items {
		item := sdk.AISiteItem{}
		for name, text := range itemFields(&item) {
			if text := text; typed[name] != "" {
				*text = new(typed[name])
			}
		}
		b.Items = append(b.Items, item)
	}
	return b
}

// summary says in a few words what stands in a block.
func (e *siteBlock) summary() string {
	text := ""
	for _, field := range e.kind.fields {
		text = cmp.Or(text, e.typed[field.Name])
	}
	for _, item := range e.items {
		for _, field := range e.kind.items {
			text = cmp.Or(text, item[field.Name])
		}
	}
	if utf8.RuneCountInString(text) > 100 {
		text = string([]rune(text)[:100]) + "..."
	}
	return text
}

// part returns the controls of a block that stands at a place among so many, and the buttons that move it. Products are those that blocks may name.
func (e *siteBlock) part(place, of int, products []ui.Option) ui.Part {
	at := fmt.Sprintf("content.blocks.%d", place)
	part := ui.Part{ID: fmt.Sprintf("block-%d", place+1), Title: fmt.Sprintf("%d. %s", place+1, e.kind.name), Controls: []ui.Control{{Kind: "hidden", Name: at + ".type", Value: e.kind.kind}, {Kind: "hidden", Name: at + ".id", Value: e.id}}}
	for _, field := range e.kind.fields {
		c := field
		c.Name, c.Value = at+"."+field.Name, e.typed[field.Name]
		switch c.Kind {
		case "checkboxes":
			c.Options = offered(products, e.products)
		case "select":
			c.Options = append([]ui.Option{{Text: "None in particular"}}, offered(products, []string{c.Value})...)
		}
		part.Controls = append(part.Controls, c)
	}
	if e.kind.items != nil {
		for i, item := range append(slices.Clone(e.items), nil) { // one is free
			for _, field := range e.kind.items {
				c := field
				c.Name, c.Label, c.Value = fmt.Sprintf("%s.items.%d.%s", at, i, field.Name), fmt.Sprintf("%s %d", field.Label, i+1), item[field.Name]
				c.Optional = item == nil && i > 0
				part.Controls = append(part.Controls, c)
			}
		}
	}
	part.Controls = append(part.Controls, ui.Control{Kind: "checkbox", Name: at + ".hidden", Label: "Hide it", Checked: e.isHidden})
	do := func(text, verb string, isDanger bool) {
		part.Buttons = append(part.Buttons, ui.Button{Text: text, Name: "do", Value: fmt.Sprintf("%s.%d", verb, place), Danger: isDanger})
	}
	if place > 0 {
		do("Move up", "up", false)
	}
	if place < of-1 {
		do("Move down", "down", false)
	}
	do("Remove", "remove", true)
	return part
}

// offered returns options of which some are chosen. What is chosen and not offered stays, by its id.
func offered(options []ui.Option, chosen []string) []ui.Option {
	var all []ui.Option
	for _, id := range chosen {
		if id != "" && !slices.ContainsFunc(options, func(o ui.Option) bool { return o.Value == id }) {
			all = append(all, ui.Option{Value: id, Text: id, Chosen: true})
		}
	}
	for _, o := range options {
		o.Chosen = slices.Contains(chosen, o.Value)
		all = append(all, o)
	}
	return all
}

// onFirstItem returns a refusal by the API, changed for the form. What is wrong with all items of a block is said of the first control of theirs.
func onFirstItem(err error, f *ui.Form) error {
	refused, ok := errors.AsType[*sdk.Error](err)
	if !ok {
		return err
	}
	other := *refused
	other.Errors = maps.Clone(refused.Errors)
	for field := range refused.Errors {
		controls := f.All()
		first := slices.IndexFunc(controls, func(c *ui.Control) bool { return strings.HasPrefix(c.Name, field+".0.") })
		if strings.HasSuffix(field, ".items") && first >= 0 {
			delete(other.Errors, field)
			other.Errors[controls[first].Name] = []string{"Fill in one at least."}
		}
	}
	return &other
}
