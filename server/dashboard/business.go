package dashboard

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const businessPage = settingsPage + "/business"

// rateCurrency is one whose amounts have two decimals, as the percents of a rate do.
const rateCurrency = "eur"

// businessForm returns the form of what documents and buyers see of the seller, with what the account has.
func (v *visit) businessForm() *ui.Form {
	a := v.shop
	address := cmp.Or(a.BusinessAddress, &sdk.Address{})
	return &ui.Form{Submit: "Save", Once: newOnce(), Controls: []ui.Control{
		{Name: "name", Label: "Shop name", Value: a.Name, Longest: 255, Required: true, Group: "What buyers see"},
		{Name: "support_email", Label: "Support e-mail", Kind: "email", Value: core.Deref(a.SupportEmail), Longest: 254, Optional: true},
		{Name: "website_url", Label: "Website", Value: core.Deref(a.WebsiteURL), InputMode: "url", Longest: 2048, Optional: true},
		{Name: "statement_descriptor", Label: "Statement descriptor", Hint: "What stands on a card statement.", Value: core.Deref(a.StatementDescriptor), Longest: 22, Optional: true},
		{Kind: "checkbox", Name: "checkout_requires_terms", Label: "Buyers must accept the terms of sale", Checked: a.CheckoutRequiresTerms},
		{Kind: "checkbox", Name: "trial_once_per_customer", Label: "A customer has one trial of a product", Hint: "Who had theirs pays for the first period at once. A buyer confirms their e-mail address before a trial.", Checked: a.TrialOncePerCustomer},
		{Kind: "checkbox", Name: "letters.checkout_abandoned", Label: "Remind buyers of a checkout that they did not finish", Hint: "The checkout asks them for it. A reminder is sent after an hour, and another one a day later, to a confirmed address.", Checked: a.Letters.CheckoutAbandoned},
		{Kind: "select", Name: "lead_confirmation", Label: "Consent to news", Hint: "Buyers whose address nobody has confirmed are asked for news only if a letter confirms it.", Options: chosen(string(a.LeadConfirmation), "none", "Counts at once", "double_opt_in", "Counts once the reader of a letter confirms it")},

		{Name: "business_name", Label: "Legal name", Hint: "The name on invoices. Without one it is that of the shop.", Value: core.Deref(a.BusinessName), Longest: 255, Optional: true, Group: "What stands on invoices"},
		{Name: "business_address.company", Label: "Company", Hint: "What stands above the address.", Value: core.Deref(address.Company), Longest: 255, Autocomplete: "organization", Optional: true},
		{Name: "business_address.line1", Label: "Address", Value: core.Deref(address.Line1), Longest: 255, Autocomplete: "address-line1", Optional: true},
		{Name: "business_address.line2", Label: "Address, second line", Value: core.Deref(address.Line2), Longest: 255, Autocomplete: "address-line2", Optional: true},
		{Name: "business_address.postal_code", Label: "Postal code", Value: core.Deref(address.PostalCode), Longest: 32, Autocomplete: "postal-code", Optional: true},
		{Name: "business_address.city", Label: "City", Value: core.Deref(address.City), Longest: 255, Autocomplete: "address-level2", Optional: true},
		{Name: "business_address.state", Label: "State or region", Value: core.Deref(address.State), Longest: 255, Autocomplete: "address-level1", Optional: true},
		{Name: "business_address.country", Label: "Country", Hint: "Two letters, such as DE.", Value: core.Deref(address.Country), Longest: 2, Autocomplete: "country", Optional: true},
		{Name: "tax_id", Label: "Tax id", Value: core.Deref(a.TaxID), Longest: 64, Optional: true},
		{Name: "invoice_prefix", Label: "Invoice prefix", Hint: "3 to 12 capital letters and digits, with which the numbers of new invoices begin.", Value: a.InvoicePrefix, Longest: 12, Required: true},

		{Kind: "select", Name: "tax_mode", Label: "Tax", Options: chosen(string(a.Tax.Mode), "none", "None is charged", "flat_table", "By the rates below"), Group: "Tax"},
		{Kind: "select", Name: "tax_behavior", Label: "Prices", Options: chosen(string(a.Tax.Behavior), "exclusive", "Tax is added to them", "inclusive", "Tax is part of them")},
		{Kind: "textarea", Name: "tax_rates", Label: "Rates", Hint: "A line for each place: its country, a region if it has its own rate, percent, and what documents call it. Such as DE, 19, VAT or CA, ON, 13, HST. Without a country it is for everywhere else.", Value: ratesText(a.Tax.Rates), Lines: 6, Optional: true},

		{Kind: "select", Name: "default_currency", Label: "Currency", Options: currencyOptions(a.DefaultCurrency), Group: "Where the shop is at home"},
		{Name: "country", Label: "Country of the shop", Hint: "Two letters, such as DE.", Value: core.Deref(a.Country), Longest: 2, Optional: true},
		{Name: "timezone", Label: "Time zone", Hint: "A name such as Europe/Berlin or America/New_York.", Value: a.Timezone, Longest: 64, Required: true},
		{Name: "locale", Label: "Language", Hint: "A language tag, such as en or pt-BR.", Value: a.Locale, Longest: 35, Required: true},
		{Name: "email", Label: "Your e-mail", Kind: "email", Hint: "Where answers to mail go if there is no support e-mail.", Value: a.Email, Longest: 254, Required: true},
	}}
}

// typedInto gives a form's controls what was typed, in place of what the account has. Secrets are typed anew.
func (v *visit) typedInto(f *ui.Form) {
	for i := range f.Controls {
		c := &f.Controls[i]
		typed := v.FormValue(c.Name)
		switch c.Kind {
		case "checkbox":
			if isTicked := v.ticked(c.Name); isTicked != nil {
				c.Checked = *isTicked
			}
		case "select":
			for j := range c.Options {
				c.Options[j].Chosen = c.Options[j].Value == typed
			}
		case "password", "hidden":
		default:
			c.Value = typed
		}
	}
}

func ratesText(rates []sdk.TaxRate) string {
	var lines []string
	for _, r := range rates {
		var parts []string
		for _, place := range []*string{r.Country, r.Region} {
			if place != nil {
				parts = append(parts, *place)
			}
		}
		percent := strings.TrimSuffix(core.DecimalAmount(r.RateBps, rateCurrency), ".00")
		lines = append(lines, strings.Join(append(parts, percent, r.Name), ", "))
	}
	return strings.Join(lines, "\n")
}

// readRates reads the lines of the rates: country, region, percent and name, of which the first two may be missing.
func readRates(text string) ([]sdk.TaxRate, error) {
	rates := []sdk.TaxRate{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		parts := strings.SplitN(line, ",", 4)
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		at := -1
		var bps int64
		for _, i := range []int{2, 1, 0} { // from the end: a region may be a number
			if at < 0 && i < len(parts)-1 {
				if percent, problem := core.ReadAmount(strings.TrimSuffix(parts[i], "%"), rateCurrency); problem == "" {
					at, bps = i, percent
				}
			}
		}
		if at < 0 {
			return nil, core.Invalid("tax_rates", fmt.Sprintf("This is no rate: %s. Type a line such as DE, 19, VAT.", line))
		}
		r := sdk.TaxRate{RateBps: bps, Name: strings.Join(parts[at+1:], ", ")}
		for i, into := range []**string{&r.Country, &r.Region} {
			if i < at {
				*into = &parts[i]
			}
		}
		if r.Country != nil {
			*r.Country = strings.ToUpper(*r.Country)
		}
		rates = append(rates, r)
	}
	return rates, nil
}

func settingPage(heading string, f *ui.Form) ui.Page {
	return ui.Page{Heading: heading, Up: &ui.Link{Text: "Settings", Address: settingsPage}, Form: f}
}

// business shows what documents and buyers see of the seller.
func (d *Dashboard) business(v *visit) error {
	return v.show(http.StatusOK, settingPage("Business", v.businessForm()))
}

// saveBusiness changes it.
func (d *Dashboard) saveBusiness(v *visit) error {
	f := v.businessForm()
	v.typedInto(f)
	rates, err := readRates(v.FormValue("tax_rates"))
	if err == nil {
		_, err = d.api.Account.Update(v.ctx(), v.businessUpdate(rates), v.once())
		err = renamed(err, map[string]string{"tax.mode": "tax_mode", "tax.behavior": "tax_behavior", "tax": "tax_rates"})
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, settingPage("Business", f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(businessPage, person.Notice{Text: "The settings were saved."})
}

func (v *visit) businessUpdate(rates []sdk.TaxRate) *sdk.AccountUpdate {
	in := &sdk.AccountUpdate{
		Name: new(v.field("name")), Email: new(v.field("email")), SupportEmail: cleared(v.field("support_email")), WebsiteURL: cleared(v.field("website_url")),
		StatementDescriptor: cleared(v.field("statement_descriptor")), CheckoutRequiresTerms: v.ticked("checkout_requires_terms"),
		TrialOncePerCustomer: v.ticked("trial_once_per_customer"),
		BusinessName:         cleared(v.field("business_name")), TaxID: cleared(v.field("tax_id")), InvoicePrefix: new(v.field("invoice_prefix")),
		Tax:             &sdk.TaxSettings{Mode: sdk.TaxMode(v.field("tax_mode")), Behavior: sdk.TaxBehavior(v.field("tax_behavior")), Rates: rates},
		DefaultCurrency: new(v.field("default_currency")), Country: cleared(strings.ToUpper(v.field("country"))), Timezone: new(v.field("timezone")), Locale: new(v.field("locale")),
		BusinessAddress: sdk.Null[sdk.Address](),
	}
	if isTicked := v.ticked("letters.checkout_abandoned"); isTicked != nil {
		in.Letters = map[string]bool{"checkout_abandoned": *isTicked}
	}
	if how := v.field("lead_confirmation"); how != "" {
		in.LeadConfirmation = new(sdk.LeadConfirmation(how))
	}
	address := sdk.Address{
		Company: v.optional("business_address.company"), Line1: v.optional("business_address.line1"), Line2: v.optional("business_address.line2"), City: v.optional("business_address.city"), State: v.optional("business_address.state"),
		PostalCode: v.optional("business_address.postal_code"), Country: v.optional("business_address.country"),
	}
	if address != (sdk.Address{}) {
		if address.Country != nil {
			*address.Country = strings.ToUpper(*address.Country)
		}
		in.BusinessAddress = sdk.Set(address)
	}
	return in
}
