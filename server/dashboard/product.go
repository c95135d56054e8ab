package dashboard

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const productsPage = "/app/products"

// productBadge returns the badge of a product's status.
func productBadge(s sdk.ProductStatus) *ui.Badge {
	switch s {
	case sdk.ProductStatusActive:
		return &ui.Badge{Text: "Active", Tone: "good", Icon: "check"}
	case sdk.ProductStatusArchived:
		return &ui.Badge{Text: "Archived", Tone: "void", Icon: "cross"}
	case sdk.ProductStatusDraft:
	}
	return &ui.Badge{Text: "Draft", Icon: "clock"}
}

// products lists what the shop sells.
func (d *Dashboard) products(v *visit) error {
	after, before := v.position()
	in := &sdk.ListProductsParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q"), Expand: sdk.Expand("default_price_variant")}
	status := v.QueryParam("status")
	if status != "" {
		in.Status = new(sdk.ProductStatus(status))
	}
	list, err := d.api.Products.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Products", Columns: []string{"Name", "Status", "Price", "Sold", "Made"}}
	for i := range list.Data {
		p := &list.Data[i]
		price := ui.Cell{Number: true}
		if variant, ok := p.DefaultPriceVariant.Get(); ok {
			price.Text = priceText(&variant)
		}
		t.Rows = append(t.Rows, []ui.Cell{
			{Text: p.Name, Address: productsPage + "/" + p.ID}, {Badge: productBadge(p.Status)}, price, {Text: strconv.FormatInt(p.SalesCount, 10), Number: true}, v.at(p.CreatedAt.Time()),
		})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	p := ui.Page{Heading: "Products", Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Name: "q", Label: "Search", Value: v.QueryParam("q")},
		{Kind: "select", Name: "status", Label: "Status", Options: chosen(status, "", "All", "draft", "Draft", "active", "Active", "archived", "Archived")},
	}}}
	t.Empty = v.nothing(&ui.Empty{Text: "What you sell is a product with one price or more. There is none yet.",
		Curl: `curl ` + d.publicURL + `/v1/products -H "Authorization: Bearer sk_..." -H "Content-Type: application/json" -d '{"name": "Handbook", "price_variants": [{"amount": 1900, "currency": "` + v.shop.DefaultCurrency + `"}]}'`})
	if v.may("products:write") {
		p.Actions = []ui.Link{{Text: "New product", Address: productsPage + "/new", Primary: true}}
		if v.QueryParam("q") == "" && status == "" {
			t.Empty.Action = &ui.Link{Text: "New product", Address: productsPage + "/new"}
		}
	}
	return v.show(http.StatusOK, p)
}

// priceText returns a price in words.
func priceText(p *sdk.PriceVariant) string {
	text := core.FormatAmount(p.Amount, p.Currency)
	switch p.AmountType {
	case sdk.PriceVariantAmountTypeFree:
		text = "Free"
	case sdk.PriceVariantAmountTypeCustom:
		text = "From " + core.FormatAmount(core.Deref(p.MinAmount), p.Currency)
	}
	if p.Interval != nil {
		text += " a " + string(*p.Interval)
		if n := core.Deref(p.IntervalCount); n > 1 {
			text = strings.TrimSuffix(text, " a "+string(*p.Interval)) + " every " + strconv.FormatInt(n, 10) + " " + string(*p.Interval) + "s"
		}
	}
	return text
}

// currencies are those that forms offer. A program may use every other one.
var currencies = []string{"eur", "usd", "gbp", "chf", "jpy", "brl", "cad", "aud", "inr", "sek", "nok", "dkk", "pln", "czk", "mxn", "nzd", "sgd", "hkd", "zar", "krw"}

func currencyOptions(value string) []ui.Option {
	var options []ui.Option
	known := false
	for _, currency := range currencies {
		known = known || currency == value
		options = append(options, ui.Option{Value: currency, Text: strings.ToUpper(currency), Chosen: currency == value})
	}
	if !known && value != "" {
		options = append(options, ui.Option{Value: value, Text: strings.ToUpper(value), Chosen: true})
	}
	return options
}

// priceControls are the controls of a price.
func priceControls(v *visit) []ui.Control {
	return []ui.Control{
		{Name: "amount", Label: "Price", Hint: "Such as 20.00. What the buyer chooses begins there.", Value: v.field("amount"), InputMode: "decimal", Longest: 20, Required: true},
		{Kind: "select", Name: "currency", Label: "Currency", Options: currencyOptions(cmp.Or(v.field("currency"), v.shop.DefaultCurrency))},
		{Kind: "select", Name: "amount_type", Label: "Who says what it costs", Options: chosen(v.field("amount_type"), "fixed", "You: it is fixed", "custom", "The buyer, from this price on", "free", "Nobody: it is free")},
		{Kind: "select", Name: "interval", Label: "How often it is paid", Options: chosen(v.field("interval"), "", "Once", "month", "Every month", "year", "Every year", "week", "Every week")},
	}
}

// readPrice reads the controls of a price.
func readPrice(v *visit) (*sdk.ProductPriceVariant, error) {
	currency := v.field("currency")
	p := &sdk.ProductPriceVariant{Currency: &currency, AmountType: new(sdk.PriceVariantAmountType(cmp.Or(v.field("amount_type"), "fixed")))}
	if interval := v.field("interval"); interval != "" {
		p.Type, p.Interval = new(sdk.PriceVariantTypeRecurring), new(sdk.PriceVariantInterval(interval))
	}
	if *p.AmountType == sdk.PriceVariantAmountTypeFree {
		return p, nil
	}
	amount, problem := core.ReadAmount(v.field("amount"), currency)
	if problem != "" {
		return nil, core.Invalid("amount", "Type a price like 20.00.")
	}
	if *p.AmountType == sdk.PriceVariantAmountTypeCustom {
		p.MinAmount = &amount
	} else {
		p.Amount = &amount
	}
	return p, nil
}

const pictureHint = "A PNG, JPEG, GIF or WebP of 10 MB at most, such as https://example.com/book.jpg. It stands on the checkout."

// productControls are the controls of what a product says of itself.
func productControls(name, headline, description, cover, thanks string) []ui.Control {
	return []ui.Control{
		{Name: "name", Label: "Name", Value: name, Longest: 255, Required: true},
		{Name: "headline", Label: "Headline", Hint: "One line under the name, on the checkout.", Value: headline, Longest: 255, Optional: true},
		{Kind: "textarea", Name: "description", Label: "Description", Value: description, Optional: true},
		{Name: "cover_url", Label: "Picture URL", Hint: pictureHint, Value: cover, InputMode: "url", Longest: 2048, Optional: true},
		{Kind: "textarea", Name: "thank_you", Label: "Thank-you text", Hint: "On the page after paying.", Value: thanks, Lines: 3, Optional: true},
	}
}

func newProductForm(v *visit) *ui.Form {
	return &ui.Form{Submit: "Create product", Cancel: productsPage, Once: newOnce(),
		Controls: append(productControls(v.field("name"), v.field("headline"), v.FormValue("description"), v.field("cover_url"), v.FormValue("thank_you")), priceControls(v)...)}
}

func newProductPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "New product", Up: &ui.Link{Text: "Products", Address: productsPage}, Lead: "It is a draft until you publish it.", Form: f}
}

// newProduct shows the form for a product.
func (d *Dashboard) newProduct(v *visit) error {
	return v.show(http.StatusOK, newProductPage(newProductForm(v)))
}

// createProduct makes a product with one price.
func (d *Dashboard) createProduct(v *visit) error {
	f := newProductForm(v)
	price, err := readPrice(v)
	var p *sdk.Product
	if err == nil {
		p, err = d.api.Products.Create(v.ctx(), &sdk.ProductCreate{
			Name: v.field("name"), Headline: v.optional("headline"), Description: v.optional("description"), CoverURL: v.optional("cover_url"), ThankYou: v.optional("thank_you"), PriceVariants: []sdk.ProductPriceVariant{*price},
		}, v.once())
	}
	if wrong, ok := problems(renamed(err, map[string]string{"price_variants": "amount"}), f); ok {
		return v.show(http.StatusUnprocessableEntity, newProductPage(f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(productsPage+"/"+p.ID, person.Notice{Text: "The product was made. Publish it when it is ready to be sold."})
}

// product shows a product, and what can be done with it.
func (d *Dashboard) product(v *visit) error { return d.showProduct(v, http.StatusOK, nil) }

// showProduct shows a product, with a form that was filled in wrongly instead of the one with its name.
func (d *Dashboard) showProduct(v *visit, status int, wrong *ui.Form, problems ...ui.Problem) error {
	p, err := d.api.Products.Get(v.ctx(), v.Param("id"), sdk.Expand("price_variants"))
	if err != nil {
		return err
	}
	address := productsPage + "/" + p.ID
	prices := &ui.Table{Label: "Prices", Columns: []string{"Price", "Name", "Sold", "Left", "Id"}, Empty: &ui.Empty{Text: "It has no price, and cannot be published."}}
	for _, e := range p.PriceVariants {
		if variant, ok := e.Get(); ok {
			left := ui.Cell{Text: "Any number"}
			if variant.Stock != nil {
				left.Text = strconv.FormatInt(*variant.Stock, 10)
			}
			prices.Rows = append(prices.Rows, []ui.Cell{{Text: priceText(&variant)}, textCell(variant.Name), {Text: strconv.FormatInt(variant.SoldCount, 10), Number: true}, left, {Text: variant.ID, Code: true}})
		}
	}
	files := &ui.Table{Label: "What buyers get", Columns: []string{"Name", "What it is"}, Empty: &ui.Empty{Text: "Buyers get nothing yet but the receipt."}}
	for _, given := range p.Deliverables {
		name := ui.Cell{Text: cmp.Or(core.Deref(given.Name), core.Deref(given.Ref))}
		if given.Type == sdk.DeliverableTypeFile && v.may("files:write") {
			name.Address = address + "/files/" + core.Deref(given.Ref)
		}
		files.Rows = append(files.Rows, []ui.Cell{name, {Text: deliverableText(given.Type)}})
	}
	page := ui.Page{Heading: p.Name, Badge: productBadge(p.Status), Up: &ui.Link{Text: "Products", Address: productsPage}, Sections: []ui.Section{
		{Title: "Prices", Table: prices}, {Title: "What buyers get", Table: files},
	}}
	if v.may("products:write") {
		page.Actions = []ui.Link{{Text: "Tell customers", Address: address + "/news"}}
		page.Sections[0].Forms = nil
		details := &ui.Form{Action: address, Submit: "Save", Once: newOnce(), Controls: productControls(p.Name, core.Deref(p.Headline), core.Deref(p.Description), core.Deref(p.CoverURL), core.Deref(p.ThankYou))}
		if err := d.tellPicture(v, p.ID, details); err != nil {
			return err
		}
		price := &ui.Form{Action: address + "/prices", Submit: "Add price", Inline: true, Once: newOnce(), Controls: priceControls(v)}
		if p.PriceRange != nil && v.field("currency") == "" {
			price.Controls[1].Options = currencyOptions(p.PriceRange.Currency)
		}
		switch {
		case wrong != nil && wrong.Action == price.Action:
			price = wrong
		case wrong != nil:
			details = wrong
		}
		page.Sections = append([]ui.Section{{Forms: d.productMoves(p, address)}, {Title: "What it says of itself", Form: details}}, page.Sections...)
		page.Sections[2].Form = price
		if v.may("files:write") {
			page.Sections[3].Form = &ui.Form{Action: address + "/files", Submit: "Upload", Upload: true, Inline: true, Controls: []ui.Control{{Kind: "file", Name: "file", Label: "Add a file", Required: true}}}
		}
	}
	page.Sections = append(page.Sections, ui.Section{Title: "For programs", Terms: []ui.Term{{Name: "Id", Value: ui.Cell{Text: p.ID, Code: true}}, {Name: "Slug", Value: ui.Cell{Text: p.Slug, Code: true}}}})
	return v.show(status, page, problems...)
}

func deliverableText(t sdk.DeliverableType) string {
	switch t {
	case sdk.DeliverableTypeFile:
		return "A file to download"
	case sdk.DeliverableTypeLicenseKey:
		return "A licence key"
	case sdk.DeliverableTypeExperience:
		return "An experience"
	}
	return "A link"
}

// productMoves returns the buttons that move a product to another status.
func (d *Dashboard) productMoves(p *sdk.Product, address string) []ui.Form {
	move := func(to, submit string) ui.Form {
		return ui.Form{Action: address + "/" + to, Submit: submit, Inline: true, Once: newOnce()}
	}
	switch p.Status {
	case sdk.ProductStatusActive:
		return []ui.Form{move("unpublish", "Unpublish"), move("duplicate", "Duplicate"), move("archive", "Archive")}
	case sdk.ProductStatusArchived:
		return []ui.Form{move("unarchive", "Take out of the archive")}
	case sdk.ProductStatusDraft:
	}
	return []ui.Form{move("publish", "Publish"), move("duplicate", "Duplicate"), move("archive", "Archive")}
}

// saveProduct changes what a product says of itself.
func (d *Dashboard) saveProduct(v *visit) error {
	in := &sdk.ProductUpdate{Name: new(v.field("name")), Headline: v.change("headline"), Description: v.change("description"), CoverURL: v.change("cover_url"), ThankYou: v.change("thank_you")}
	p, err := d.api.Products.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	_, err = d.api.Products.Update(v.ctx(), p.ID, in, v.once())
	f := &ui.Form{Action: productsPage + "/" + p.ID, Submit: "Save", Once: newOnce(), Controls: productControls(v.field("name"), v.sent("headline", core.Deref(p.Headline)),
		v.sent("description", core.Deref(p.Description)), v.sent("cover_url", core.Deref(p.CoverURL)), v.sent("thank_you", core.Deref(p.ThankYou)))}
	if wrong, ok := problems(err, f); ok {
		return d.showProduct(v, http.StatusUnprocessableEntity, f, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(productsPage+"/"+v.Param("id"), person.Notice{Text: "Saved."})
}

// addPrice gives a product one more price.
func (d *Dashboard) addPrice(v *visit) error {
	address := productsPage + "/" + v.Param("id")
	p, err := readPrice(v)
	if err == nil {
		_, err = d.api.PriceVariants.Create(v.ctx(), &sdk.PriceVariantCreate{
			Product: v.Param("id"), Type: p.Type, AmountType: p.AmountType, Amount: p.Amount, MinAmount: p.MinAmount, Currency: p.Currency, Interval: p.Interval,
		}, v.once())
	}
	f := &ui.Form{Action: address + "/prices", Submit: "Add price", Inline: true, Once: newOnce(), Controls: priceControls(v)}
	if wrong, ok := problems(err, f); ok {
		return d.showProduct(v, http.StatusUnprocessableEntity, f, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(address, person.Notice{Text: "The price was added."})
}

// moveProduct moves a product to another status, or copies it.
func (d *Dashboard) moveProduct(v *visit) error {
	moves := map[string]struct {
		do   func(*visit) (*sdk.Product, error)
		said string
	}{
		"publish": {func(v *visit) (*sdk.Product, error) { return d.api.Products.Publish(v.ctx(), v.Param("id"), v.once()) }, "The product is for sale."},
		"unpublish": {func(v *visit) (*sdk.Product, error) {
			return d.api.Products.Unpublish(v.ctx(), v.Param("id"), v.once())
		}, "The product is a draft again, and not for sale."},
		"archive": {func(v *visit) (*sdk.Product, error) { return d.api.Products.Archive(v.ctx(), v.Param("id"), v.once()) }, "The product was archived. Who bought it keeps it."},
		"unarchive": {func(v *visit) (*sdk.Product, error) {
			return d.api.Products.Unarchive(v.ctx(), v.Param("id"), v.once())
		}, "The product is a draft."},
		"duplicate": {func(v *visit) (*sdk.Product, error) {
			return d.api.Products.Duplicate(v.ctx(), v.Param("id"), v.once())
		}, "This is the copy. It is a draft."},
	}
	move, ok := moves[v.Param("move")]
	if !ok {
		return core.Missing("page", "", "")
	}
	p, err := move.do(v)
	if wrong, ok := problems(err, &ui.Form{}); ok {
		return d.showProduct(v, http.StatusUnprocessableEntity, nil, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(productsPage+"/"+p.ID, person.Notice{Text: move.said})
}
