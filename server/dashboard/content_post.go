package dashboard

import (
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
	postStatuses = []string{"draft", "Draft", "scheduled", "Scheduled", "published", "Published", "archived", "Archived"}
	postAccess   = []string{"public", "Everybody", "customers", "All customers", "product", "Who has a product"}
)

// postList lists what the shop writes.
func (d *Dashboard) postList(v *visit) error {
	after, before := v.position()
	in := &sdk.ListBlogPostsParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q"), Tag: query(v, "tag")}
	if status := v.QueryParam("status"); status != "" {
		in.Status = new(sdk.BlogPostStatus(status))
	}
	if access := v.QueryParam("access"); access != "" {
		in.Access = new(sdk.BlogPostAccess(access))
	}
	list, err := d.api.BlogPosts.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Posts", Columns: []string{"Title", "State", "Who may read it", "Tags", "Published"}, Empty: v.nothing(&ui.Empty{Text: "Posts tell people what is new: everybody, or only who bought. There is none yet."})}
	for i := range list.Data {
		b := &list.Data[i]
		at := b.PublishedAt
		if b.Status == sdk.BlogPostStatusScheduled {
			at = b.ScheduledFor
		}
		t.Rows = append(t.Rows, []ui.Cell{{Text: b.Title, Address: postsPage + "/" + b.ID}, {Badge: contentBadge(string(b.Status))}, {Text: optionText(string(b.Access), postAccess...)}, {Text: strings.Join(b.Tags, ", ")}, v.when(at)})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	p := ui.Page{Heading: "Content", Tabs: contentTabs(contentPage), Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Name: "q", Label: "Search", Value: v.QueryParam("q")},
		{Kind: "select", Name: "status", Label: "State", Options: chosen(v.QueryParam("status"), slices.Concat([]string{"", "All"}, postStatuses)...)},
		{Kind: "select", Name: "access", Label: "Who may read it", Options: chosen(v.QueryParam("access"), slices.Concat([]string{"", "All"}, postAccess)...)},
		{Name: "tag", Label: "Tag", Value: v.QueryParam("tag"), Longest: 40},
	}}}
	if v.may("content:write") {
		p.Actions = []ui.Link{{Text: "New post", Address: postsPage + "/new", Primary: true}}
	}
	return v.show(http.StatusOK, p)
}

// postForm is the editor of a post: what is stored, or what was typed.
func (d *Dashboard) postForm(v *visit, b *sdk.BlogPost) (*ui.Form, error) {
	products, err := d.api.Products.List(v.ctx(), &sdk.ListProductsParams{Status: new(sdk.ProductStatusActive), Limit: new(int64(100))})
	if err != nil {
		return nil, err
	}
	names := []string{"", "None"}
	for i := range products.Data {
		names = append(names, products.Data[i].ID, products.Data[i].Name)
	}
	product := v.typed("product", b.Product.ID)
	if optionText(product, names...) == product && product != "" { // it is not for sale any more
		names = append(names, product, product)
	}
	scheduled := ""
	if b.ScheduledFor != nil {
		scheduled = b.ScheduledFor.Time().In(v.zone).Format(formMoment)
	}
	slug := v.slugControl(b.Slug, "Address", "The last part of it, such as autumn-news. A former one leads here too.", "title")
	slug.Group = "How it is found"
	f := &ui.Form{Submit: "Create post", Cancel: contentPage, Once: newOnce(), Buttons: []ui.Button{previewButton}, Controls: []ui.Control{
		{Name: "title", Label: "Title", Value: v.typed("title", b.Title), Longest: 255, Required: true},
		bodyControl(v.typedLines("body", core.Deref(b.Body))),
		{Kind: "textarea", Name: "excerpt", Label: "Excerpt", Hint: "What everybody sees of it in lists, and who may not read it.", Value: v.typedLines("excerpt", core.Deref(b.Excerpt)), Lines: 3, Optional: true},
		{Group: "Who and when", Kind: "select", Name: "access", Label: "Who may read it", Options: chosen(v.typed("access", string(b.Access)), postAccess...)},
		{Kind: "select", Name: "product", Label: "Which product", Hint: "If only who has a product may read it.", Options: chosen(product, names...)},
		{Kind: "datetime-local", Name: "scheduled_for", Label: "Publish it by itself", Hint: "In the shop's time, " + v.zone.String() + ". Empty: when you press Publish.", Value: v.typed("scheduled_for", scheduled), Optional: true},
		slug,
		{Name: "tags", Label: "Tags", Hint: "With commas between them.", Value: v.typed("tags", strings.Join(b.Tags, ", ")), Longest: 900, Optional: true},
		{Name: "author_name", Label: "Author", Value: v.typed("author_name", core.Deref(b.AuthorName)), Longest: 120, Optional: true},
		{Name: "cover_url", Label: "Picture", Hint: "Its https address.", Value: v.typed("cover_url", core.Deref(b.CoverURL)), Longest: 2000, Optional: true},
		{Group: "When it is shared", Name: "seo_title", Label: "Title of the card", Hint: "Empty: the title.", Value: v.typed("seo_title", core.Deref(b.SEOTitle)), Longest: 255, Optional: true},
		{Kind: "textarea", Name: "seo_description", Label: "Text of the card", Hint: "Empty: the excerpt.", Value: v.typedLines("seo_description", core.Deref(b.SEODescription)), Lines: 2, Optional: true},
	}}
	if b.ID != "" {
		f.Submit = "Save"
	}
	return f, nil
}

// readPost reads that form, of a post in a state. A moment to publish it makes it scheduled; without one what was scheduled is a draft.
func readPost(v *visit, status sdk.BlogPostStatus) (*sdk.BlogPostUpdate, error) {
	in := &sdk.BlogPostUpdate{
		Title: new(v.field("title")), Body: new(v.typedLines("body", "")), Excerpt: cleared(v.field("excerpt")), Access: new(sdk.BlogPostAccess(v.field("access"))), Product: cleared(v.field("product")),
		Tags: append([]string{}, listed(v.field("tags"))...), AuthorName: cleared(v.field("author_name")), CoverURL: v.change("cover_url"), SEOTitle: cleared(v.field("seo_title")),
		SEODescription: cleared(v.field("seo_description")), Slug: v.optional("slug"),
	}
	if *in.Access != sdk.BlogPostAccessProduct {
		in.Product = sdk.Null[string]()
	}
	if *in.Title == "" {
		return in, core.Invalid("title", "Type a title.")
	}
	switch {
	case v.field("scheduled_for") != "":
		at, err := v.typedMoment("scheduled_for")
		if err != nil {
			return in, err
		}
		if status == sdk.BlogPostStatusPublished {
			return in, core.Invalid("scheduled_for", "It is published already. Leave this empty, or take the post back first.")
		}
		in.Status, in.ScheduledFor = new(sdk.BlogPostStatusScheduled), sdk.Set(at)
	case status == sdk.BlogPostStatusScheduled:
		in.Status, in.ScheduledFor = new(sdk.BlogPostStatusDraft), sdk.Null[sdk.Time]()
	}
	return in, nil
}

func newPostPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "New post", Up: &ui.Link{Text: "Content", Address: contentPage}, Form: f}
}

// newPost shows the editor for a post.
func (d *Dashboard) newPost(v *visit) error {
	f, err := d.postForm(v, &sdk.BlogPost{})
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, newPostPage(f))
}

// createPost makes a post, or shows what would come of it.
func (d *Dashboard) createPost(v *visit) error {
	f, err := d.postForm(v, &sdk.BlogPost{})
	if err != nil {
		return err
	}
	p := newPostPage(f)
	if v.isPreview() {
		p.Sections = []ui.Section{drawn("Preview", v.typedLines("body", ""))}
		return v.show(http.StatusOK, p)
	}
	in, err := readPost(v, sdk.BlogPostStatusDraft)
	var made *sdk.BlogPost
	if err == nil {
		first := &sdk.BlogPostCreate{
			Title: *in.Title, Slug: in.Slug, Body: in.Body, Excerpt: v.optional("excerpt"), Access: in.Access, Tags: in.Tags, AuthorName: v.optional("author_name"), CoverURL: v.optional("cover_url"),
			SEOTitle: v.optional("seo_title"), SEODescription: v.optional("seo_description"), Status: in.Status,
		}
		if at, err := in.ScheduledFor.Get(); err == nil {
			first.ScheduledFor = &at
		}
		if product, err := in.Product.Get(); err == nil {
			first.Product = &product
		}
		made, err = d.api.BlogPosts.Create(v.ctx(), first, v.once())
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(postsPage+"/"+made.ID, person.Notice{Text: "The post was made. Nobody sees it before it is published."})
}

// post shows a post in its editor, and as readers see it.
func (d *Dashboard) post(v *visit) error {
	b, err := d.api.BlogPosts.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f, err := d.postForm(v, b)
	if err != nil {
		return err
	}
	if err := d.tellPicture(v, b.ID, f); err != nil {
		return err
	}
	return v.show(http.StatusOK, postPage(v, b, f, core.Deref(b.Body)))
}

func postPage(v *visit, b *sdk.BlogPost, f *ui.Form, body string) ui.Page {
	at := postsPage + "/" + b.ID
	p := ui.Page{Heading: b.Title, Badge: contentBadge(string(b.Status)), Up: &ui.Link{Text: "Content", Address: contentPage}}
	facts := []ui.Term{{Name: "Address", Value: textCell(b.URL)}, {Name: "Published", Value: v.when(b.PublishedAt)}, {Name: "To be published", Value: v.when(b.ScheduledFor)},
		{Name: "Version", Value: ui.Cell{Text: strconv.FormatInt(b.Version, 10)}}, {Name: "Takes to read", Value: ui.Cell{Text: strconv.FormatInt(b.ReadingMinutes, 10) + " min"}}, {Name: "Id", Value: ui.Cell{Text: b.ID, Code: true}}}
	if b.URL != nil {
		facts[0].Value.Address = *b.URL
	}
	section := ui.Section{Terms: facts}
	if v.may("content:write") {
		section.Forms = moveForms(at, string(b.Status))
		p.Actions = []ui.Link{{Text: "Delete", Address: at + "/delete", Danger: true}}
		p.Sections = []ui.Section{section, {Title: "Edit", Form: f}, drawn("Preview", body)}
	} else {
		p.Sections = []ui.Section{section, drawn("Text", body)}
	}
	return p
}

// savePost changes a post, or shows what would come of that.
func (d *Dashboard) savePost(v *visit) error {
	b, err := d.api.BlogPosts.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f, err := d.postForm(v, b)
	if err != nil {
		return err
	}
	p := postPage(v, b, f, v.typedLines("body", ""))
	if v.isPreview() {
		return v.show(http.StatusOK, p)
	}
	in, err := readPost(v, b.Status)
	if err == nil {
		err = v.filled("slug")
	}
	if err == nil {
		_, err = d.api.BlogPosts.Update(v.ctx(), b.ID, in, v.once())
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(postsPage+"/"+b.ID, person.Notice{Text: "The post was saved."})
}
