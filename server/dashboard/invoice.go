package dashboard

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const invoicesPage = "/app/invoices"

func invoiceBadge(s sdk.InvoiceStatus) *ui.Badge {
	switch s {
	case sdk.InvoiceStatusPaid:
		return &ui.Badge{Text: "Paid", Tone: "good", Icon: "check"}
	case sdk.InvoiceStatusOpen:
		return &ui.Badge{Text: "Due", Tone: "warn", Icon: "clock"}
	case sdk.InvoiceStatusPastDue:
		return &ui.Badge{Text: "Past due", Tone: "bad", Icon: "alert"}
	case sdk.InvoiceStatusUncollectible:
		return &ui.Badge{Text: "Uncollectible", Tone: "bad", Icon: "cross"}
	case sdk.InvoiceStatusVoid:
		return &ui.Badge{Text: "Void", Tone: "void", Icon: "cross"}
	case sdk.InvoiceStatusDraft:
	}
	return &ui.Badge{Text: "Draft", Icon: "clock"}
}

func invoiceName(i *sdk.Invoice) string {
	return "Invoice " + cmp.Or(core.Deref(i.Number), "without a number")
}

// invoices lists what customers owe and have paid.
func (d *Dashboard) invoices(v *visit) error {
	after, before := v.position()
	in := &sdk.ListInvoicesParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Number: query(v, "number"), Q: query(v, "q")}
	status := v.QueryParam("status")
	if status != "" {
		in.Status = new(sdk.InvoiceStatus(status))
	}
	list, err := d.api.Invoices.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Invoices", Columns: []string{"Invoice", "Customer", "Total", "Due", "Status", "Made"}}
	for i := range list.Data {
		x := &list.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{{Text: invoiceName(x), Address: invoicesPage + "/" + x.ID}, {Text: cmp.Or(core.Deref(x.CustomerName), core.Deref(x.CustomerEmail))}, money(x.TotalAmount, x.Currency), money(x.AmountDue, x.Currency), {Badge: invoiceBadge(x.Status)}, v.at(x.CreatedAt.Time())})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	t.Empty = v.nothing(&ui.Empty{Text: "Each order has its invoice, and your programs send others. There is none yet.",
		Curl: `curl ` + d.publicURL + `/v1/invoices -H "Authorization: Bearer sk_..." -H "Content-Type: application/json" -d '{"customer": "cus_...", "lines": [{"description": "A day of work", "quantity": 1, "unit_amount": 50000}]}'`})
	return v.show(http.StatusOK, ui.Page{Heading: "Invoices", Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Name: "number", Label: "Number", Value: v.QueryParam("number")},
		{Name: "q", Label: "Customer", Value: v.QueryParam("q")},
		{Kind: "select", Name: "status", Label: "Status", Options: chosen(status, "", "All", "draft", "Draft", "open", "Due", "past_due", "Past due", "paid", "Paid", "uncollectible", "Uncollectible", "void", "Void")},
	}}})
}

// invoice shows an invoice, and what can be done with it.
func (d *Dashboard) invoice(v *visit) error { return d.showInvoice(v, http.StatusOK) }

func (d *Dashboard) showInvoice(v *visit, status int, problems ...ui.Problem) error {
	x, err := d.api.Invoices.Get(v.ctx(), v.Param("id"), sdk.Expand("lines", "payments"))
	if err != nil {
		return err
	}
	address := invoicesPage + "/" + x.ID
	p := ui.Page{Heading: invoiceName(x), Badge: invoiceBadge(x.Status), Up: &ui.Link{Text: "Invoices", Address: invoicesPage}}
	if x.HostedURL != nil {
		p.Actions = append(p.Actions, ui.Link{Text: "As the customer sees it", Address: *x.HostedURL})
	}
	lines := &ui.Table{Label: "Lines", Columns: []string{"What", "Quantity", "Each", "Net"}}
	for _, e := range x.Lines {
		if line, ok := e.Get(); ok {
			lines.Rows = append(lines.Rows, []ui.Cell{{Text: line.Description}, {Text: strconv.FormatInt(line.Quantity, 10), Number: true}, money(line.UnitAmount, x.Currency), money(line.NetAmount, x.Currency)})
		}
	}
	customer := ui.Cell{Text: cmp.Or(core.Deref(x.CustomerName), core.Deref(x.CustomerEmail))}
	if x.Customer.ID != "" {
		customer.Address = customersPage + "/" + x.Customer.ID
	}
	p.Sections = []ui.Section{
		{Terms: []ui.Term{{Name: "Customer", Value: customer}, {Name: "Made", Value: v.at(x.CreatedAt.Time())}, {Name: "Due", Value: v.when(x.DueAt)}, {Name: "Paid", Value: v.when(x.PaidAt)}, {Name: "Next attempt to charge", Value: v.when(x.NextPaymentAttemptAt)}, {Name: "Id", Value: ui.Cell{Text: x.ID, Code: true}}}},
		{Title: "Lines", Table: lines},
		{Title: "Sums", Terms: []ui.Term{
			{Name: "Subtotal", Value: ui.Cell{Text: core.FormatAmount(x.SubtotalAmount, x.Currency)}}, {Name: "Tax", Value: ui.Cell{Text: core.FormatAmount(x.TaxAmount, x.Currency)}},
			{Name: "Total", Value: ui.Cell{Text: core.FormatAmount(x.TotalAmount, x.Currency)}}, {Name: "Paid", Value: ui.Cell{Text: core.FormatAmount(x.AmountPaid, x.Currency)}}, {Name: "Still due", Value: ui.Cell{Text: core.FormatAmount(x.AmountDue, x.Currency)}},
		}},
	}
	if v.may("invoices:write") {
		p.Sections = append(p.Sections, ui.Section{Forms: invoiceMoves(x, address)})
	}
	return v.show(status, p, problems...)
}

// invoiceMoves returns the buttons that an invoice has in its state.
func invoiceMoves(x *sdk.Invoice, address string) []ui.Form {
	move := func(to, submit string) ui.Form {
		return ui.Form{Action: address + "/" + to, Submit: submit, Inline: true, Once: newOnce()}
	}
	switch x.Status {
	case sdk.InvoiceStatusDraft:
		return []ui.Form{move("finalize", "Finalise")}
	case sdk.InvoiceStatusOpen, sdk.InvoiceStatusPastDue:
		return []ui.Form{move("send", "Send to the customer"), move("paid", "Paid another way"), move("uncollectible", "Write it off"), move("void", "Void")}
	case sdk.InvoiceStatusUncollectible:
		return []ui.Form{move("paid", "Paid another way"), move("void", "Void")}
	case sdk.InvoiceStatusPaid:
		return []ui.Form{move("send", "Send to the customer")}
	case sdk.InvoiceStatusVoid:
	}
	return nil
}

// moveInvoice does what one of these buttons says.
func (d *Dashboard) moveInvoice(v *visit) error {
	ctx, id := v.ctx(), v.Param("id")
	var err error
	said := ""
	switch v.Param("move") {
	case "finalize":
		said = "The invoice has its number, and can be paid."
		_, err = d.api.Invoices.Finalize(ctx, id, v.once())
	case "send":
		said = "The invoice is on its way."
		_, err = d.api.Invoices.Send(ctx, id, v.once())
	case "paid":
		said = "The invoice is paid."
		_, err = d.api.Invoices.Pay(ctx, id, &sdk.InvoicePay{OutOfBand: new(true)}, v.once())
	case "uncollectible":
		said = "The invoice is written off."
		_, err = d.api.Invoices.MarkUncollectible(ctx, id, v.once())
	case "void":
		said = "The invoice is void."
		_, err = d.api.Invoices.Void(ctx, id, v.once())
	default:
		return core.Missing("page", "", "")
	}
	if wrong, ok := problems(err, &ui.Form{}); ok {
		return d.showInvoice(v, http.StatusUnprocessableEntity, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(invoicesPage+"/"+id, person.Notice{Text: said})
}
