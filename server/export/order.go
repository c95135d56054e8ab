package export

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
)

// orders are the orders with what was bought, with amounts as decimals.
func orders(s *store.Store) *List {
	return list(s.Order.List, view.ListOrders, orderHead, func(ctx context.Context, account string, orders []order.Order) ([][]string, error) {
		lines, err := s.Order.Lines(ctx, account, orders)
		if err != nil {
			return nil, err
		}
		return each(func(o *order.Order) []string { return orderRow(o, lines[o.ID]) })(ctx, account, orders)
	})
}

var orderHead = []string{
	"id", "number", "status", "billing_reason", "created_at", "paid_at", "voided_at", "customer", "customer_email", "billing_name", "billing_country",
	"tax_id", "currency", "subtotal_amount", "discount_amount", "net_amount", "tax_amount", "total_amount", "paid_amount", "refunded_amount",
	"due_amount", "line_items", "checkout", "balance_applied", "refunded_tax_amount", "invoice", "subscription", "discount", "credited_amount",
	"billing_company", "withdrawal_waived_at",
}

// orderRow returns an order as a row of the file, in the order of orderHead.
func orderRow(o *order.Order, items []lineitem.Item) []string {
	country, company, taxID := "", "", ""
	if a := o.BillingAddress.V; a != nil {
		country, company = core.Deref(a.Country), core.Deref(a.Company)
	}
	if id := o.TaxID.V; id != nil {
		taxID = id.Value
	}
	money := func(amount int64) string { return core.DecimalAmount(amount, o.Currency) }
	return []string{
		o.ID, strconv.FormatInt(o.Number, 10), string(o.Status), string(o.BillingReason), o.CreatedAt.String(), moment(o.PaidAt), moment(o.VoidedAt),
		o.CustomerID, Harmless(core.Deref(o.CustomerEmail)), Harmless(core.Deref(o.BillingName)), Harmless(country), Harmless(taxID), o.Currency,
		money(o.SubtotalAmount), money(o.DiscountAmount), money(o.NetAmount), money(o.TaxAmount), money(o.TotalAmount), money(o.PaidAmount),
		money(o.GivenBack()), money(o.DueAmount()), Harmless(summary(items)), core.Deref(o.CheckoutID),
		money(o.BalanceApplied), money(o.RefundedTaxAmount), core.Deref(o.InvoiceID), core.Deref(o.SubscriptionID), core.Deref(o.DiscountID), money(o.CreditedAmount),
		Harmless(company), moment(o.WithdrawalWaivedAt),
	}
}

// summary returns what was bought, in one cell.
func summary(items []lineitem.Item) string {
	all := make([]string, len(items))
	for i := range items {
		all[i] = fmt.Sprintf("%d × %s", items[i].Quantity, items[i].Describe())
	}
	return strings.Join(all, "; ")
}

// moment returns a time as text, empty for nil.
func moment(t *core.Time) string {
	if t == nil {
		return ""
	}
	return t.String()
}
