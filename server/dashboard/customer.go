package dashboard

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

const customersPage = "/app/customers"

// customerName returns what a customer is called.
func customerName(c *sdk.Customer) string { return cmp.Or(core.Deref(c.Name), c.Email) }

// sums returns amounts of several currencies in a line.
func sums(amounts map[string]int64) ui.Cell {
	var texts []string
	for _, currency := range sortedKeys(amounts) {
		if amounts[currency] != 0 {
			texts = append(texts, core.FormatAmount(amounts[currency], currency))
		}
	}
	return ui.Cell{Text: strings.Join(texts, ", "), Number: true}
}

// customers lists who bought something, or left an address.
func (d *Dashboard) customers(v *visit) error {
	after, before := v.position()
	in := &sdk.ListCustomersParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q"), Tag: query(v, "tag")}
	kind := v.QueryParam("type")
	if kind != "" {
		in.Type = new(sdk.CustomerType(kind))
	}
	list, err := d.api.Customers.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Customers", Columns: []string{"Customer", "E-mail address", "Orders", "Spent", "Last order"}, Empty: v.nothing(&ui.Empty{Text: "Who buys stands here, with what they have. There is nobody yet."})}
	for i := range list.Data {
		c := &list.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{
			{Text: customerName(c), Address: customersPage + "/" + c.ID}, {Text: c.Email}, {Text: strconv.FormatInt(c.OrdersCount, 10), Number: true}, sums(c.TotalSpent), v.when(c.LastOrderAt),
		})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	return v.show(http.StatusOK, ui.Page{Heading: "Customers", Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Name: "q", Label: "Name or e-mail", Value: v.QueryParam("q"), Longest: 200},
		{Name: "tag", Label: "Tag", Value: v.QueryParam("tag"), Longest: 100},
		{Kind: "select", Name: "type", Label: "Who", Options: chosen(kind, "", "All", "customer", "Bought something", "lead", "Bought nothing yet")},
	}}})
}

// customer shows a customer with what they have.
func (d *Dashboard) customer(v *visit) error {
	state, err := d.api.Customers.GetState(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	c := &state.Customer
	orders, err := d.api.Orders.List(v.ctx(), &sdk.ListOrdersParams{Customer: &c.ID, Limit: new(int64(10)), Expand: sdk.Expand("customer", "line_items")})
	if err != nil {
		return err
	}
	subscriptions, err := d.api.Subscriptions.List(v.ctx(), &sdk.ListSubscriptionsParams{Customer: &c.ID, Limit: new(int64(10)), Expand: sdk.Expand("customer", "product")})
	if err != nil {
		return err
	}
	cards, err := d.api.Customers.ListPaymentMethods(v.ctx(), c.ID, nil)
	if err != nil {
		return err
	}
	grants, err := d.api.Grants.List(v.ctx(), &sdk.ListGrantsParams{Customer: &c.ID, Limit: new(onPage), Expand: sdk.Expand("product")})
	if err != nil {
		return err
	}
	at := customersPage + "/" + c.ID
	p := ui.Page{Heading: customerName(c), Up: &ui.Link{Text: "Customers", Address: customersPage}}
	facts := ui.Section{Terms: v.customerTerms(c)}
	if v.may("customers:write") {
		p.Actions = []ui.Link{{Text: "Edit", Address: at + "/edit"}, {Text: "Delete", Address: at + "/delete", Danger: true}}
		if v.may("subscriptions:write") {
			facts.Forms = []ui.Form{{Action: at + "/portal", Submit: "Make a link to their purchases", Inline: true, Once: newOnce()}}
		}
	}
	bought := d.orderTable(v, orders.Data)
	bought.Empty = &ui.Empty{Text: "They bought nothing yet."}
	renewed := subscriptionTable(v, subscriptions.Data)
	renewed.Empty = &ui.Empty{Text: "They have no subscription."}
	p.Sections = []ui.Section{facts, {Title: "Orders", Table: bought}, {Title: "Subscriptions", Table: renewed}, {Title: "Open invoices", Table: openInvoices(v, state.OpenInvoices)}, {Title: "Access", Table: grantTable(grants.Data)}, {Title: "Cards", Table: v.cardTable(cards.Data)}}
	if c.OrdersCount > int64(len(orders.Data)) {
		p.Sections[1].Links = []ui.Link{{Text: "All orders", Address: ordersPage + "?email=" + url.QueryEscape(c.Email)}}
	}
	return v.show(http.StatusOK, p)
}

func (v *visit) customerTerms(c *sdk.Customer) []ui.Term {
	terms := []ui.Term{{Name: "E-mail address", Value: ui.Cell{Text: c.Email}}, {Name: "Phone", Value: textCell(c.Phone)}, {Name: "Your id", Value: textCell(c.ExternalID)}, {Name: "Spent", Value: sums(c.TotalSpent)}}
	credit := sums(c.BalanceAmount)
	if credit.Text == "" {
		credit.Text = "Nothing"
	}
	credit.Address = customersPage + "/" + c.ID + "/balance"
	terms = append(terms, ui.Term{Name: "Balance", Value: credit})
	if c.BillingAddress != nil {
		terms = append(terms, ui.Term{Name: "Address", Value: ui.Cell{Text: addressText(c.BillingAddress)}})
	}
	if c.TaxID != nil {
		terms = append(terms, ui.Term{Name: "Tax id", Value: ui.Cell{Text: c.TaxID.Value}})
	}
	if c.MarketingConsent != nil {
		terms = append(terms, ui.Term{Name: "Consent to be written to", Value: ui.Cell{Text: strings.ReplaceAll(string(c.MarketingConsent.Status), "_", " ")}})
	}
	if len(c.Tags) > 0 {
		terms = append(terms, ui.Term{Name: "Tags", Value: ui.Cell{Text: strings.Join(c.Tags, ", ")}})
	}
	if c.Notes != nil {
		terms = append(terms, ui.Term{Name: "Notes", Value: textCell(c.Notes)})
	}
	return append(terms, ui.Term{Name: "Since", Value: v.at(c.CreatedAt.Time())}, ui.Term{Name: "Id", Value: ui.Cell{Text: c.ID, Code: true}})
}

// addressText returns an address in a line, without that the customer lives elsewhere.
func addressText(a *sdk.Address) string {
	var parts []string
	for _, part := range []*string{a.Company, a.Line1, a.Line2, a.PostalCode, a.City, a.State, a.Country} {
		if part != nil && *part != "" && *part != tenant.Elsewhere {
			parts = append(parts, *part)
		}
	}
	return strings.Join(parts, ", ")
}

func openInvoices(v *visit, invoices []sdk.Invoice) *ui.Table {
	t := &ui.Table{Label: "Open invoices", Columns: []string{"Invoice", "Due", "Until"}, Empty: &ui.Empty{Text: "They owe nothing."}}
	for i := range invoices {
		in := &invoices[i]
		t.Rows = append(t.Rows, []ui.Cell{{Text: cmp.Or(core.Deref(in.Number), in.ID), Address: invoicesPage + "/" + in.ID}, money(in.AmountDue, in.Currency), v.when(in.DueAt)})
	}
	return t
}

func grantTable(grants []sdk.Grant) *ui.Table {
	t := &ui.Table{Label: "Access", Columns: []string{"Product", "State"}, Empty: &ui.Empty{Text: "Nothing is open to them."}}
	for i := range grants {
		badge := &ui.Badge{Text: "Active", Tone: "good", Icon: "check"}
		if grants[i].Status != sdk.GrantStatusActive {
			badge = &ui.Badge{Text: string(grants[i].Status), Tone: "warn", Icon: "lock"}
		}
		name := grants[i].Product.ID
		if p, ok := grants[i].Product.Get(); ok {
			name = p.Name
		}
		t.Rows = append(t.Rows, []ui.Cell{{Text: name, Address: productsPage + "/" + grants[i].Product.ID}, {Badge: badge}})
	}
	return t
}

// customerPortal makes a link that opens the portal to a customer, and shows it once.
func (d *Dashboard) customerPortal(v *visit) error {
	session, err := d.api.Customers.CreatePortalSession(v.ctx(), v.Param("id"), nil, v.once())
	if err != nil {
		return err
	}
	at := customersPage + "/" + v.Param("id")
	return v.done(at, person.Notice{
		Text: "This link opens their purchases without a password, for 24 hours. Send it to them alone.", Page: at, Secret: map[string]string{"Link to their purchases": session.URL},
	})
}

func customerPage(c *sdk.Customer) ui.Page {
	return ui.Page{Heading: "Edit customer", Up: &ui.Link{Text: customerName(c), Address: customersPage + "/" + c.ID}, Form: &ui.Form{
		Submit: "Save", Cancel: customersPage + "/" + c.ID, Once: newOnce(), Controls: []ui.Control{
			{Name: "email", Label: "E-mail address", Kind: "email", Value: c.Email, Longest: 254, Required: true},
			{Name: "name", Label: "Name", Value: core.Deref(c.Name), Longest: 255, Optional: true},
			{Name: "phone", Label: "Phone", Value: core.Deref(c.Phone), InputMode: "tel", Longest: 50, Optional: true},
			{Name: "external_id", Label: "Your id", Hint: "By which another system of yours knows them.", Value: core.Deref(c.ExternalID), Longest: 255, Optional: true},
			{Name: "tags", Label: "Tags", Hint: "With commas between them.", Value: strings.Join(c.Tags, ", "), Optional: true},
			{Kind: "textarea", Name: "notes", Label: "Notes", Hint: "For yourselves.", Value: core.Deref(c.Notes), Optional: true},
			{Kind: "checkbox", Name: "tax_exempt", Label: "They pay no tax", Checked: c.TaxExempt},
		},
	}}
}

// editCustomer shows the form of a customer.
func (d *Dashboard) editCustomer(v *visit) error {
	c, err := d.api.Customers.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, customerPage(c))
}

// saveCustomer changes a customer.
func (d *Dashboard) saveCustomer(v *visit) error {
	c, err := d.api.Customers.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	p := customerPage(c)
	v.typedInto(p.Form)
	in := &sdk.CustomerUpdate{
		Email: new(v.field("email")), Name: cleared(v.field("name")), Phone: cleared(v.field("phone")), ExternalID: cleared(v.field("external_id")), Notes: cleared(v.field("notes")),
		TaxExempt: v.ticked("tax_exempt"), Tags: []string{},
	}
	for tag := range strings.SplitSeq(v.field("tags"), ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			in.Tags = append(in.Tags, tag)
		}
	}
	_, err = d.api.Customers.Update(v.ctx(), c.ID, in, v.once())
	if wrong, ok := problems(err, p.Form); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(customersPage+"/"+c.ID, person.Notice{Text: "The customer was changed."})
}

func deleteCustomerPage(v *visit, c *sdk.Customer) ui.Page {
	f := &ui.Form{
		Text:   "Everything personal about " + customerName(c) + " is forgotten here, for good: name, addresses, cards, notes, leads. Their orders are records, and keep what stands on them.",
		Submit: "Delete customer", Danger: true, Cancel: customersPage + "/" + c.ID, Once: newOnce(),
	}
	if v.may("subscriptions:write") {
		f.Controls = []ui.Control{{Kind: "checkbox", Name: "cancel_subscriptions", Label: "End their subscriptions now", Hint: "What goes on keeps them from being deleted.", Checked: v.field("cancel_subscriptions") != ""}}
	}
	return ui.Page{Heading: "Delete " + customerName(c), Up: &ui.Link{Text: customerName(c), Address: customersPage + "/" + c.ID}, Form: f}
}

// deleteCustomerForm says what happens when a customer is deleted.
func (d *Dashboard) deleteCustomerForm(v *visit) error {
	c, err := d.api.Customers.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, deleteCustomerPage(v, c))
}

// deleteCustomer deletes a customer.
func (d *Dashboard) deleteCustomer(v *visit) error {
	c, err := d.api.Customers.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	p, in := deleteCustomerPage(v, c), &sdk.DeleteCustomerParams{}
	if v.field("cancel_subscriptions") != "" {
		in.CancelSubscriptions = new(true)
	}
	_, err = d.api.Customers.Delete(v.ctx(), c.ID, in, v.once())
	if wrong, ok := problems(err, p.Form); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(customersPage, person.Notice{Text: "The customer was deleted."})
}
