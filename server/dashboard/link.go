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

const linksPage = "/app/links"

func linkBadge(l *sdk.CheckoutLink) *ui.Badge {
	switch {
	case l.MaxUses != nil && l.Uses >= *l.MaxUses:
		return &ui.Badge{Text: "Used up", Tone: "warn", Icon: "alert"}
	case l.Active:
		return &ui.Badge{Text: "Active", Tone: "good", Icon: "check"}
	}
	return &ui.Badge{Text: "Off", Icon: "lock"}
}

// links lists the checkout links of the shop.
func (d *Dashboard) links(v *visit) error {
	after, before := v.position()
	list, err := d.api.CheckoutLinks.List(v.ctx(), &sdk.ListCheckoutLinksParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q"), Expand: sdk.Expand("price_variants", "price_variants.product")})
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Checkout links", Columns: []string{"Name", "Sells", "Bought", "State", "Made"}}
	for i := range list.Data {
		l := &list.Data[i]
		uses := strconv.FormatInt(l.Uses, 10)
		if l.MaxUses != nil {
			uses += " of " + strconv.FormatInt(*l.MaxUses, 10)
		}
		t.Rows = append(t.Rows, []ui.Cell{{Text: linkName(l), Address: linksPage + "/" + l.ID}, {Text: sells(l)}, {Text: uses, Number: true}, {Badge: linkBadge(l)}, v.at(l.CreatedAt.Time())})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	p := ui.Page{Heading: "Checkout links", Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{{Name: "q", Label: "Search", Value: v.QueryParam("q")}}}}
	t.Empty = v.nothing(&ui.Empty{Text: "A checkout link sells something wherever you put it: on a page, in a letter, on paper. There is none yet."})
	if v.may("checkouts:write") {
		p.Actions = []ui.Link{{Text: "New link", Address: linksPage + "/new", Primary: true}}
	}
	return v.show(http.StatusOK, p)
}

func linkName(l *sdk.CheckoutLink) string { return cmp.Or(core.Deref(l.Name), "Link without a name") }

// sells returns what a link sells, whose variants are expanded.
func sells(l *sdk.CheckoutLink) string {
	text := ""
	for i, e := range l.PriceVariants {
		if i > 0 {
			text += ", "
		}
		variant, ok := e.Get()
		if !ok {
			text += e.ID
			continue
		}
		if p, ok := variant.Product.Get(); ok {
			text += p.Name + ", "
		}
		text += priceText(&variant)
	}
	return text
}

// linkForm offers the prices of what is for sale, the newest hundred of them.
func (d *Dashboard) linkForm(v *visit) (*ui.Form, error) {
	products, err := d.api.Products.List(v.ctx(), &sdk.ListProductsParams{Status: new(sdk.ProductStatusActive), Limit: new(int64(100)), Expand: sdk.Expand("price_variants")})
	if err != nil {
		return nil, err
	}
	form, err := v.FormParams()
	if err != nil {
		return nil, err
	}
	wanted := append(form["price_variants"], v.QueryParam("price_variant"))
	variants := ui.Control{Kind: "checkboxes", Name: "price_variants", Label: "What it sells", Hint: "Products that are for sale."}
	for i := range products.Data {
		for _, e := range products.Data[i].PriceVariants {
			if variant, ok := e.Get(); ok {
				variants.Options = append(variants.Options, ui.Option{Value: variant.ID, Text: products.Data[i].Name + ", " + priceText(&variant), Chosen: slices.Contains(wanted, variant.ID)})
			}
		}
	}
	if len(variants.Options) == 0 {
		variants.Hint = "Nothing is for sale yet. Publish a product first."
	}
	return &ui.Form{Submit: "Create link", Cancel: linksPage, Once: newOnce(), Controls: []ui.Control{
		{Name: "name", Label: "Name", Hint: "For yourselves.", Value: v.field("name"), Longest: 255, Optional: true},
		variants,
		{Name: "max_uses", Label: "How often it can be bought by", Hint: "Empty for any number.", Value: v.field("max_uses"), InputMode: "numeric", Longest: 9, Optional: true},
		{Kind: "checkbox", Name: "allow_discount_codes", Label: "Buyers may use discount codes", Checked: v.Request().Method == http.MethodGet || v.field("allow_discount_codes") != ""},
		{Kind: "checkbox", Name: "allow_quantity_change", Label: "Buyers may choose how many", Checked: v.field("allow_quantity_change") != ""},
		{Name: "success_url", Label: "Where buyers go afterwards", Hint: "An address of yours. Empty for our page with the downloads.", Value: v.field("success_url"), Longest: 2048, Optional: true},
	}}, nil
}

func linkPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "New checkout link", Up: &ui.Link{Text: "Checkout links", Address: linksPage}, Form: f}
}

// newLink shows the form for a checkout link.
func (d *Dashboard) newLink(v *visit) error {
	f, err := d.linkForm(v)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, linkPage(f))
}

// createLink makes a checkout link.
func (d *Dashboard) createLink(v *visit) error {
	f, err := d.linkForm(v)
	if err != nil {
		return err
	}
	form, err := v.FormParams()
	if err != nil {
		return err
	}
	in := &sdk.CheckoutLinkCreate{Name: v.optional("name"), PriceVariants: form["price_variants"], SuccessURL: v.optional("success_url"), AllowDiscountCodes: new(v.field("allow_discount_codes") != ""), AllowQuantityChange: new(v.field("allow_quantity_change") != "")}
	if text := v.field("max_uses"); text != "" {
		n, wrong := strconv.ParseInt(text, 10, 64)
		if wrong != nil {
			err = core.Invalid("max_uses", "Type a number, or nothing.")
		}
		in.MaxUses = &n
	}
	if len(in.PriceVariants) == 0 {
		err = core.Invalid("price_variants", "Choose what the link sells.")
	}
	var l *sdk.CheckoutLink
	if err == nil {
		l, err = d.api.CheckoutLinks.Create(v.ctx(), in, v.once())
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, linkPage(f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(linksPage+"/"+l.ID, person.Notice{Text: "The link is ready."})
}

// link shows a checkout link.
func (d *Dashboard) link(v *visit) error {
	l, err := d.api.CheckoutLinks.Get(v.ctx(), v.Param("id"), sdk.Expand("price_variants", "price_variants.product"))
	if err != nil {
		return err
	}
	address := linksPage + "/" + l.ID
	limit := "Any number"
	if l.MaxUses != nil {
		limit = strconv.FormatInt(*l.MaxUses, 10)
	}
	p := ui.Page{Heading: linkName(l), Badge: linkBadge(l), Up: &ui.Link{Text: "Checkout links", Address: linksPage}, Actions: []ui.Link{{Text: "Open", Address: l.URL}}, Sections: []ui.Section{
		{Title: "Address", Code: l.URL},
		{Terms: []ui.Term{{Name: "Sells", Value: ui.Cell{Text: sells(l)}}, {Name: "Bought", Value: ui.Cell{Text: strconv.FormatInt(l.Uses, 10)}}, {Name: "Can be bought", Value: ui.Cell{Text: limit}}, {Name: "Id", Value: ui.Cell{Text: l.ID, Code: true}}}},
	}}
	if v.may("checkouts:write") {
		turn := ui.Form{Action: address + "/active", Submit: "Switch off", Inline: true, Once: newOnce(), Controls: []ui.Control{{Kind: "hidden", Name: "active", Value: "no"}}}
		if !l.Active {
			turn.Submit, turn.Controls[0].Value = "Switch on", "yes"
		}
		p.Sections = append(p.Sections, ui.Section{Forms: []ui.Form{turn}})
	}
	return v.show(http.StatusOK, p)
}

// switchLink switches a checkout link on or off.
func (d *Dashboard) switchLink(v *visit) error {
	l, err := d.api.CheckoutLinks.Update(v.ctx(), v.Param("id"), &sdk.CheckoutLinkUpdate{Active: new(v.field("active") == "yes")}, v.once())
	if err != nil {
		return err
	}
	said := "The link is off. Whoever opens it is told so."
	if l.Active {
		said = "The link is on."
	}
	return v.done(linksPage+"/"+l.ID, person.Notice{Text: said})
}
