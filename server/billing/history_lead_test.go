package billing_test

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/lead"
)

// leave has somebody leave their address, in a form of anybody's page or with the seller. The seller may say more of a lead that is
// known.
func (p *player) leave() error {
	v, err := p.variant()
	if err != nil {
		return err
	}
	found := lead.NewLead{Email: *p.email(), Source: pick(p, []lead.Source{lead.SourceForm, lead.SourceAPI})}
	if p.odds(2) {
		found.Product = v.ProductID
	}
	if p.odds(2) {
		found.Status = pick(p, []lead.Status{lead.StatusNew, lead.StatusQualified, lead.StatusQualified, lead.StatusUnsubscribed})
		found.Consent = maybe(p, 2, func() lead.NewConsent { return lead.NewConsent{Marketing: true} })
		upsert := p.odds(2)
		_, err := request(p, func(ctx context.Context) (*lead.Saved, error) { return p.Lead.Create(ctx, p.account, found, upsert) })
		return p.answered("note "+found.Email, err)
	}
	form, err := p.Lead.NewForm(everywhere, p.account)
	if isRefusal(err) {
		return errIdle // the account is disabled
	}
	if err != nil {
		return err
	}
	p.passes(3 * time.Second) // as long as somebody types
	_, err = p.Lead.Capture(everywhere, lead.Captured{NewLead: found, FormToken: form.Token, From: "203.0.113.7", Agrees: p.odds(2)})
	return p.answered(found.Email+" fills in a form", err)
}

func (p *player) lead() (*lead.Lead, error) {
	all, more, err := p.Lead.List(everywhere, p.account, lead.List{Page: latest})
	return some(p, all, more, err)
}

// judge changes what a seller thinks of a lead, or forgets it.
func (p *player) judge() error {
	l, err := p.lead()
	if err != nil {
		return err
	}
	if p.odds(4) {
		_, err := p.Lead.Delete(everywhere, p.account, l.ID)
		return p.answered("forget "+l.ID, err)
	}
	to := pick(p, []lead.Status{lead.StatusQualified, lead.StatusNew, lead.StatusUnsubscribed, lead.StatusConverted})
	_, err = p.Lead.Update(everywhere, p.account, l.ID, func(l *lead.Lead) { l.Status = to })
	return p.answered(fmt.Sprintf("call %s %s", l.ID, to), err)
}

// comeBack has a lead buy.
func (p *player) comeBack() error {
	l, err := p.lead()
	if err != nil {
		return err
	}
	lines, err := p.lines()
	if err != nil {
		return err
	}
	c, err := p.Checkout.Create(everywhere, p.account, checkout.Draft{Checkout: &checkout.Checkout{CustomerEmail: &l.Email}, Lines: lines})
	if err != nil {
		return p.answered("put into a checkout for "+l.ID, err)
	}
	_, err = request(p, func(ctx context.Context) (*checkout.Checkout, error) {
		return p.ConfirmCheckout(ctx, p.account, c.ID, billing.CheckoutConfirm{Method: &payments.MethodInput{Ref: "pm_card_visa"}})
	})
	return p.answered(l.ID+" buys by "+c.ID, err)
}

// courted makes sure that no lead is courted whose address has paid since, and that none has an order of somebody else's.
func (h *history) courted(s *shop) error {
	if h.crowded { // a lead that comes while its address pays may be older than the order, and nobody has seen it
		return nil
	}
	var wrong []string
	err := h.rows.Select(&wrong, h.rows.Rebind(`
		SELECT l.id FROM leads l JOIN orders o ON o.account_id = l.account_id AND lower(o.customer_email) = l.email_key AND o.paid_at > l.created_at
		WHERE l.account_id = ? AND l.status IN ('new', 'qualified')
		UNION ALL SELECT l.id FROM leads l JOIN orders o ON o.account_id = l.account_id AND o.id = l.converted_order_id
		WHERE l.account_id = ? AND (l.converted_at <> o.paid_at OR lower(o.customer_email) <> l.email_key)`), s.account, s.account)
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("what became of the leads %q is not what their addresses paid", wrong)
	}
	return err
}
