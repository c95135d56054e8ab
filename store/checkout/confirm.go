package checkout

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

// Confirm says how a buyer pays for a checkout. MethodRef is the provider's reference of a method that was sent, empty if none
// was. Saved is the id of one of the customer's saved methods that is to pay instead. Save asks to keep the method that was
// sent; one that pays for a subscription is always kept.
type Confirm struct {
	Provider         string
	MethodRef        string
	PaymentMethod    payment.Method
	Saved            string
	Save             bool
	TermsAccepted    bool
	TermsShown       *string // what TextsOf returned for the pages that the buyer was shown; nil = not known
	WithdrawalWaived bool
	AdsConsent       *bool         // nil = as the checkout says
	AdsVisit         *advert.Visit // nil = none was sent
	OnPage           bool          // the buyer is on our page
	IsPublic         bool          // whoever has the client secret pays, on our page or elsewhere
	From             payment.Buyer
	Shown            *string // what Checkout.Shown returned when the buyer was shown the amounts; nil = not asked

	CustomerRef *string // the provider's id of the customer, if Saved names a method
	MethodID    *string
}

// IsKeyless reports whether the buyer pays without an API key.
func (c Confirm) IsKeyless() bool { return c.IsPublic || c.From.Keyless() }

// Saves reports whether the buyer sent a method that is to be saved, and not one that is saved already.
func (c *Confirm) Saves() bool { return c.Save && c.MethodRef != "" && c.MethodID == nil }

// Method returns the payment method that the buyer sent with their confirmation, nil if they sent none.
func (c Confirm) Method() *payment.BillingMethod {
	if c.MethodRef == "" {
		return nil
	}
	return &payment.BillingMethod{ID: c.MethodID, Provider: c.Provider, Ref: c.MethodRef, CustomerRef: c.CustomerRef, Card: c.PaymentMethod}
}

// UseSaved fills in the saved method that the buyer named to pay with, if they named one. If the checkout's customer has no
// such method it is CodeMissing on payment_method.
func (s *Store) UseSaved(ctx context.Context, r db.Reader, c *Checkout, in *Confirm) error {
	if in.Saved == "" {
		return nil
	}
	if c.CustomerID == nil {
		return core.Missing("payment method", "payment_method", in.Saved)
	}
	m, err := s.rooms.Payment.MethodIn(ctx, r, c.AccountID, *c.CustomerID, in.Saved)
	if err != nil {
		return err
	}
	in.Provider, in.MethodRef, in.PaymentMethod = m.Provider, m.ProviderRef, m.Card.V
	in.CustomerRef, in.MethodID = &m.CustomerRef, &m.ID
	return nil
}

// KeepsMethods reports whether a payment method that is given at a checkout may be saved for the customer, and is not for this
// purchase alone. A buyer without a key has the client secret, which anybody may have. That the owner of a mailbox confirmed the purchase does
// not say that the card is theirs. Then only a checkout whose customer the seller named keeps methods.
func (c *Checkout) KeepsMethods(keyless bool) bool {
	return c.isNamed() || c.EmailVerified && !keyless
}

// Purchase returns what a payment of the checkout buys, whose lines these are.
func (c *Checkout) Purchase(items []lineitem.Item) payment.Purchase {
	return payment.Purchase{AccountID: c.AccountID, Link: c.Link(), DiscountID: c.DiscountID, Items: items}
}

// PausedFor returns until when the seller's payments are paused for a buyer, nil if they are not. They never are for a buyer
// with a key, nor for one whom the seller named or whose address is verified.
func (s *Store) PausedFor(ctx context.Context, r db.Reader, a *tenant.Account, c *Checkout, by payment.Buyer) (*core.Time, error) {
	if !by.Keyless() || a.PaymentsPausedUntil == nil {
		return nil, nil
	}
	isKnown, err := s.knowsBuyer(ctx, r, c)
	if err != nil || isKnown {
		return nil, err
	}
	return a.PaymentsPausedUntil, nil
}

// Try counts another try to pay for a checkout, or returns CodeRateLimit if it comes too soon. A success ends the checkout, so
// every try before this one was declined. The caller stores the checkout.
func (c *Checkout) Try(now core.Time) (err error) {
	c.Attempts, c.RetryAt, err = payment.NextTry(c.Attempts, c.RetryAt, now)
	return err
}

// ForgiveTry takes back the last try of a checkout, which ended without being declined. The caller stores the checkout.
func (c *Checkout) ForgiveTry(now core.Time) {
	c.Attempts, c.RetryAt = max(c.Attempts-1, 0), &now
}

// CheckConfirm checks everything that has to be true of a locked checkout to be bought, prices it once more, and returns its
// lines. It also settles in.Save, whether the payment method is kept: that of a subscription always is. What stands against the
// purchase is CodeInvalid on the field that it is about.
func (s *Store) CheckConfirm(ctx context.Context, u *db.Unit, c *Checkout, in *Confirm) ([]lineitem.Item, error) {
	if c.Status != StatusOpen {
		return nil, core.Invalid("status", fmt.Sprintf("The checkout is %s. Only an open one can be confirmed.", c.Status))
	}
	items, err := s.rooms.Lines.OfCheckoutIn(ctx, u, c.AccountID, c.ID)
	if err != nil {
		return nil, err
	}
	offers, err := s.rooms.Offer.Of(ctx, u, c.AccountID, asked(items))
	var gone *core.Error
	if errors.As(err, &gone) {
		return nil, core.Invalid("line_items", gone.Message) // it was there when the checkout was made
	}
	if err != nil {
		return nil, err
	}
	if err := s.checkBuyer(ctx, u, c); err != nil {
		return nil, err
	}
	now, err := db.BusinessNow(ctx, u, c.AccountID)
	if err != nil {
		return nil, err
	}
	var p core.Problems
	if err := s.acceptTerms(ctx, u, &p, c, in, now); err != nil {
		return nil, err
	}
	if err := s.waive(ctx, u, &p, c, in, items, offers, now); err != nil {
		return nil, err
	}
	in.Save = in.Save && c.KeepsMethods(in.IsKeyless())
	c.answerAds(&p, in, now)
	p.Check(c.CustomerEmail != nil, "customer_email", "The checkout needs the buyer's e-mail address.")
	offer.License(items, offers)
	for i, line := range lineitem.Sales(items) {
		problem := offers[i].Unsellable(line.Quantity)
		p.Check(problem == "", "line_items", problem)
		in.Save = in.Save || offers[i].Variant.Type == catalog.PriceVariantTypeRecurring
	}
	p.Check(c.AmountDueNow == 0 || in.MethodRef != "", "payment_method", "Send a payment method, such as pm_card_visa.")
	if err := p.Err(); err != nil {
		return nil, err
	}
	if err := checkAnswers(offers, c.CustomFieldData.V, true); err != nil {
		return nil, err
	}
	if items, err = s.requote(ctx, u, c, items, now); err != nil {
		return nil, err
	}
	if in.Shown != nil {
		shown, err := c.Shown(items)
		if err != nil {
			return nil, err
		}
		if shown != *in.Shown {
			return nil, errChanged("The amounts have changed. Show them to the buyer, and confirm again.")
		}
	}
	if c.PaymentMethodRequired && in.MethodRef == "" {
		mayRely, err := s.mayRelyOnSaved(ctx, u, c, in)
		if err != nil {
			return nil, err
		}
		if !mayRely {
			return nil, core.Invalid("payment_method", "Send a payment method, such as pm_card_visa: it is charged when what costs nothing now is renewed.")
		}
	}
	for _, amount := range []int64{c.AmountDueNow, c.TotalAmount} { // a trial's rest is charged later
		err := tenant.PaymentsProvider(in.Provider).Check(amount, c.Currency, "line_items", "Change the price, the discount or the tax so that the total ends in 0.")
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

// mayRelyOnSaved reports whether a checkout that costs nothing now may go without a payment method. It is then renewed from what its customer has
// saved. That needs a seller's program, which knows who is there, and a customer who is known. Whoever has the client secret may be anybody. That
// is so even if the seller named the customer, or the reader of a letter said that the address is theirs.
func (s *Store) mayRelyOnSaved(ctx context.Context, r db.Reader, c *Checkout, in *Confirm) (bool, error) {
	if in.IsPublic {
		return false, nil
	}
	return s.knowsBuyer(ctx, r, c)
}
