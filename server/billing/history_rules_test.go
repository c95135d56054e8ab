package billing_test

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/tillwright/tillwright/store/core"
)

// What the rules of openapi/resources/subscription.yaml, discount.yaml and refund.yaml come to, reckoned in fractions. Nothing here asks
// the program.

// plan is what somebody has agreed to pay for, period after period.
type plan struct {
	product, variant string
	unit, quantity   int64
	interval         string
	count            int64
}

// ends is when a period ends that begins at start. Months and years end on the anchor day, or on the last day of a shorter month.
func (p plan) ends(start core.Time, anchor int) core.Time {
	t, months := start.Time(), int(p.count)
	switch p.interval {
	case "day":
		return core.TimeOf(t.AddDate(0, 0, int(p.count)))
	case "week":
		return core.TimeOf(t.AddDate(0, 0, 7*int(p.count)))
	case "year":
		months *= 12
	}
	first := t.AddDate(0, 0, 1-t.Day()).AddDate(0, months, 0)
	return core.TimeOf(first.AddDate(0, 0, min(anchor, first.AddDate(0, 1, -1).Day())-1))
}

// share is the part of an amount that falls on some of a whole, rounded half up. Of nothing it is nothing.
func share(amount, part, whole int64) int64 {
	if whole <= 0 {
		return 0
	}
	doubled := new(big.Rat).Mul(big.NewRat(2*amount, 1), big.NewRat(part, whole))
	doubled.Add(doubled, big.NewRat(1, 1))
	return new(big.Int).Div(doubled.Num(), new(big.Int).Mul(doubled.Denom(), big.NewInt(2))).Int64() // down, after a half was added
}

// rate is a tax in basis points, inside of a price or on top of it.
type rate struct {
	bps       int64
	inclusive bool
}

// gross is what a buyer pays for a price that is left after its discount.
func (r rate) gross(price int64) int64 {
	if r.inclusive {
		return price
	}
	return price + share(price, r.bps, 10_000)
}

// inside is the tax in what a buyer pays.
func (r rate) inside(gross int64) int64 { return share(gross, r.bps, 10_000+r.bps) }

// covers is how much of a total a balance pays. What it leaves is nothing, or enough to be charged, and in dinars it ends in 0 if there is
// enough for that. A total that is less than can be charged it pays as a whole, whatever there is of it.
func covers(balance, total int64, currency string) int64 {
	least, paid := core.CurrencyOf(currency).Minimum, min(max(balance, 0), total)
	switch {
	case total < least:
		return total
	case paid < total && total-paid < least:
		return total - least
	}
	for less := range min(tens(currency), paid+1) {
		if (total-paid+less)%tens(currency) == 0 && paid < total {
			return paid - less
		}
	}
	return paid
}

// tens is what cards are charged multiples of.
func tens(currency string) int64 {
	if currency == "kwd" {
		return 10
	}
	return 1
}

// back is the tax in all refunds of an order so far.
func back(tax, refunded, total int64) int64 { return share(tax, refunded, total) }

// funds are what pays for the rest of a period: an order, or a debit that waits for a bill.
type funds struct {
	order   string
	left    int64     // what it is worth from since to the end of the period
	since   core.Time // its latest change of plan
	billed  int64     // of a debit, what is going to be billed for it
	charged int64     // of an order, how much of it a card paid, in thousandths
}

// at is what funds are worth from a later moment of the same period on. Time is counted in whole seconds, and each share is rounded once.
func (f funds) at(now, end core.Time) funds {
	from, to := seconds(f.since), seconds(end)
	f.left, f.since = share(f.left, min(max(to-seconds(now), 0), to-from), to-from), now
	return f
}

func seconds(t core.Time) int64 { return t.Time().Unix() }

// proration is what a change of plan compares: what is left of the period before it, and what the rest costs after it, tax included.
type proration struct {
	parts, debits []funds
	remaining     int64
}

func sum(all []funds) (sum int64) {
	for _, f := range all {
		sum += f.left
	}
	return sum
}

func (c proration) unused() int64 { return sum(c.parts) + sum(c.debits) }

// bill is what the new plan costs more.
func (c proration) bill() int64 { return max(c.remaining-c.unused(), 0) }

// credit is what was paid of what the new plan costs less: debits that wait are taken off first.
func (c proration) credit() int64 { return max(c.unused()-c.remaining-sum(c.debits), 0) }

// settled is what pays for the rest of the period after the change: less what it costs less, and with what is billed for it. Of debits the
// oldest go first, of orders those of which the balance paid most, and of these the last one.
func (c proration) settled(order string, bill int64, now core.Time) (parts, debits []funds) {
	off := max(c.unused()-c.remaining, 0)
	for _, d := range c.debits {
		less := min(d.left, off)
		d.left, d.billed, off = d.left-less, d.billed-less, off-less
		if d.billed > 0 {
			debits = append(debits, d)
		}
	}
	parts = slices.Clone(c.parts)
	slices.SortStableFunc(parts, func(a, b funds) int { return cmp.Compare(b.charged, a.charged) })
	for i := len(parts) - 1; i >= 0; i-- {
		less := min(parts[i].left, off)
		parts[i].left, off = parts[i].left-less, off-less
	}
	switch {
	case order != "":
		parts = append(parts, funds{order: order, left: bill, since: now})
	case bill > 0:
		debits = append(debits, funds{left: bill, billed: bill, since: now})
	}
	return parts, debits
}
