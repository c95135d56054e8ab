package store

import (
	"context"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/payment"
)

// PaymentProgress says how far the payment of a checkout or of an invoice has come: one of Checkout and Invoice is set, the other
// nil. Payment is nil if there is nothing to charge.
type PaymentProgress struct {
	Checkout *checkout.Checkout
	Invoice  *invoice.Invoice
	Payment  *payment.Payment

	// Again is set if an earlier request began the payment, and this one is the same request sent again.
	Again bool

	// HoldsTooMuch is set if the payment, which now waits for its buyer's bank, and others that wait hold more of something than they
	// leave. It is to be given up then.
	HoldsTooMuch bool
	// GivenUp is what a buyer is told whose payment is given up; empty for that they were too late.
	GivenUp string

	PausedUntil *core.Time // set if this decline was one too many: until then buyers without a key cannot pay in this account
}

// BeginConfirm begins to charge for a checkout. It locks the checkout, checks that it can be bought as it stands, and holds its stock. It commits the
// intent to charge before the provider is asked. If there is nothing to pay it makes the order at once, and the Payment is nil. A request that is
// sent again gets the payment of the first time, and a checkout that is completed is returned as it is. A checkout that is being paid, or has
// expired, is CodeInvalid on status. After too many declines it is CodeRateLimit.
func (s *Store) BeginConfirm(ctx context.Context, account, ref string, in checkout.Confirm) (*PaymentProgress, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PaymentProgress, error) {
		c, err := s.Checkout.LockWithSecret(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		id := core.KindPayment.Prefix() + s.db.Effect(ctx) // the same when the request is sent again
		if s.db.MayHaveBegun(ctx) {
			begun, err := s.Payment.ByIDIn(ctx, u, account, []string{id})
			if err != nil || begun[id] != nil {
				return &PaymentProgress{Checkout: c, Payment: begun[id], Again: true}, err
			}
		}
		if c.Status == checkout.StatusCompleted {
			return &PaymentProgress{Checkout: c}, nil
		}
		payment, err := s.beginConfirm(ctx, u, c, id, in)
		return &PaymentProgress{Checkout: c, Payment: payment}, err
	})
}

// beginConfirm begins to pay for a locked checkout that is not completed. It stores the intent to charge and returns the payment. If there is nothing
// to charge, it makes the order and returns nil. If a method is to be saved there is a payment even of the amount 0, because the provider has to be
// asked.
func (s *Store) beginConfirm(ctx context.Context, u *db.Unit, c *checkout.Checkout, id string, in checkout.Confirm) (*payment.Payment, error) {
	if err := s.Checkout.UseSaved(ctx, u, c, &in); err != nil {
		return nil, err
	}
	items, err := s.Checkout.CheckConfirm(ctx, u, c, &in)
	if err != nil {
		return nil, err
	}
	if c.AmountDueNow == 0 && !in.Saves() {
		if err := s.redeemOffer(ctx, u, c, items); err != nil {
			return nil, err
		}
		return nil, s.complete(ctx, u, c, items, nil, in.Method())
	}
	payment, pausedUntil, err := s.beginPayment(ctx, u, c, id, in)
	if err != nil {
		return nil, err
	}
	if err := s.redeemOffer(ctx, u, c, items); err != nil {
		return nil, err
	}
	if err := s.Lines.Reserve(ctx, u, c.AccountID, items); err != nil { // late, because other buyers wait for these rows
		return nil, err
	}
	left, err := s.Payment.HoldScarce(ctx, u, c.Purchase(items), payment, in.From)
	if err != nil {
		return nil, err
	}
	return payment, s.Payment.Guard(ctx, u, c.AccountID, payment.Guards.V, items, left, pausedUntil)
}

// redeemOffer counts a purchase by the checkout link that the buyer came by, and a use of the checkout's discount, if there are any. It also holds
// the trials of the checkout's lines.
func (s *Store) redeemOffer(ctx context.Context, u *db.Unit, c *checkout.Checkout, items []lineitem.Item) error {
	if err := s.Checkout.UseLink(ctx, u, c); err != nil {
		return err
	}
	if err := s.Checkout.RedeemDiscount(ctx, u, c); err != nil {
		return err
	}
	return s.Checkout.HoldTrials(ctx, u, c, items)
}

// beginPayment stores the payment of a locked checkout, which becomes processing. It counts as a try of the checkout: too many
// are CodeRateLimit. It also returns until when payments are paused for this buyer, nil if they are not.
func (s *Store) beginPayment(ctx context.Context, u *db.Unit, c *checkout.Checkout, id string, in checkout.Confirm) (*payment.Payment, *core.Time, error) {
	lease, err := u.LeaseUntil(ctx, db.ProviderLease)
	if err != nil {
		return nil, nil, err
	}
	now, err := db.BusinessNow(ctx, u, c.AccountID)
	if err != nil {
		return nil, nil, err
	}
	seller, err := s.Tenant.Seller(ctx, u, c.AccountID)
	if err != nil {
		return nil, nil, err
	}
	pausedUntil, err := s.Checkout.PausedFor(ctx, u, seller, c, in.From)
	if err != nil {
		return nil, nil, err
	}
	if err := c.Try(s.Now()); err != nil {
		return nil, nil, err
	}
	c.Status, c.UpdatedAt = checkout.StatusProcessing, now
	c.LastPaymentError = core.JSON[*payment.Failure]{}
	if err := u.Update(ctx, checkout.Columns, c); err != nil {
		return nil, nil, err
	}
	guards := in.From.Subjects(c.CustomerID, pausedUntil != nil)
	p := &payment.Payment{
		AccountID: c.AccountID, ID: id, Purpose: payment.PurposeCheckout, CheckoutID: &c.ID, Status: payment.StatusPending, Amount: c.AmountDueNow, Currency: c.Currency,
		Provider: in.Provider, MethodRef: in.MethodRef, PaymentMethod: core.JSONOf(in.PaymentMethod),
		CustomerRef: in.CustomerRef, MethodID: in.MethodID, SaveMethod: in.Saves(), OnPage: in.OnPage,
		Keyless: in.IsKeyless(), Guards: core.JSONOf(guards),
		LeaseUntil: lease, CreatedAt: now, UpdatedAt: now,
	}
	return p, pausedUntil, u.Insert(ctx, payment.Columns, p)
}
