package pages

import (
	"net/http"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/tenant"
)

// portalDetails is the data of portal_details.html, on which a customer says what their next invoices name them.
type portalDetails struct {
	portalPage
	Form     form
	Problems map[string]string
}

// detailFields are the fields of the form by their order, with the keys of their labels and what browsers fill in.
var detailFields = []struct{ name, label, autocomplete string }{
	{"name", "field.name", "name"}, {"company", "field.company", "organization"}, {"line1", "field.line1", "address-line1"}, {"line2", "field.line2", "address-line2"}, {"postal_code", "field.postal_code", "postal-code"},
	{"city", "field.city", "address-level2"}, {"state", "field.state", "address-level1"}, {"tax_id", "field.tax_id", "off"},
}

// Fields returns the controls of the form but the country.
func (p portalDetails) Fields() []ui.Field {
	fields := make([]ui.Field, len(detailFields))
	for i, f := range detailFields {
		fields[i] = ui.Field{Name: f.name, Label: p.l.T(f.label), Autocomplete: f.autocomplete, Value: p.Form[f.name], Problem: p.Problems[f.name], Longest: longest[f.name], Optional: true}
	}
	return fields
}

// detailsOf returns what is known of a customer as the form has it.
func detailsOf(c *customer.Customer) form {
	f := form{"name": text(c.Name)}
	if a := c.BillingAddress.V; a != nil {
		f["line1"], f["line2"], f["postal_code"], f["city"] = text(a.Line1), text(a.Line2), text(a.PostalCode), text(a.City)
		f["state"], f["country"], f["company"] = text(a.State), text(a.Country), text(a.Company)
		if f["state"] == tenant.Elsewhere {
			f["state"] = ""
		}
	}
	if id := c.TaxID.V; id != nil {
		f["tax_id"] = id.Value
	}
	return f
}

// put makes what was typed the customer's. An empty field takes away what was there. That they live elsewhere was not shown, and stays in its country.
func (f form) put(c *customer.Customer) {
	c.Name = typedOr(f["name"], nil)
	var elsewhere *string
	if a := c.BillingAddress.V; a != nil && text(a.State) == tenant.Elsewhere && text(a.Country) == f["country"] {
		elsewhere = a.State
	}
	c.BillingAddress.V = nil
	if f["country"] != "" {
		c.BillingAddress = core.JSONOf(&core.Address{
			Company: typedOr(f["company"], nil), Line1: typedOr(f["line1"], nil), Line2: typedOr(f["line2"], nil), PostalCode: typedOr(f["postal_code"], nil),
			City: typedOr(f["city"], nil), State: typedOr(f["state"], elsewhere), Country: new(f["country"]),
		})
	}
	switch id := f["tax_id"]; {
	case id == "":
		c.TaxID.V = nil
	case c.TaxID.V == nil || c.TaxID.V.Value != id:
		c.TaxID = core.JSONOf(&customer.TaxID{Type: taxIDType, Value: id})
	}
}

func (p *Pages) portalDetails(v *visit) error {
	return p.showDetails(v, http.StatusOK, portalDetails{portalPage: v.page(v.l.T("portal.details"), ""), Form: detailsOf(v.Customer)})
}

func (p *Pages) showDetails(v *visit, status int, page portalDetails) error {
	frame := page.frame()
	for _, f := range append(page.Fields(), ui.Field{Name: "country", Label: page.l.T("field.country"), Problem: page.Problems["country"]}) {
		if f.Problem != "" {
			frame.Problems = append(frame.Problems, ui.Problem{Field: f.Name, Label: f.Label, Text: f.Problem})
		}
	}
	return p.render(v, status, "portal_details.html", frame, page)
}

// saveDetails takes the form. Documents that were issued before say what they said.
func (p *Pages) saveDetails(v *visit) error {
	values, err := v.FormParams()
	if err != nil {
		return p.Refused(v, http.StatusBadRequest, false)
	}
	typed := typed(values)
	if problems := typed.problems(p.spoken(v)); problems != nil {
		return p.showDetails(v, http.StatusUnprocessableEntity, portalDetails{portalPage: v.page(v.l.T("portal.details"), ""), Form: typed, Problems: problems})
	}
	_, err = p.store.UpdateCustomer(v.doing("updateCustomer"), v.Session.AccountID, v.Customer.ID, typed.put)
	if problem, refused := p.whyNot(v, err); refused {
		return p.showDetails(v, http.StatusUnprocessableEntity, portalDetails{portalPage: v.page(v.l.T("portal.details"), problem), Form: typed})
	}
	if err != nil {
		return p.refuse(v, err)
	}
	return v.done("", "saved")
}
