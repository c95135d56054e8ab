package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

// Confirm says how a buyer pays for a checkout. MethodRef is the provider's reference of a method that was sent, empty if none
// was. Saved is the id of one of the customer's saved methods that is to pay instead. Save asks to keep the method that was
// sent; one that pays for a subscription is always kept.
type Confirm struct {
	Provider      string
	MethodRef     string
	PaymentMethod payment.Method
	Saved         string
	Save          bool
	TermsAccepted bool
	AdsConsent    *bool         // nil = as the checkout says
	AdsVisit      *advert.Visit // nil = none was sent
	OnPage        bool          // the buyer is on our page
	IsPublic      bool          // whoever has the client secret pays, on our page or elsewhere
	From          payment.Buyer

	customerRef *string // the provider's id of the customer, if Saved names a method
	methodID    *string
}

// isKeyless reports whether the buyer pays without an API key.
func (c Confirm) isKeyless() bool { return c.IsPublic || c.From.Keyless() }

// Confirmation says how far the payment of a checkout or of an invoice has come: one of Checkout and Invoice is set, the other
// nil. Payment is nil if there is nothing to charge.
type Confirmation struct {
	Checkout *Checkout
	Invoice  *Invoice
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

// BeginConfirm begins to charge for a checkout. It locks the checkout, checks that it can be bought as it stands, holds its
// stock, and commits the intent to charge before the provider is asked. If there is nothing to pay it makes the order at once,
// and the Payment is nil. A request that is sent again gets the payment of the first time, and a checkout that is completed is
// returned as it is. A checkout that is being paid, or has expired, is CodeInvalid on status. After too many declines it is
// CodeRateLimit.
func (s *Store) BeginConfirm(ctx context.Context, account, ref string, in Confirm) (*Confirmation, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Confirmation, error) {
		c, err := s.lockCheckoutAndSecret(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		id := core.KindPayment.Prefix() + s.db.Effect(ctx)
		begun, err := s.Payment.ByID(ctx, account, []string{id})
		if err != nil || begun[id] != nil {
			return &Confirmation{Checkout: c, Payment: begun[id], Again: true}, err
		}
		if c.Status == CheckoutStatusCompleted {
			return &Confirmation{Checkout: c}, nil
		}
		payment, err := s.beginConfirm(ctx, u, c, id, in)
		return &Confirmation{Checkout: c, Payment: payment}, err
	})
}

// beginConfirm begins to pay for a locked checkout that is not completed: it stores the intent to charge and returns the
// payment, or makes the order and returns nil if there is nothing to charge. If a method is to be saved there is a payment even
// of the amount 0, because the provider has to be asked.
func (s *Store) beginConfirm(ctx context.Context, u *db.Unit, c *Checkout, id string, in Confirm) (*payment.Payment, error) {
	if err := s.useSaved(ctx, c, &in); err != nil {
		return nil, err
	}
	items, err := s.checkConfirm(ctx, u, c, &in)
	if err != nil {
		return nil, err
	}
	if c.AmountDueNow == 0 && !in.saves() {
		if err := s.redeemOffer(ctx, u, c, items); err != nil {
			return nil, err
		}
		return nil, s.complete(ctx, u, c, items, nil, in.method())
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
	left, err := s.Payment.HoldScarce(ctx, u, c.purchase(items), payment, in.From)
	if err != nil {
		return nil, err
	}
	return payment, s.Payment.Guard(ctx, u, c.AccountID, payment.Guards.V, items, left, pausedUntil)
}

// purchase returns what a payment of the checkout buys, whose lines these are.
func (c *Checkout) purchase(items []lineitem.Item) payment.Purchase {
	return payment.Purchase{AccountID: c.AccountID, Link: c.link(), DiscountID: c.DiscountID, Items: items}
}

// redeemOffer counts a purchase by the checkout link that the buyer came by, and a use of the checkout's discount, if it has
// them, and holds the trials of its lines.
func (s *Store) redeemOffer(ctx context.Context, u *db.Unit, c *Checkout, items []lineitem.Item) error {
	if err := s.useCheckoutLink(ctx, u, c); err != nil {
		return err
	}
	if err := s.redeemDiscount(ctx, u, c); err != nil {
		return err
	}
	return s.holdTrials(ctx, u, c, items)
}

// beginPayment stores the payment of a locked checkout, which becomes processing. It counts as a try of the checkout: too many
// are CodeRateLimit. It also returns until when payments are paused for this buyer, nil if they are not.
func (s *Store) beginPayment(ctx context.Context, u *db.Unit, c *Checkout, id string, in Confirm) (*payment.Payment, *core.Time, error) {
	lease, err := db.Get[core.Time](ctx, u, `SELECT `+s.db.NowSQL()+` + ?`, db.ProviderLease.Microseconds())
	if err != nil {
		return nil, nil, fmt.Errorf("read the database's clock: %w", err)
	}
	now, err := s.db.BusinessNow(ctx, c.AccountID)
	if err != nil {
		return nil, nil, err
	}
	seller, err := s.Tenant.Seller(ctx, c.AccountID)
	if err != nil {
		return nil, nil, err
	}
	pausedUntil, err := s.pausedFor(ctx, seller, c, in.From)
	if err != nil {
		return nil, nil, err
	}
	if err := c.try(s.Now()); err != nil {
		return nil, nil, err
	}
	c.Status, c.UpdatedAt = CheckoutStatusProcessing, now
	c.LastPaymentError = core.JSON[*payment.Failure]{}
	if err := u.Update(ctx, checkoutColumns, c); err != nil {
		return nil, nil, err
	}
	guards := in.From.Subjects(c.CustomerID, pausedUntil != nil)
	p := &payment.Payment{
		AccountID: c.AccountID, ID: id, Purpose: payment.PurposeCheckout, CheckoutID: &c.ID, Status: payment.StatusPending, Amount: c.AmountDueNow, Currency: c.Currency,
		Provider: in.Provider, MethodRef: in.MethodRef, PaymentMethod: core.JSONOf(in.PaymentMethod),
		CustomerRef: in.customerRef, MethodID: in.methodID, SaveMethod: in.saves(), OnPage: in.OnPage,
		Keyless: in.isKeyless(), Guards: core.JSONOf(guards),
		LeaseUntil: *lease, CreatedAt: now, UpdatedAt: now,
	}
	return p, pausedUntil, u.Insert(ctx, payment.Columns, p)
}

// pausedFor returns until when the seller's payments are paused for a buyer, nil if they are not. They never are for a buyer
// with a key, nor for one whom the seller named or whose address is verified.
func (s *Store) pausedFor(ctx context.Context, a *tenant.Account, c *Checkout, by payment.Buyer) (*core.Time, error) {
	if !by.Keyless() || a.PaymentsPausedUntil == nil {
		return nil, nil
	}
	isKnown, err := s.knowsBuyer(ctx, c)
	if err != nil || isKnown {
		return nil, err
	}
	return a.PaymentsPausedUntil, nil
}

// try counts another try to pay for a checkout, or returns CodeRateLimit if it comes too soon. A success ends the checkout, so
// every try before this one was declined. The caller stores the checkout.
func (c *Checkout) try(now core.Time) (err error) {
	c.Attempts, c.RetryAt, err = payment.NextTry(c.Attempts, c.RetryAt, now)
	return err
}

// forgiveTry takes back the last try of a checkout, which ended without being declined. The caller stores the checkout.
func (c *Checkout) forgiveTry(now core.Time) {
	c.Attempts, c.RetryAt = max(c.Attempts-1, 0), &now
}
