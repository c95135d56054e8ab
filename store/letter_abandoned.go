package store

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/tenant"
)

// abandonedAfter is when somebody is reminded of a checkout that they did not finish, by the period of the letter.
var abandonedAfter = map[string]time.Duration{"1h": time.Hour, lastReminder: 24 * time.Hour}

const lastReminder = "24h"

// AgreeToNews notes that the buyer of an open checkout ticked, on our page, that the seller may send them news, in the words that they read and from a
// network address. They are a lead then, and are reminded of the checkout if they do not finish it. If the seller asks for none of that, or there is no
// address, nothing happens.
func (s *Store) AgreeToNews(ctx context.Context, account, ref, from, words string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		c, err := s.Checkout.Lock(ctx, u, account, ref)
		if err != nil || c.Status != checkout.StatusOpen || c.CustomerEmail == nil {
			return nil, err
		}
		seller, err := s.Tenant.GetAccount(ctx, account)
		if err != nil || !seller.Writes(tenant.LetterCheckoutAbandoned) {
			return nil, err
		}
		ended, err := s.Lead.HasEnded(ctx, account, *c.CustomerEmail)
		if err != nil || ended {
			return nil, err
		}
		l, err := s.newsLead(ctx, u, seller, c, from)
		if err != nil {
			return nil, err
		}
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		if l.Consent.V.Marketing {
			if err := s.noteConsent(ctx, u, l, words, now); err != nil {
				return nil, err
			}
		}
		for period, wait := range abandonedAfter {
			letter := Letter{AccountID: account, Kind: tenant.LetterCheckoutAbandoned, CustomerID: l.CustomerID, ObjectID: c.ID, Period: period}
			if err := s.writeDated(ctx, u, letter, now.Add(wait), now); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return err
}

// newsLead makes a lead of the buyer of a checkout, for its first product.
func (s *Store) newsLead(ctx context.Context, u *db.Unit, seller *tenant.Account, c *checkout.Checkout, from string) (*lead.Lead, error) {
	lines, err := s.Lines.OfCheckout(ctx, c.AccountID, c.ID)
	if err != nil {
		return nil, err
	}
	in := lead.Captured{NewLead: lead.NewLead{Email: *c.CustomerEmail, Source: lead.SourceForm}, From: from, Agrees: true}
	if len(lines) > 0 {
		in.Product = core.Deref(lines[0].ProductID)
	}
	return s.Lead.AgreeAtCheckout(ctx, u, seller, in)
}

// noteConsent keeps with the customer of a lead what they agreed to, unless they have answered before: whoever typed their address does not change that.
func (s *Store) noteConsent(ctx context.Context, u *db.Unit, l *lead.Lead, words string, now core.Time) error {
	c, err := s.Customer.LockNamed(ctx, u, l.AccountID, l.CustomerID, "customer")
	if err != nil || c.MarketingConsent.V != nil {
		return err
	}
	c.MarketingConsent.V = &customer.MarketingConsent{Status: customer.Subscribed, Source: new("checkout"), At: &now, Text: &words}
	c.UpdatedAt = now
	return u.Update(ctx, customer.Columns, c)
}

// readAbandoned reads a checkout that its buyer did not finish. They are not reminded if they finished it or bought something since, if the seller ended
// it, or if they do not want news any more.
func (s *Store) readAbandoned(ctx context.Context, l *Letter, c *LetterContent) error {
	open, err := s.Checkout.Get(ctx, l.AccountID, l.ObjectID)
	if err != nil {
		return err
	}
	c.Checkout, c.isVerified, c.checkout, c.Recipient = open, open.EmailVerified, &open.ID, core.Deref(open.CustomerEmail)
	now, err := s.db.BusinessNow(ctx, l.AccountID)
	if err != nil {
		return err
	}
	isEnded, err := s.Checkout.IsEnded(ctx, open)
	if err != nil {
		return err
	}
	switch isOver := open.ExpiresAt <= now; {
	case open.Status == checkout.StatusCompleted || open.Status == checkout.StatusProcessing:
		c.Void = "The checkout is paid, or is being paid."
	case isEnded:
		c.Void = "The seller ended the checkout."
	case l.Period != lastReminder && l.CreatedAt.Add(abandonedAfter[lastReminder]) <= now && l.Resends == 0:
		c.Void = "Its time is over, and that of the next reminder has come."
	case c.Recipient == "":
		c.Void = "The checkout has no address any more."
	case !isOver:
		c.GoOnURL = open.URL
	case open.LetsChoose(): // the buyer came by a link, and can follow it again
		c.GoOnURL = s.Checkout.LinkURL(*open.Source.V.CheckoutLink)
	default:
		c.Void = "The checkout has expired."
	}
	if c.Void != "" {
		return nil
	}
	return s.readConsent(ctx, l, c)
}

// readConsent finds out whether the customer still wants news, and has bought nothing since the checkout began.
func (s *Store) readConsent(ctx context.Context, l *Letter, c *LetterContent) error {
	agrees, _, err := s.Lead.Agrees(ctx, l.AccountID, c.Recipient)
	if err != nil {
		return err
	}
	buyer, err := s.Customer.Get(ctx, l.AccountID, l.CustomerID)
	if err != nil {
		return err
	}
	lines, err := s.Lines.OfCheckout(ctx, l.AccountID, c.Checkout.ID)
	if err != nil {
		return err
	}
	switch said := buyer.MarketingConsent.V; {
	case !agrees, said != nil && said.Status != customer.Subscribed:
		c.Void = "The customer does not want news."
	case buyer.LastOrderAt != nil && *buyer.LastOrderAt >= c.Checkout.CreatedAt:
		c.Void = "The customer has bought since."
	case len(lines) == 0:
		c.Void = "There is nothing in the checkout."
	default:
		c.Product = lines[0].ProductName
		c.UnsubscribeURL, err = s.Lead.UnsubscribeURL(l.AccountID, c.Recipient)
	}
	return err
}
