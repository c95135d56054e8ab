package billing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// saveCard keeps a card for a customer, as their seller does or as they do themselves.
func (p *player) saveCard() error {
	c, err := p.customer()
	if err != nil {
		return err
	}
	in := billing.SaveMethod{Method: payments.MethodInput{Ref: pick(p, cards)}, IsDefault: p.odds(2)}
	if p.odds(2) {
		in.Once = fmt.Sprint("form", p.asked.Add(1))
		saved, err := p.SaveMethod(everywhere, p.account, c.ID, in)
		return errors.Join(p.answered("save a card of "+c.ID, err), p.kept(c, saved, in))
	}
	saved, err := request(p, func(ctx context.Context) (*payment.SavedMethod, error) { return p.SaveMethod(ctx, p.account, c.ID, in) })
	return errors.Join(p.answered("save a card for "+c.ID, err), p.kept(c, saved, in))
}

// kept makes sure that a card is its customer's then, and their default if it is to be or if they had none.
func (p *player) kept(c *customer.Customer, saved *payment.SavedMethod, in billing.SaveMethod) error {
	if saved == nil || p.crowded {
		return nil
	}
	after, err := p.Customer.Get(everywhere, p.account, c.ID)
	if err != nil {
		return err
	}
	isDefault := after.DefaultPaymentMethodID != nil && *after.DefaultPaymentMethodID == saved.ID
	if saved.CustomerID != c.ID || (in.IsDefault || c.DefaultPaymentMethodID == nil) && !isDefault {
		return fmt.Errorf("card %+v was saved by %+v, who are %+v now", saved, in, after)
	}
	return nil
}

// visit is what customers do on the portal with what is theirs, and sometimes try with what is not.
func (p *player) visit() error {
	c, err := p.customer()
	if err != nil {
		return err
	}
	id := c.ID
	sub, err := p.subscription()
	if err == nil && !p.odds(3) {
		id = sub.CustomerID
	}
	made, refusal := p.Portal.CreateSession(everywhere, p.account, id, nil)
	if refusal := p.answered("let "+id+" in", refusal); refusal != nil || made == nil {
		return refusal
	}
	session, _, refusal := p.Portal.Open(everywhere, made.Token)
	if refusal != nil {
		return p.answered("open the portal", refusal)
	}
	if session.CustomerID != id && !p.crowded {
		return fmt.Errorf("the portal of %s opens to %s", id, session.CustomerID)
	}
	if err == nil {
		err = p.manage(session.CustomerID, sub)
	}
	if p.odds(2) {
		err = errors.Join(err, p.Portal.EndSession(everywhere, session))
	}
	return err
}

// manage is what a customer does with a subscription and a card. Nothing happens to those of another one.
func (p *player) manage(customerID string, sub *subscription.Subscription) error {
	methods, _, err := p.Payment.ListMethods(everywhere, p.account, customerID, latest)
	if err != nil {
		return p.answered("look at the cards", err)
	}
	card := core.NewID(core.KindPaymentMethod)
	if len(methods) > 0 && !p.odds(8) {
		card = pick(p, methods).ID
	}
	what := p.roll(6)
	before, err := p.CustomerSubscription(everywhere, p.account, customerID, sub.ID)
	switch isTheirs := err == nil; {
	case what == 0 && isTheirs:
		_, err = p.Store.CancelSubscription(everywhere, p.account, sub.ID, store.CancelSubscription{Customer: customerID})
	case what == 1:
		var kept *subscription.Subscription
		kept, err = p.KeepSubscription(everywhere, p.account, customerID, sub.ID)
		if kept != nil && !isTheirs && !p.crowded {
			return fmt.Errorf("%s keeps %s of %s", customerID, sub.ID, sub.CustomerID)
		}
	case what == 2 && isTheirs:
		_, err = p.UpdateSubscription(everywhere, p.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, PaymentMethod: &card})
	case what == 4 && isTheirs:
		var kept *subscription.Subscription
		if kept, err = p.KeepPlan(everywhere, p.account, sub.ID); kept != nil && !p.crowded {
			isOthers := before.PendingChange.V != nil && !before.IsTheirChange()
			if isOthers || kept.PendingChange.V != nil || planOf(kept) != planOf(before) {
				return fmt.Errorf("%s keeps the plan of %+v, which is %+v now", customerID, before, kept)
			}
		}
	case what == 3:
		_, err = p.RemovePaymentMethod(everywhere, p.account, customerID, card)
	default:
		_, err = p.UpdateCustomer(everywhere, p.account, customerID, func(c *customer.Customer) { c.DefaultPaymentMethodID = &card })
	}
	return p.answered(fmt.Sprintf("%s does %d with %s and %s", customerID, what, sub.ID, card), err)
}

// export reads everything page by page, as a file of it is written: nothing comes twice or is left out.
func (p *player) export() error {
	orders, err := all(func(page core.Page) ([]order.Order, bool, error) {
		return p.Order.List(everywhere, p.account, order.List{Page: page})
	}, func(o *order.Order) string { return o.ID })
	if err != nil {
		return err
	}
	subs, err := all(func(page core.Page) ([]subscription.Subscription, bool, error) {
		return p.Subscription.List(everywhere, p.account, subscription.List{Page: page})
	}, func(s *subscription.Subscription) string { return s.ID })
	if err != nil {
		return err
	}
	p.say("exported %d orders and %d subscriptions", len(orders), len(subs))
	if p.crowded {
		return nil
	}
	var stored []string
	err = p.rows.Select(&stored, p.rows.Rebind(`SELECT id FROM orders WHERE account_id = ? UNION ALL SELECT id FROM subscriptions WHERE account_id = ?`), p.account, p.account)
	exported := slices.Concat(orders, subs)
	slices.Sort(stored)
	slices.Sort(exported)
	if err == nil && !slices.Equal(stored, exported) {
		err = fmt.Errorf("exported were %v of %v", exported, stored)
	}
	return err
}

// all walks a list, the newest first, and returns the ids.
func all[T any](list func(core.Page) ([]T, bool, error), id func(*T) string) (ids []string, err error) {
	page := core.Page{Limit: 5}
	for {
		items, more, err := list(page)
		if err != nil {
			return nil, err
		}
		for i := range items {
			if next := id(&items[i]); len(ids) == 0 || next < ids[len(ids)-1] {
				ids = append(ids, next)
			} else {
				return nil, fmt.Errorf("%s comes after %s", next, ids[len(ids)-1])
			}
		}
		if !more {
			return ids, nil
		}
		page.StartingAfter = ids[len(ids)-1]
	}
}

// returned makes sure that a customer whose subscription was cancelled gets back what is left of it. In any case they get no
// more than its period costs with the tax of the shop.
func (p *player) returned(before, ended *subscription.Subscription, want int64) error {
	if p.crowded || before.EndedAt != nil {
		return nil
	}
	got := int64(0)
	for _, id := range ended.Cancellation.V.RefundIDs {
		r, err := p.GetRefund(everywhere, p.account, id)
		if err != nil {
			return err
		}
		got += r.Amount
	}
	most := before.PeriodAmount + before.PeriodAmount/4 + int64(len(ended.Cancellation.V.RefundIDs))
	if want >= 0 && got != want || got > most {
		return fmt.Errorf("of %s, with %d a period, came back %d, and not %d: %+v", before.ID, before.PeriodAmount, got, want, before)
	}
	return nil
}
