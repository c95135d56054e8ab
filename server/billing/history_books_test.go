package billing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/subscription"
)

// sound holds the rows against every promise, and against the bank.
func (h *history) sound() error {
	broken, err := h.Audit.Check(context.Background(), outbox.DeliveryRetention{Succeeded: 365 * day, Failed: 365 * day})
	if err != nil {
		return err
	}
	if len(broken) > 0 {
		promises := map[string]bool{}
		for _, b := range broken {
			promises[b.Promise] = true
		}
		return fmt.Errorf("broken: %q", slices.Sorted(maps.Keys(promises)))
	}
	h.bank.mu.Lock()
	problems := h.bank.problems
	h.bank.mu.Unlock()
	if len(problems) > 0 {
		return fmt.Errorf("the bank wonders: %q", problems)
	}
	for _, s := range h.shops {
		if err := errors.Join(h.banked(s), h.spent(s), h.credited(s), h.discounted(s), h.told(s), h.licensed(s), h.admitted(s), h.written(s), h.returnedTax(s), h.courted(s)); err != nil {
			return err
		}
	}
	return nil
}

// written checks that every paid order has its receipt sent once, and that whoever was deleted is written to no more.
func (h *history) written(s *shop) error {
	var wrong []string
	err := h.rows.Select(&wrong, h.rows.Rebind(`
		SELECT o.id FROM orders o JOIN customers c ON c.account_id = o.account_id AND c.id = o.customer_id
		WHERE o.account_id = ? AND o.paid_at IS NOT NULL AND c.deleted_at IS NULL AND 1 <> (
			SELECT COUNT(*) FROM letters l WHERE l.account_id = o.account_id AND l.object_id = o.id AND l.kind = 'receipt' AND l.customer_id = o.customer_id)
		UNION ALL SELECT l.object_id FROM letters l JOIN orders o ON o.account_id = l.account_id AND o.id = l.object_id
		WHERE l.account_id = ? AND (o.paid_at IS NULL OR o.customer_id NOT IN (SELECT id FROM customers WHERE account_id = l.account_id AND deleted_at IS NULL))`), s.account, s.account)
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("the receipts of %q", wrong)
	}
	return err
}

// banked compares what orders say was paid and given back with what the bank holds. Of what is under way nothing is
// said, unless the line is up and everybody was heard: then nothing is under way.
func (h *history) banked(s *shop) error {
	type sum struct {
		Currency string `db:"currency"`
		Amount   int64  `db:"amount"`
	}
	var sums []sum
	err := h.rows.Select(&sums, h.rows.Rebind(`
		SELECT o.currency, CAST(SUM(o.paid_amount - o.refunded_amount) AS BIGINT) AS amount
		FROM orders o JOIN invoices i ON i.account_id = o.account_id AND i.id = o.invoice_id
		WHERE o.account_id = ? AND NOT i.paid_out_of_band GROUP BY o.currency`), s.account)
	if err != nil {
		return err
	}
	held := h.bank.holds(s.account)
	for _, sum := range sums {
		held[sum.Currency] -= sum.Amount
	}
	if err := h.underWay(s, held); err != nil {
		return err
	}
	for currency, amount := range held {
		if amount != 0 {
			return fmt.Errorf("account %s: the bank holds %d %s more than the orders say", s.account, amount, currency)
		}
	}
	return nil
}

// underWay takes off what the bank knows already and the rows do not, or the other way round.
func (h *history) underWay(s *shop, held map[string]int64) error {
	type row struct {
		ID       string `db:"id"`
		Currency string `db:"currency"`
		Amount   int64  `db:"amount"`
	}
	var charges, refunds []row
	err := h.rows.Select(&charges, h.rows.Rebind(`
		SELECT id, currency, amount FROM payments WHERE account_id = ? AND status IN ('pending', 'requires_action')`), s.account)
	if err == nil {
		err = h.rows.Select(&refunds, h.rows.Rebind(`SELECT id, currency, amount - balance_amount AS amount FROM refunds WHERE account_id = ? AND status = 'pending'`), s.account)
	}
	if err != nil {
		return err
	}
	h.bank.mu.Lock()
	defer h.bank.mu.Unlock()
	for _, p := range charges {
		if known := h.bank.charges[p.ID]; known != nil && known.status == "succeeded" {
			held[p.Currency] -= p.Amount
		}
	}
	for _, r := range refunds { // the row has taken it off already
		if known := h.bank.refunds[r.ID]; known == nil || known.status != "succeeded" && known.status != "pending" {
			held[r.Currency] -= r.Amount
		}
	}
	return nil
}

// spent compares what customers are said to have spent with their payments and refunds.
func (h *history) spent(s *shop) error {
	return h.customers(s, "total_spent", `
		SELECT customer_id, currency, SUM(amount) AS amount FROM (
			SELECT customer_id, currency, amount FROM payments WHERE account_id = ? AND status = 'succeeded'
			UNION ALL SELECT customer_id, currency, balance_amount - amount FROM refunds WHERE account_id = ? AND status = 'succeeded') moved
		GROUP BY customer_id, currency`, nil)
}

// told makes sure that ad networks are told of all that was bought, or begun, with consent. What they are told of without it, a promise
// finds. Of somebody who was deleted they are told nothing, nor of an address that somebody had who was.
func (h *history) told(s *shop) error {
	var all []struct {
		ID    string
		Email *string
	}
	err := h.rows.Select(&all, h.rows.Rebind(`
		SELECT t.id, t.email FROM (
			SELECT o.account_id, o.id, o.customer_id, c.customer_email AS email, 'purchase' AS kind FROM orders o JOIN checkouts c ON c.account_id = o.account_id AND c.id = o.checkout_id
			WHERE c.ads_consent AND o.total_amount > 0
			UNION ALL
			SELECT s.account_id, s.id, s.customer_id, c.customer_email, CASE WHEN s.trial_start IS NULL THEN 'subscription_started' ELSE 'trial_started' END
			FROM subscriptions s JOIN checkouts c ON c.account_id = s.account_id AND c.id = s.checkout_id WHERE c.ads_consent) AS t
		JOIN customers b ON b.account_id = t.account_id AND b.id = t.customer_id
		WHERE t.account_id = ? AND b.deleted_at IS NULL AND NOT EXISTS (
			SELECT 1 FROM ad_conversions v WHERE v.account_id = t.account_id AND v.event_id = t.id AND v.kind = t.kind)`), s.account)
	var untold []string
	for _, row := range all {
		if _, gone := s.forgotten.Load(strings.ToLower(core.Deref(row.Email))); !gone {
			untold = append(untold, row.ID)
		}
	}
	if err == nil && len(untold) > 0 {
		err = fmt.Errorf("no ad network is told of %q", untold)
	}
	return err
}

// credited compares what customers have to their credit with what changes of plan, refunds and the seller gave them, and orders took.
func (h *history) credited(s *shop) error {
	if h.crowded {
		return nil // nobody saw what each change gave
	}
	return h.customers(s, "balance", `
		SELECT customer_id, currency, -SUM(balance_taken) AS amount FROM (
			SELECT customer_id, currency, balance_taken FROM orders WHERE account_id = ? AND status <> 'void'
			UNION ALL SELECT customer_id, currency, -balance_amount FROM refunds WHERE account_id = ? AND status = 'succeeded') bought
		GROUP BY customer_id, currency`, s.credits)
}

// discounted makes sure that what a subscription's period costs is its plan's price with what it has off. That discount is used, and
// used up if it was for one period.
func (h *history) discounted(s *shop) error {
	subs, _, err := h.Subscription.List(context.Background(), s.account, subscription.List{Page: core.Page{Limit: 100}})
	if err != nil {
		return err
	}
	now, err := h.nowIn(s)
	if err != nil {
		return err
	}
	for i := range subs {
		sub := &subs[i]
		if sub.Status != subscription.StatusActive && sub.Status != subscription.StatusPastDue {
			continue
		}
		if sub.CurrentPeriodEnd <= now {
			continue // the next one is about to be billed, and periods that nobody is billed for may have passed since the last one
		}
		terms := inForce(sub)
		off := takenOff(sub, terms)
		if want := sub.Amount() - off; sub.PeriodAmount != want {
			return fmt.Errorf("the period of %s costs %d, and not %d", sub.ID, sub.PeriodAmount, want)
		}
		if off == 0 {
			continue
		}
		if terms.Duration == discount.DurationOnce && sub.DiscountWaits.V == nil {
			return fmt.Errorf("%s has %s for one period off this one and the next", sub.ID, terms.DiscountID)
		}
		var used int
		err := h.rows.Get(&used, h.rows.Rebind(`
			SELECT COUNT(*) FROM discount_redemptions
			WHERE account_id = ? AND discount_id = ? AND (checkout_id = ? OR subscription_id = ? AND used_at IS NOT NULL)`),
			s.account, terms.DiscountID, sub.CheckoutID, sub.ID)
		if err == nil && used == 0 {
			err = fmt.Errorf("%s has %s off without a use of it", sub.ID, terms.DiscountID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inForce returns what the current period of a subscription has off, nil if that is nothing.
func inForce(sub *subscription.Subscription) *discount.Terms {
	switch {
	case sub.DiscountWaits.V != nil:
		return sub.DiscountWaits.V.Former
	case sub.DiscountEndsAt != nil && sub.CurrentPeriodStart >= *sub.DiscountEndsAt:
		return nil
	}
	return sub.Discount.V
}

// takenOff reckons what a discount takes off a period in another way than the program does.
func takenOff(sub *subscription.Subscription, terms *discount.Terms) int64 {
	isFor := func(terms *discount.Terms) bool {
		return len(terms.ProductIDs)+len(terms.PriceVariantIDs) == 0 || slices.Contains(terms.ProductIDs, sub.ProductID) ||
			slices.Contains(terms.PriceVariantIDs, sub.PriceVariantID)
	}
	switch {
	case terms == nil || !isFor(terms):
		return 0
	case terms.Type == discount.TypePercent && terms.Share != nil && terms.Share.Subtotal == sub.Amount():
		return terms.Share.Amount
	case terms.Type == discount.TypePercent:
		return rounded(sub.Amount(), terms.PercentBps, 10_000)
	case terms.Share != nil:
		return min(terms.Amounts[sub.Currency], terms.Share.Amount, sub.Amount())
	}
	return min(terms.Amounts[sub.Currency], sub.Amount())
}

// customers compares a column of amounts by currency with what a query and a start say of each customer.
func (h *history) customers(s *shop, column, query string, start map[string]int64) error {
	var sums []struct {
		Customer string `db:"customer_id"`
		Currency string `db:"currency"`
		Amount   int64  `db:"amount"`
	}
	if err := h.rows.Select(&sums, h.rows.Rebind(query), s.account, s.account); err != nil {
		return err
	}
	var customers []struct {
		ID      string  `db:"id"`
		Amounts *string `db:"amounts"`
	}
	err := h.rows.Select(&customers, h.rows.Rebind(`SELECT id, CAST(`+column+` AS TEXT) AS amounts FROM customers WHERE account_id = ? AND deleted_at IS NULL`), s.account)
	if err != nil {
		return err
	}
	want := map[string]int64{}
	for key, amount := range start {
		want[key] = amount
	}
	for _, sum := range sums {
		want[sum.Customer+" "+sum.Currency] += sum.Amount
	}
	for _, c := range customers {
		amounts := map[string]int64{}
		if c.Amounts != nil {
			if err := json.Unmarshal([]byte(*c.Amounts), &amounts); err != nil {
				return fmt.Errorf("%s of %s: %w", column, c.ID, err)
			}
		}
		for _, currency := range currenciesOf {
			if got, want := amounts[currency], want[c.ID+" "+currency]; got != want {
				return fmt.Errorf("%s of customer %s is %d %s, and not %d", column, c.ID, got, currency, want)
			}
		}
	}
	return nil
}

// rounded is a * b / c, rounded half up.
func rounded(a, b, c int64) int64 {
	n := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	n.Add(n.Lsh(n, 1), big.NewInt(c))
	return n.Div(n, big.NewInt(2*c)).Int64()
}

// priced reckons what lines come to in another way than the program does.
func priced(items []lineitem.Item, total, discount, tax int64) error {
	var sum, off, taxes int64
	for _, l := range items {
		rest, line := l.SubtotalAmount-l.DiscountAmount, int64(0)
		if l.TaxInclusive {
			line = rounded(rest, l.TaxRateBps, 10_000+l.TaxRateBps)
		} else {
			line = rounded(rest, l.TaxRateBps, 10_000)
			sum += line
		}
		if line != l.TaxAmount {
			return fmt.Errorf("line %+v has %d tax", l, line)
		}
		sum, off, taxes = sum+rest, off+l.DiscountAmount, taxes+line
	}
	if sum != total || off != discount || taxes != tax {
		return fmt.Errorf("lines come to %d with %d off and %d tax, and not to %d, %d, %d", sum, off, taxes, total, discount, tax)
	}
	return nil
}
