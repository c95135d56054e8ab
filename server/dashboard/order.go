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

const ordersPage = "/app/orders"

// orderBadge returns the badge of an order's status.
func orderBadge(s sdk.OrderStatus) *ui.Badge {
	switch s {
	case sdk.OrderStatusPaid:
		return &ui.Badge{Text: "Paid", Tone: "good", Icon: "check"}
	case sdk.OrderStatusPending:
		return &ui.Badge{Text: "Pending", Tone: "warn", Icon: "clock"}
	case sdk.OrderStatusRefunded:
		return &ui.Badge{Text: "Refunded", Icon: "returned"}
	case sdk.OrderStatusPartiallyRefunded:
		return &ui.Badge{Text: "Refunded in part", Icon: "returned"}
	case sdk.OrderStatusVoid:
	}
	return &ui.Badge{Text: "Void", Tone: "void", Icon: "cross"}
}

// orders lists what was sold.
func (d *Dashboard) orders(v *visit) error {
	after, before := v.position()
	in := &sdk.ListOrdersParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q"), CustomerEmail: query(v, "email"), Product: query(v, "product"), Expand: sdk.Expand("customer", "line_items")}
	status := v.QueryParam("status")
	if status != "" {
		in.Status = new(sdk.OrderStatus(status))
	}
	if number, err := strconv.ParseInt(v.QueryParam("number"), 10, 64); err == nil {
		in.Number = &number
	}
	list, err := d.api.Orders.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := d.orderTable(v, list.Data)
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	t.Empty = v.nothing(&ui.Empty{Text: "What buyers paid for stands here. There is no order yet.", Action: &ui.Link{Text: "See your products", Address: productsPage}})
	return v.show(http.StatusOK, ui.Page{Heading: "Orders", Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Name: "number", Label: "Number", Value: v.QueryParam("number"), InputMode: "numeric"},
		{Name: "email", Label: "Customer's e-mail", Value: v.QueryParam("email")},
		{Kind: "select", Name: "status", Label: "Status", Options: chosen(status, "", "All", "paid", "Paid", "pending", "Pending", "partially_refunded", "Refunded in part", "refunded", "Refunded", "void", "Void")},
	}}})
}

// orderTable returns rows of orders, whose customers and lines are expanded.
func (d *Dashboard) orderTable(v *visit, orders []sdk.Order) *ui.Table {
	t := &ui.Table{Label: "Orders", Columns: []string{"Order", "Customer", "What", "Total", "Status", "When"}}
	for i := range orders {
		o := &orders[i]
		who := ui.Cell{Text: "Deleted"}
		if c, ok := o.Customer.Get(); ok {
			who.Text = cmp.Or(core.Deref(c.Name), c.Email)
		}
		what := ui.Cell{}
		if len(o.LineItems) > 0 {
			if line, ok := o.LineItems[0].Get(); ok {
				what.Text = line.Description
			}
			if more := len(o.LineItems) - 1; more > 0 {
				what.Text += " and " + strconv.Itoa(more) + " more"
			}
		}
		t.Rows = append(t.Rows, []ui.Cell{{Text: "Order " + strconv.FormatInt(o.Number, 10), Address: ordersPage + "/" + o.ID}, who, what, money(o.TotalAmount, o.Currency), {Badge: orderBadge(o.Status)}, v.at(o.CreatedAt.Time())})
	}
	return t
}

// order shows an order.
func (d *Dashboard) order(v *visit) error {
	o, err := d.api.Orders.Get(v.ctx(), v.Param("id"), sdk.Expand("customer", "line_items", "payments", "refunds", "grants"))
	if err != nil {
		return err
	}
	p := ui.Page{Heading: "Order " + strconv.FormatInt(o.Number, 10), Badge: orderBadge(o.Status), Up: &ui.Link{Text: "Orders", Address: ordersPage}}
	if v.may("refunds:write") && o.RefundableAmount > 0 {
		p.Actions = append(p.Actions, ui.Link{Text: "Refund", Address: ordersPage + "/" + o.ID + "/refund"})
	}
	p.Actions = append(p.Actions, ui.Link{Text: "Receipt", Address: o.ReceiptURL})
	customer := ui.Cell{Text: "Deleted"}
	if c, ok := o.Customer.Get(); ok {
		customer = ui.Cell{Text: cmp.Or(core.Deref(c.Name), c.Email), Address: "/app/customers/" + c.ID}
	}
	p.Sections = []ui.Section{
		{Terms: []ui.Term{{Name: "Customer", Value: customer}, {Name: "Bought", Value: v.at(o.CreatedAt.Time())}, {Name: "Paid", Value: v.when(o.PaidAt)}, {Name: "Id", Value: ui.Cell{Text: o.ID, Code: true}}}},
		{Title: "What was bought", Table: orderLines(o)},
		{Title: "Sums", Terms: orderSums(o)},
		{Title: "Payments", Table: d.orderPayments(v, o)},
		{Title: "Refunds", Table: d.orderRefunds(v, o)},
		{Title: "Access", Table: orderGrants(o)},
	}
	if len(o.CustomFieldData) > 0 {
		answers := ui.Section{Title: "Answers"}
		for _, key := range sortedKeys(o.CustomFieldData) {
			answers.Terms = append(answers.Terms, ui.Term{Name: key, Value: ui.Cell{Text: toText(o.CustomFieldData[key])}})
		}
		p.Sections = append(p.Sections, answers)
	}
	if v.may("orders:write") {
		p.Sections = append(p.Sections, ui.Section{Forms: []ui.Form{{Action: ordersPage + "/" + o.ID + "/receipt", Submit: "Send the receipt again", Inline: true, Once: newOnce()}}})
	}
	return v.show(http.StatusOK, p)
}

func orderLines(o *sdk.Order) *ui.Table {
	t := &ui.Table{Label: "What was bought", Columns: []string{"What", "Quantity", "Each", "Net"}}
	for _, e := range o.LineItems {
		if line, ok := e.Get(); ok {
			t.Rows = append(t.Rows, []ui.Cell{{Text: line.Description}, {Text: strconv.FormatInt(line.Quantity, 10), Number: true}, money(line.UnitAmount, o.Currency), money(line.NetAmount, o.Currency)})
		}
	}
	return t
}

func orderSums(o *sdk.Order) []ui.Term {
	sums := []ui.Term{{Name: "Subtotal", Value: ui.Cell{Text: core.FormatAmount(o.SubtotalAmount, o.Currency)}}}
	for _, sum := range []struct {
		name   string
		amount int64
	}{{"Discount", -o.DiscountAmount}, {"Tax", o.TaxAmount}, {"From the customer's balance", -o.BalanceApplied}, {"Refunded", -o.RefundedAmount}, {"Credited to the customer's balance", -o.CreditedAmount}} {
		if sum.amount != 0 {
			sums = append(sums, ui.Term{Name: sum.name, Value: ui.Cell{Text: core.FormatAmount(sum.amount, o.Currency)}})
		}
	}
	return append(sums, ui.Term{Name: "Total", Value: ui.Cell{Text: core.FormatAmount(o.TotalAmount, o.Currency)}})
}

func (d *Dashboard) orderPayments(v *visit, o *sdk.Order) *ui.Table {
	t := &ui.Table{Label: "Payments", Columns: []string{"Amount", "How", "State", "When"}, Empty: &ui.Empty{Text: "Nothing was charged."}}
	for _, e := range o.Payments {
		payment, ok := e.Get()
		if !ok {
			continue
		}
		how := ui.Cell{Text: payment.Provider}
		state := ui.Cell{Badge: &ui.Badge{Text: "Succeeded", Tone: "good", Icon: "check"}}
		switch {
		case payment.Status == sdk.PaymentStatusFailed && payment.Failure != nil:
			state.Badge = &ui.Badge{Text: "Declined: " + payment.Failure.Code, Tone: "bad", Icon: "alert"}
		case payment.Status != sdk.PaymentStatusSucceeded:
			state.Badge = &ui.Badge{Text: string(payment.Status), Tone: "warn", Icon: "clock"}
		}
		t.Rows = append(t.Rows, []ui.Cell{money(payment.Amount, payment.Currency), how, state, v.at(payment.CreatedAt.Time())})
	}
	return t
}

func (d *Dashboard) orderRefunds(v *visit, o *sdk.Order) *ui.Table {
	t := &ui.Table{Label: "Refunds", Columns: []string{"Amount", "Why", "State", "When"}, Empty: &ui.Empty{Text: "Nothing was refunded."}}
	for _, e := range o.Refunds {
		if refund, ok := e.Get(); ok {
			state := &ui.Badge{Text: "On its way", Tone: "warn", Icon: "clock"}
			switch refund.Status {
			case sdk.RefundStatusSucceeded:
				state = &ui.Badge{Text: "Succeeded", Tone: "good", Icon: "check"}
			case sdk.RefundStatusFailed, sdk.RefundStatusCanceled:
				state = &ui.Badge{Text: string(refund.Status), Tone: "bad", Icon: "alert"}
			case sdk.RefundStatusPending:
			}
			t.Rows = append(t.Rows, []ui.Cell{money(refund.Amount, refund.Currency), {Text: reasonText(refund.Reason)}, {Badge: state}, v.at(refund.CreatedAt.Time())})
		}
	}
	return t
}

func orderGrants(o *sdk.Order) *ui.Table {
	t := &ui.Table{Label: "Access", Columns: []string{"Product", "State"}, Empty: &ui.Empty{Text: "It opened nothing."}}
	for _, e := range o.Grants {
		if grant, ok := e.Get(); ok {
			badge := &ui.Badge{Text: "Active", Tone: "good", Icon: "check"}
			if grant.Status != sdk.GrantStatusActive {
				badge = &ui.Badge{Text: string(grant.Status), Tone: "warn", Icon: "lock"}
			}
			t.Rows = append(t.Rows, []ui.Cell{{Text: soldAs(o, grant.Product.ID), Address: productsPage + "/" + grant.Product.ID}, {Badge: badge}})
		}
	}
	return t
}

// soldAs returns what a product was called when it was bought.
func soldAs(o *sdk.Order, product string) string {
	for _, e := range o.LineItems {
		if line, ok := e.Get(); ok && line.Product.ID == product {
			return line.ProductName
		}
	}
	return product
}

func reasonText(r sdk.RefundReason) string {
	for _, option := range chosen("", refundReasons...) {
		if option.Value == string(r) {
			return option.Text
		}
	}
	return string(r)
}

// refundReasons are the reasons of a refund with their words.
var refundReasons = []string{
	"customer_request", "The customer asked", "duplicate", "It was bought twice", "satisfaction_guarantee", "Satisfaction guarantee", "service_disruption", "It did not work",
	"fraudulent", "Fraud", "other", "Something else",
}

func refundForm(v *visit, o *sdk.Order) *ui.Form {
	amount, most := v.FormValue("amount"), "Up to "+core.FormatAmount(o.RefundableAmount, o.Currency)+" can be refunded."
	if o.CreditedAmount > 0 {
		most += " A change of plan gave " + core.FormatAmount(o.CreditedAmount, o.Currency) + " of the order to the customer's balance."
	}
	if v.Request().Method == http.MethodGet {
		amount = core.DecimalAmount(o.RefundableAmount, o.Currency)
	}
	return &ui.Form{Submit: "Refund", Danger: true, Cancel: ordersPage + "/" + o.ID, Once: newOnce(),
		Text: most + " The money goes back to where it came from, first to the card and then to the balance, its share of the tax with it.",
		Controls: []ui.Control{
			{Name: "amount", Label: "Amount", Value: amount, InputMode: "decimal", Unit: upper(o.Currency), Longest: 20, Required: true},
			{Kind: "select", Name: "reason", Label: "Reason", Options: chosen(v.field("reason"), refundReasons...)},
			{Name: "comment", Label: "Comment", Hint: "For yourselves: the customer does not see it.", Value: v.field("comment"), Longest: 500, Optional: true},
			{Kind: "checkbox", Name: "revoke_access", Label: "Take back what the order opened", Checked: v.Request().Method == http.MethodGet || v.field("revoke_access") != ""},
		}}
}

func refundPage(o *sdk.Order, f *ui.Form) ui.Page {
	return ui.Page{Heading: "Refund order " + strconv.FormatInt(o.Number, 10), Up: &ui.Link{Text: "Order " + strconv.FormatInt(o.Number, 10), Address: ordersPage + "/" + o.ID}, Form: f}
}

// refund shows the form for a refund.
func (d *Dashboard) refund(v *visit) error {
	o, err := d.api.Orders.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, refundPage(o, refundForm(v, o)))
}

// createRefund refunds an order, in part or in full.
func (d *Dashboard) createRefund(v *visit) error {
	o, err := d.api.Orders.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f := refundForm(v, o)
	amount, problem := core.ReadAmount(v.field("amount"), o.Currency)
	if problem != "" {
		err = core.Invalid("amount", "Type an amount like "+core.DecimalAmount(o.RefundableAmount, o.Currency)+".")
	}
	var r *sdk.Refund
	if err == nil {
		r, err = d.api.Refunds.Create(v.ctx(), &sdk.RefundCreate{
			Order: o.ID, Amount: &amount, Reason: new(sdk.RefundReason(v.field("reason"))), Comment: v.optional("comment"), RevokeAccess: new(v.field("revoke_access") != ""),
		}, v.once())
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, refundPage(o, f), wrong...)
	}
	if err != nil {
		return err
	}
	said := core.FormatAmount(r.Amount, r.Currency) + " was refunded."
	if r.Status != sdk.RefundStatusSucceeded {
		said = core.FormatAmount(r.Amount, r.Currency) + " is on its way back."
	}
	return v.done(ordersPage+"/"+o.ID, person.Notice{Text: said})
}

// resendReceipt sends an order's receipt again.
func (d *Dashboard) resendReceipt(v *visit) error {
	if _, err := d.api.Orders.ResendReceipt(v.ctx(), v.Param("id"), v.once()); err != nil {
		return err
	}
	return v.done(ordersPage+"/"+v.Param("id"), person.Notice{Text: "The receipt is on its way."})
}
