package pages

import (
	"cmp"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
)

// choice is the field in which a buyer says what they pay for a unit of a line.
type choice struct {
	ui.Field
	l           *locale.Locale
	currency    string
	least, most *int64
}

// letChoose gives the lines of which the buyer chooses the price a field for it.
func (p *checkoutPage) letChoose(variants map[string]*catalog.PriceVariant) {
	if !p.Checkout.LetsChoose() || !p.Pays() {
		return
	}
	at := -1
	for i := range p.Items {
		line := &p.Items[i]
		if line.Kind != lineitem.KindPrice {
			continue
		}
		at++
		v := variants[core.Deref(line.PriceVariantID)]
		if v == nil || v.AmountType != catalog.PriceVariantAmountTypeCustom {
			continue
		}
		c := &choice{l: p.l, currency: line.Currency, least: v.MinAmount, most: v.MaxAmount}
		c.Field = ui.Field{
			Form: paymentForm, Name: fmt.Sprint(amountField, at), Label: p.l.T("field.amount"), InputMode: "decimal", Longest: 20, Autocomplete: "off", Required: true,
			Value: core.DecimalAmount(line.UnitAmount, line.Currency),
		}
		c.Hint = capital(c.bounds())
		line.Choice = c
	}
}

// keepChoices shows again what the buyer chose in the order. What is wrong with it is said beside it, in place of what is wrong with the form as a
// whole.
func (p *checkoutPage) keepChoices() {
	p.addPieces()
	for i := range p.Items {
		if c := p.Items[i].Choice; c != nil {
			p.keepChoice(&c.Field, c.problem)
		}
		if n := p.Items[i].Pieces; n != nil {
			p.keepChoice(&n.Field, n.problem)
		}
	}
}

// keepChoice does so for one field.
func (p *checkoutPage) keepChoice(f *ui.Field, problem func(typed string) string) {
	typed, sent := p.Form[f.Name]
	if !sent {
		return
	}
	f.Value = typed
	if f.Problem = cmp.Or(problem(typed), p.Problems[f.Name]); f.Problem != "" {
		if p.Problems == nil {
			p.Problems = map[string]string{}
		}
		delete(p.Problems, "")
		delete(p.Problems, orderProblem)
		p.Problems[f.Name] = f.Problem
	}
}

// problem says why the buyer cannot pay an amount, and nothing if they can.
func (c *choice) problem(typed string) string {
	amount, problem := core.ReadAmount(typed, c.currency)
	currency := core.CurrencyOf(c.currency)
	switch {
	case problem != "":
		return c.l.T("error.amount.form")
	case c.least != nil && amount < *c.least, c.most != nil && amount > *c.most:
		return c.l.T("error.amount.bounds", "bounds", c.bounds())
	case amount > core.MaxAmount:
		return c.l.T("error.amount.large")
	case amount > 0 && amount < currency.Minimum:
		return c.l.T("error.amount.small", "amount", c.l.Money(currency.Minimum, c.currency))
	case amount > 0 && currency.Refuses(c.currency, amount) != "":
		return c.l.T("error.amount.uneven")
	}
	return ""
}

// capital returns a text with a large first letter.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// bounds says between which amounts the buyer chooses.
func (c *choice) bounds() string {
	least, most := "", ""
	if c.least != nil && *c.least > 0 {
		least = c.l.T("amount.least", "amount", c.l.Money(*c.least, c.currency))
	}
	if c.most != nil {
		most = c.l.T("amount.most", "amount", c.l.Money(*c.most, c.currency))
	}
	if least != "" && most != "" {
		return c.l.List(least, most)
	}
	return least + most
}
