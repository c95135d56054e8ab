package dashboard

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const sitesPage = "/app/sites"

func siteBadge(s *sdk.AISite) *ui.Badge {
	switch {
	case s.IsLive && s.Version != core.Deref(s.PublishedVersion):
		return &ui.Badge{Text: "Live, with changes to publish", Tone: "warn", Icon: "clock"}
	case s.IsLive:
		return &ui.Badge{Text: "Live", Tone: "good", Icon: "check"}
	}
	return &ui.Badge{Text: "Draft", Icon: "clock"}
}

func domainBadge(s *sdk.AISite) *ui.Badge {
	if s.DomainStatus == nil {
		return nil
	}
	switch *s.DomainStatus {
	case sdk.AISiteDomainStatusActive:
		return &ui.Badge{Text: "In use", Tone: "good", Icon: "check"}
	case sdk.AISiteDomainStatusSSLPending:
		return &ui.Badge{Text: "Waits for https", Tone: "warn", Icon: "clock"}
	case sdk.AISiteDomainStatusError:
		return &ui.Badge{Text: "Does not work", Tone: "bad", Icon: "alert"}
	case sdk.AISiteDomainStatusPending:
	}
	return &ui.Badge{Text: "Waits for its record", Tone: "warn", Icon: "clock"}
}

// sites lists the sites of the shop.
func (d *Dashboard) sites(v *visit) error {
	after, before := v.position()
	list, err := d.api.AISites.List(v.ctx(), &sdk.ListAISitesParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q")})
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Sites", Columns: []string{"Name", "Address", "State", "Domain", "Its state"}}
	for i := range list.Data {
		s := &list.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{{Text: s.Name, Address: sitesPage + "/" + s.ID}, {Text: s.URL}, {Badge: siteBadge(s)}, textCell(s.Domain), {Badge: domainBadge(s)}})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	p := ui.Page{Heading: "Sites", Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{{Name: "q", Label: "Search", Value: v.QueryParam("q")}}}}
	t.Empty = v.nothing(&ui.Empty{Text: "A site is a page of yours for everybody: links, products, posts, a form for those who want to hear from you. There is none yet."})
	if v.may("sites:write") {
		p.Actions = []ui.Link{{Text: "New site", Address: sitesPage + "/new", Primary: true}}
		if v.QueryParam("q") == "" {
			t.Empty.Action = &ui.Link{Text: "New site", Address: sitesPage + "/new"}
		}
	}
	return v.show(http.StatusOK, p)
}

const subdomainHint = "The last part of its address: small letters, digits and hyphens."

func newSiteForm(v *visit) *ui.Form {
	return &ui.Form{Submit: "Create site", Cancel: sitesPage, Once: newOnce(), Controls: []ui.Control{
		{Name: "name", Label: "Name", Hint: "It stands in the title of the page.", Value: v.field("name"), Longest: 255, Required: true},
		{Name: "subdomain", Label: "Subdomain", Hint: subdomainHint + " Empty for one made from the name.", Value: v.field("subdomain"), Longest: 63, Optional: true},
		{Kind: "select", Name: "type", Label: "What it is", Options: chosen(v.field("type"), string(sdk.AISiteTypeAIBuilder), "A whole page", string(sdk.AISiteTypeLinkInBio), "A narrow page of links")},
	}}
}

func newSitePage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "New site", Up: &ui.Link{Text: "Sites", Address: sitesPage}, Lead: "Nobody sees it until you publish it.", Form: f}
}

// newSite shows the form for a site.
func (d *Dashboard) newSite(v *visit) error {
	return v.show(http.StatusOK, newSitePage(newSiteForm(v)))
}

// createSite makes a site.
func (d *Dashboard) createSite(v *visit) error {
	f := newSiteForm(v)
	s, err := d.api.AISites.Create(v.ctx(), &sdk.AISiteCreate{Name: v.field("name"), Subdomain: v.optional("subdomain"), Type: new(sdk.AISiteType(v.field("type")))}, v.once())
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, newSitePage(f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(sitesPage+"/"+s.ID, person.Notice{Text: "The site was made. Add blocks to it, and publish it when it is ready."})
}

// site shows a site with its editor. The query may name a block to be added.
func (d *Dashboard) site(v *visit) error {
	s, err := d.api.AISites.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	e := v.editorOf(s)
	if kind := blockKind(v.QueryParam("add")); kind != nil {
		e.blocks = append(e.blocks, siteBlock{kind: kind})
	}
	f, err := d.editorForm(v, s, e)
	if err != nil {
		return err
	}
	return d.showSite(v, http.StatusOK, s, f)
}

// showSite shows a site with its editor, for those who may change it.
func (d *Dashboard) showSite(v *visit, status int, s *sdk.AISite, f *ui.Form, wrong ...ui.Problem) error {
	at := sitesPage + "/" + s.ID
	p := ui.Page{Heading: s.Name, Badge: siteBadge(s), Up: &ui.Link{Text: "Sites", Address: sitesPage}}
	if s.IsLive {
		p.Actions = append(p.Actions, ui.Link{Text: "Open", Address: s.URL})
	}
	if s.Version > 0 {
		version, err := d.api.AISites.GetVersion(v.ctx(), s.ID, strconv.FormatInt(s.Version, 10))
		if err != nil {
			return err
		}
		p.Actions = append(p.Actions, ui.Link{Text: "Preview", Address: version.PreviewURL})
	}
	p.Actions = append(p.Actions, ui.Link{Text: "Domain", Address: at + "/domain"})
	switch {
	case s.Content == nil:
		p.Lead = "As long as it has no blocks, it shows your name, your products and your posts."
	case !s.IsLive:
		p.Lead = "Nobody sees it yet."
	case s.Version != core.Deref(s.PublishedVersion):
		p.Lead = "Visitors see what was published. Publish it again to show them what stands here."
	}
	facts := []ui.Term{{Name: "Address", Value: ui.Cell{Text: s.URL}}, {Name: "Published", Value: v.when(s.PublishedAt)}, {Name: "Id", Value: ui.Cell{Text: s.ID, Code: true}}}
	if !v.may("sites:write") {
		t := &ui.Table{Label: "Blocks", Columns: []string{"Block", "It says"}, Empty: &ui.Empty{Text: "It has no blocks."}}
		for _, b := range v.editorOf(s).blocks {
			t.Rows = append(t.Rows, []ui.Cell{{Text: b.kind.name}, {Text: b.summary()}})
		}
		p.Sections = []ui.Section{{Terms: facts}, {Title: "Blocks", Table: t}}
		return v.show(status, p, wrong...)
	}
	p.Actions = append(p.Actions, ui.Link{Text: "Delete", Address: at + "/delete", Danger: true})
	p.Form = f
	more := ui.Section{Title: "About it", Terms: facts}
	if s.IsLive {
		more.Forms = append(more.Forms, ui.Form{Action: at + "/unpublish", Submit: "Unpublish", Inline: true, Once: newOnce()})
	}
	if !s.Default {
		more.Forms = append(more.Forms, ui.Form{Action: at + "/default", Submit: "Make it the default site", Inline: true, Once: newOnce()})
	}
	p.Sections = []ui.Section{more}
	return v.show(status, p, wrong...)
}

// saveSite stores what stands in the editor, and does what its button says: add a block, move or remove one, or publish.
func (d *Dashboard) saveSite(v *visit) error {
	s, err := d.api.AISites.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	e := v.readEditor(s)
	verb, which, _ := strings.Cut(v.field("do"), ".")
	e.arrange(verb, which)
	added := blockKind(v.field("add"))
	if verb != "add" {
		added = nil
	}
	in, err := v.siteUpdate(s, e)
	if err == nil {
		s, err = d.saved(v, s, in)
	}
	if err == nil && verb == "publish" {
		_, err = d.api.AISites.Publish(v.ctx(), s.ID, &sdk.AISitePublish{}, v.onceFor(":publish"))
	}
	if err != nil {
		if added != nil {
			e.blocks = append(e.blocks, siteBlock{kind: added})
		}
		f, failed := d.editorForm(v, s, e)
		if failed != nil {
			return failed
		}
		if wrong, ok := problems(onFirstItem(err, f), f); ok {
			return d.showSite(v, http.StatusUnprocessableEntity, s, f, wrong...)
		}
		return err
	}
	to, said := sitesPage+"/"+s.ID, "The draft was saved."
	switch {
	case added != nil:
		to += "?add=" + added.kind + "#block-" + strconv.Itoa(len(e.blocks)+1)
		said = "Fill in the new block, and save it."
	case verb == "publish":
		said = "The site is live."
	}
	return v.done(to, person.Notice{Text: said})
}

// saved stores a change of a site. On failure it returns the site as it was.
func (d *Dashboard) saved(v *visit, s *sdk.AISite, in *sdk.AISiteUpdate) (*sdk.AISite, error) {
	changed, err := d.api.AISites.Update(v.ctx(), s.ID, in, v.once())
	if err != nil {
		return s, err
	}
	return changed, nil
}

// unpublishSite hides a site from visitors.
func (d *Dashboard) unpublishSite(v *visit) error {
	s, err := d.api.AISites.Unpublish(v.ctx(), v.Param("id"), v.once())
	if err != nil {
		return err
	}
	return v.done(sitesPage+"/"+s.ID, person.Notice{Text: "The site is hidden. Who opens it is told that there is nothing."})
}

// makeSiteDefault makes a site the default one.
func (d *Dashboard) makeSiteDefault(v *visit) error {
	s, err := d.api.AISites.Update(v.ctx(), v.Param("id"), &sdk.AISiteUpdate{Default: new(true)}, v.once())
	if err != nil {
		return err
	}
	return v.done(sitesPage+"/"+s.ID, person.Notice{Text: "This is the default site now."})
}

func deleteSitePage(s *sdk.AISite) ui.Page {
	at := sitesPage + "/" + s.ID
	p := ui.Page{Heading: "Delete site", Up: &ui.Link{Text: s.Name, Address: at}}
	if s.Default {
		p.Lead = "This is your default site, which stays as long as it is. Make another one the default first, or unpublish this one: then nobody sees it."
		return p
	}
	p.Form = &ui.Form{Submit: "Delete site", Danger: true, Cancel: at, Once: newOnce(), Text: s.Name + " and all its versions are deleted for good. Its address, " + s.URL + ", and its domain are free for others."}
	return p
}

// deleteSiteForm says what happens when a site is deleted.
func (d *Dashboard) deleteSiteForm(v *visit) error {
	s, err := d.api.AISites.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, deleteSitePage(s))
}

// deleteSite deletes a site.
func (d *Dashboard) deleteSite(v *visit) error {
	if _, err := d.api.AISites.Delete(v.ctx(), v.Param("id"), v.once()); err != nil {
		return err
	}
	return v.done(sitesPage, person.Notice{Text: "The site was deleted."})
}
