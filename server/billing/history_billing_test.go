package billing_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
)

func (p *player) invoiceLines() []invoice.NewLine {
	var lines []invoice.NewLine
	for range 1 + p.roll(3) {
		line := invoice.NewLine{Description: new("Work"), UnitAmount: new(int64(p.roll(5000) * 10)), Quantity: int64(1 + p.roll(3)), TaxInclusive: p.odds(2)}
		line.TaxRateBps = maybe(p, 2, func() int64 { return int64(p.roll(2500)) })
		lines = append(lines, line)
	}
	return lines
}

func (p *player) draft() error {
	c, err := p.customer()
	if err != nil {
		return err
	}
	i := &invoice.Invoice{CollectionMethod: invoice.CollectionMethodChargeAutomatically, Currency: pick(p, currenciesOf)}
	if p.odds(2) {
		due, err := p.in(day)
		if err != nil {
			return err
		}
		i.CollectionMethod, i.DueAt = invoice.CollectionMethodSendInvoice, &due
	}
	if d, err := p.discount(); err == nil && p.odds(4) {
		i.DiscountID = &d.ID
	}
	made, err := p.Invoice.Create(everywhere, p.account, invoice.Draft{Invoice: i, Customer: c.ID, Lines: p.invoiceLines()})
	if err := p.answered("draft an invoice", err); err != nil || made == nil || p.crowded {
		return err
	}
	items, err := p.Invoice.Lines(everywhere, p.account, made.ID)
	return errors.Join(err, priced(items, made.TotalAmount, made.DiscountAmount, made.TaxAmount))
}

// in is a moment so far from now on the shop's clock.
func (p *player) in(d time.Duration) (core.Time, error) {
	now, err := p.nowIn(p.shop)
	return now.Add(d), err
}

// nowIn is what the clock of a shop says.
func (h *history) nowIn(s *shop) (core.Time, error) {
	var ahead int64
	err := h.rows.Get(&ahead, h.rows.Rebind(`SELECT clock_offset FROM accounts WHERE id = ?`), s.account)
	return h.Now().Add(time.Duration(ahead) * time.Microsecond), err
}

func (p *player) invoice(status invoice.Status) (*invoice.Invoice, error) {
	if p.odds(8) {
		status = ""
	}
	all, more, err := p.Invoice.List(everywhere, p.account, invoice.List{Page: latest, Status: status})
	return some(p, all, more, err)
}

// issue finalizes a draft, or rewrites or deletes it first.
func (p *player) issue() error {
	i, err := p.invoice(invoice.StatusDraft)
	if err != nil {
		return err
	}
	lines := p.invoiceLines()
	switch p.roll(6) {
	default:
		_, err = p.FinalizeInvoice(everywhere, p.account, i.ID)
	case 4:
		_, err = p.UpdateInvoice(everywhere, p.account, i.ID, func(d *invoice.Draft) { d.Lines = lines })
	case 5:
		_, err = p.Invoice.Delete(everywhere, p.account, i.ID)
	}
	return p.answered("issue "+i.ID, err)
}

func (p *player) payInvoice() error {
	i, err := p.invoice(pick(p, []invoice.Status{invoice.StatusOpen, invoice.StatusPastDue}))
	if err != nil {
		return err
	}
	in := billing.PayInvoice{OutOfBand: p.odds(5), OnSession: p.odds(2)}
	if !in.OutOfBand {
		if in.Method, err = p.method(&i.CustomerID); err != nil {
			return err
		}
	}
	_, err = request(p, func(ctx context.Context) (*invoice.Invoice, error) { return p.PayInvoice(ctx, p.account, i.ID, in) })
	return p.answered(fmt.Sprintf("pay %s with %v", i.ID, in.Method), err)
}

// giveUp calls an invoice off, or an order.
func (p *player) giveUp() error {
	i, err := p.invoice(pick(p, []invoice.Status{invoice.StatusOpen, invoice.StatusPastDue, invoice.StatusUncollectible}))
	if err != nil {
		return err
	}
	switch p.roll(3) {
	case 0:
		_, err = p.VoidInvoice(everywhere, p.account, i.ID)
	case 1:
		_, err = p.MarkInvoiceUncollectible(everywhere, p.account, i.ID)
	default:
		if i.OrderID == nil {
			return errIdle
		}
		_, err = p.VoidOrder(everywhere, p.account, *i.OrderID)
	}
	return p.answered("give up "+i.ID, err)
}

func (p *player) giveBack() error {
	all, more, err := p.Order.List(everywhere, p.account, order.List{Page: latest, Status: pick(p, []order.Status{
		order.StatusPaid, order.StatusPartiallyRefunded, order.StatusPaid, "",
	})})
	o, err := some(p, all, more, err)
	if err != nil {
		return err
	}
	in := store.NewRefund{Order: o.ID, Reason: store.RefundReasonCustomerRequest}
	if p.odds(2) {
		in.Amount = new(int64(1 + p.roll(int(o.RefundableAmount())+2)))
	}
	if p.odds(3) {
		in.RevokeAccess = new(p.odds(2))
	}
	r, err := request(p, func(ctx context.Context) (*store.Refund, error) { return p.CreateRefund(ctx, p.account, in) })
	return errors.Join(p.answered("give back some of "+o.ID, err), p.taxed(o, r), p.refundable(o, in, err))
}

// refundable makes sure that what an order shows as refundable can be refunded, and nothing else.
func (p *player) refundable(before *order.Order, in store.NewRefund, err error) error {
	most := before.RefundableAmount()
	amount := most
	if in.Amount != nil {
		amount = *in.Amount
	}
	refusal, isRefused := errors.AsType[*core.Error](err)
	isRefused = isRefused && refusal.Code == core.CodeInvalid
	if p.crowded || isRefused == (amount < 1 || amount > most) {
		return nil
	}
	return fmt.Errorf("%d of the %d that %s shows as refundable: %w", amount, most, before.ID, err)
}

// taxed makes sure that a refund has its share of the tax of an order as it was before.
func (p *player) taxed(before *order.Order, r *store.Refund) error {
	if r == nil || p.crowded {
		return nil
	}
	left, rest := before.TaxAmount-before.RefundedTaxAmount, before.TotalAmount-before.GivenBack()-r.Amount
	want := rounded(before.TaxAmount, before.GivenBack()+r.Amount, before.TotalAmount) - before.RefundedTaxAmount
	want = min(max(want, left-rest, 0), r.Amount, left)
	if r.TaxAmount != want {
		return fmt.Errorf("refund %s of %d has %d tax, and not %d: %+v", r.ID, r.Amount, r.TaxAmount, want, before)
	}
	return nil
}

// changeBalance gives a customer something, or takes it: now and then more than there is.
func (p *player) changeBalance() error {
	c, err := p.customer()
	if err != nil {
		return err
	}
	in := customer.NewBalanceTransaction{Currency: pick(p, currenciesOf), Amount: pick(p, amountsOf), Description: "By hand"}
	has := c.Balance.V[in.Currency]
	if p.odds(2) {
		in.Amount = -int64(1 + p.roll(int(max(has, 0))+2))
	}
	made, err := request(p, func(ctx context.Context) (*customer.BalanceTransaction, error) {
		return p.Customer.CreateTransaction(ctx, p.account, c.ID, in)
	})
	if err == nil && !p.crowded {
		p.credits[c.ID+" "+in.Currency] += made.Amount
		if has+made.Amount < min(has, 0) {
			return fmt.Errorf("%s had %d %s, of which %d were taken", c.ID, has, in.Currency, -made.Amount)
		}
	}
	return p.answered(fmt.Sprintf("change the balance of %s by %+v", c.ID, in), err)
}

// turnRefund cancels a pending refund, or lets the bank decide about it.
func (p *player) turnRefund() error {
	in := store.ListRefunds{Page: latest}
	if !p.odds(8) {
		in.Status = store.RefundStatusPending
	}
	all, more, err := p.ListRefunds(everywhere, p.account, in)
	r, err := some(p, all, more, err)
	if err != nil {
		return err
	}
	if p.odds(2) {
		_, err = request(p, func(ctx context.Context) (*store.Refund, error) { return p.CancelRefund(ctx, p.account, r.ID) })
		return p.answered("cancel "+r.ID, err)
	}
	_, err = request(p, func(ctx context.Context) (*store.Refund, error) {
		return p.SettleTestRefund(ctx, p.account, r.ID, pick(p, []payments.RefundStatus{payments.RefundSucceeded, payments.RefundFailed}))
	})
	return p.answered("settle "+r.ID, err)
}

// advance moves the shop's clock, and with it all that falls due until then.
func (p *player) advance() error {
	return p.forward(pick(p, []time.Duration{32 * day, time.Hour, day, 3 * day, 8 * day, 100 * day}))
}

func (p *player) forward(by time.Duration) error {
	for {
		clock, err := request(p, func(ctx context.Context) (*billing.TestClock, error) {
			return p.Billing.AdvanceClock(ctx, p.account, store.AdvanceClock{By: by})
		})
		p.say("%s later: %+v, %v", by, clock, err)
		switch {
		case isExcused(err):
			return nil
		case err != nil:
			return fmt.Errorf("advance the clock by %s: %w", by, err)
		case clock.Done:
			return nil
		}
		by = 0
	}
}

// turn does what a server does by itself.
func (p *player) turn() error {
	p.passes(11 * time.Second)
	err := errors.Join(p.Reconcile(everywhere), p.Work(everywhere))
	p.say("the server looks around: %v", err)
	if isExcused(err) {
		return nil
	}
	return err
}

// sever cuts the line to the bank.
func (p *player) sever() error {
	how, after := pick(p, []cut{cutComing, cutGoing}), p.roll(5)
	p.say("the line is cut: %d after %d", how, after)
	p.bank.sever(how, after)
	return nil
}

func (p *player) mend() error {
	if !p.bank.isSevered() {
		return errIdle
	}
	p.say("the line is mended")
	if p.crowded {
		p.bank.sever(cutNowhere, 0)
		return nil
	}
	return p.heal()
}
