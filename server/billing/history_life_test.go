package billing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
)

// life is what is known of a subscription from what was done to it, beside its row.
type life struct {
	plan
	next       *plan // from the next period on
	anchor     int   // the day of the month on which periods begin
	cycles     int64 // how many were billed
	start, end core.Time
	parts      []funds // paid, or to be paid, for the period
	debits     []funds // billed with the next one
	asked      *asking // a change of plan, until it is known what became of it

	terms  *discount.Terms // of what the next period has off
	months int64           // how many periods had them off
	vague  bool            // its periods were not one after the other, all of one length
	trial  bool
}

// booked follows what has happened in a shop since it was called last: it reckons what bills come to, by the rules, and compares.
func (h *history) booked(s *shop) error {
	type change struct {
		ID        string    `db:"id"`
		UpdatedAt core.Time `db:"updated_at"`
	}
	var bills []string
	var changed []change
	err := errors.Join(
		h.rows.Select(&bills, h.rows.Rebind(`SELECT id FROM orders WHERE account_id = ? AND id > ? AND subscription_id IS NOT NULL ORDER BY id`), s.account, s.billed),
		h.rows.Select(&changed, h.rows.Rebind(`SELECT id, updated_at FROM subscriptions WHERE account_id = ? AND updated_at >= ? ORDER BY id`), s.account, s.looked))
	if err != nil {
		return err
	}
	var ids []string
	for _, c := range changed {
		ids, s.looked = append(ids, c.ID), max(s.looked, c.UpdatedAt)
	}
	for id, l := range s.lives {
		if l.asked != nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(bills)+len(ids) == 0 {
		return nil
	}
	rows, err := h.Subscription.ByID(everywhere, s.account, ids)
	if err != nil {
		return err
	}
	for _, id := range bills {
		if err := h.follow(s, id, rows); err != nil {
			return fmt.Errorf("order %s: %w", id, err)
		}
		s.billed = id
	}
	for _, id := range ids {
		if err := h.keepUp(s, rows[id]); err != nil {
			return fmt.Errorf("subscription %s: %w", id, err)
		}
	}
	return nil
}

// follow books a new order of one or several subscriptions.
func (h *history) follow(s *shop, id string, rows map[string]*subscription.Subscription) error {
	o, err := h.Order.Get(everywhere, s.account, id)
	if err != nil {
		return err
	}
	all, err := h.Order.Lines(everywhere, s.account, []order.Order{*o})
	if err != nil {
		return err
	}
	lines := map[string][]lineitem.Item{}
	for _, l := range all[id] {
		if l.SubscriptionID != nil {
			lines[*l.SubscriptionID] = append(lines[*l.SubscriptionID], l)
		}
	}
	for sub, lines := range lines {
		row := rows[sub]
		if row == nil {
			return fmt.Errorf("it bills %s, which did not change", sub)
		}
		if err := h.bill(s, o, lines, row); err != nil {
			return fmt.Errorf("for %s: %w", sub, err)
		}
	}
	if o.BillingReason == order.BillingReasonSubscriptionCreate {
		return nil // no balance pays a checkout
	}
	return h.covered(s, o)
}

// covered checks how much of a bill the customer's balance, as it was before, pays.
func (h *history) covered(s *shop, o *order.Order) error {
	want := covers(0, o.TotalAmount, o.Currency)
	if o.CustomerVerified {
		balance, err := h.balance(s, o.CustomerID, o.Currency, o.ID)
		if err != nil {
			return err
		}
		want = covers(balance, o.TotalAmount, o.Currency)
	}
	if o.BalanceApplied != want {
		return fmt.Errorf("the balance pays %d of %d, and not %d", o.BalanceApplied, o.TotalAmount, want)
	}
	return nil
}

// balance is what a customer had to their credit before an id was made.
func (h *history) balance(s *shop, customer, currency, before string) (sum int64, err error) {
	var changes []struct {
		ID     string `db:"id"`
		Amount int64  `db:"amount"`
	}
	err = h.rows.Select(&changes, h.rows.Rebind(`SELECT id, amount FROM balance_transactions WHERE account_id = ? AND customer_id = ? AND currency = ?`), s.account, customer, currency)
	_, limit, _ := strings.Cut(before, "_")
	for _, e := range changes {
		if _, made, _ := strings.Cut(e.ID, "_"); made < limit {
			sum += e.Amount
		}
	}
	return sum, err
}

// bill books the lines of an order that bill a subscription.
func (h *history) bill(s *shop, o *order.Order, lines []lineitem.Item, row *subscription.Subscription) error {
	l := s.lives[row.ID]
	if l == nil {
		l = &life{plan: planOf(row), trial: row.TrialStart != nil}
		s.lives[row.ID] = l
		l.anchor = lines[0].PeriodStart.Time().Day()
		l.begin(o, lines[0])
		if l.trial {
			return nil
		}
		l.cycles = 1
		return l.onTime() // the checkout has shown what it costs
	}
	if a := l.asked; a != nil && a.order == "" && o.BillingReason == order.BillingReasonSubscriptionUpdate {
		a.order = o.ID
		tax, err := h.taxOf(s, row, a.to.variant)
		if err == nil && (a.waits || o.TotalAmount != a.bill() || o.TaxAmount != tax.inside(a.bill())) {
			err = fmt.Errorf("it bills %d with %d tax for a change of plan: %+v, %+v", o.TotalAmount, o.TaxAmount, tax, a)
		}
		return err
	}
	if err := h.resolve(s, l, row); err != nil {
		return err
	}
	debits := lines
	if lines[0].Kind == lineitem.KindPrice {
		debits = lines[1:]
		if err := h.renewed(s, l, row, o, lines[0]); err != nil {
			return err
		}
	}
	if len(debits) != len(l.debits) {
		return fmt.Errorf("%d debits are billed, and these wait: %+v", len(debits), l.debits)
	}
	tax, err := h.taxOf(s, row, row.PriceVariantID)
	if err != nil {
		return err
	}
	for i, d := range l.debits {
		if line := debits[i]; line.TotalAmount != d.billed || line.TaxAmount != tax.inside(d.billed) {
			return fmt.Errorf("a debit is billed with %d and %d tax, and not %d: %+v", line.TotalAmount, line.TaxAmount, d.billed, tax)
		}
	}
	l.debits = nil
	if len(debits) == len(lines) {
		return nil
	}
	l.begin(o, lines[0])
	l.cycles++
	return l.onTime()
}

// onTime makes sure that a period ends when it should.
func (l *life) onTime() error {
	if want := l.ends(l.start, l.anchor); l.end != want {
		return fmt.Errorf("a period of %+v on day %d from %s ends on %s, and not on %s", l.plan, l.anchor, l.start, l.end, want)
	}
	return nil
}

// rested reports whether a period follows on others that nobody is billed for, as while the account is disabled. The day of the month stays
// then, which it does not after a pause.
func (l *life) rested(start, end core.Time) bool {
	at := l.end
	for at < start {
		at = l.ends(at, l.anchor)
	}
	return at == start && l.ends(start, l.anchor) == end
}

// begin is what pays for a period that begins.
func (l *life) begin(o *order.Order, price lineitem.Item) {
	l.start, l.end, l.parts = *price.PeriodStart, *price.PeriodEnd, nil
	if price.TotalAmount > 0 {
		l.parts = []funds{{order: o.ID, left: price.TotalAmount, since: l.start}}
	}
}

// keepUp takes over what a change of a subscription's row says of periods to come, and checks what is left of one that has ended.
func (h *history) keepUp(s *shop, row *subscription.Subscription) error {
	l := s.lives[row.ID]
	if l == nil {
		return fmt.Errorf("no order began it")
	}
	if err := h.resolve(s, l, row); err != nil {
		return err
	}
	if l.trial {
		l.plan = planOf(row) // no money moves
	}
	if l.asked == nil && planOf(row) != l.plan {
		return fmt.Errorf("its plan is %+v, and not %+v", planOf(row), l.plan)
	}
	if l.asked == nil && row.CyclesBilled != l.cycles {
		return fmt.Errorf("%d periods are counted, and %d were billed", row.CyclesBilled, l.cycles)
	}
	l.next = nil
	for change := row.PendingChange.V; change != nil; change = change.Replaces {
		if change.InvoiceID == nil {
			p := change.Plan
			l.next = &plan{p.ProductID, p.PriceVariantID, p.UnitAmount, p.Quantity, p.Interval, p.IntervalCount}
		}
	}
	if l.asked == nil && row.CurrentPeriodEnd != l.end { // a trial that lasts longer, or periods that nobody is billed for
		l.vague, l.parts = l.vague || l.months > 0, nil
	}
	if l.asked == nil {
		l.start, l.end = row.CurrentPeriodStart, row.CurrentPeriodEnd
	}
	if row.DiscountEndsAt == nil || row.Discount.V == nil || l.terms == nil || l.terms.DiscountID != row.Discount.V.DiscountID {
		l.months, l.vague = 0, false
		if row.DiscountEndsAt != nil && row.Discount.V != nil {
			l.months = 1 // they have begun with this period
		}
	}
	l.terms = row.Discount.V
	if row.EndedAt == nil || len(l.debits) == 0 {
		return nil
	}
	with := row.Status == subscription.StatusCompleted || row.CancelAtPeriodEnd && *row.EndedAt == row.CurrentPeriodEnd
	if _, err := h.Customer.Get(everywhere, s.account, row.CustomerID); with && err == nil {
		return fmt.Errorf("it has ended with its period, and these were not billed: %+v", l.debits)
	}
	l.debits = nil
	return nil
}

func planOf(row *subscription.Subscription) plan {
	return plan{row.ProductID, row.PriceVariantID, row.UnitAmount, row.Quantity, row.Interval, row.IntervalCount}
}

// unused is what is left to give back of a subscription. Of each order that paid for its period, it counts what a card and the balance
// paid. It is -1 where nobody knows.
func (p *player) unused(sub *subscription.Subscription) (int64, error) {
	l := p.lives[sub.ID]
	if p.crowded || l == nil || l.asked != nil {
		return -1, nil
	}
	now, err := p.in(0)
	if err != nil {
		return -1, err
	}
	left, err := p.prorated(p.shop, l, now, 0)
	if err != nil {
		return -1, err
	}
	sum := int64(0)
	for _, f := range left.parts {
		o, err := p.Order.Get(everywhere, p.account, f.order)
		if err != nil {
			return -1, err
		}
		i, err := p.Invoice.Get(everywhere, p.account, *o.InvoiceID)
		if err != nil {
			return -1, err
		}
		kept, charged := keptOf(o)
		card := share(f.left, charged, kept)
		if sum += f.left - card; !i.PaidOutOfBand {
			sum += card
		}
	}
	return sum, nil
}

// returnedTax makes sure that the tax of all refunds of an order is the share of its tax that falls on them.
func (h *history) returnedTax(s *shop) error {
	var all []struct {
		ID       string `db:"id"`
		Tax      int64  `db:"tax_amount"`
		Total    int64  `db:"total_amount"`
		Refunded int64  `db:"refunded"`
		Back     int64  `db:"back"`
	}
	err := h.rows.SelectContext(context.Background(), &all, h.rows.Rebind(`
		SELECT o.id, o.tax_amount, o.total_amount, CAST(SUM(r.amount) AS BIGINT) AS refunded, CAST(SUM(r.tax_amount) AS BIGINT) AS back
		FROM orders o JOIN refunds r ON r.account_id = o.account_id AND r.order_id = o.id
		WHERE o.account_id = ? AND NOT EXISTS (SELECT 1 FROM refunds f WHERE f.account_id = o.account_id AND f.order_id = o.id AND f.status IN ('failed', 'canceled'))
		GROUP BY o.id, o.tax_amount, o.total_amount`), s.account)
	for _, o := range all {
		if want := back(o.Tax, o.Refunded, o.Total); err == nil && o.Back != want {
			err = fmt.Errorf("the refunds of order %s have %d tax, and not %d", o.ID, o.Back, want)
		}
	}
	return err
}
