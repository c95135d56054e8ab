package dashboard

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

var (
	experienceTypes  = []string{"course", "Course", "download", "Download", "link", "Link", "community", "Community", "event", "Event", "embed", "Video or other page within"}
	experienceAccess = []string{"purchase", "Who bought it", "public", "Everybody"}
)

// experienceList lists what people get into by buying.
func (d *Dashboard) experienceList(v *visit) error {
	after, before := v.position()
	in := &sdk.ListExperiencesParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q")}
	if status := v.QueryParam("status"); status != "" {
		in.Status = new(sdk.ExperienceStatus(status))
	}
	if kind := v.QueryParam("type"); kind != "" {
		in.Type = new(sdk.ExperienceType(kind))
	}
	list, err := d.api.Experiences.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Experiences", Columns: []string{"Name", "Type", "State", "Who gets in", "Products"}, Empty: v.nothing(&ui.Empty{Text: "A course, a community, an event: what people get into by buying. There is none yet."})}
	for i := range list.Data {
		e := &list.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{{Text: e.Name, Address: experiencesPage + "/" + e.ID}, {Text: optionText(string(e.Type), experienceTypes...)}, {Badge: contentBadge(string(e.Status))},
			{Text: optionText(string(e.Access), experienceAccess...)}, {Text: strconv.Itoa(len(e.Products)), Number: true}})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	p := ui.Page{Heading: "Experiences", Up: &ui.Link{Text: "Content", Address: contentPage}, Tabs: contentTabs(experiencesPage), Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Name: "q", Label: "Search", Value: v.QueryParam("q")},
		{Kind: "select", Name: "type", Label: "Type", Options: chosen(v.QueryParam("type"), slices.Concat([]string{"", "All"}, experienceTypes)...)},
		{Kind: "select", Name: "status", Label: "State", Options: chosen(v.QueryParam("status"), "", "All", "draft", "Draft", "published", "Published", "archived", "Archived")},
	}}}
	if v.may("content:write") {
		p.Actions = []ui.Link{{Text: "New experience", Address: experiencesPage + "/new", Primary: true}}
	}
	return v.show(http.StatusOK, p)
}

// newExperienceOf returns the form for an experience. What is in it is typed once it is there, because that goes by its type.
func newExperienceOf(v *visit) ui.Page {
	return ui.Page{Heading: "New experience", Up: &ui.Link{Text: "Experiences", Address: experiencesPage}, Form: &ui.Form{Submit: "Create experience", Cancel: experiencesPage, Once: newOnce(), Controls: []ui.Control{
		{Name: "name", Label: "Name", Value: v.field("name"), Longest: 255, Required: true},
		{Kind: "select", Name: "type", Label: "Type", Hint: "What is in it comes next.", Options: chosen(v.field("type"), experienceTypes...)},
	}}}
}

// newExperience shows it.
func (d *Dashboard) newExperience(v *visit) error {
	return v.show(http.StatusOK, newExperienceOf(v))
}

// createExperience makes an experience.
func (d *Dashboard) createExperience(v *visit) error {
	p := newExperienceOf(v)
	var made *sdk.Experience
	err := named(v)
	if err == nil {
		made, err = d.api.Experiences.Create(v.ctx(), &sdk.ExperienceCreate{Name: v.field("name"), Type: sdk.ExperienceType(v.field("type"))}, v.once())
	}
	if wrong, ok := problems(err, p.Form); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(experiencesPage+"/"+made.ID, person.Notice{Text: "The experience was made. Say what is in it, and publish it."})
}

// named returns CodeInvalid if no name was typed.
func named(v *visit) error {
	if v.field("name") == "" {
		return core.Invalid("name", "Type a name.")
	}
	return nil
}

// experienceForm is the editor of an experience: what is stored, or what was typed.
func (d *Dashboard) experienceForm(v *visit, e *sdk.Experience) (*ui.Form, error) {
	inside, err := d.insideControls(v, e)
	if err != nil {
		return nil, err
	}
	inside[0].Group = "What is in it"
	controls := []ui.Control{
		{Name: "name", Label: "Name", Value: v.typed("name", e.Name), Longest: 255, Required: true},
		{Kind: "textarea", Name: "description", Label: "Description", Hint: "Markdown. Who may not get in sees it too.", Value: v.typedLines("description", core.Deref(e.Description)), Lines: 6, Optional: true},
		{Kind: "select", Name: "access", Label: "Who gets in", Options: chosen(v.typed("access", string(e.Access)), experienceAccess...)},
		{Name: "cover_url", Label: "Picture", Hint: "Its https address.", Value: v.typed("cover_url", core.Deref(e.CoverURL)), Longest: 2000, Optional: true},
		v.slugControl(e.Slug, "Short name", "By which programs find it.", "name"),
	}
	return &ui.Form{Submit: "Save", Cancel: experiencesPage, Once: newOnce(), Buttons: []ui.Button{previewButton}, Controls: slices.Concat(controls, inside)}, nil
}

// insideControls are the controls for what is in an experience of its type.
func (d *Dashboard) insideControls(v *visit, e *sdk.Experience) ([]ui.Control, error) {
	c := &e.Content
	url := ui.Control{Name: "content.url", Label: "Address", Hint: "Where it is, such as https://example.com/room.", Value: v.typed("content.url", core.Deref(c.URL)), Longest: 2000, Optional: true}
	switch e.Type {
	case sdk.ExperienceTypeCourse:
		return []ui.Control{{Kind: "textarea", Name: "content.modules", Label: "Modules and lessons", Value: v.typedLines("content.modules", courseText(c.Modules)), Lines: 24, Optional: true,
			Hint: "A line such as “# Basics” begins a module, “## First steps” a lesson in it. The lines “Video: https://...” and “File: file_...” may follow at once, then an empty line and the lesson's text, in Markdown with headings from ### on."}}, nil
	case sdk.ExperienceTypeDownload:
		return d.fileControls(v, c.Files)
	case sdk.ExperienceTypeCommunity:
		return []ui.Control{{Name: "content.platform", Label: "Where people meet", Hint: "Such as Discord.", Value: v.typed("content.platform", core.Deref(c.Platform)), Longest: 255, Optional: true}, url}, nil
	case sdk.ExperienceTypeEvent:
		moment := func(name, label string, stored *sdk.Time) ui.Control {
			shown := ""
			if stored != nil {
				shown = stored.Time().In(v.zone).Format(formMoment)
			}
			return ui.Control{Kind: "datetime-local", Name: name, Label: label, Hint: "In the shop's time, " + v.zone.String() + ".", Value: v.typed(name, shown), Optional: true}
		}
		return []ui.Control{
			moment("content.starts_at", "Begins", c.StartsAt), moment("content.ends_at", "Ends", c.EndsAt),
			{Name: "content.timezone", Label: "Time zone of the event", Hint: "In which people read it, such as Europe/Berlin.", Value: v.typed("content.timezone", cmp.Or(core.Deref(c.Timezone), v.zone.String())), Longest: 100, Optional: true},
			{Name: "content.location", Label: "Place", Value: v.typed("content.location", core.Deref(c.Location)), Longest: 255, Optional: true}, url,
		}, nil
	case sdk.ExperienceTypeLink, sdk.ExperienceTypeEmbed:
	}
	return []ui.Control{url}, nil
}

// fileControls offers the newest hundred files that have arrived, and those that are in it.
func (d *Dashboard) fileControls(v *visit, in []string) ([]ui.Control, error) {
	list, err := d.api.Files.List(v.ctx(), &sdk.ListFilesParams{Status: new(sdk.FileStatusReady), Limit: new(int64(100))})
	if err != nil {
		return nil, err
	}
	if v.Request().Method == http.MethodPost {
		in = v.tickedOf("content.files", in)
	}
	c := ui.Control{Kind: "checkboxes", Name: "content.files", Label: "Files", Hint: "Of those that were uploaded, at a product for instance."}
	for i := range list.Data {
		c.Options = append(c.Options, ui.Option{Value: list.Data[i].ID, Text: list.Data[i].Name, Chosen: slices.Contains(in, list.Data[i].ID)})
	}
	for _, id := range in {
		if !slices.ContainsFunc(c.Options, func(o ui.Option) bool { return o.Value == id }) {
			c.Options = append(c.Options, ui.Option{Value: id, Text: id, Chosen: true})
		}
	}
	return []ui.Control{c}, nil
}

// readExperience reads the editor of an experience.
func readExperience(v *visit, e *sdk.Experience) (*sdk.ExperienceUpdate, error) {
	in := &sdk.ExperienceUpdate{
		Name: new(v.field("name")), Description: cleared(v.typedLines("description", "")), Access: new(sdk.ExperienceAccess(v.field("access"))), CoverURL: v.change("cover_url"), Slug: v.optional("slug"),
		Content: &sdk.ExperienceContent{URL: v.optional("content.url"), Platform: v.optional("content.platform"), Location: v.optional("content.location"), Timezone: v.optional("content.timezone"), Files: v.tickedOf("content.files", e.Content.Files)},
	}
	if err := cmp.Or(named(v), v.filled("slug")); err != nil {
		return in, err
	}
	for name, into := range map[string]**sdk.Time{"content.starts_at": &in.Content.StartsAt, "content.ends_at": &in.Content.EndsAt} {
		if v.field(name) == "" {
			continue
		}
		t, err := v.typedMoment(name)
		if err != nil {
			return in, err
		}
		*into = &t
	}
	if e.Type == sdk.ExperienceTypeCourse {
		modules, err := readCourse(v.typedLines("content.modules", ""))
		if err != nil {
			return in, err
		}
		in.Content.Modules = modules
	}
	return in, nil
}

// experience shows an experience in its editor, and which products open it.
func (d *Dashboard) experience(v *visit) error {
	e, err := d.api.Experiences.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f, err := d.experienceForm(v, e)
	if err != nil {
		return err
	}
	return d.showExperience(v, http.StatusOK, e, f, core.Deref(e.Description), courseBody(e.Content.Modules))
}

// showExperience shows an experience with the editor f, and draws a description and the lessons of a course.
func (d *Dashboard) showExperience(v *visit, status int, e *sdk.Experience, f *ui.Form, description, lessons string, wrong ...ui.Problem) error {
	at := experiencesPage + "/" + e.ID
	p := ui.Page{Heading: e.Name, Badge: contentBadge(string(e.Status)), Up: &ui.Link{Text: "Experiences", Address: experiencesPage}}
	facts := ui.Section{Terms: []ui.Term{
		{Name: "Type", Value: ui.Cell{Text: optionText(string(e.Type), experienceTypes...)}}, {Name: "Who gets in", Value: ui.Cell{Text: optionText(string(e.Access), experienceAccess...)}},
		{Name: "Have got in", Value: ui.Cell{Text: countCell(e.AccessCount).Text}}, {Name: "Id", Value: ui.Cell{Text: e.ID, Code: true}},
	}}
	opened, err := d.openedBy(v, e)
	if err != nil {
		return err
	}
	p.Sections = []ui.Section{facts, opened, drawn("Preview", strings.TrimSpace(description+"\n\n"+lessons))}
	if v.may("content:write") {
		p.Sections[0].Forms = moveForms(at, string(e.Status))
		p.Actions = []ui.Link{{Text: "Delete", Address: at + "/delete", Danger: true}}
		p.Sections = slices.Insert(p.Sections, 2, ui.Section{Title: "Edit", Form: f})
	}
	return v.show(status, p, wrong...)
}

// openedBy lists the products that open an experience, with forms by which others do, or one does no more.
func (d *Dashboard) openedBy(v *visit, e *sdk.Experience) (ui.Section, error) {
	s := ui.Section{Title: "Products that open it"}
	list, err := d.api.Products.List(v.ctx(), &sdk.ListProductsParams{Limit: new(int64(100))})
	if err != nil {
		return s, err
	}
	names := map[string]string{}
	var others []string
	opens := func(id string) bool {
		return slices.ContainsFunc(e.Products, func(p sdk.Expandable[sdk.Product]) bool { return p.ID == id })
	}
	for i := range list.Data {
		names[list.Data[i].ID] = list.Data[i].Name
		if !opens(list.Data[i].ID) {
			others = append(others, list.Data[i].ID, list.Data[i].Name)
		}
	}
	t := &ui.Table{Label: "Products that open it", Columns: []string{"Product"}, Empty: &ui.Empty{Text: "None yet: nobody gets in by buying."}}
	at := experiencesPage + "/" + e.ID + "/products"
	for _, p := range e.Products {
		name := cmp.Or(names[p.ID], p.ID)
		t.Rows = append(t.Rows, []ui.Cell{{Text: name, Address: productsPage + "/" + p.ID}})
		s.Forms = append(s.Forms, ui.Form{Action: at, Submit: "Take from " + name, Inline: true, Once: newOnce(), Controls: []ui.Control{{Kind: "hidden", Name: "take", Value: p.ID}}})
	}
	s.Table = t
	if !v.may("content:write") || !v.may("products:write") {
		s.Forms = nil
	} else if len(others) > 0 {
		s.Form = &ui.Form{Action: at, Inline: true, Submit: "Let it open this", Once: newOnce(), Controls: []ui.Control{{Kind: "select", Name: "product", Label: "Product", Options: chosen("", others...)}}}
	}
	return s, nil
}

// openExperience has a product open an experience, or no more.
func (d *Dashboard) openExperience(v *visit) error {
	id, said := v.Param("id"), "The product opens it no more."
	var err error
	if taken := v.field("take"); taken != "" {
		_, err = d.api.Experiences.Detach(v.ctx(), id, &sdk.ExperienceProduct{Product: taken}, v.once())
	} else {
		said = "The product opens it."
		_, err = d.api.Experiences.Attach(v.ctx(), id, &sdk.ExperienceProduct{Product: v.field("product")}, v.once())
	}
	if wrong, ok := problems(err, &ui.Form{}); ok {
		return v.done(experiencesPage+"/"+id, person.Notice{Text: wrong[0].Text, Bad: true})
	}
	if err != nil {
		return err
	}
	return v.done(experiencesPage+"/"+id, person.Notice{Text: said})
}

// saveExperience changes an experience, or shows what would come of that.
func (d *Dashboard) saveExperience(v *visit) error {
	e, err := d.api.Experiences.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f, err := d.experienceForm(v, e)
	if err != nil {
		return err
	}
	in, err := readExperience(v, e)
	lessons := courseBody(in.Content.Modules)
	if err == nil && !v.isPreview() {
		_, err = d.api.Experiences.Update(v.ctx(), e.ID, in, v.once())
		if err == nil {
			return v.done(experiencesPage+"/"+e.ID, person.Notice{Text: "The experience was saved."})
		}
	}
	wrong, ok := problems(err, f)
	switch {
	case ok:
		return d.showExperience(v, http.StatusUnprocessableEntity, e, f, v.typedLines("description", ""), lessons, wrong...)
	case err != nil:
		return err
	}
	return d.showExperience(v, http.StatusOK, e, f, v.typedLines("description", ""), lessons)
}
