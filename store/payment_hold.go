package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// A payment that waits for its buyer's bank holds a use of the checkout link, of the discount, and the stock. So that nobody can
// hold all that there is without paying, what one network holds of a thing is at most as much as it leaves to others, or what one
// of its payments buys: whether a card asks a bank is known only afterwards, and who buys many would be refused for ever. After
// such a payment was given up unpaid it is not even that for a while, so that others get their turn.

// hold adds to the guards of a payment that begins what it holds of things of which there are only so many, and returns how many
// of each are left to others, by guard. Their rows are locked already, as it took from them. Of the seller's own program, and of
// a proxy that nobody named, nothing is counted.
func (u *unit) hold(ctx context.Context, c *Checkout, p *Payment, items []LineItem, by Buyer) (map[string]int64, error) {
	network := by.network()
	if network == "" {
		return nil, nil
	}
	limited, err := u.store.limited(ctx, c, items)
	if err != nil || len(limited) == 0 {
		return nil, err
	}
	left := map[string]int64{}
	for _, l := range limited {
		left[guardHeld+l.ID+":"+network] = l.Left
	}
	p.Guards.V = append(p.Guards.V, slices.Sorted(maps.Keys(left))...)
	_, err = u.Exec(ctx, `UPDATE payments SET guards = ? WHERE account_id = ? AND id = ?`, p.Guards, p.AccountID, p.ID)
	return left, err
}

// limitedThing is a checkout link, a discount or a price variant, of which Left may still be bought or used.
type limitedThing struct {
	ID   string `db:"id"`
	Left int64  `db:"remaining"`
}

// sizes are how many pieces a payment buys, by price variant.
type sizes map[string]int64

func sizesOf(items []LineItem) sizes {
	sizes := sizes{}
	for _, q := range pieces(items, byVariant) {
		sizes[q.id] = q.pieces
	}
	return sizes
}

// of is what the payment adds under a subject: the pieces of a price variant that are held, and one of everything else.
func (s sizes) of(subject string) int64 {
	thing, _ := strings.CutPrefix(subject, guardHeld)
	id, _, _ := strings.Cut(thing, ":")
	return max(s[id], 1)
}

// refusesHold says how long a payment that buys so much has to wait, and why, if so many are left to others. It is counted already.
func (g guard) refusesHold(left, size int64, now core.Time) (time.Duration, string) {
	switch {
	case g.UnderWay <= left:
		return 0, ""
	case now < g.RetryAt:
		return g.RetryAt.Time().Sub(now.Time()), tooSoonHeld
	case g.UnderWay > size:
		return heldWait, tooManyHeld
	}
	return 0, ""
}

// letOthersHold keeps a network whose payment was given up at the bank from holding again what it leaves to nobody, for as long
// as it did.
func (u *unit) letOthersHold(ctx context.Context, p *Payment, subjects []string) error {
	var held []string
	for _, subject := range slices.Sorted(slices.Values(subjects)) {
		if strings.HasPrefix(subject, guardHeld) {
			held = append(held, subject)
		}
	}
	if len(held) == 0 {
		return nil
	}
	longest, err := u.store.hold(ctx, p.AccountID)
	if err != nil {
		return err
	}
	until := u.store.Now().Add(min(max(p.UpdatedAt.Time().Sub(p.CreatedAt.Time()), shortestTurn), longest))
	for _, subject := range held {
		if _, err := u.Exec(ctx, `
			UPDATE payment_guards SET retry_at = ? WHERE account_id = ? AND subject = ? AND retry_at < ?`, until, p.AccountID, subject, until); err != nil {
			return fmt.Errorf("let others hold: %w", err)
		}
	}
	return nil
}

// shortestTurn is how long others have at least.
const shortestTurn = time.Minute

// limited are the things of a checkout of which there are only so many.
func (s *Store) limited(ctx context.Context, c *Checkout, items []LineItem) ([]limitedThing, error) {
	args := []any{c.AccountID, c.link(), c.AccountID, c.DiscountID, c.AccountID}
	variants := pieces(items, byVariant)
	for _, v := range variants {
		args = append(args, v.id)
	}
	found, err := db.Select[limitedThing](ctx, s.db, `
		SELECT id, max_uses - uses AS remaining FROM checkout_links WHERE account_id = ? AND id = ? AND max_uses IS NOT NULL
		UNION ALL
		SELECT id, max_redemptions - redemptions_count FROM discounts WHERE account_id = ? AND id = ? AND max_redemptions IS NOT NULL
		UNION ALL
		SELECT id, stock - sold_count - reserved_count FROM price_variants
		WHERE account_id = ? AND stock IS NOT NULL AND id IN (''`+strings.Repeat(", ?", len(variants))+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("read what is left: %w", err)
	}
	return found, nil
}

// network is the one around the buyer's address, empty if none is known.
func (b Buyer) network() string {
	if !b.keyless() {
		return ""
	}
	for _, subject := range addressGuards(b.Address) {
		if network, ok := strings.CutPrefix(subject, guardNetwork); ok {
			return network
		}
	}
	return ""
}
