package checkout

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/throttle"
)

// Link is an address that a seller may publish: everybody who begins to buy by it gets a checkout of their own.
type Link struct {
	AccountID           string              `db:"account_id"`
	ID                  string              `db:"id"`
	URL                 string              `db:"-"`
	Name                *string             `db:"name"`
	PriceVariantIDs     core.JSON[[]string] `db:"price_variant_ids"` // one piece of each, unless the buyer chooses: quantity_min then
	DiscountID          *string             `db:"discount_id"`
	AllowDiscountCodes  bool                `db:"allow_discount_codes"`
	AllowQuantityChange bool                `db:"allow_quantity_change"`
	SuccessURL          *string             `db:"success_url"`
	CancelURL           *string             `db:"cancel_url"`
	Active              bool                `db:"active"`
	MaxUses             *int64              `db:"max_uses"` // nil = any number
	Uses                int64               `db:"uses"`     // purchases by it, and payments under way for one
	Metadata            core.Metadata       `db:"metadata"` // given to each checkout
	CreatedAt           core.Time           `db:"created_at"`
	UpdatedAt           core.Time           `db:"updated_at"`
}

// maxLinkedVariants is how many price variants a link may sell: as many as a checkout may have lines.
const maxLinkedVariants = 50

// linkName is the kind of global name under which a link is found by its id alone.
const linkName = "checkout_link"

// ListLinks holds the filters of a list of checkout links. An empty one does not filter.
type ListLinks struct {
	core.Page
	core.ListFilter
	Active   *bool
	Discount string
}

// LinkColumns are those of a Link.
var LinkColumns = db.ColumnsOf[Link]("checkout_links")

// GetLink returns a checkout link, or CodeMissing.
func (s *Store) GetLink(ctx context.Context, account, ref string) (*Link, error) {
	return s.findLink(ctx, s.db, account, ref)
}

// ListLinks returns a page of checkout links, newest first, and whether there are more. A discount that does not
// exist is CodeMissing.
func (s *Store) ListLinks(ctx context.Context, account string, in ListLinks) ([]Link, bool, error) {
	var f db.Filter
	if in.Active != nil {
		f.Equals("active", *in.Active)
	}
	if in.Discount != "" {
		d, err := s.rooms.Discount.Named(ctx, account, in.Discount, "discount")
		if err != nil {
			return nil, false, err
		}
		f.Is("discount_id", d.ID)
	}
	f.List(s.db, "checkout_links", core.KindCheckoutLink, in.ListFilter, "name")
	list, more, err := db.Page(ctx, s.db, LinkColumns, core.KindCheckoutLink, account, in.Page, &f)
	for i := range list {
		list[i].reveal(s)
	}
	return list, more, err
}

// CreateLink makes a checkout link. A price variant or discount that does not exist is CodeMissing.
func (s *Store) CreateLink(ctx context.Context, account string, in Link) (*Link, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Link, error) {
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		l := in
		l.AccountID, l.ID, l.Uses, l.CreatedAt, l.UpdatedAt = account, core.NewID(core.KindCheckoutLink), 0, now, now
		l.reveal(s)
		if err := s.checkLink(ctx, &l, &Link{}); err != nil {
			return nil, err
		}
		if _, err := u.TakeGlobalName(ctx, linkName, l.ID, account, l.ID); err != nil {
			return nil, err
		}
		return &l, u.Insert(ctx, LinkColumns, &l)
	})
}

// UpdateLink locks the link, applies change and stores it. Checkouts that it made stay as they are.
func (s *Store) UpdateLink(ctx context.Context, account, ref string, change func(*Link)) (*Link, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Link, error) {
		l, err := s.lockLink(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		before := *l
		change(l)
		if err := s.checkLink(ctx, l, &before); err != nil || core.SameJSON(before, *l) {
			return l, err
		}
		if l.UpdatedAt, err = s.db.BusinessNow(ctx, account); err != nil {
			return nil, err
		}
		return l, u.Update(ctx, LinkColumns, l)
	})
}

// DeleteLink deletes a link and returns it. Checkouts that it made stay.
func (s *Store) DeleteLink(ctx context.Context, account, ref string) (*Link, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Link, error) {
		l, err := s.lockLink(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if _, err := u.Exec(ctx, `DELETE FROM global_names WHERE kind = ? AND name = ? AND account_id = ?`, linkName, l.ID, account); err != nil {
			return nil, fmt.Errorf("drop link: %w", err)
		}
		if _, err := u.Exec(ctx, `DELETE FROM checkout_links WHERE account_id = ? AND id = ?`, account, l.ID); err != nil {
			return nil, fmt.Errorf("delete checkout link: %w", err)
		}
		return l, nil
	})
}

// PreviewLink returns the checkout and the offer that FollowLink would make now, and stores nothing: it is not
// only buyers who look at addresses, but programs too.
func (s *Store) PreviewLink(ctx context.Context, ref string, locale *string) (*Checkout, *Offer, error) {
	account, err := s.accountOfLink(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.offeredLink(ctx, account, ref)
	if err != nil {
		return nil, nil, err
	}
	draft, err := s.draftOf(ctx, l, Source{CheckoutLink: &l.ID}, locale)
	if err != nil {
		return nil, nil, err
	}
	c, items, err := s.open(ctx, account, draft)
	if err != nil {
		return nil, nil, err
	}
	offer, err := s.offerOf(ctx, c, items)
	return c, offer, err
}

// SellerOfLink returns the account that a link belongs to, also if the link is switched off or used up. It is CodeMissing if there is no such link, or
// its account is disabled.
func (s *Store) SellerOfLink(ctx context.Context, ref string) (*tenant.Account, error) {
	account, err := s.accountOfLink(ctx, ref)
	if err != nil {
		return nil, err
	}
	return s.rooms.Tenant.Seller(ctx, account)
}

// FollowLink says who follows a checkout link, and from where.
type FollowLink struct {
	Source Source
	From   payment.Buyer
	Locale *string // language tag of the page on which they follow it, nil for none
	Once   string  // tells one purchase of theirs from the next, for a day; empty: each is another one
}

// FollowLink makes a checkout for somebody who begins to buy by a link. The link alone says whose account it is. A link
// that is switched off, used up or gone is CodeMissing, as all are while the account is disabled; what cannot be sold now is
// CodeInvalid. No use of the link is counted before somebody pays. The same Once gets the same checkout for a day. More
// checkouts than one network may open are CodeRateLimit. checkout.created follows.
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
	return db.Tx(ctx, s.db, func(ctx context.Context, _ *db.Unit) (*Checkout, error) {
		if err := s.countOpened(ctx, account, in.From); err != nil {
			return nil, err
		}
		l, err := s.offeredLink(ctx, account, ref)
		if err != nil {
			return nil, err
		}
		in.Source.CheckoutLink = &l.ID
		draft, err := s.draftOf(ctx, l, in.Source, in.Locale)
		if err != nil {
			return nil, err
		}
		return s.Create(ctx, account, draft)
	})
}

// How many checkouts may be opened in an hour by links of an account: from one address, from one network, and through a proxy that is not
// named. Whoever buys opens one; each is a row, and an event for the seller.
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
func (s *Store) offeredLink(ctx context.Context, account, ref string) (*Link, error) {
	l, err := s.GetLink(ctx, account, ref)
	if err == nil && (!l.Active || l.MaxUses != nil && l.Uses >= *l.MaxUses) {
		err = core.Missing("checkout link", "", ref)
	}
	return l, err
}

// Link returns the id of the checkout link by which the buyer came, nil for none.
func (c *Checkout) Link() *string {
	if c.Source.V == nil {
		return nil
	}
	return c.Source.V.CheckoutLink
}

// UseLink counts one use of the link by which a checkout was opened, as its payment begins. A link that is used up is
// CodeInvalid on line_items. The condition of the UPDATE decides: of many who pay with one use left, one gets it. A link that
// was deleted or switched off since still sells what it has offered.
func (s *Store) UseLink(ctx context.Context, u *db.Unit, c *Checkout) error {
	link := c.Link()
	if link == nil {
		return nil
	}
	rows, err := u.Exec(ctx, `
		UPDATE checkout_links SET uses = uses + 1 WHERE account_id = ? AND id = ? AND (max_uses IS NULL OR uses < max_uses)`, c.AccountID, *link)
	if err != nil {
		return fmt.Errorf("count use of link: %w", err)
	}
	if rows == 1 {
		return nil
	}
	there, err := db.Get[int](ctx, u, `SELECT 1 FROM checkout_links WHERE account_id = ? AND id = ?`, c.AccountID, *link)
	if err != nil || there == nil {
		return err
	}
	return core.Invalid("line_items", "This offer is sold out: as many have bought by its link as may. Nothing was charged.")
}

// ReleaseLink takes back the use that UseLink counted, when the payment comes to nothing.
func (s *Store) ReleaseLink(ctx context.Context, u *db.Unit, c *Checkout) error {
	link := c.Link()
	if link == nil {
		return nil
	}
	_, err := u.Exec(ctx, `UPDATE checkout_links SET uses = uses - 1 WHERE account_id = ? AND id = ? AND uses > 0`, c.AccountID, *link)
	if err != nil {
		return fmt.Errorf("release link %s: %w", *link, err)
	}
	return nil
}

// draftOf returns the draft of a checkout as the link makes them.
func (s *Store) draftOf(ctx context.Context, l *Link, source Source, locale *string) (Draft, error) {
	variants, err := s.rooms.Catalog.PriceVariantsByID(ctx, l.AccountID, l.PriceVariantIDs.V)
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

// checkLink checks a link before it is stored. The price variants and the discount have to exist, or it is CodeMissing;
// those that have not changed are not looked up again.
func (s *Store) checkLink(ctx context.Context, l, before *Link) error {
	sells := !core.SameJSON(l.PriceVariantIDs, before.PriceVariantIDs) || before.AllowQuantityChange && !l.AllowQuantityChange
	if sells {
		if err := s.findLinked(ctx, l); err != nil {
			return err
		}
	}
	if l.DiscountID != nil && (sells || !core.SameJSON(l.DiscountID, before.DiscountID)) {
		d, err := s.rooms.Discount.Named(ctx, l.AccountID, *l.DiscountID, "discount")
		if err != nil {
			return err
		}
		l.DiscountID = &d.ID
		if err := s.checkLinkedDiscount(ctx, l, d); err != nil {
			return err
		}
	}
	var p core.Problems
	n := len(l.PriceVariantIDs.V)
	p.Check(n >= 1 && n <= maxLinkedVariants, "price_variants", "A link sells 1 to 50 price variants.")
	p.Check(core.HasAtMost(l.Name, 255), "name", "A name has at most 255 characters.")
	p.Check(l.MaxUses == nil || *l.MaxUses >= max(l.Uses, 1), "max_uses", "The most uses are at least 1, and those that there were.")
	l.Metadata.Check(&p)
	return p.Err()
}

// checkLinkedDiscount returns CodeInvalid if the discount of a link needs a larger subtotal than the one that a buyer finds there: they could choose nothing
// before they can use it.
func (s *Store) checkLinkedDiscount(ctx context.Context, l *Link, d *discount.Discount) error {
	variants, err := s.rooms.Catalog.PriceVariantsByID(ctx, l.AccountID, l.PriceVariantIDs.V)
	if err != nil {
		return err
	}
	var items []lineitem.Item
	currency := ""
	for _, line := range l.draft(Source{}, nil, variants).Lines {
		v := variants[line.PriceVariant]
		if v == nil {
			return nil // one that was deleted since: the link sells nothing
		}
		currency = cmp.Or(currency, v.Currency)
		amount, _ := offer.Offer{Variant: v}.UnitAmount(currency, nil)
		items = append(items, lineitem.Item{UnitAmount: amount, Quantity: line.Quantity})
	}
	if problem := d.Lacks(items, currency); len(items) > 0 && problem != "" {
		return core.Invalid("discount", problem+" What the link begins with does not come to that: send another discount, null for none, or more price variants.")
	}
	return nil
}

// findLinked puts the ids of a link's price variants into their canonical form. It returns CodeMissing for one that does not
// exist, and CodeInvalid if they can never be sold together.
func (s *Store) findLinked(ctx context.Context, l *Link) error {
	ids := slices.Clone(l.PriceVariantIDs.V)
	for i := range ids {
		ids[i], _ = core.ParseID(core.KindPriceVariant, ids[i])
	}
	found, err := s.rooms.Catalog.PriceVariantsByID(ctx, l.AccountID, ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if found[id] == nil {
			return core.Missing("price_variant", fmt.Sprintf("price_variants.%d", i), l.PriceVariantIDs.V[i])
		}
	}
	l.PriceVariantIDs.V = ids
	return l.sellable(found)
}

// sellable returns CodeInvalid if what a link begins with can never be bought together. What cannot be bought
// now, because it is a draft or out of stock, may be later, and is let through.
func (l *Link) sellable(found map[string]*catalog.PriceVariant) error {
	together := offer.Lineup{Wanted: l.draft(Source{}, nil, found).Lines}
	for _, id := range l.PriceVariantIDs.V {
		together.Offers = append(together.Offers, offer.Offer{Variant: found[id]})
	}
	var p core.Problems
	p.Check(!together.IsMixed(), "price_variants", "Recurring price variants that are sold together have the same interval.")
	pieces := together.Pieces()
	for i, o := range together.Offers {
		currency := together.Offers[0].Variant.Currency
		_, priceless := o.UnitAmount(currency, nil)
		if o.Variant.AmountType == catalog.PriceVariantAmountTypeCustom && o.Variant.SuggestedAmount == nil {
			priceless = fmt.Sprintf("Price variant %s is sold for its suggested amount by a link: give it one.", o.Variant.ID)
		}
		problem := cmp.Or(o.Foreign(currency), o.Allowed(pieces[o.Variant.ID]), priceless)
		p.Check(problem == "", fmt.Sprintf("price_variants.%d", i), problem)
	}
	return p.Err()
}

// lockLink does what GetLink does, and locks the row until the transaction ends.
func (s *Store) lockLink(ctx context.Context, u *db.Unit, account, ref string) (*Link, error) {
	return s.findLink(ctx, u.Locked(), account, ref)
}

func (s *Store) findLink(ctx context.Context, r db.Reader, account, ref string) (*Link, error) {
	id, ok := core.ParseID(core.KindCheckoutLink, ref)
	if !ok {
		return nil, core.Missing("checkout link", "", ref)
	}
	l, err := db.Get[Link](ctx, r, LinkColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read checkout link: %w", err)
	}
	if l == nil {
		return nil, core.Missing("checkout link", "", ref)
	}
	l.reveal(s)
	return l, nil
}

// reveal sets the address at which the link is followed.
func (l *Link) reveal(s *Store) { l.URL = s.db.Options.PublicURL + "/buy/" + l.ID }
