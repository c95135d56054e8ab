package pages

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
)

// answerField is the prefix of the names of form fields that hold answers to a product's questions.
const answerField = "answer."

// quantityField is the prefix of the names of form fields that hold how many pieces a buyer chooses, before the place of the line.
const quantityField = "quantity."

// amountField is the prefix of the names of form fields that hold what a buyer chooses to pay, before the place of the line.
const amountField = "amount."

// pay takes the form of a checkout. It stores what the buyer entered, and charges them if they pressed the button for that, or
// Enter. Only who knows the client secret can send the form. If the entries have changed the total, the new one is shown first, and
// nothing is charged. Nor is anything charged by Enter if a discount code is new. What is refused is shown with the form below this
// address. All else is state: the buyer is sent back to the page, which shows it however often it is loaded.
func (p *Pages) pay(c echo.Context) error {
	ctx, secret := c.Request().Context(), c.Param("client_secret")
	account, id, err := p.store.Checkout.OfSecret(ctx, secret)
	if err != nil {
		return p.refuse(c, err)
	}
	values, err := c.FormParams()
	if err != nil {
		return p.showCheckout(c, http.StatusBadRequest, account, id, nil, map[string]string{"": p.spoken(c).T("error.form")})
	}
	form := typed(values)
	if err := p.dropRegion(ctx, account, form); err != nil {
		return err
	}
	if problems := form.problems(p.spoken(c)); problems != nil {
		return p.showCheckout(c, http.StatusUnprocessableEntity, account, id, form, problems)
	}
	agrees, err := p.adsAnswer(ctx, account, form)
	if err != nil {
		return err
	}
	answerNews, err := p.newsAnswer(ctx, account, form)
	if err != nil {
		return err
	}
	pays := form["do"] == doPay || form["do"] == doEnter
	if code, sent := form["discount_code"]; pays && sent && code != "" && code == form[refusedCode] {
		delete(form, "discount_code") // they know that it does nothing, and pay without it
	}
	checkout, err := p.store.Checkout.Update(ctx, account, id, func(d *checkout.Draft) {
		if code, sent := form["discount_code"]; sent && form["do"] == doEnter {
			pays = strings.EqualFold(code, text(d.DiscountCode))
		}
		form.change(d)
		p.clear(c, d, form)
		if d.Locale == nil {
			d.Locale = p.buyers(c)
		}
		p.answerAds(c, d, agrees)
		if pays && answerNews != nil {
			answerNews(d)
		}
	})
	if !pays && form["do"] == doEnter {
		form["do"] = doUpdate // nobody pays yet, so nothing is missing
	}
	if err == nil {
		p.keepTyped(c, checkout, form)
	}
	if err == nil && pays && answerNews != nil {
		p.noteNews(c, checkout)
	}
	if err == nil && pays {
		var shown string
		if shown, err = p.shown(ctx, checkout); err != nil {
			return err
		}
		if shown != form["shown"] {
			return p.backTo(c, secret, told, toldTotal)
		}
		confirmation := form.confirmation(c)
		confirmation.Shown = &shown // in another window they may change them meanwhile
		checkout, err = p.billing.ConfirmCheckout(ctx, account, id, confirmation)
		switch core.OutcomeOf(err) {
		case core.Unknown:
			slog.WarnContext(ctx, "take a payment", "error", err)
			return p.backTo(c, secret) // the page says that it is being processed
		case core.Recorded:
			if refused, ok := errors.AsType[*core.Error](err); ok && refused.Reason == "changed" { // tax, say, since they saw the total
				return p.backTo(c, secret, told, toldTotal)
			}
			return p.backTo(c, secret) // the page says why it was declined
		}
	}
	if isOver(err) {
		return p.backTo(c, secret)
	}
	if problems := p.problemsOf(c, err); problems != nil {
		return p.showCheckout(c, http.StatusUnprocessableEntity, account, id, form, problems)
	}
	switch {
	case err != nil:
		return err
	case form["do"] == doCount:
		return p.showCheckout(c, http.StatusOK, account, id, form, nil)
	case !pays:
		return p.backTo(c, secret, told, toldUpdate)
	case p.state(checkout) == "elsewhere":
		return p.backTo(c, secret, toBank, "1")
	case p.state(checkout) == "paid":
		return p.backTo(c, secret, justPaid, "1")
	}
	return p.backTo(c, secret)
}

// shown returns the amounts that the page of a checkout shows, as its form has them.
func (p *Pages) shown(ctx context.Context, c *checkout.Checkout) (string, error) {
	items, err := p.store.Lines.OfCheckout(ctx, c.AccountID, c.ID)
	if err != nil {
		return "", err
	}
	return c.Shown(items)
}

// What the buttons of a checkout's form say that they do, in its field "do".
const (
	doPay    = "pay"
	doUpdate = "update" // counts the total anew
	doCount  = "count"  // does so for our script, which takes the answer at once
	doEnter  = "enter"  // the buyer pressed Enter: pays, or applies a discount code that is new
)

// termsShown is the field of a checkout's form that names the texts of the legal pages on its page: a tick accepts these.
const termsShown = "terms_shown"

// refusedCode is the field of a checkout's form that has the discount code of which the page says that it cannot be used.
const refusedCode = "refused_code"

// told is the parameter of the address of a checkout's page that says what its buyer has just done.
const (
	told       = "told"
	toldTotal  = "total"  // they wanted to pay another total than the one there is
	toldUpdate = "update" // they had the total counted anew
)

// form is what was typed into a form, by the name of the field, without white space around it. The card is left out: a page
// never shows one again.
type form map[string]string

// textOnly drops bytes that are not valid UTF-8, and NUL, which PostgreSQL does not store.
func textOnly(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
}

// typed reads a form as the browser sent it, without the card.
func typed(values url.Values) form {
	f := form{}
	for name := range values {
		if !strings.HasPrefix(name, "card_") && name != "payment_method" {
			f[name] = strings.TrimSpace(textOnly(values.Get(name)))
		}
	}
	return f
}

// change puts what was typed into the checkout. A field that is not in the form, or is empty, leaves what was there, but an
// empty discount code removes the one before. What becomes of the address, address decides, and clear of what was typed before.
func (f form) change(d *checkout.Draft) {
	if email := f["email"]; email != "" && email != text(d.CustomerEmail) {
		d.CustomerID = nil
		d.EnterEmail(&email)
	}
	if f["name"] != "" {
		d.CustomerName = new(f["name"])
	}
	if id := f["tax_id"]; id != "" && (d.TaxID.V == nil || d.TaxID.V.Value != id) {
		d.TaxID = core.JSONOf(&customer.TaxID{Type: taxIDType, Value: id})
	}
	if f["country"] != "" {
		d.BillingAddress = core.JSONOf(f.address(d.BillingAddress.V))
	}
	if code, sent := f["discount_code"]; sent && code != "" {
		d.EnterDiscountCode(&code)
	} else if sent && d.DiscountCode != nil {
		d.EnterDiscountCode(nil)
	}
	d.CustomFieldData.V = f.answers(d.CustomFieldData.V)
	for name, typed := range f {
		if at, ok := placeOf(name, amountField); ok {
			d.ChooseAmount(at, typed)
		}
		if at, ok := placeOf(name, quantityField); ok {
			d.ChooseQuantity(at, typed)
		}
	}
}

// placeOf returns the place of the line that a field is about, whose name has a prefix before it.
func placeOf(name, prefix string) (at int, ok bool) {
	place, ok := strings.CutPrefix(name, prefix)
	at, err := strconv.Atoi(place)
	return at, ok && err == nil
}

// address returns the address that was typed. Where nothing was typed it keeps what the address before says, if that is in the
// same country.
func (f form) address(before *core.Address) *core.Address {
	address := core.Address{}
	if before != nil && text(before.Country) == f["country"] {
		address = *before
	}
	address.Country, address.State = new(f["country"]), typedOr(f["state"], address.State)
	if line := f["line1"]; line != "" && line != text(address.Line1) {
		address.Line1, address.Line2 = new(line), nil
	}
	address.Company = typedOr(f["company"], address.Company)
	address.PostalCode, address.City = typedOr(f["postal_code"], address.PostalCode), typedOr(f["city"], address.City)
	return &address
}

// typedOr returns what was typed, or otherwise if that is empty.
func typedOr(typed string, otherwise *string) *string {
	if typed == "" {
		return otherwise
	}
	return &typed
}

// taxIDType is the type that a tax id gets which a buyer typed: the form does not ask which kind it is.
const taxIDType = "tax_id"

// longest is how many characters each field may have, as the API's document says. Answers to questions may have answerLongest.
var longest = map[string]int{
	"email": 254, "name": 255, "company": 255, "tax_id": 64, "line1": 255, "postal_code": 32, "city": 255, "state": 255, "discount_code": 64,
}

const answerLongest = 1000

// problems returns what is wrong with the form, by field, nil if nothing is. These are the limits that the API checks by its document
// and the store does not. They are lengths, and that the country is one of the list.
func (f form) problems(l *locale.Locale) map[string]string {
	var problems map[string]string
	found := func(name, problem string) {
		if problems == nil {
			problems = map[string]string{}
		}
		problems[name] = problem
	}
	for name, value := range f {
		most, known := longest[name]
		if strings.HasPrefix(name, answerField) {
			most, known = answerLongest, true
		}
		if known && utf8.RuneCountInString(value) > most {
			found(name, l.T("error.long", "count", int64(most)))
		}
	}
	switch country := f["country"]; {
	case country != "" && !locale.IsCountry(country):
		found("country", l.T("error.country.unknown"))
	case country == "" && f["company"]+f["line1"]+f["postal_code"]+f["city"]+f["state"] != "":
		found("country", l.T("error.country.missing"))
	}
	return problems
}

// answers returns the answers of before, with those that were typed in their place. A checkbox without its tick is not sent by
// browsers, so that the tick of before would stay. So the form has a hidden field behind each one, which sends false.
func (f form) answers(before map[string]string) map[string]string {
	answers := maps.Clone(before)
	for name, answer := range f {
		key, isAnswer := strings.CutPrefix(name, answerField)
		if !isAnswer || answer == "" {
			continue
		}
		if answers == nil {
			answers = map[string]string{}
		}
		answers[key] = answer
	}
	return answers
}

// confirmation returns how the buyer pays. The method is nil if no card was typed and none was given to Stripe.
func (f form) confirmation(c echo.Context) billing.CheckoutConfirm {
	in := billing.CheckoutConfirm{OnPage: true, From: buyer(c), TermsAccepted: f["terms"] != "", TermsShown: new(f[termsShown]), WithdrawalWaived: f["waiver"] != "", Method: stripeMethod(c.FormValue("payment_method"))}
	if strings.TrimSpace(c.FormValue("card_number")) != "" {
		in.Method = typedCard(c)
	}
	return in
}

// fieldOf maps the store's name of a field to its name in the form. A problem with any other field is shown above the form.
var fieldOf = map[string]string{
	"customer_email": "email", "billing_address": "country", "discount_code": "discount_code", "payment_method": "card_number",
	"terms_accepted": "terms", "withdrawal_waived": "waiver", "line_items": orderProblem,
}

// cardFieldOf maps a reason to the field of a typed card that it is about, if that is not the number.
var cardFieldOf = map[string]string{
	"invalid_expiry": "card_expiry", "expired_card": "card_expiry", "incorrect_cvc": "card_cvc", "invalid_cvc": "card_cvc",
}

// chosenQuantity returns the name of the first field of a form in which its buyer says how many pieces they want. It is empty if the
// form has none.
func chosenQuantity(c echo.Context) string {
	values, _ := c.FormParams() // that the form could be read is known
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := placeOf(name, quantityField); ok {
			return name
		}
	}
	return ""
}

// problemsOf returns what a refusal means for the form: the problems by field, or nil if err is no refusal. What only the
// seller can change is told to the buyer without its details.
func (p *Pages) problemsOf(c echo.Context, err error) map[string]string {
	if problem, slow := p.whyNot(c, err); slow && c.Response().Header().Get(echo.HeaderRetryAfter) != "" {
		return map[string]string{"": problem}
	}
	var refused *core.Error
	if !errors.As(err, &refused) {
		return nil
	}
	if refused.ForSeller {
		return map[string]string{"": p.spoken(c).T("error.unpayable")}
	}
	problems, l := map[string]string{}, p.spoken(c)
	typesCard := strings.TrimSpace(c.FormValue("card_number")) != ""
	for _, field := range slices.Sorted(maps.Keys(refused.Fields)) {
		name := fieldOf[field]
		if key, isAnswer := strings.CutPrefix(field, "custom_field_data."); isAnswer {
			name = answerField + key
		}
		if field == "line_items" && refused.Reason == "large" {
			name = cmp.Or(chosenQuantity(c), orderProblem)
		}
		if name == "card_number" && typesCard {
			name = cmp.Or(cardFieldOf[refused.Reason], name)
		}
		said := explain(l, refused, field)
		if name == "country" && refused.Reason == "tax" && c.FormValue("country") != "" { // it is the region that is missing
			name, said = "state", l.T("error.state.tax")
		}
		if name == "card_number" && refused.Reason == "" && !typesCard && c.FormValue("payment_method") == "" {
			said = l.T("error.no_card")
		}
		if email := strings.TrimSpace(textOnly(c.FormValue("email"))); name == "email" && email != "" && refused.Reason == "" { // as it was refused
			said = cmp.Or(wrongEmail(l, core.FaultOfEmail(email), "error.email"), said)
		}
		problems[name] = cmp.Or(problems[name], said)
	}
	if len(problems) == 0 {
		problems[""] = explain(l, refused, "")
	}
	return problems
}
