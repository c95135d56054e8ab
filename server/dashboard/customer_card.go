package dashboard

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// cardTable lists what a customer can be charged with.
func (v *visit) cardTable(cards []sdk.SavedPaymentMethod) *ui.Table {
	t := &ui.Table{Label: "Cards", Columns: []string{"Card", "Good until", ""}, Empty: &ui.Empty{Text: "They have saved no card."}}
	for _, c := range cards {
		row := []ui.Cell{{Text: c.Brand + " …" + c.Last4}, {Text: strconv.FormatInt(c.ExpMonth, 10) + "/" + strconv.FormatInt(c.ExpYear, 10)}, {}}
		if v.may("customers:write") {
			row[2] = ui.Cell{Text: "Remove " + c.Brand + " …" + c.Last4, Address: customersPage + "/" + c.Customer + "/cards/" + c.ID}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// removeCardForm says what happens when a card is removed.
func (d *Dashboard) removeCardForm(v *visit) error {
	c, err := d.api.Customers.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	cards, err := d.api.Customers.ListPaymentMethods(v.ctx(), c.ID, nil)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(cards.Data, func(m sdk.SavedPaymentMethod) bool { return m.ID == v.Param("card") })
	if at < 0 {
		return core.Missing("payment method", "", v.Param("card"))
	}
	name := cards.Data[at].Brand + " …" + cards.Data[at].Last4
	return v.show(http.StatusOK, ui.Page{Heading: "Remove " + name, Up: &ui.Link{Text: customerName(c), Address: customersPage + "/" + c.ID}, Form: &ui.Form{
		Text: "Nothing is charged to it any more. What is renewed needs another card of theirs.", Submit: "Remove card", Danger: true, Cancel: customersPage + "/" + c.ID, Once: newOnce(),
	}})
}

// removeCard forgets a card of a customer.
func (d *Dashboard) removeCard(v *visit) error {
	if _, err := d.api.Customers.DeletePaymentMethod(v.ctx(), v.Param("id"), v.Param("card"), v.once()); err != nil {
		return err
	}
	return v.done(customersPage+"/"+v.Param("id"), person.Notice{Text: "The card was removed."})
}
