package checkout

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
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
		f.Ordered("active", *in.Active)
	}
	f.OrderedIfSet("discount_id", db.IDNamed(ctx, s.db, &f, s.rooms.Discount.Named, account, in.Discount, "discount"))
	f.List(s.db, "checkout_links", core.KindCheckoutLink, in.ListFilter, "name")
	list, more, err := db.Page(ctx, s.db, LinkColumns, core.KindCheckoutLink, account, in.Page, &f)
	for i := range list {
		list[i].reveal(s)
	}
	return list, more, err
}

// BuyURLs returns the addresses of the newest active links that sell one price variant alone, by the variant.
func (s *Store) BuyURLs(ctx context.Context, account string) (map[string]string, error) {
	const newest = 100
	links, _, err := s.ListLinks(ctx, account, ListLinks{Page: core.Page{Limit: newest}, Active: new(true)})
	if err != nil {
		return nil, err
	}
	byVariant := map[string]string{}
	for _, l := range slices.Backward(links) { // the newest one stays
		if len(l.PriceVariantIDs.V) == 1 {
			byVariant[l.PriceVariantIDs.V[0]] = l.URL
		}
	}
	return byVariant, nil
}

// CreateLink makes a checkout link. A price variant or discount that does not exist is CodeMissing.
func (s *Store) CreateLink(ctx context.Context, account string, in Link) (*Link, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Link, error) {
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		l := in
		l.AccountID, l.ID, l.Uses, l.CreatedAt, l.UpdatedAt = account, core.NewID(core.KindCheckoutLink), 0, now, now
		l.reveal(s)
		if err := s.checkLink(ctx, u, &l, &Link{}); err != nil {
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
		if err := s.checkLink(ctx, u, l, &before); err != nil || core.SameJSON(before, *l) {
			return l, err
		}
		if l.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
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

// checkLink checks a link before it is stored. The price variants and the discount have to exist, or it is CodeMissing;
// those that have not changed are not looked up again.
func (s *Store) checkLink(ctx context.Context, r db.Reader, l, before *Link) error {
	sells := !core.SameJSON(l.PriceVariantIDs, before.PriceVariantIDs) || before.AllowQuantityChange && !l.AllowQuantityChange
	if sells {
		if err := s.findLinked(ctx, r, l); err != nil {
			return err
		}
	}
	if l.DiscountID != nil && (sells || !core.SameJSON(l.DiscountID, before.DiscountID)) {
		d, err := s.rooms.Discount.Named(ctx, r, l.AccountID, *l.DiscountID, "discount")
		if err != nil {
			return err
		}
		l.DiscountID = &d.ID
		if err := s.checkLinkedDiscount(ctx, r, l, d); err != nil {
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

// checkLinkedDiscount returns CodeInvalid if the discount of a link needs a larger subtotal than the one that a buyer finds there. They could
// choose nothing before they can use it.
func (s *Store) checkLinkedDiscount(ctx context.Context, r db.Reader, l *Link, d *discount.Discount) error {
	variants, err := s.rooms.Catalog.PriceVariantsByIDIn(ctx, r, l.AccountID, l.PriceVariantIDs.V)
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
func (s *Store) findLinked(ctx context.Context, r db.Reader, l *Link) error {
	ids := slices.Clone(l.PriceVariantIDs.V)
	for i := range ids {
		ids[i], _ = core.ParseID(core.KindPriceVariant, ids[i])
	}
	found, err := s.rooms.Catalog.PriceVariantsByIDIn(ctx, r, l.AccountID, ids)
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
