package dashboard

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// balanceReasons are the reasons of changes of a balance with their words.
var balanceReasons = []string{
	"opening", "From before", "credit", "Change of plan", "applied", "Paid an order", "returned", "An order became void", "refunded", "Refund", "manual", "By hand", "deleted", "Deleted",
}

// balanceTable lists changes of a customer's balance.
func (v *visit) balanceTable(changes []sdk.BalanceTransaction) *ui.Table {
	t := &ui.Table{Label: "Changes of the balance", Columns: []string{"Amount", "Why", "Said of it", "When"}, Empty: &ui.Empty{Text: "They never had anything to their credit."}}
	for i := range changes {
		c := &changes[i]
		why := ui.Cell{Text: optionText(string(c.Reason), balanceReasons...)}
		if c.Source != nil && strings.HasPrefix(*c.Source, "order_") && v.may("orders:read") {
			why.Address = ordersPage + "/" + *c.Source
		}
		t.Rows = append(t.Rows, []ui.Cell{money(c.Amount, c.Currency), why, textCell(c.Description), v.at(c.CreatedAt.Time())})
	}
	return t
}

// balanceForm gives something to a balance, or takes it.
func (v *visit) balanceForm(c *sdk.Customer) *ui.Form {
	return &ui.Form{
		Text:   "What they have to their credit pays the next invoices of their subscriptions. No money moves now.",
		Submit: "Change balance", Cancel: customersPage + "/" + c.ID, Once: newOnce(), Controls: []ui.Control{
			{Kind: "select", Name: "direction", Label: "What to do", Options: chosen(v.field("direction"), "give", "Give them", "take", "Take from them")},
			{Name: "amount", Label: "Amount", Value: v.field("amount"), InputMode: "decimal", Longest: 20, Required: true},
			{Kind: "select", Name: "currency", Label: "Currency", Options: currencyOptions(cmp.Or(v.field("currency"), v.shop.DefaultCurrency))},
			{Name: "description", Label: "Why", Hint: "For yourselves: the customer does not see it.", Value: v.field("description"), Longest: 500, Required: true},
		},
	}
}

// showBalance shows what a customer has to their credit, and how it came about.
func (d *Dashboard) showBalance(v *visit, status int, c *sdk.Customer, f *ui.Form, wrong ...ui.Problem) error {
	after, before := v.position()
	list, err := d.api.Customers.ListBalanceTransactions(v.ctx(), c.ID, &sdk.ListCustomerBalanceTransactionsParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before})
	if err != nil {
		return err
	}
	has := sums(c.BalanceAmount)
	if has.Text == "" {
		has.Text = "Nothing"
	}
	t := v.balanceTable(list.Data)
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	p := ui.Page{Heading: "Balance of " + customerName(c), Up: &ui.Link{Text: customerName(c), Address: customersPage + "/" + c.ID}, Sections: []ui.Section{
		{Terms: []ui.Term{{Name: "To their credit", Value: has}}}, {Title: "Changes", Table: t},
	}}
	if v.may("refunds:write") {
		p.Sections = append(p.Sections, ui.Section{Title: "Give or take", Form: f})
	}
	return v.show(status, p, wrong...)
}

// balance shows a customer's balance with a form to change it.
func (d *Dashboard) balance(v *visit) error {
	c, err := d.api.Customers.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return d.showBalance(v, http.StatusOK, c, v.balanceForm(c))
}

// changeBalance gives something to a customer's balance, or takes it.
func (d *Dashboard) changeBalance(v *visit) error {
	c, err := d.api.Customers.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f, currency := v.balanceForm(c), v.field("currency")
	amount, problem := core.ReadAmount(v.field("amount"), currency)
	if problem != "" {
		err = core.Invalid("amount", "Type an amount like "+core.DecimalAmount(1250, currency)+".")
	}
	said := core.FormatAmount(amount, currency) + " was given."
	if v.field("direction") == "take" {
		amount, said = -amount, core.FormatAmount(amount, currency)+" was taken."
	}
	if err == nil {
		_, err = d.api.Customers.CreateBalanceTransaction(v.ctx(), c.ID, &sdk.BalanceTransactionCreate{Amount: amount, Currency: currency, Description: v.field("description")}, v.once())
	}
	if wrong, ok := problems(err, f); ok {
		return d.showBalance(v, http.StatusUnprocessableEntity, c, f, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(customersPage+"/"+c.ID+"/balance", person.Notice{Text: said})
}
