package store

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/tenant"
)

// A buyer is reminded once of a checkout that they did not finish.
const (
	abandonedAfter  = time.Hour
	abandonedPeriod = "1h"
)

// AgreeToNews notes that the buyer of an open checkout, who ticked that for its address (checkout.Draft.AnswerNews), wants news in the words that they read
// and from a network address. They are a lead then, and are reminded of the checkout if they do not finish it. If the seller asks for none of that, the
// reader of the address ended it, or too many ticked it there, nothing happens.
func (s *Store) AgreeToNews(ctx context.Context, account, ref, from, words string) error {
	if may, err := s.Mailbox.CountNews(ctx, account, from); err != nil || !may {
		return err
	}
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		c, err := s.Checkout.Lock(ctx, u, account, ref)
		if err != nil || c.Status != checkout.StatusOpen || !c.WantsNews() {
			return nil, err
		}
		offer, err := s.Checkout.GetOffer(ctx, c)
		if err != nil || len(offer.Items) == 0 || !offer.Seller.Writes(tenant.LetterCheckoutAbandoned) {
			return nil, err
		}
		buyer, err := s.Lead.AgreeAtCheckout(ctx, u, offer.Seller, lead.Ticked{
			Email: *c.CustomerEmail, Product: offer.Products[core.Deref(offer.Items[0].ProductID)], Checkout: c.ID, Words: words, From: from,
		})
		if err != nil || buyer == nil {
			return nil, err
		}
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		return nil, s.writeDated(ctx, u, Letter{
			AccountID: account, Kind: tenant.LetterCheckoutAbandoned, CustomerID: buyer.ID, ObjectID: c.ID, Period: abandonedPeriod,
		}, now.Add(abandonedAfter), now)
	})
	return err
}

// readAbandoned reads a checkout that its buyer did not finish. They are reminded only if nothing speaks against it: whatever is in doubt makes it void.
func (s *Store) readAbandoned(ctx context.Context, l *Letter, c *LetterContent) error {
	open, err := s.Checkout.Get(ctx, l.AccountID, l.ObjectID)
	if err != nil {
		return err
	}
	buyer, err := s.Customer.Get(ctx, l.AccountID, l.CustomerID)
	if err != nil {
		return err
	}
	now, err := s.db.BusinessNow(ctx, l.AccountID)
	if err != nil {
		return err
	}
	c.Checkout, c.GoOnURL, c.isVerified, c.checkout, c.Recipient = open, open.URL, open.EmailVerified, &open.ID, core.Deref(open.CustomerEmail)
	switch {
	case l.Attempts > 1:
		c.Void = "It was tried before, and may have arrived."
	case open.Status == checkout.StatusCompleted || open.Status == checkout.StatusProcessing:
		c.Void = "The checkout is paid, or is being paid."
	case open.Status != checkout.StatusOpen || open.ExpiresAt <= now:
		c.Void = "The checkout has expired."
	case !open.WantsNews():
		c.Void = "The buyer took it back that they want news, or gave another address since."
	case !core.SameEmail(core.Deref(buyer.Email), c.Recipient):
		c.Void = "The customer has another address than the checkout."
	case buyer.IsUnsubscribed():
		c.Void = noNews
	case buyer.LastOrderAt != nil && *buyer.LastOrderAt >= open.CreatedAt:
		c.Void = "The customer has bought since."
	}
	if c.Void != "" {
		return nil
	}
	if err := s.readAgreed(ctx, l, c); err != nil || c.Void != "" {
		return err
	}
	return s.readUnsold(ctx, c)
}

const noNews = "The customer does not want news."

// readAgreed finds out whether the reader of the address of an open checkout agreed to news, and is known to be who did.
func (s *Store) readAgreed(ctx context.Context, l *Letter, c *LetterContent) error {
	agrees, isConfirmed, err := s.Lead.Agrees(ctx, l.AccountID, c.Recipient)
	switch {
	case err != nil:
	case !agrees:
		c.Void = noNews
	case !c.isVerified && !isConfirmed:
		c.Void = "Nobody has confirmed that the address is the buyer's."
	default:
		c.UnsubscribeURL, err = s.Lead.UnsubscribeURL(l.AccountID, c.Recipient)
	}
	return err
}

// readUnsold finds out whether all that is in an open checkout is still for sale, and was not bought with its address meanwhile.
func (s *Store) readUnsold(ctx context.Context, c *LetterContent) error {
	isOffered, err := s.Checkout.IsOffered(ctx, c.Checkout)
	if err != nil {
		return err
	}
	lines, err := s.Lines.OfCheckout(ctx, c.Checkout.AccountID, c.Checkout.ID)
	if err != nil {
		return err
	}
	if !isOffered || len(lines) == 0 {
		c.Void = "What is in the checkout is not for sale any more."
		return nil
	}
	c.Product = lines[0].ProductName
	var products []string
	for i := range lines {
		products = append(products, core.Deref(lines[i].ProductID))
	}
	hasBought, err := s.Order.HasBought(ctx, c.Checkout.AccountID, c.Recipient, products, c.Checkout.CreatedAt)
	if err == nil && hasBought {
		c.Void = "Somebody with this address has bought it."
	}
	return err
}
