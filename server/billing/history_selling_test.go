package billing_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
)

// lines are what somebody puts into a checkout.
func (p *player) lines() ([]offer.NewLine, error) {
	var lines []offer.NewLine
	first, err := p.variant()
	if err != nil {
		return nil, err
	}
	for v := first; len(lines) == 0 || len(lines) < 3 && p.odds(2); {
		if len(lines) > 0 {
			if v, err = p.variant(); err != nil {
				return nil, err
			}
		}
		if v.Currency != first.Currency && !p.odds(8) {
			v = first
		}
		line := offer.NewLine{PriceVariant: v.ID, Quantity: int64(1 + p.roll(3))}
		if v.AmountType == catalog.PriceVariantAmountTypeCustom {
			line.CustomAmount = new(pick(p, append([]int64{0}, amountsOf...)))
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// fill says who buys, where they are, and at what discount.
func (p *player) fill(c *checkout.Checkout) {
	c.BillingAddress = core.JSONOf(p.address())
	if customer, err := p.customer(); err == nil && p.odds(3) {
		c.CustomerID = &customer.ID
	} else {
		c.CustomerEmail, c.EmailVerified = p.email(), p.odds(2)
		c.ExternalCustomerID = maybe(p, 4, func() string { return fmt.Sprintf("e%d", p.roll(3)) })
	}
	if d, err := p.discount(); err == nil && p.odds(2) {
		c.DiscountID = &d.ID
	}
}

func (p *player) putIntoCheckout() error {
	c := &checkout.Checkout{}
	p.fill(c)
	lines, err := p.lines()
	if err != nil {
		return err
	}
	made, err := p.Checkout.Create(everywhere, p.account, checkout.Draft{Checkout: c, Lines: lines})
	return errors.Join(p.answered("put into a checkout", err), p.shown(made))
}

// shown reckons what a checkout comes to.
func (p *player) shown(c *checkout.Checkout) error {
	if c == nil || p.crowded {
		return nil
	}
	items, err := p.Lines.OfCheckout(everywhere, p.account, c.ID)
	if err != nil {
		return err
	}
	tax := c.TotalAmount
	for _, l := range items {
		tax -= l.NetAmount
	}
	if err := priced(items, c.TotalAmount, c.DiscountAmount, tax); err != nil {
		return fmt.Errorf("checkout %s: %w", c.ID, err)
	}
	return nil
}

func (p *player) checkout(status checkout.Status) (*checkout.Checkout, error) {
	if p.odds(12) {
		status = ""
	}
	all, more, err := p.Checkout.List(everywhere, p.account, checkout.List{Page: latest, Status: status})
	return some(p, all, more, err)
}

func (p *player) changeCheckout() error {
	c, err := p.checkout(checkout.StatusOpen)
	if err != nil {
		return err
	}
	lines, err := p.lines()
	if err != nil {
		return err
	}
	what, address, email := p.roll(4), p.address(), p.email()
	code := maybe(p, 2, p.code)
	changed, err := p.Checkout.Update(everywhere, p.account, c.ID, func(d *checkout.Draft) {
		switch what {
		case 0:
			d.BillingAddress = core.JSONOf(address)
		case 1:
			d.Lines = lines
		case 2:
			d.DiscountCode = code
		default:
			d.CustomerID, d.CustomerEmail = nil, email
		}
	})
	return errors.Join(p.answered("change "+c.ID, err), p.shown(changed))
}

// askAds has a buyer say whether ad networks may be told.
func (p *player) askAds() error {
	c, err := p.checkout(checkout.StatusOpen)
	if err != nil {
		return err
	}
	agrees, visit := !p.odds(3), maybe(p, 2, func() advert.Visit { return advert.Visit{ClickIDs: map[string]string{"fbclid": "IwAR0"}} })
	_, err = p.Checkout.Update(everywhere, p.account, c.ID, func(d *checkout.Draft) {
		if d.AnswerAds(&agrees); visit != nil && !p.odds(8) {
			d.AdsVisit.V = visit
		}
	})
	return p.answered("ask who pays "+c.ID+" about ads", err)
}

// vouch says that what was bought, or is being bought, is its customer's.
func (p *player) vouch() error {
	c, err := p.checkout(pick(p, []checkout.Status{checkout.StatusOpen, checkout.StatusCompleted}))
	if err != nil {
		return err
	}
	_, err = p.Checkout.Verify(everywhere, p.account, c.ID)
	return p.answered("vouch for the buyer of "+c.ID, err)
}

func (p *player) expire() error {
	c, err := p.checkout(checkout.StatusOpen)
	if err != nil {
		return err
	}
	_, err = p.Billing.ExpireCheckout(everywhere, p.account, c.ID)
	return p.answered("expire "+c.ID, err)
}

// cards are the ways to pay, the good ones more often.
var cards = []string{
	"pm_card_visa", "pm_card_visa", "pm_card_mastercard", "pm_card_chargeDeclined", "tok_fail_on_renewal", "tok_recover_on_3rd",
	"pm_card_authenticationRequired", "pm_card_refundFail", "pm_card_pendingRefund", "pm_card_chargeCustomerFail",
}

// method is a card, or one of a customer's own.
func (p *player) method(customer *string) (*payments.MethodInput, error) {
	if customer != nil && p.odds(3) {
		methods, _, err := p.Payment.ListMethods(everywhere, p.account, *customer, latest)
		if err != nil && !isRefusal(err) {
			return nil, err
		}
		if len(methods) > 0 {
			return &payments.MethodInput{Ref: pick(p, methods).ID}, nil
		}
	}
	if p.odds(16) {
		return nil, nil
	}
	return &payments.MethodInput{Ref: pick(p, cards)}, nil
}

func (p *player) confirm() error {
	c, err := p.checkout(checkout.StatusOpen)
	if err != nil {
		return err
	}
	method, err := p.method(c.CustomerID)
	if err != nil {
		return err
	}
	done, err := request(p, func(ctx context.Context) (*checkout.Checkout, error) {
		return p.ConfirmCheckout(ctx, p.account, c.ID, billing.CheckoutConfirm{Method: method, Save: p.odds(2)})
	})
	return errors.Join(p.answered(fmt.Sprintf("confirm %s with %v", c.ID, method), err), p.bought(c, done))
}

// bought makes sure that a buyer was charged what they had been shown.
func (p *player) bought(shown, done *checkout.Checkout) error {
	if done == nil || done.OrderID == nil || shown.Status != checkout.StatusOpen {
		return nil
	}
	o, err := p.Order.Get(everywhere, p.account, *done.OrderID)
	if err != nil {
		return err
	}
	if o.PaidAmount != shown.AmountDueNow && !p.crowded {
		return fmt.Errorf("order %s was paid with %d, and the buyer was shown %d", o.ID, o.PaidAmount, shown.AmountDueNow)
	}
	return nil
}

// waiting is a payment whose bank asks its buyer.
func (p *player) waiting() (*string, error) {
	var waiting []string
	err := p.rows.Select(&waiting, p.rows.Rebind(`SELECT id FROM payments WHERE account_id = ? AND status = 'requires_action' ORDER BY id DESC LIMIT 12`), p.account)
	return some(p, waiting, false, err)
}

// askBank begins to pay an invoice on its page with a card whose bank asks.
func (p *player) askBank() error {
	i, err := p.invoice(pick(p, []invoice.Status{invoice.StatusOpen, invoice.StatusPastDue}))
	if err != nil {
		return err
	}
	in := billing.PayInvoice{Method: &payments.MethodInput{Ref: "pm_card_authenticationRequired"}, OnSession: true}
	_, err = request(p, func(ctx context.Context) (*invoice.Invoice, error) { return p.PayInvoice(ctx, p.account, i.ID, in) })
	return p.answered("have the bank ask about "+i.ID, err)
}

// backOut is what a buyer does who cancels their payment on its page, which ends it. One that was made without them stays.
func (p *player) backOut() error {
	id, err := p.waiting()
	if errors.Is(err, errIdle) {
		if err = p.askBank(); err == nil {
			id, err = p.waiting()
		}
	}
	if err != nil {
		return err
	}
	before, err := p.GetPaymentProgress(everywhere, p.account, *id)
	if err != nil {
		return p.answered("look at "+*id, err)
	}
	if before.Checkout != nil {
		err = p.LeavePayment(everywhere, p.account, before.Checkout.ID)
	} else {
		err = p.LeaveInvoicePayment(everywhere, p.account, before.Invoice.ID, *id)
	}
	if err != nil || p.crowded {
		return p.answered("back out of "+*id, err)
	}
	after, err := p.Payment.ByID(everywhere, p.account, []string{*id})
	if err == nil && after[*id].Status.IsFinal() == (before.Invoice != nil && before.Payment.OffSession) {
		err = fmt.Errorf("somebody backed out of %+v, which is %+v now", before.Payment, after[*id])
	}
	return err
}

// consent is what a buyer does whose bank asks for it.
func (p *player) consent() error {
	id, err := p.waiting()
	if err != nil {
		return err
	}
	_, err = request(p, func(ctx context.Context) (*payment.Payment, error) {
		return p.AuthenticateTestPayment(ctx, p.account, *id)
	})
	return p.answered("consent to "+*id, err)
}

func (p *player) publish() error {
	l := checkout.Link{Active: true, AllowDiscountCodes: true, MaxUses: maybe(p, 3, func() int64 { return int64(1 + p.roll(3)) })}
	lines, err := p.lines()
	if err != nil {
		return err
	}
	for _, line := range lines {
		l.PriceVariantIDs.V = append(l.PriceVariantIDs.V, line.PriceVariant)
	}
	if d, err := p.discount(); err == nil && p.odds(2) {
		l.DiscountID = &d.ID
	}
	_, err = p.Checkout.CreateLink(everywhere, p.account, l)
	return p.answered("publish a link", err)
}

// follow opens a link, or takes it back.
func (p *player) follow() error {
	all, more, err := p.Checkout.ListLinks(everywhere, p.account, checkout.ListLinks{Page: latest})
	l, err := some(p, all, more, err)
	if err != nil {
		return err
	}
	if p.odds(8) {
		_, err = p.Checkout.DeleteLink(everywhere, p.account, l.ID)
		return p.answered("delete "+l.ID, err)
	}
	c, err := p.Checkout.FollowLink(everywhere, l.ID, checkout.FollowLink{})
	if err := errors.Join(p.answered("follow "+l.ID, err), p.shown(c)); err != nil || c == nil {
		return err
	}
	email := p.email()
	_, err = p.Checkout.Update(everywhere, p.account, c.ID, func(d *checkout.Draft) { d.CustomerEmail = email })
	return p.answered("say who follows "+l.ID, err)
}
