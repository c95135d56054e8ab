package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// letterFileLifetime is how long the address of a file in a letter opens it.
const letterFileLifetime = 30 * core.Day

// LetterContent is what a letter tells of, as it is now. Of Order, Subscription and so on it has those that its kind tells of.
type LetterContent struct {
	Void      string        // why it is not to be sent, in a sentence; empty if it is
	Wait      time.Duration // how long it has to wait; 0 if it does not
	WaitsOne  bool          // the account's other letters of its kind do not wait
	WaitsFor  string        // why it has to wait, in a sentence
	Seller    *tenant.Account
	Recipient string
	Locale    *string // the language that the reader chose, nil if they chose none

	Order          *order.Order
	Invoice        *invoice.Invoice
	Payment        *payment.Payment // the last of the invoice; nil: there was nothing to charge
	Subscription   *subscription.Subscription
	Renewal        *subscription.Renewal
	LastBill       int64 // what a cancelled subscription charges when it ends
	Grant          *grant.Grant
	Product        string // name of what the grant is of, or of what the checkout began with
	Refund         *Refund
	Method         *payment.BillingMethod // what the subscription is charged to, nil if there is nothing
	IsLate         bool                   // the invoice was due some days ago
	Checkout       *checkout.Checkout
	News           *ProductNews
	Offer          *catalog.Product // that news is about, nil if it is not on sale
	BuyURL         string           // where it is bought, empty for nowhere
	GoOnURL        string           // where its buyer finishes it
	UnsubscribeURL string           // where the customer ends the news of the seller, of which this letter is
	PortalURL      string           // where the customer changes what is theirs
	Deliveries     []LetterDelivery
	Lines          []LetterLine // of the order, in a receipt

	isVerified bool    // that the customer reads the recipient's mail is more than somebody's word
	checkout   *string // where what it tells of was bought, nil: nowhere
}

// LetterDelivery is something that the customer has. FileURL is set of a file whose bytes are there, and opens it for letterFileLifetime.
type LetterDelivery struct {
	grant.Delivery
	ProductName string
	FileName    string
	FileURL     string
}

// ReadLetter reads what a claimed letter tells of, and finds out whether it is still to be sent. One more letter to an address that nobody has confirmed is
// counted.
func (s *Store) ReadLetter(ctx context.Context, l *Letter) (*LetterContent, error) {
	seller, err := s.Tenant.GetAccount(ctx, l.AccountID)
	if err != nil {
		return nil, err
	}
	c := &LetterContent{Seller: seller, PortalURL: s.Portal.URL(seller.Handle)}
	if seller.DisabledAt != nil {
		c.Void = "The account is disabled."
		return c, nil
	}
	if !l.isAsked() && !seller.Writes(l.Kind) {
		c.Void = "The account has switched letters of this kind off."
		return c, nil
	}
	found, err := s.Customer.ByID(ctx, l.AccountID, []string{l.CustomerID})
	if err != nil {
		return nil, err
	}
	customer := found[l.CustomerID]
	if customer == nil {
		c.Void = "The customer was deleted."
		return c, nil
	}
	c.Recipient, c.Locale = core.Deref(customer.Email), customer.PreferredLocale
	err = s.readLetter(ctx, l, c)
	if err == nil && c.checkout != nil {
		c.Locale, err = s.LetterLocale(ctx, l.AccountID, c.checkout, customer.ID)
	}
	if gone, ok := errors.AsType[*core.Error](err); ok && gone.Code == core.CodeMissing {
		c.Void, err = "What it tells of was deleted.", nil
	}
	if err != nil || c.Void != "" || c.Wait > 0 {
		return c, err
	}
	if l.Recipient != nil || l.isAsked() { // it was counted, and handed to the mail server or asked for
		return c, nil
	}
	if l.Kind == tenant.LetterCheckoutAbandoned {
		return c, s.boundAbandoned(ctx, l, c)
	}
	if !c.isVerified {
		if err := s.boundUnasked(ctx, l, c); err != nil || c.Wait > 0 || c.Void != "" {
			return c, err
		}
	}
	if mailbox.IsFree(l.Kind) {
		c.WaitsFor = tooManyOfKind
		c.Wait, err = s.Mailbox.CountFree(ctx, l.AccountID, l.Kind)
	}
	return c, err
}

// boundUnasked counts a letter to an address that nobody has confirmed. One too many is void; a reminder, which the seller's invoice needs, waits. What
// tells many of a new version does not: strangers could have so many of it wait that nobody else is told.
func (s *Store) boundUnasked(ctx context.Context, l *Letter, c *LetterContent) error {
	wait, err := s.Mailbox.CountUnasked(ctx, l.AccountID, c.Recipient, c.followsPayment(l.Kind))
	switch {
	case wait == 0:
	case l.Kind == tenant.LetterInvoiceReminder:
		c.Wait, c.WaitsOne, c.WaitsFor = wait, true, tooManyUnasked
	default:
		c.Void = "Too many letters were sent within an hour to this address, which nobody has confirmed."
	}
	return err
}

// followsPayment reports whether a letter of this kind tells of money, or of what was paid for, so that nobody can cause it without paying.
func (c *LetterContent) followsPayment(kind tenant.LetterKind) bool {
	switch kind {
	case tenant.LetterReceipt:
		return c.Order.PaidAmount > 0
	case tenant.LetterRefund, tenant.LetterPaymentFailed:
		return true
	case tenant.LetterSubscriptionCanceled, tenant.LetterSubscriptionEnded, tenant.LetterSubscriptionKept, tenant.LetterPlanChanged,
		tenant.LetterRenewalUpcoming, tenant.LetterCardExpiring:
		return c.Subscription.CyclesBilled > 0 && c.Subscription.PeriodAmount > 0
	case tenant.LetterFileUpdated:
		return c.Order != nil && c.Order.PaidAmount > 0 || c.Subscription != nil && c.Subscription.CyclesBilled > 0 && c.Subscription.PeriodAmount > 0
	case tenant.LetterTrialEnding, tenant.LetterAccessGiven, tenant.LetterInvoiceReminder, tenant.LetterInvoice, tenant.LetterCheckoutAbandoned, tenant.LetterProductNews:
	}
	return false
}

// readLetter reads what a letter of its kind tells of.
func (s *Store) readLetter(ctx context.Context, l *Letter, c *LetterContent) error {
	switch l.Kind {
	case tenant.LetterReceipt:
		return s.readReceipt(ctx, l, c)
	case tenant.LetterPaymentFailed:
		return s.readFailure(ctx, l, c)
	case tenant.LetterTrialEnding:
		return s.readTrial(ctx, l, c)
	case tenant.LetterSubscriptionCanceled, tenant.LetterSubscriptionEnded:
		return s.readEnd(ctx, l, c)
	case tenant.LetterAccessGiven:
		return s.readAccess(ctx, l, c)
	case tenant.LetterRefund:
		return s.readRefund(ctx, l, c)
	case tenant.LetterSubscriptionKept:
		return s.readKept(ctx, l, c)
	case tenant.LetterPlanChanged:
		return s.readPlan(ctx, l, c)
	case tenant.LetterRenewalUpcoming:
		return s.readRenewal(ctx, l, c)
	case tenant.LetterCardExpiring:
		return s.readCard(ctx, l, c)
	case tenant.LetterInvoiceReminder:
		return s.readReminder(ctx, l, c)
	case tenant.LetterInvoice:
		return s.readInvoice(ctx, l, c)
	case tenant.LetterFileUpdated:
		return s.readFileUpdate(ctx, l, c)
	case tenant.LetterCheckoutAbandoned:
		return s.readAbandoned(ctx, l, c)
	case tenant.LetterProductNews:
		return s.readNews(ctx, l, c)
	}
	return fmt.Errorf("letters of kind %q are not known here", l.Kind)
}

const (
	noAddress        = "The order has no address any more."
	noInvoiceAddress = "The invoice has no address any more."

	tooManyOfKind  = "The account had so many letters of this kind sent within an hour that this one waits."
	tooManyUnasked = "So many letters were sent within an hour to this address, which nobody has confirmed, that this one waits."
)

// readReceipt reads an order, and what its buyer has by it. It is sent to the address that the order was made with.
func (s *Store) readReceipt(ctx context.Context, l *Letter, c *LetterContent) error {
	order, err := s.Order.Get(ctx, l.AccountID, l.ObjectID)
	if err != nil {
		return err
	}
	c.Order, c.isVerified, c.Recipient = order, order.CustomerVerified, core.Deref(order.CustomerEmail)
	if c.Recipient == "" {
		c.Void = noAddress
		return nil
	}
	if c.checkout, err = s.orderCheckout(ctx, order); err != nil {
		return err
	}
	if c.Deliveries, err = s.letterDeliveries(ctx, l.AccountID, order.GrantIDs.V); err != nil {
		return err
	}
	c.Lines, err = s.OrderLines(ctx, order)
	return err
}

// letterDeliveries returns what is had by some grants now, as a letter tells of it.
func (s *Store) letterDeliveries(ctx context.Context, account string, grants []string) ([]LetterDelivery, error) {
	found, err := s.deliveries(ctx, account, grants)
	if err == nil {
		err = s.nameDeliveries(ctx, account, found)
	}
	if err != nil {
		return nil, err
	}
	var products, files []string
	for _, d := range found {
		products = append(products, d.ProductID)
		if d.FileID != nil {
			files = append(files, *d.FileID)
		}
	}
	offers, err := s.Catalog.OffersByID(ctx, account, products)
	if err != nil {
		return nil, err
	}
	stored, err := s.Grant.FilesByID(ctx, account, files)
	if err != nil {
		return nil, err
	}
	deliveries := make([]LetterDelivery, len(found))
	for i, d := range found {
		deliveries[i].Delivery = d
		if offer := offers[d.ProductID]; offer != nil {
			deliveries[i].ProductName = offer.Name
		}
		if d.FileID == nil || stored[*d.FileID] == nil || core.Deref(d.Version) == 0 {
			continue
		}
		signed, err := s.Signed.SignFor(signed.File{Kind: signed.FileKindStored, Account: account, ID: *d.FileID, Version: *d.Version, Grant: d.GrantID}, letterFileLifetime)
		if err != nil {
			return nil, err
		}
		deliveries[i].FileName, deliveries[i].FileURL = stored[*d.FileID].Name, signed.URL
	}
	return deliveries, nil
}
