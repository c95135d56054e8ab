package pages

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/tenant"
)

// shownLine is a line with what the page says of its product. A product that was deleted has nothing more to say.
type shownLine struct {
	lineitem.Item
	Renewal      string // how often it is paid, empty for once
	Next         string // what is paid after what is paid now, and when, empty for nothing
	Includes     string // what its buyer receives, empty for nothing
	Before       int64  // what it cost once, 0 if that is not said
	Choice       *choice
	Pieces       *pieces
	Headline     *string
	Picture      ui.Image
	isPictured   bool // its seller gave an address of a picture
	CallToAction *string
	ThankYou     *string
}

// shownLines returns the lines of an offer, whose price variants are these by id.
func shownLines(l *locale.Locale, offer *checkout.Offer, variants map[string]*catalog.PriceVariant) []shownLine {
	lines := make([]shownLine, len(offer.Items))
	for i, item := range offer.Items {
		lines[i] = shownLine{Item: item}
		if item.Kind != lineitem.KindPrice {
			continue
		}
		product, v := offer.Products[core.Deref(item.ProductID)], variants[core.Deref(item.PriceVariantID)]
		if v != nil && v.Type == catalog.PriceVariantTypeRecurring {
			lines[i].Renewal = paidEvery(l, v)
		}
		if v != nil && v.Currency == item.Currency && core.Deref(v.CompareAtAmount) > item.UnitAmount {
			lines[i].Before = *v.CompareAtAmount * item.Quantity
		}
		if product != nil {
			lines[i].Headline, lines[i].isPictured, lines[i].CallToAction = product.Headline, hasPicture(product), product.CallToAction
			lines[i].ThankYou = product.ThankYou
		}
		if product != nil && v != nil {
			lines[i].Includes = includedIn(l, product, v)
		}
	}
	return lines
}

// Only returns the line of a checkout that sells one thing, else nil.
func (p checkoutPage) Only() *shownLine {
	if len(p.Items) != 1 {
		return nil
	}
	return &p.Items[0]
}

// FreeUntil returns the day on which the trial of a line that was bought ends, empty while it is not.
func (p checkoutPage) FreeUntil(line shownLine) string {
	end := line.TrialEnd
	if p.Checkout.CompletedAt == nil {
		return ""
	}
	if end == nil {
		end = new(p.Checkout.CompletedAt.Add(24 * time.Hour * time.Duration(line.TrialDays)))
	}
	return p.l.Day(p.Seller.Local(*end))
}

// Again returns where the buyer can begin anew once the checkout has expired, empty for nowhere.
func (p checkoutPage) Again() string {
	return cmp.Or(text(p.Checkout.CancelURL), text(p.Seller.WebsiteURL))
}

// HasDownload reports whether the buyer has a file to download, which is what they are to do first.
func (p checkoutPage) HasDownload() bool {
	return slices.ContainsFunc(p.Deliveries, func(d grant.Delivery) bool { return d.FileID != nil && d.Name != nil && d.URL != nil })
}

// Thanks returns what the seller says to whoever has paid, once for each text.
func (p checkoutPage) Thanks() []string {
	var all []string
	for _, line := range p.Items {
		if line.ThankYou != nil && !slices.Contains(all, *line.ThankYou) {
			all = append(all, *line.ThankYou)
		}
	}
	return all
}

// Pays reports whether the page has the form with which a buyer pays.
func (p checkoutPage) Pays() bool { return p.State == string(checkout.StatusOpen) && p.CanPay() }

// Unfolds reports whether the order lies open on a phone, where it is folded to its total else. It does if it says what is paid later, there is
// something to choose in it, or something typed there is wrong.
func (p checkoutPage) Unfolds() bool {
	return p.Problems["discount_code"] != "" || slices.ContainsFunc(p.Items, func(line shownLine) bool { return line.Renewal != "" || line.Choice != nil || line.Pieces != nil })
}

// BeginsTrial reports whether a trial begins after which something is paid, and nothing is paid today. The button of a trial says in German that
// it costs something afterwards.
func (p checkoutPage) BeginsTrial() bool {
	return p.Checkout.AmountDueNow == 0 && slices.ContainsFunc(p.Items, func(line shownLine) bool { return line.HasTrial() && line.UnitAmount > 0 })
}

// IsLive reports whether the page has the script that counts the total anew.
func (p checkoutPage) IsLive() bool { return p.Pays() }

// HasKey reports whether the page shows a licence key.
func (p checkoutPage) HasKey() bool {
	return slices.ContainsFunc(p.Deliveries, func(d grant.Delivery) bool { return d.Key != nil })
}

// addressFields are the fields of the form that most buyers leave out, which are folded away.
var addressFields = []string{"line1", "postal_code", "city", "state", "company", "tax_id"}

// HasAddress reports whether something was typed into one of the addressFields, or is wrong with it, or the tax depends on one. A region that is chosen
// stands beside the country instead.
func (p checkoutPage) HasAddress() bool {
	isChosen := p.Regions() != nil
	return p.AsksRegion() && !isChosen || slices.ContainsFunc(addressFields, func(name string) bool {
		return (name != "state" || !isChosen) && p.Form[name]+p.Problems[name] != ""
	})
}

// frame returns what stands around the page.
func (p checkoutPage) frame() ui.Frame {
	frame := ui.Frame{Title: p.l.T("checkout.title"), Shop: shopOf(p.Seller), Forward: p.Forward, Split: true, Problems: p.summary()}
	if p.State == "paid" {
		frame.Title = p.l.T("paid.title")
	}
	frame.Again = again(p.State, p.Forward)
	return frame
}

// labeled are the labels of the fields that the summary of what is wrong names, in the order of the page. A region is chosen beside the country.
var labeled = []string{
	"field.discount_code", "field.email", "field.name", "field.country", "field.state", "field.line1", "field.postal_code", "field.city", "field.company", "field.tax_id",
}

// summary returns what is wrong, in the order of the page.
func (p checkoutPage) summary() []ui.Problem {
	var all []ui.Problem
	add := func(name string, problem ui.Problem) {
		if said := p.Problems[name]; said != "" {
			problem.Text = said
			all = append(all, problem)
		}
	}
	for _, line := range p.Items {
		if line.Choice != nil {
			add(line.Choice.Name, ui.Problem{Field: line.Choice.Name, Label: p.l.T("field.amount")})
		}
		if line.Pieces != nil {
			add(line.Pieces.Name, ui.Problem{Field: line.Pieces.Name, Label: line.Pieces.named})
		}
	}
	add("", ui.Problem{})
	add(orderProblem, ui.Problem{})
	add("letter", ui.Problem{})
	for _, label := range labeled {
		name := strings.TrimPrefix(label, "field.")
		add(name, ui.Problem{Field: name, Label: p.l.T(label)})
	}
	for _, question := range p.CustomFields {
		add(answerField+question.Key, ui.Problem{Field: answerField + question.Key, Label: question.Label})
	}
	card := ui.Problem{Field: "card_number", Label: p.l.T("field.card_number")}
	if p.TakesStripe() {
		card = ui.Problem{}
	}
	add("card_number", card)
	add("card_expiry", ui.Problem{Field: "card_expiry", Label: p.l.T("field.card_expiry")})
	add("card_cvc", ui.Problem{Field: "card_cvc", Label: p.l.T("field.card_cvc")})
	add("terms", ui.Problem{Field: "terms"})
	add("waiver", ui.Problem{Field: "waive"})
	return all
}

// paymentForm is the id of the form of a checkout. The fields beside the order belong to it too, so that whatever is sent, all that was typed is.
const paymentForm = "payment"

// newField returns an input of the checkout's form with what was typed into it. Before anything was sent, the discount code is
// the checkout's.
func newField(l *locale.Locale, page *checkoutPage, name, label, kind, autocomplete string, required bool) ui.Field {
	field := ui.Field{
		Name: name, Label: label, Type: kind, Autocomplete: autocomplete, Value: page.Form[name], Problem: page.Problems[name],
		Required: required && name != "discount_code", Optional: !required && !slices.Contains(addressFields, name),
	}
	if email := page.Checkout.CustomerEmail; name == "email" && email != nil {
		field.Required = false
		if field.Value == "" {
			field.Hint = l.T("field.email.known")
		}
	}
	if name == "discount_code" {
		field.Form = paymentForm
		if _, sent := page.Form[name]; !sent {
			field.Value = text(page.Checkout.DiscountCode)
		}
	}
	return field
}

// newBeside returns what is wrong with a field, for the place beside it.
func newBeside(page *checkoutPage, name string) ui.Field {
	return ui.Field{Name: name, Problem: page.Problems[name]}
}

// cardField returns one of the inputs for a test card. Problem is what is wrong with the card, or with each of its fields by name.
func cardField(l *locale.Locale, name string, problem any) ui.Field {
	said := ""
	switch problem := problem.(type) {
	case map[string]string:
		said = problem[name]
	case string:
		if name == "card_number" {
			said = problem
		}
	}
	switch name {
	case "card_number":
		return ui.Field{Name: name, Label: l.T("field.card_number"), InputMode: "numeric", Autocomplete: "cc-number", Longest: 30, Required: true, Problem: said}
	case "card_expiry":
		return ui.Field{Name: name, Label: l.T("field.card_expiry"), Placeholder: l.T("field.card_expiry.form"), InputMode: "numeric", Autocomplete: "cc-exp", Longest: 9, Required: true, Problem: said}
	}
	return ui.Field{Name: name, Label: l.T("field.card_cvc"), InputMode: "numeric", Autocomplete: "cc-csc", Longest: 4, Required: true, Problem: said}
}

// sayRequired keeps the country required after the tax is known, as long as the tax depends on it.
func (p *checkoutPage) sayRequired() {
	p.Asks = p.Asks || p.Country != "" && p.Seller.Tax.V.Mode != tenant.TaxModeNone
}

// guessCountry has a checkout of which the tax is not known yet show it, for a buyer who has not chosen a country. The guess is the country of their
// browser, or else the seller's. For one who has, it shows the tax of that. It returns the country that is chosen on the page, and whether the tax
// depends on it. What the buyer pays follows from what they send.
func guessCountry(c echo.Context, checkout *checkout.Checkout, offer *checkout.Offer, form map[string]string) (asks bool, country string, err error) {
	country, chosen := form["country"]
	asks = checkout.TaxAmount == nil || country != ""
	if own := checkout.BillingAddress.V; own != nil && text(own.Country) != "" && !chosen && asks { // its state is missing
		return asks, *own.Country, nil
	}
	guess := country // the one that they chose on a form that was refused, of which nothing is stored
	if !chosen {
		guess = cmp.Or(locale.Region(c.Request().Header.Get("Accept-Language")), text(offer.Seller.Country))
	}
	if !asks || guess == "" {
		return asks, country, nil
	}
	can, err := offer.PreviewTax(checkout, guess)
	if can {
		country = guess
	}
	return asks, country, err
}

// TermNames returns the names of what the buyer accepts.
func (p checkoutPage) TermNames() string {
	names := make([]string, len(p.Terms))
	for i, t := range p.Terms {
		names[i] = t.Title
	}
	return p.l.List(names...)
}

// showBought has the page of a paid checkout show its order, and what it gave the buyer.
func (p *Pages) showBought(ctx context.Context, page *checkoutPage) error {
	checkout := page.Checkout
	if page.State != "paid" || checkout.OrderID == nil {
		return nil
	}
	var err error
	if page.Order, err = p.store.Order.Get(ctx, checkout.AccountID, *checkout.OrderID); err != nil {
		return err
	}
	page.Deliveries, err = p.store.CheckoutDeliveries(ctx, checkout)
	return err
}

// justPaid is the parameter of the address of a checkout's page to which its buyer comes right after paying.
const justPaid = "paid"

// toShop returns the seller's address to which a buyer who has just paid is sent on at once, empty for nowhere.
func toShop(c echo.Context, success string) string {
	u, err := url.Parse(success)
	if c.QueryParam(justPaid) == "" || err != nil || !strings.HasPrefix(u.Scheme, "http") {
		return ""
	}
	return success
}
