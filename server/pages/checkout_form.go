package pages

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// answerField is what the name of a product's question begins with in the form.
const answerField = "answer."

// pay takes the form of a checkout: it stores what the buyer entered, and pays if that is what they pressed. Only who
// knows the client secret can send it. A total that their entries have changed is shown before anything is charged.
func (p *Pages) pay(c echo.Context) error {
	ctx := c.Request().Context()
	account, id, err := p.store.CheckoutOfSecret(ctx, c.Param("client_secret"))
	if err != nil {
		return p.refuse(c, err)
	}
	values, err := c.FormParams()
	if err != nil {
		return p.showCheckout(c, http.StatusBadRequest, account, id, nil, map[string]string{"": "The form could not be read."})
	}
	form := typed(values)
	checkout, err := p.store.UpdateCheckout(ctx, account, id, form.change)
	if err == nil && form["do"] == "pay" {
		if strconv.FormatInt(checkout.AmountDueNow, 10) != form["shown"] {
			return p.showCheckout(c, http.StatusOK, account, id, form, map[string]string{"": "The total has changed. Look at it, and pay again."})
		}
		_, err = p.billing.ConfirmCheckout(ctx, account, id, form.confirmation(values))
	}
	if problems := problemsOf(err); problems != nil {
		return p.showCheckout(c, http.StatusUnprocessableEntity, account, id, form, problems)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "../"+url.PathEscape(c.Param("client_secret")))
}

// form is what was typed, without white space around it. The card is not in it: a page never shows one again.
type form map[string]string

func typed(values url.Values) form {
	f := form{}
	for name := range values {
		if !strings.HasPrefix(name, "card_") {
			f[name] = strings.TrimSpace(values.Get(name))
		}
	}
	return f
}

// change is what the form changes of its checkout. Fields that the page did not have stay as they are.
func (f form) change(d *store.CheckoutDraft) {
	if f["email"] != "" {
		d.CustomerEmail, d.CustomerID = new(f["email"]), nil
	}
	if f["name"] != "" {
		d.CustomerName = new(f["name"])
	}
	if country := strings.ToUpper(f["country"]); country != "" {
		address := store.Address{}
		if d.BillingAddress.V != nil {
			address = *d.BillingAddress.V
		}
		address.Country, address.State = &country, nil
		if f["state"] != "" {
			address.State = new(f["state"])
		}
		d.BillingAddress = store.JSONOf(&address)
	}
	if code, sent := f["discount_code"]; sent && code != "" {
		d.EnterDiscountCode(&code)
	} else if sent && d.DiscountCode != nil {
		d.EnterDiscountCode(nil)
	}
	d.CustomFieldData.V = f.answers(d.CustomFieldData.V)
}

// answers are those of before with those of the form.
func (f form) answers(before map[string]string) map[string]string {
	answers := maps.Clone(before)
	for name, answer := range f {
		key, isAnswer := strings.CutPrefix(name, answerField)
		if !isAnswer || answer == "" && before[key] == "" {
			continue
		}
		if answers == nil {
			answers = map[string]string{}
		}
		answers[key] = answer
	}
	return answers
}

// confirmation is how the buyer pays. Without a card number there is no method.
func (f form) confirmation(values url.Values) billing.ConfirmCheckout {
	in := billing.ConfirmCheckout{TermsAccepted: f["terms"] != ""}
	if number := strings.TrimSpace(values.Get("card_number")); number != "" {
		month, _ := strconv.Atoi(strings.TrimSpace(values.Get("card_exp_month")))
		year, _ := strconv.Atoi(strings.TrimSpace(values.Get("card_exp_year")))
		in.Method = &payments.MethodInput{Card: &payments.Card{
			Number: strings.ReplaceAll(number, " ", ""), ExpMonth: month, ExpYear: year, CVC: strings.TrimSpace(values.Get("card_cvc")),
		}}
	}
	return in
}

// field is one input of the form, with its label.
type field struct {
	Name, Label, Type, Autocomplete string
	Value, Problem                  string
	Required                        bool
}

func newField(page checkoutPage, name, label, kind, autocomplete string, required bool) field {
	value := page.Form[name]
	if _, sent := page.Form[name]; name == "discount_code" && !sent && page.Checkout.DiscountCode != nil {
		value = *page.Checkout.DiscountCode
	}
	return field{Name: name, Label: label, Type: kind, Autocomplete: autocomplete, Value: value, Problem: page.Problems[name], Required: required}
}

// percent writes basis points for people: 1900 is 19 %, 775 is 7.75 %.
func percent(bps int64) string {
	whole, rest := strconv.FormatInt(bps/100, 10), bps%100
	if rest == 0 {
		return whole + " %"
	}
	return whole + "." + strings.TrimRight(strconv.FormatInt(100+rest, 10)[1:], "0") + " %"
}

// fieldOf maps what the store calls a field to its name in the form. What has no field stands above it.
var fieldOf = map[string]string{
	"customer_email": "email", "billing_address": "country", "discount_code": "discount_code", "payment_method": "card_number",
	"terms_accepted": "terms",
}

// problemsOf says what a refusal means for the form, nil for what is none.
func problemsOf(err error) map[string]string {
	var refused *store.Error
	if !errors.As(err, &refused) {
		return nil
	}
	problems := map[string]string{}
	for _, field := range slices.Sorted(maps.Keys(refused.Fields)) {
		name := fieldOf[field]
		if key, isAnswer := strings.CutPrefix(field, "custom_field_data."); isAnswer {
			name = answerField + key
		}
		problems[name] = cmp.Or(problems[name], refused.Fields[field][0])
	}
	if len(problems) == 0 {
		problems[""] = refused.Message
	}
	return problems
}
