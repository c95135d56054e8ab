package checkout

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/throttle"
)

// PreviewLink returns the checkout and the offer that FollowLink would make now, and stores nothing. Programs look at addresses too.
func (s *Store) PreviewLink(ctx context.Context, ref string, locale *string) (*Checkout, *Offer, error) {
	account, err := s.accountOfLink(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.offeredLink(ctx, s.db, account, ref)
	if err != nil {
		return nil, nil, err
	}
	draft, err := s.draftOf(ctx, s.db, l, Source{CheckoutLink: &l.ID}, locale)
	if err != nil {
		return nil, nil, err
	}
	c, items, err := s.open(ctx, s.db, account, draft)
	if err != nil {
		return nil, nil, err
	}
	offer, err := s.offerOf(ctx, s.db, c, items)
	return c, offer, err
}

// SellerOfLink returns the account that a link belongs to, also if the link is switched off or used up. It is CodeMissing if there is no such link, or
// its account is disabled.
func (s *Store) SellerOfLink(ctx context.Context, ref string) (*tenant.Account, error) {
	account, err := s.accountOfLink(ctx, ref)
	if err != nil {
		return nil, err
	}
	return s.rooms.Tenant.Seller(ctx, s.db, account)
}

// FollowLink says who follows a checkout link, and from where.
type FollowLink struct {
	Source Source
	From   payment.Buyer
	Locale *string // language tag of the page on which they follow it, nil for none
	Once   string  // tells one purchase of theirs from the next, for a day; empty: each is another one
}

// FollowLink makes a checkout for somebody who begins to buy by a link. The link alone says whose account it is. A link that is switched off,
// used up or gone is CodeMissing, and so are all links while the account is disabled. What cannot be sold now is CodeInvalid. No use of the link
// is counted before somebody pays. The same Once gets the same checkout for a day. More checkouts than one network may open are CodeRateLimit.
// checkout.created follows.
func (s *Store) FollowLink(ctx context.Context, ref string, in FollowLink) (*Checkout, error) {
	account, err := s.accountOfLink(ctx, ref)
	if err != nil {
		return nil, err
	}
	var key *core.Key
	if in.Once != "" {
		key = &core.Key{Account: account, Key: ref + "\n" + in.Once} // no request has a key of this form
	}
	answer, _, err := s.db.Request(ctx, key, func(ctx context.Context) (*core.Answer, error) {
		c, err := s.openByLink(ctx, account, ref, in)
		if err != nil {
			return nil, err
		}
		return &core.Answer{Status: 201, Body: []byte(c.ID)}, nil
	})
	if err != nil {
		return nil, err
	}
	// Only the id is kept under Once: the checkout is read as it is now.
	return s.Get(ctx, account, string(answer.Body))
}

// openByLink makes the checkout for FollowLink, in one transaction with the count of those that were opened.
func (s *Store) openByLink(ctx context.Context, account, ref string, in FollowLink) (*Checkout, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Checkout, error) {
		if err := s.countOpened(ctx, account, in.From); err != nil {
			return nil, err
		}
		l, err := s.offeredLink(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		in.Source.CheckoutLink = &l.ID
		draft, err := s.draftOf(ctx, u, l, in.Source, in.Locale)
		if err != nil {
			return nil, err
		}
		return s.Create(ctx, account, draft)
	})
}

// How many checkouts may be opened in an hour by links of an account. There is a limit for one address, for one network, and for a proxy that is
// not named. Whoever buys opens one; each is a row, and an event for the seller.
const (
	OpenedByAddress = 120
	OpenedByNetwork = 600
	openedInside    = 6000
)

// countOpened counts a checkout that somebody opens without a key, or returns CodeRateLimit if there were too many in the hour.
// The rows of these counts stay locked until the transaction ends.
func (s *Store) countOpened(ctx context.Context, account string, by payment.Buyer) error {
	if !by.Keyless() {
		return nil
	}
	most := throttle.Nearby{Address: OpenedByAddress, Network: OpenedByNetwork, Inside: openedInside}
	return s.rooms.Throttle.Count(ctx, account, func(o *throttle.Over) error {
		return o.Refuse("payment_method", "Too many purchases were begun from your network within an hour. Nothing was charged. Try again in")
	}, throttle.From(by.Address, "opened", time.Hour, most)...)
}

// accountOfLink returns the account that a link belongs to. It is CodeMissing if there is no link, or its account is disabled.
func (s *Store) accountOfLink(ctx context.Context, ref string) (string, error) {
	id, _ := core.ParseID(core.KindCheckoutLink, ref)
	account, err := db.Get[string](ctx, s.db, `SELECT account_id FROM global_names WHERE kind = ? AND name = ? AND `+db.EnabledAccount, linkName, id)
	if err == nil && account == nil {
		err = core.Missing("checkout link", "", ref)
	}
	return core.Deref(account), err
}

// offeredLink returns a link that is active and not used up. Any other one is CodeMissing.
func (s *Store) offeredLink(ctx context.Context, r db.Reader, account, ref string) (*Link, error) {
	l, err := s.findLink(ctx, r, account, ref)
	if err == nil && (!l.Active || l.MaxUses != nil && l.Uses >= *l.MaxUses) {
		err = core.Missing("checkout link", "", ref)
	}
	return l, err
}

// draftOf returns the draft of a checkout as the link makes them.
func (s *Store) draftOf(ctx context.Context, r db.Reader, l *Link, source Source, locale *string) (Draft, error) {
	variants, err := s.rooms.Catalog.PriceVariantsByIDIn(ctx, r, l.AccountID, l.PriceVariantIDs.V)
	return l.draft(source, locale, variants), err
}

// draft returns the draft of a checkout as the link makes them: one piece of each price variant. Where buyers choose how many they want there are as many
// as the price variant is sold from.
func (l *Link) draft(source Source, locale *string, variants map[string]*catalog.PriceVariant) Draft {
	lines := make([]offer.NewLine, len(l.PriceVariantIDs.V))
	lacking := map[string]int64{}
	for id, v := range variants {
		lacking[id] = v.QuantityMin
	}
	for _, id := range l.PriceVariantIDs.V {
		lacking[id]--
	}
	for i, id := range l.PriceVariantIDs.V {
		lines[i] = offer.NewLine{PriceVariant: id, Quantity: 1}
		if more := lacking[id]; l.AllowQuantityChange && more > 0 {
			lines[i].Quantity, lacking[id] = 1+more, 0
		}
	}
	return Draft{Lines: lines, Checkout: &Checkout{
		DiscountID: l.DiscountID, AllowDiscountCodes: l.AllowDiscountCodes, AllowQuantityChange: l.AllowQuantityChange, SuccessURL: l.SuccessURL, CancelURL: l.CancelURL,
		Source: core.JSONOf(&source), Metadata: l.Metadata, Locale: locale,
	}}
}
