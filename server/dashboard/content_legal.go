package dashboard

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

var legalKinds = []string{
	"terms", "Terms", "privacy", "Privacy", "refund_policy", "Refunds", "cookies", "Cookies", "imprint", "Imprint", "license", "Licence", "custom", "Something else",
}

// legalPageList lists what buyers have to know.
func (d *Dashboard) legalPageList(v *visit) error {
	after, before := v.position()
	in := &sdk.ListLegalPagesParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q")}
	if status := v.QueryParam("status"); status != "" {
		in.Status = new(sdk.LegalPageStatus(status))
	}
	if kind := v.QueryParam("kind"); kind != "" {
		in.Kind = new(sdk.LegalPageKind(kind))
	}
	list, err := d.api.LegalPages.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Legal pages", Columns: []string{"Title", "Kind", "State", "Language", "Version", "Buyers accept it"}, Empty: v.nothing(&ui.Empty{Text: "Terms, privacy, refunds: what buyers have to know, and may have to accept. There is none yet."})}
	for i := range list.Data {
		l := &list.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{{Text: l.Title, Address: legalPagesPage + "/" + l.ID}, {Text: optionText(string(l.Kind), legalKinds...)}, {Badge: contentBadge(string(l.Status))},
			{Text: l.Locale}, {Text: strconv.FormatInt(l.Version, 10), Number: true}, yesCell(l.RequiresAcceptance)})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	p := ui.Page{Heading: "Legal pages", Up: &ui.Link{Text: "Content", Address: contentPage}, Tabs: contentTabs(legalPagesPage), Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Name: "q", Label: "Search", Value: v.QueryParam("q")},
		{Kind: "select", Name: "kind", Label: "Kind", Options: chosen(v.QueryParam("kind"), slices.Concat([]string{"", "All"}, legalKinds)...)},
		{Kind: "select", Name: "status", Label: "State", Options: chosen(v.QueryParam("status"), "", "All", "draft", "Draft", "published", "Published", "archived", "Archived")},
	}}}
	if v.may("content:write") {
		p.Actions = []ui.Link{{Text: "New legal page", Address: legalPagesPage + "/new", Primary: true}}
	}
	return v.show(http.StatusOK, p)
}

func yesCell(yes bool) ui.Cell {
	if yes {
		return ui.Cell{Text: "Yes"}
	}
	return ui.Cell{Text: "No"}
}

// legalForm is the editor of a legal page: what is stored, or what was typed.
func legalForm(v *visit, l *sdk.LegalPage) *ui.Form {
	accepts := l.RequiresAcceptance
	if isTicked := v.ticked("requires_acceptance"); isTicked != nil {
		accepts = *isTicked
	}
	f := &ui.Form{Submit: "Create page", Cancel: legalPagesPage, Once: newOnce(), Buttons: []ui.Button{previewButton}, Controls: []ui.Control{
		{Kind: "select", Name: "kind", Label: "Kind", Options: chosen(v.typed("kind", string(l.Kind)), legalKinds...)},
		{Name: "title", Label: "Title", Value: v.typed("title", l.Title), Longest: 255, Required: true},
		bodyControl(v.typedLines("body", core.Deref(l.Body))),
		{Name: "locale", Label: "Language", Hint: "Such as en or pt-BR. Empty: the shop's.", Value: v.sent("locale", l.Locale), Longest: 35, Optional: true},
		v.slugControl(l.Slug, "Address", "The last part of it.", "title"),
		{Kind: "checkbox", Name: "requires_acceptance", Label: "Buyers must accept it before they pay", Hint: "Each order keeps which version was accepted.", Checked: accepts},
	}}
	if l.ID != "" {
		f.Submit = "Save"
	}
	return f
}

func newLegalPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "New legal page", Up: &ui.Link{Text: "Legal pages", Address: legalPagesPage}, Form: f}
}

// newLegal shows the editor for a legal page.
func (d *Dashboard) newLegal(v *visit) error {
	return v.show(http.StatusOK, newLegalPage(legalForm(v, &sdk.LegalPage{})))
}

// createLegal makes a legal page, or shows what would come of it.
func (d *Dashboard) createLegal(v *visit) error {
	f := legalForm(v, &sdk.LegalPage{})
	p := newLegalPage(f)
	if v.isPreview() {
		p.Sections = []ui.Section{drawn("Preview", v.typedLines("body", ""))}
		return v.show(http.StatusOK, p)
	}
	var made *sdk.LegalPage
	err := titled(v)
	if err == nil {
		made, err = d.api.LegalPages.Create(v.ctx(), &sdk.LegalPageCreate{
			Kind: sdk.LegalPageKind(v.field("kind")), Title: v.field("title"), Body: new(v.typedLines("body", "")), Locale: v.optional("locale"), Slug: v.optional("slug"),
			RequiresAcceptance: v.ticked("requires_acceptance"),
		}, v.once())
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(legalPagesPage+"/"+made.ID, person.Notice{Text: "The page was made. Nobody sees it before it is published."})
}

// titled returns CodeInvalid if no title was typed.
func titled(v *visit) error {
	if v.field("title") == "" {
		return core.Invalid("title", "Type a title.")
	}
	return nil
}

// legalOf shows a legal page in its editor, with its versions.
func (d *Dashboard) legalOf(v *visit) error {
	l, err := d.api.LegalPages.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	p, err := d.legalOne(v, l, legalForm(v, l), core.Deref(l.Body))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, p)
}

func (d *Dashboard) legalOne(v *visit, l *sdk.LegalPage, f *ui.Form, body string) (ui.Page, error) {
	at := legalPagesPage + "/" + l.ID
	p := ui.Page{Heading: l.Title, Badge: contentBadge(string(l.Status)), Up: &ui.Link{Text: "Legal pages", Address: legalPagesPage}}
	versions, err := d.api.LegalPages.ListVersions(v.ctx(), l.ID)
	if err != nil {
		return p, err
	}
	t := &ui.Table{Label: "Versions", Columns: []string{"Version", "Title", "Since"}, Empty: &ui.Empty{Text: "It was never published."}}
	for i := range versions.Data {
		x := &versions.Data[i]
		number := strconv.FormatInt(x.Version, 10)
		t.Rows = append(t.Rows, []ui.Cell{{Text: "Version " + number, Address: at + "/versions/" + number}, {Text: x.Title}, v.moment(core.TimeOf(x.CreatedAt.Time()))})
	}
	facts := ui.Section{Terms: []ui.Term{
		{Name: "Kind", Value: ui.Cell{Text: optionText(string(l.Kind), legalKinds...)}}, {Name: "Language", Value: ui.Cell{Text: l.Locale}}, {Name: "Published", Value: v.when(l.PublishedAt)},
		{Name: "Buyers accept it", Value: yesCell(l.RequiresAcceptance)}, {Name: "Id", Value: ui.Cell{Text: l.ID, Code: true}},
	}}
	shown := drawn("Text", body)
	if v.may("content:write") {
		facts.Forms = moveForms(at, string(l.Status))
		p.Actions = []ui.Link{{Text: "Delete", Address: at + "/delete", Danger: true}}
		shown.Title = "Preview"
		edit := ui.Section{Title: "Edit", Form: f}
		if l.Status == sdk.LegalPageStatusPublished {
			edit.Text = "It is published: saving another title or text is its next version, at once. What was accepted before stays as it was."
		}
		p.Sections = []ui.Section{facts, edit, shown, {Title: "Versions", Table: t}}
	} else {
		p.Sections = []ui.Section{facts, shown, {Title: "Versions", Table: t}}
	}
	return p, nil
}

// saveLegal changes a legal page, or shows what would come of that.
func (d *Dashboard) saveLegal(v *visit) error {
	l, err := d.api.LegalPages.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f := legalForm(v, l)
	if !v.isPreview() {
		if err = titled(v); err == nil {
			err = v.filled("slug")
		}
		if err == nil {
			_, err = d.api.LegalPages.Update(v.ctx(), l.ID, &sdk.LegalPageUpdate{
				Kind: new(sdk.LegalPageKind(v.field("kind"))), Title: new(v.field("title")), Body: new(v.typedLines("body", "")), Slug: v.optional("slug"), Locale: new(cmp.Or(v.sent("locale", l.Locale), v.shop.Locale)),
				RequiresAcceptance: v.ticked("requires_acceptance"),
			}, v.once())
		}
		if err == nil {
			return v.done(legalPagesPage+"/"+l.ID, person.Notice{Text: "The page was saved."})
		}
	}
	wrong, ok := problems(err, f)
	if err != nil && !ok {
		return err
	}
	status := http.StatusOK
	if ok {
		status = http.StatusUnprocessableEntity
	}
	p, err := d.legalOne(v, l, f, v.typedLines("body", ""))
	if err != nil {
		return err
	}
	return v.show(status, p, wrong...)
}

// legalVersion shows a legal page as it was, which is never changed.
func (d *Dashboard) legalVersion(v *visit) error {
	l, err := d.api.LegalPages.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	x, err := d.api.LegalPages.GetVersion(v.ctx(), l.ID, v.Param("version"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, ui.Page{Heading: x.Title, Up: &ui.Link{Text: l.Title, Address: legalPagesPage + "/" + l.ID},
		Lead: "Version " + strconv.FormatInt(x.Version, 10) + ", as it was published. It is never changed.", Sections: []ui.Section{drawn("Text", core.Deref(x.Body))}})
}
