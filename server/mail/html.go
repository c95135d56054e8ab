package mail

import (
	_ "embed"
	"html/template"
	"strings"
	"sync"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/content/markdown"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

//go:embed letter.html
var letterPage string

// letterTemplate is what letters look like where mail is shown as pages. Programs that read mail know little of style sheets, so the style
// stands at each element. What is in the sheet is for the dark and for what sellers write, and can be missed.
var letterTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("letter").Parse(letterPage)) })

// page is a content as letter.html has it.
type page struct {
	Lang, Dir, End          string // End is the side on which its lines end
	HasLogo                 bool   // it stands in the place of the seller's name
	Seller, Subject         string
	Light, Dark             ui.Shade // of links and of the button
	Opening, Facts, Closing []string
	Article                 template.HTML
	Picture                 string // what it shows, if the picture of a product is in the letter
	Sums                    []pageSum
	Items                   []pageItem
	Actions                 []pageAction
}

type pageSum struct {
	Name, Amount, Note string
	IsTotal            bool
}

type pageItem struct {
	Name, Value      string
	IsLink, IsButton bool
}

type pageAction struct {
	Label, URL, Button string
	IsButton           bool
}

// html returns the content as a page of a seller. It loads nothing, because the logo is in the letter, and its addresses are those of the text.
func (c content) html(seller *tenant.Account, hasLogo bool) (string, error) {
	p := page{HasLogo: hasLogo, Lang: c.spoken.Tag, Dir: c.spoken.Dir, End: map[string]string{"ltr": "right", "rtl": "left"}[c.spoken.Dir], Seller: nameOf(seller), Subject: oneLine(c.subject), Opening: c.opening, Facts: c.facts, Closing: c.closing}
	p.Light, p.Dark = shadesOf(seller)
	if c.article != "" {
		article, _ := markdown.RenderLetter(c.article) // what is wrong with it was said when it was written
		p.Article = template.HTML(article)             // what the policy of markdown let through
	}
	if c.picture != nil {
		p.Picture = c.shows
	}
	for _, s := range c.sums {
		p.Sums = append(p.Sums, pageSum{s.name, s.amount, s.note, s.isTotal})
	}
	button := c.button()
	for at, i := range c.items {
		p.Items = append(p.Items, pageItem{i.name, i.value, i.isLink, at == button})
	}
	for at, a := range c.actions {
		p.Actions = append(p.Actions, pageAction{strings.TrimRight(a.label, ":： \u00a0\u202f"), a.url, a.button, at == 0 && button < 0})
	}
	var text strings.Builder
	err := letterTemplate().Execute(&text, p)
	return text.String(), err
}

// shadesOf returns the colours of links and buttons of a seller's, or ours if they have none.
func shadesOf(seller *tenant.Account) (inLight, inDark ui.Shade) {
	if inLight, inDark, ok := ui.Shades(core.Deref(seller.AccentColor)); ok {
		return inLight, inDark
	}
	return ui.Shade{Accent: "#1f57a8", On: "#ffffff"}, ui.Shade{Accent: "#8fb8f8", On: "#0e1626"}
}

// letter returns the content as a letter of a seller's, as text and as a page with their logo, which may be nil.
func (c content) letter(seller *tenant.Account, logo []byte) (Letter, error) {
	page, err := c.html(seller, logo != nil)
	return Letter{ID: c.id, Subject: c.subject, Text: c.text(), HTML: page, Logo: logo, Picture: c.picture, Leave: c.leave}, err
}
