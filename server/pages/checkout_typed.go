package pages

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
)

// typedCookie is the cookie by which the browser that typed is known again: marks of what it typed. It has no path, so that it goes to the page of its
// checkout alone. Whoever only finds the address of the page learns nothing of its buyer, whatever they send.
const typedCookie = "tillwright_typed"

// ticks are the names of the boxes that count for the attempt to pay with which they are sent, and for no other. A page that tells of the attempt shows
// them as they were sent.
var ticks = []string{"terms", "waiver"}

// ticked is what a box sends that is ticked.
const ticked = "true"

// mostMarks is how many marks a cookie holds, which browsers keep up to 4 kB of.
const mostMarks = 100

// keepTyped has the browser that sent a checkout's form see again what it sent. It also sees what it sent before in the fields that are not in the
// form now, or were empty when its page was opened. Our script sends some fields alone, and another tab may have typed more.
func (p *Pages) keepTyped(c echo.Context, checkout *checkout.Checkout, sent form) {
	var marks []byte
	before := p.typedBefore(c, checkout, sent[termsShown])
	for n, name := range slices.Sorted(maps.Keys(typedInto(checkout))) {
		value := cmp.Or(sent[name], before[name])
		if value != "" && n < mostMarks {
			marks = append(marks, p.store.Checkout.MarkTyped(checkout, name, value)...)
		}
	}
	for _, name := range ticks {
		value := sent[name]
		if sent["do"] == doCount {
			value = before[name]
		}
		if value == ticked {
			marks = append(marks, p.store.Checkout.MarkTyped(checkout, name, tickOf(name, sent[termsShown]))...)
		}
	}
	c.SetCookie(&http.Cookie{
		Name: typedCookie, Value: base64.RawURLEncoding.EncodeToString(marks), Secure: strings.HasPrefix(checkout.URL, "https:"), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// filledField is the hidden field of a checkout's form that names the fields which its page showed filled. Only these can come back emptied: another tab of
// the browser may have filled the others since.
const filledField = "filled"

// Filled returns the names of the fields that the page shows filled, as its form sends them. Our script asks with a part of the form: the other fields stay
// as the page had them. Of a form that was refused nothing was stored, so that what came back emptied is still to be.
func (p checkoutPage) Filled() string {
	var names []string
	if p.Form["do"] == doCount || p.Problems != nil {
		names = strings.Fields(p.Form[filledField])
	}
	for _, name := range append(slices.Collect(maps.Keys(p.Form)), "country") {
		value, sent := p.Form[name]
		if name == "country" {
			value = p.Country
		}
		_, isText := longest[name]
		switch {
		case value != "" && (name == "country" || isText && name != "discount_code" || strings.HasPrefix(name, answerField)):
			names = append(names, name)
		case sent && value == "" && p.Problems == nil:
			names = slices.DeleteFunc(names, func(before string) bool { return before == name })
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// clear takes away what comes back empty from a page that showed it filled, if this browser typed it. What others entered stays. An address goes as a whole
// if nothing else is left of it than its country, and that was emptied too.
func (p *Pages) clear(c echo.Context, d *checkout.Draft, sent form) {
	before, filled := p.typedBefore(c, d.Checkout, ""), strings.Fields(sent[filledField])
	emptied := func(name string) bool {
		value, isSent := sent[name]
		_, typed := before[name]
		return isSent && value == "" && typed && slices.Contains(filled, name)
	}
	if emptied("email") && d.CustomerID == nil {
		d.EnterEmail(nil)
	}
	if emptied("name") {
		d.CustomerName = nil
	}
	if emptied("tax_id") {
		d.TaxID.V = nil
	}
	d.CustomFieldData.V = maps.Clone(d.CustomFieldData.V)
	for key := range d.CustomFieldData.V {
		if emptied(answerField + key) {
			d.CustomFieldData.V[key] = ""
		}
	}
	if d.BillingAddress.V == nil {
		return
	}
	kept := *d.BillingAddress.V
	for name, part := range map[string]**string{"company": &kept.Company, "postal_code": &kept.PostalCode, "city": &kept.City, "state": &kept.State} {
		if emptied(name) {
			*part = nil
		}
	}
	if emptied("line1") && kept.Line2 == nil { // a second line is never typed here: the first one is of whoever entered it
		kept.Line1 = nil
	}
	d.BillingAddress = core.JSONOf(&kept)
	if emptied("country") && kept == (core.Address{Country: kept.Country}) {
		d.BillingAddress.V = nil
	}
}

// tickOf returns what is marked of a box that is ticked. Of the one that accepts the terms it names their texts. A tick holds for the texts with
// which it was shown, and for no others.
func tickOf(name, terms string) string {
	if name != "terms" {
		return ticked
	}
	return ticked + " " + terms
}

// typedBefore returns what the browser that asks has typed into the form of a checkout, as the checkout has it. Ticked are the boxes that it ticked
// beside these texts of the terms, as checkout.TextsOf names them.
func (p *Pages) typedBefore(c echo.Context, checkout *checkout.Checkout, terms string) form {
	cookie, err := c.Cookie(typedCookie)
	if err != nil {
		return nil
	}
	marks, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(marks) > (mostMarks+len(ticks))*core.SignatureSize {
		return nil
	}
	before := typedInto(checkout)
	for _, name := range ticks {
		before[name] = ticked
	}
	maps.DeleteFunc(before, func(name, value string) bool {
		if slices.Contains(ticks, name) {
			value = tickOf(name, terms)
		}
		return !slices.ContainsFunc(slices.Collect(slices.Chunk(marks, core.SignatureSize)), func(mark []byte) bool { return p.store.Checkout.IsTyped(checkout, name, value, mark) })
	})
	return before
}

// typedInto returns what a checkout has of what its form asks for, by the names of the fields.
func typedInto(c *checkout.Checkout) form {
	all := form{}
	keep := func(name string, value *string) {
		if value != nil {
			all[name] = *value
		}
	}
	keep("email", c.CustomerEmail)
	keep("name", c.CustomerName)
	if a := c.BillingAddress.V; a != nil {
		keep("country", a.Country)
		keep("company", a.Company)
		keep("line1", a.Line1)
		keep("postal_code", a.PostalCode)
		keep("city", a.City)
		keep("state", a.State)
	}
	if c.TaxID.V != nil {
		all["tax_id"] = c.TaxID.V.Value
	}
	for key, answer := range c.CustomFieldData.V {
		all[answerField+key] = answer
	}
	if c.AdsConsent {
		all["ads_consent"] = "true"
	}
	if c.WantsNews() {
		all["news"] = "true"
	}
	return all
}

// keepTicks has the form show its ticks as they were sent with the attempt that the page tells of. They are in before, or in the form that was sent
// just now. Our script leaves them out of what it sends, and then those in before are shown.
func (p *checkoutPage) keepTicks(before form, isTold bool) {
	for _, name := range ticks {
		switch {
		case p.Form["do"] == doCount && before[name] != "":
			p.Form[name] = before[name]
		case p.Form["do"] == "" && !isTold:
			delete(p.Form, name)
		}
	}
}

// sayMissing says of every field that is to be filled in that it was left empty, where an attempt to pay was refused. What refused it names the first
// of them alone. Card is what is wrong with the card: it is sent again and again, since no page has it.
func (p *checkoutPage) sayMissing(card map[string]string) {
	if p.Problems == nil {
		return
	}
	say := func(name, said string) { p.Problems[name] = cmp.Or(p.Problems[name], said) }
	misses := func(name, key string) { say(name, p.l.T(key)) }
	switch {
	case p.Checkout.TaxAmount != nil:
	case p.Country == "":
		misses("country", "error.country.tax")
	case p.Form["state"] == "" && p.Regions() != nil:
		misses("state", "error.state.tax")
	}
	for _, question := range p.CustomFields {
		name := answerField + question.Key
		typed := cmp.Or(p.Form[name], p.Checkout.CustomFieldData.V[question.Key])
		if question.Required && (typed == "" || question.Type == "checkbox" && typed != ticked) {
			misses(name, "error.answer")
		}
	}
	if p.TakesTestCard() {
		for name, said := range card {
			say(name, said)
		}
	}
	if p.TermsRequired && p.Form["terms"] == "" {
		misses("terms", "error.accept")
	}
	if p.AsksWaiver && p.Form["waiver"] == "" {
		misses("waiver", "error.waive")
	}
}

// keep has the form show what was typed into it before, where nothing is typed now.
func (p *checkoutPage) keep(before form) {
	if _, typed := p.Form["country"]; !typed && p.Country == "" {
		p.Country = before["country"]
	}
	maps.Copy(before, p.Form)
	p.Form = before
}

// sayState has the page say what its buyer has just done, which the parameter told names, or why the last payment failed. What is wrong with what was
// sent just now is said alone.
func (p *checkoutPage) sayState(told string) {
	last := p.Checkout.LastPaymentError.V
	switch {
	case p.Problems != nil || p.State != string(checkout.StatusOpen) || told == toldUpdate:
	case told == toldTotal:
		p.Problems = map[string]string{"": p.l.T("error.total_changed")}
	case last != nil && p.TakesTestCard():
		p.Problems = map[string]string{failedCard(last): declined(p.l, last)}
	case last != nil && p.TakesStripe(): // whose fields are its own, in one frame
		p.Problems = map[string]string{"card_number": declined(p.l, last)}
	case last != nil:
		p.Problems = map[string]string{"": declined(p.l, last)}
	}
}
