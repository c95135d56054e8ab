package dashboard

import (
	"net/http"
	"strconv"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const newsPage = emailsPage + "/news"

var (
	newsAudiences = []string{"buyers", "Who has the product", "everyone", "All customers"}
	newsStatuses  = []string{"scheduled", "Scheduled", "sending", "Being sent", "sent", "Sent", "canceled", "Cancelled"}
)

func newsBadge(s sdk.ProductNewsStatus) *ui.Badge {
	b := &ui.Badge{Text: optionText(string(s), newsStatuses...), Tone: "warn", Icon: "clock"}
	switch s {
	case sdk.ProductNewsStatusSent:
		b.Tone, b.Icon = "good", "check"
	case sdk.ProductNewsStatusCanceled:
		b.Tone, b.Icon = "void", "cross"
	case sdk.ProductNewsStatusScheduled, sdk.ProductNewsStatusSending:
	}
	return b
}

// newsList lists what the shop told its customers of its products.
func (d *Dashboard) newsList(v *visit) error {
	after, before := v.position()
	in := &sdk.ListProductNewsParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Expand: sdk.Expand("product")}
	status := v.QueryParam("status")
	if status != "" {
		in.Status = new(sdk.ProductNewsStatus(status))
	}
	list, err := d.api.ProductNews.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Product news", Columns: []string{"Subject", "Product", "State", "Letters", "Sent", "Made"}}
	for i := range list.Data {
		n := &list.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{
			{Text: n.Subject, Address: newsPage + "/" + n.ID}, {Text: newsProduct(n)}, {Badge: newsBadge(n.Status)}, {Text: strconv.FormatInt(n.Recipients, 10), Number: true},
			{Text: strconv.FormatInt(n.Sent, 10), Number: true}, v.at(n.CreatedAt.Time()),
		})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	t.Empty = v.nothing(&ui.Empty{Text: "On the page of a product, Tell customers sends a letter about it to those who agreed to your news. None was written yet.", Action: &ui.Link{Text: "Products", Address: productsPage}})
	return v.show(http.StatusOK, ui.Page{Heading: "Product news", Up: &ui.Link{Text: "E-mails", Address: emailsPage}, Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Kind: "select", Name: "status", Label: "State", Options: chosen(status, append([]string{"", "All"}, newsStatuses...)...)},
	}}})
}

// newsProduct returns the name of the product that news is about, which is expanded.
func newsProduct(n *sdk.ProductNews) string {
	if p, ok := n.Product.Get(); ok {
		return p.Name
	}
	return n.Product.ID
}

// news shows what was told of a product, and how far that has come.
func (d *Dashboard) news(v *visit) error {
	n, err := d.api.ProductNews.Get(v.ctx(), v.Param("id"), sdk.Expand("product"))
	if err != nil {
		return err
	}
	count := func(of int64) ui.Cell { return ui.Cell{Text: strconv.FormatInt(of, 10)} }
	p := ui.Page{Heading: n.Subject, Badge: newsBadge(n.Status), Up: &ui.Link{Text: "Product news", Address: newsPage}, Sections: []ui.Section{
		{Terms: []ui.Term{
			{Name: "Product", Value: ui.Cell{Text: newsProduct(n), Address: productsPage + "/" + n.Product.ID}}, {Name: "To", Value: ui.Cell{Text: optionText(string(n.Audience), newsAudiences...) + ", as far as they agreed to news"}},
			{Name: "To be sent", Value: v.when(n.SendAt)}, {Name: "Letters", Value: count(n.Recipients)}, {Name: "Sent", Value: count(n.Sent)}, {Name: "Failed", Value: count(n.Failed)},
			{Name: "Not sent", Value: count(n.Skipped)}, {Name: "Made", Value: v.at(n.CreatedAt.Time())}, {Name: "Finished", Value: v.when(n.SentAt)}, {Name: "Id", Value: ui.Cell{Text: n.ID, Code: true}},
		}},
		drawn("What it says", n.Body),
	}}
	if v.may("customers:write") && (n.Status == sdk.ProductNewsStatusScheduled || n.Status == sdk.ProductNewsStatusSending) {
		p.Sections = append(p.Sections, ui.Section{Text: "What was sent cannot be taken back. What was not sent stays so.", Forms: []ui.Form{{Action: newsPage + "/" + n.ID + "/cancel", Submit: "Cancel the rest", Danger: true, Inline: true, Once: newOnce()}}})
	}
	return v.show(http.StatusOK, p)
}

// cancelNews has no more of it sent.
func (d *Dashboard) cancelNews(v *visit) error {
	n, err := d.api.ProductNews.Cancel(v.ctx(), v.Param("id"), v.once())
	if err != nil {
		return err
	}
	return v.done(newsPage+"/"+n.ID, person.Notice{Text: "No more of it is sent."})
}

// newsForm is what somebody writes about a product, as far as they have.
func newsForm(v *visit, p *sdk.Product) *ui.Form {
	body := bodyControl(v.typedLines("body", ""))
	body.Required, body.Longest = true, 20_000
	body.Hint += " Pictures are left out."
	return &ui.Form{Submit: "Go on", Cancel: productsPage + "/" + p.ID, Buttons: []ui.Button{previewButton, {Text: "Send me a test", Name: "test", Value: "yes"}}, Controls: []ui.Control{
		{Name: "subject", Label: "Subject", Value: v.field("subject"), Longest: 150, Required: true},
		body,
		{Kind: "select", Name: "audience", Label: "To whom", Hint: "Only those who agreed to your news get it, each mailbox one letter.", Options: chosen(v.typed("audience", "buyers"), newsAudiences...)},
		{Kind: "datetime-local", Name: "send_at", Label: "When", Hint: "In the shop's time, " + v.zone.String() + ". Empty: at once.", Value: v.field("send_at"), Optional: true},
	}}
}

// readNews reads that form.
func readNews(v *visit, p *sdk.Product) (*sdk.ProductNewsCreate, error) {
	in := &sdk.ProductNewsCreate{Product: p.ID, Subject: v.field("subject"), Body: v.typedLines("body", ""), Audience: sdk.ProductNewsAudience(v.typed("audience", "buyers"))}
	switch {
	case in.Subject == "":
		return in, core.Invalid("subject", "Type a subject.")
	case in.Body == "":
		return in, core.Invalid("body", "Type what you want to tell.")
	case v.field("send_at") != "":
		at, err := v.typedMoment("send_at")
		in.SendAt = &at
		return in, err
	}
	return in, nil
}

func newNewsPage(p *sdk.Product, f *ui.Form) ui.Page {
	return ui.Page{Heading: "Tell customers", Up: &ui.Link{Text: p.Name, Address: productsPage + "/" + p.ID}, Lead: "A letter about this product. Its picture, price and link to buy stand in it if it is for sale.", Form: f}
}

// newNews shows the form for news about a product.
func (d *Dashboard) newNews(v *visit) error {
	p, err := d.api.Products.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, newNewsPage(p, newsForm(v, p)))
}

// createNews shows what news would be like, sends a test of it, or asks whether it is to be sent to so many. What was confirmed it has sent.
func (d *Dashboard) createNews(v *visit) error {
	p, err := d.api.Products.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f := newsForm(v, p)
	page := newNewsPage(p, f)
	if v.field("change") != "" {
		return v.show(http.StatusOK, page)
	}
	in, err := readNews(v, p)
	if err == nil && v.field("confirmed") != "" {
		return d.sendNews(v, in, f, page)
	}
	var preview *sdk.ProductNewsPreview
	if err == nil {
		preview, err = d.api.ProductNews.Preview(v.ctx(), in)
	}
	if err == nil && v.field("test") != "" {
		err = d.sendTest(v, in)
	}
	if err == nil && preview.Recipients == 0 && !preview.HasMore && in.SendAt == nil && !v.isPreview() && v.field("test") == "" {
		err = core.Invalid("audience", "None of them has agreed to your news yet.")
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, page, wrong...)
	}
	if err != nil {
		return err
	}
	letter := []ui.Section{{Title: "The letter", Terms: []ui.Term{{Name: "Subject", Value: ui.Cell{Text: preview.Subject}}, {Name: "Would get it now", Value: ui.Cell{Text: newsReaders(preview)}}}}, drawn("What you wrote", in.Body), {Title: "All of it, as plain text", Code: preview.Text}}
	switch {
	case v.field("test") != "":
		letter[0].Text = "A test was sent to " + v.Email + "."
	case !v.isPreview():
		page.Form, page.Lead = confirmNews(in, preview, v.field("send_at")), ""
	}
	page.Sections = letter
	return v.show(http.StatusOK, page)
}

// confirmNews asks whether news is to be sent.
func confirmNews(in *sdk.ProductNewsCreate, p *sdk.ProductNewsPreview, at string) *ui.Form {
	readers := newsReaders(p)
	f := &ui.Form{Text: "This letter goes to " + readers + " at once. What was sent cannot be taken back.", Submit: "Send to " + readers, Once: newOnce(), Buttons: []ui.Button{{Text: "Change it", Name: "change", Value: "yes"}}}
	if at != "" {
		f.Text, f.Submit = "This letter goes to those who agreed by then. Now it would go to "+readers+".", "Send it then"
	}
	for _, hidden := range [][2]string{{"subject", in.Subject}, {"body", in.Body}, {"audience", string(in.Audience)}, {"send_at", at}, {"confirmed", "yes"}} {
		f.Controls = append(f.Controls, ui.Control{Kind: "hidden", Name: hidden[0], Value: hidden[1]})
	}
	return f
}

// newsReaders says who would get news. Counting stops, and may have found nobody by then.
func newsReaders(p *sdk.ProductNewsPreview) string {
	count := strconv.FormatInt(p.Recipients, 10)
	if p.Recipients >= 1000 {
		count = "1,000"
	}
	switch {
	case p.HasMore && p.Recipients == 0:
		return "those who agreed"
	case p.HasMore:
		return count + "+ customers"
	case p.Recipients == 1:
		return "1 customer"
	}
	return count + " customers"
}

// sendNews has confirmed news sent.
func (d *Dashboard) sendNews(v *visit, in *sdk.ProductNewsCreate, f *ui.Form, page ui.Page) error {
	n, err := d.api.ProductNews.Create(v.ctx(), in, v.once())
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, page, wrong...)
	}
	if err != nil {
		return err
	}
	said := "Its letters are being sent."
	if n.Status == sdk.ProductNewsStatusScheduled {
		said = "Its letters are sent when the time comes."
	}
	return v.done(newsPage+"/"+n.ID, person.Notice{Text: said})
}

// sendTest sends news to whoever is signed in, if they confirmed their address.
func (d *Dashboard) sendTest(v *visit, in *sdk.ProductNewsCreate) error {
	who, err := d.store.Person.GetPerson(v.ctx(), v.PersonID)
	if err != nil {
		return err
	}
	if !who.GetsLetters() {
		return core.Invalid("base", "Confirm your e-mail address first: a test is sent to no other.")
	}
	return d.testNews(v.ctx(), v.AccountID, who.Email, store.NewProductNews{Product: in.Product, Subject: in.Subject, Body: in.Body, Audience: store.NewsAudience(in.Audience)})
}
