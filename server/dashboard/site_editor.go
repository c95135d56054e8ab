package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
)

// siteEditor is what stands in the editor of a site.
type siteEditor struct {
	name, subdomain, accent, mode string
	blocks                        []siteBlock
	unknown                       bool // the form has a block of a kind that there is not
}

// editorOf returns the editor with the draft of a site in it.
func (v *visit) editorOf(s *sdk.AISite) *siteEditor {
	e := &siteEditor{name: s.Name, subdomain: s.Subdomain}
	if s.Content == nil {
		return e
	}
	if s.Content.Theme != nil {
		e.accent, e.mode = core.Deref(s.Content.Theme.Accent), core.Deref(s.Content.Theme.Mode)
	}
	for i := range s.Content.Blocks {
		if b, ok := v.blockOf(&s.Content.Blocks[i]); ok {
			e.blocks = append(e.blocks, b)
		}
	}
	return e
}

// blocksRead is how many blocks of a form are read: one more than a site may have, so that too many are refused. A page has controls for each of them.
const blocksRead = content.SiteBlocksMax + 1

// readEditor returns the editor as it was sent.
func (v *visit) readEditor(s *sdk.AISite) *siteEditor {
	e := &siteEditor{name: v.field("name"), subdomain: v.sent("subdomain", s.Subdomain), accent: strings.ToLower(v.field("content.theme.accent")), mode: v.field("content.theme.mode")}
	for i := range blocksRead {
		at := fmt.Sprintf("content.blocks.%d", i)
		b, ok := v.readBlock(at)
		if !ok {
			e.unknown = v.field(at+".type") != ""
			break
		}
		e.blocks = append(e.blocks, b)
	}
	return e
}

// arrange moves a block up or down, or removes it. Which is its place.
func (e *siteEditor) arrange(verb, which string) {
	place, err := strconv.Atoi(which)
	if err != nil || place < 0 || place >= len(e.blocks) {
		return
	}
	switch {
	case verb == "up" && place > 0:
		e.blocks[place-1], e.blocks[place] = e.blocks[place], e.blocks[place-1]
	case verb == "down" && place < len(e.blocks)-1:
		e.blocks[place+1], e.blocks[place] = e.blocks[place], e.blocks[place+1]
	case verb == "remove":
		e.blocks = slices.Delete(e.blocks, place, place+1)
	}
}

// siteUpdate returns what the editor changes. A site without blocks is composed.
func (v *visit) siteUpdate(s *sdk.AISite, e *siteEditor) (*sdk.AISiteUpdate, error) {
	if e.unknown { // else what follows it would be lost
		return nil, core.Invalid("add", "The form has a block of an unknown kind. Load the page again.")
	}
	if err := v.filled("subdomain"); err != nil {
		return nil, err
	}
	in := &sdk.AISiteUpdate{Name: &e.name, Subdomain: &e.subdomain}
	if len(e.blocks) == 0 {
		if s.Content != nil {
			in.Content = sdk.Null[sdk.AISiteContent]()
		}
		return in, nil
	}
	c := sdk.AISiteContent{Theme: &sdk.AISiteTheme{Mode: new(cmp.Or(e.mode, content.SiteModeAuto))}}
	if e.accent != "" {
		c.Theme.Accent = &e.accent
	}
	var p core.Problems
	for i, b := range e.blocks {
		c.Blocks = append(c.Blocks, v.block(b, fmt.Sprintf("content.blocks.%d", i), &p))
	}
	in.Content = sdk.Set(c)
	return in, p.Err()
}

// editorForm returns the form of the editor.
func (d *Dashboard) editorForm(v *visit, s *sdk.AISite, e *siteEditor) (*ui.Form, error) {
	f := &ui.Form{Action: sitesPage + "/" + s.ID, Submit: "Save", Above: true, Once: newOnce(), Buttons: []ui.Button{{Text: "Publish", Name: "do", Value: "publish"}}}
	products, err := d.productOptions(v, e)
	if err != nil {
		return nil, err
	}
	for i := range e.blocks {
		f.Parts = append(f.Parts, e.blocks[i].part(i, len(e.blocks), products))
	}
	add := ui.Control{Kind: "select", Name: "add", Label: "Block"}
	for _, kind := range siteBlockKinds {
		add.Options = append(add.Options, ui.Option{Value: kind.kind, Text: kind.name})
	}
	f.Parts = append(f.Parts, ui.Part{Title: "One more", Controls: []ui.Control{add}, Buttons: []ui.Button{{Text: "Add block", Name: "do", Value: "add"}}}, ui.Part{Title: "The site", Controls: []ui.Control{
		{Name: "name", Label: "Name", Value: e.name, Longest: 255, Required: true},
		{Name: "subdomain", Label: "Subdomain", Hint: subdomainHint + " The former address leads here too.", Value: e.subdomain, Longest: 63, Required: true},
		{Name: "content.theme.accent", Label: "Colour of links and buttons", Hint: "Such as #1a73e8. It is made darker or lighter where it could not be read.", Value: e.accent, Longest: 7, Optional: true},
		{Kind: "select", Name: "content.theme.mode", Label: "Light or dark", Options: chosen(e.mode, content.SiteModeAuto, "As the visitor's device is", content.SiteModeLight, "Light", content.SiteModeDark, "Dark")},
	}})
	return f, nil
}

// productOptions returns the newest hundred products that are for sale, if the editor has a block that may name some.
func (d *Dashboard) productOptions(v *visit, e *siteEditor) ([]ui.Option, error) {
	if !slices.ContainsFunc(e.blocks, func(b siteBlock) bool {
		return b.kind.kind == content.SiteBlockProducts || b.kind.kind == content.SiteBlockLeadForm
	}) {
		return nil, nil
	}
	list, err := d.api.Products.List(v.ctx(), &sdk.ListProductsParams{Status: new(sdk.ProductStatusActive), Limit: new(int64(100))})
	if err != nil {
		return nil, err
	}
	var options []ui.Option
	for i := range list.Data {
		options = append(options, ui.Option{Value: list.Data[i].ID, Text: list.Data[i].Name})
	}
	return options, nil
}
