package payment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/throttle"
)

// While a payment waits for its buyer's bank, it holds a use of the checkout link, a use of the discount, and the stock. Nobody may hold all that
// there is without paying. So what one network holds of a thing is limited to as much as it leaves to others. One payment may always hold what it
// buys. Whether its bank is going to ask the buyer is known only afterwards. Without this exception somebody who buys many pieces would be
// refused for ever. After such a payment was given up unpaid, the exception does not hold for a while, so that others get their turn.
//
// A network is counted from the moment that its payment begins, because nobody knows yet whether its bank asks. Whoever is refused for
// that was charged nothing, and may try again once the payments of their neighbours have their outcome, which takes seconds.
//
// All that wait together may not hold everything either, from however many networks they come: see HoldsTooMuch. There a payment counts
// from the moment that its bank asks. Those that are only on their way take seconds, and most of them buy what they hold. In a rush they would
// have every buyer refused whose bank asks.

// Purchase is what a payment of a checkout buys: its lines, by a checkout link and with a discount, or without.
type Purchase struct {
	AccountID  string
	Link       *string
	DiscountID *string
	Items      []lineitem.Item
}

// HoldScarce notes what a payment that begins holds of things of which there are only so many. These are a use of the checkout
// link, a use of the discount, and the stock of price variants. For each it adds a guard to the payment, whose subject names the
// thing and the buyer's network. It returns by subject how many are left to others, nil if nothing is counted. Once the payment
// waits for a bank, HoldForAll adds those of all networks.
//
// The rows of the things are locked already, because the payment took from them. Nothing is counted for the seller's own
// program, nor for buyers behind a proxy that is not named, whose networks are not known.
func (s *Store) HoldScarce(ctx context.Context, u *db.Unit, buys Purchase, p *Payment, by Buyer) (map[string]int64, error) {
	network := by.network()
	if network == "" {
		return nil, nil
	}
	limited, err := s.limited(ctx, u, buys)
	if err != nil || len(limited) == 0 {
		return nil, err
	}
	left := map[string]int64{}
	for _, l := range limited {
		left[guardHeld+l.ID+":"+network] = l.Left
	}
	p.Guards.V = append(p.Guards.V, slices.Sorted(maps.Keys(left))...)
	return left, s.storeGuards(ctx, u, p)
}

// HoldForAll counts what a payment, which waits for its buyer's bank from now on, holds among what those of all networks do.
func (s *Store) HoldForAll(ctx context.Context, u *db.Unit, p *Payment, items []lineitem.Item) error {
	var subjects []string
	for _, subject := range p.Guards.V {
		thing, isHeld := strings.CutPrefix(subject, guardHeld)
		id, _, _ := strings.Cut(thing, ":")
		if ofAll := guardHeld + id + ":"; isHeld && !slices.Contains(p.Guards.V, ofAll) { // an older version has counted it already
			subjects = append(subjects, ofAll)
		}
	}
	if len(subjects) == 0 {
		return nil
	}
	if _, err := s.countGuards(ctx, u, p.AccountID, subjects, sizesOf(items), 1, 0); err != nil {
		return err
	}
	p.Guards.V = append(p.Guards.V, subjects...)
	return s.storeGuards(ctx, u, p)
}

func (s *Store) storeGuards(ctx context.Context, u *db.Unit, p *Payment) error {
	_, err := u.Exec(ctx, `UPDATE payments SET guards = ? WHERE account_id = ? AND id = ?`, p.Guards, p.AccountID, p.ID)
	return err
}

// limitedThing is a checkout link, a discount or a price variant that can be used or bought only so many times. Left says how
// many are left.
type limitedThing struct {
	ID   string `db:"id"`
	Left int64  `db:"remaining"`
}

// isOfAll reports whether a guard counts what payments of all networks hold of a thing.
func isOfAll(subject string) bool {
	return strings.HasPrefix(subject, guardHeld) && strings.HasSuffix(subject, ":")
}

// HoldsTooMuch reports whether a payment that waits for its buyer's bank, and all others together, hold too much of a thing. That is more than
// they leave to those who pay at once. A payment that is alone may hold what it buys. It is asked once the bank has, because whether a bank asks
// is not known before. Buyers who pay at once are never refused for what others hold.
func (s *Store) HoldsTooMuch(ctx context.Context, r db.Reader, buys Purchase, p *Payment) (bool, error) {
	scarce, err := s.scarce(ctx, r, buys, p)
	sizes := sizesOf(buys.Items)
	for subject, held := range scarce {
		if held > sizes.of(subject) {
			return true, err
		}
	}
	return false, err
}

// scarce returns of which things payments that wait for a bank hold more than they leave, as the subjects of their guards, and how much. Only
// those that the payment holds are looked at.
func (s *Store) scarce(ctx context.Context, r db.Reader, buys Purchase, p *Payment) (map[string]int64, error) {
	args := []any{p.AccountID}
	for _, subject := range p.Guards.V {
		if isOfAll(subject) {
			args = append(args, subject)
		}
	}
	if len(args) == 1 {
		return nil, nil
	}
	held, err := db.Select[guard](ctx, r, `
		SELECT subject, declines, under_way, since, retry_at FROM payment_guards
		WHERE account_id = ? AND subject IN (`+strings.Repeat(`, ?`, len(args)-1)[2:]+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("read what is held: %w", err)
	}
	limited, err := s.limited(ctx, r, buys)
	if err != nil {
		return nil, err
	}
	scarce := map[string]int64{}
	for _, l := range limited {
		for _, g := range held {
			if g.Subject == guardHeld+l.ID+":" && g.UnderWay > l.Left {
				scarce[g.Subject] = g.UnderWay
			}
		}
	}
	return scarce, nil
}

// sizes holds how many pieces a payment buys of each price variant, by the variant's id.
type sizes map[string]int64

// sizesOf counts the pieces of the lines.
func sizesOf(items []lineitem.Item) sizes {
	sizes := sizes{}
	for _, q := range lineitem.Pieces(items, lineitem.ByVariant) {
		sizes[q.ID] = q.Pieces
	}
	return sizes
}

// of returns how much a payment adds to the guard of a subject. It is the number of pieces if the subject is stock that it holds, and 1 for every
// other subject.
func (s sizes) of(subject string) int64 {
	thing, _ := strings.CutPrefix(subject, guardHeld)
	id, _, _ := strings.Cut(thing, ":")
	return max(s[id], 1)
}

// refusesHold returns how long a payment has to wait because its network holds too much of a thing, 0 if it may go on. It also returns the reason
// for the buyer. Left is how many are left to others, size what this payment buys; the guard has counted it already. A network may hold as much
// as it leaves to others, or what one of its payments buys.
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

// letOthersHold is for a network whose payment was given up at the bank. It keeps it from holding the same things again if that would leave too
// few to others. That lasts as long as the payment held them, at least shortestTurn and at most the account's payment hold. Subjects are the
// guards of the payment; those that hold nothing are skipped.
func (s *Store) letOthersHold(ctx context.Context, u *db.Unit, p *Payment, subjects []string) error {
	var held []string
	for _, subject := range slices.Sorted(slices.Values(subjects)) {
		if strings.HasPrefix(subject, guardHeld) && !isOfAll(subject) {
			held = append(held, subject)
		}
	}
	if len(held) == 0 {
		return nil
	}
	longest, err := s.HoldTime(ctx, u, p.AccountID)
	if err != nil {
		return err
	}
	until := s.db.Now().Add(min(max(p.UpdatedAt.Time().Sub(p.CreatedAt.Time()), shortestTurn), longest))
	for _, subject := range held {
		if _, err := u.Exec(ctx, `
			UPDATE payment_guards SET retry_at = ? WHERE account_id = ? AND subject = ? AND retry_at < ?`, until, p.AccountID, subject, until); err != nil {
			return fmt.Errorf("let others hold: %w", err)
		}
	}
	return nil
}

// shortestTurn is the least time that others have for their turn.
const shortestTurn = time.Minute

// limited returns those of a purchase's link, discount and price variants that can be used or bought only so many times.
func (s *Store) limited(ctx context.Context, r db.Reader, buys Purchase) ([]limitedThing, error) {
	args := []any{buys.AccountID, buys.Link, buys.AccountID, buys.DiscountID, buys.AccountID}
	variants := lineitem.Pieces(buys.Items, lineitem.ByVariant)
	for _, v := range variants {
		args = append(args, v.ID)
	}
	found, err := db.Select[limitedThing](ctx, r, `
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

// network returns the network around the buyer's address, "" if none is known.
func (b Buyer) network() string {
	_, network := throttle.Around(b.Address)
	return network
}
