package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/throttle"
)

const (
	// saleLetters is how many letters about sales an account has in an hour. After that, sales wait for the one of the next hour.
	saleLetters = 10

	// salesOfLetter is how many sales a letter names, and salesAtOnce how many it tells of.
	salesOfLetter = 10
	salesAtOnce   = 5000
)

// saleNotice is a sale that the team of an account is yet to be told of. It commits with the sale.
type saleNotice struct {
	OrderID  string    `db:"order_id"`
	Currency string    `db:"currency"`
	Amount   int64     `db:"amount"`
	DueAt    core.Time `db:"due_at"`
}

// noteSale has the team of an account told of an order that is being paid, if it wants to be told of each. The purchase does not wait for that: it is
// one statement, which finds out whether it does. There is none if that is known, as in a purchase. Nothing that pays changes what the statement reads.
func (s *Store) noteSale(ctx context.Context, u *db.Unit, b *invoice.Bill) error {
	if b.NotTold {
		return nil
	}
	o := b.Order
	return u.Later(ctx, db.Change{
		Table: "sale_notices", Rows: db.AnyRows, Args: []any{o.AccountID, o.ID, o.Currency, o.TotalAmount, s.Now(), o.AccountID},
		Query: `INSERT INTO sale_notices (account_id, order_id, currency, amount, due_at)
			SELECT CAST(? AS text), CAST(? AS text), CAST(? AS text), CAST(? AS bigint), CAST(? AS bigint) FROM accounts WHERE id = ? AND ` + tenant.WritesOfSales,
	})
}

// AccountsWithSales returns accounts whose teams are to be told of sales now, for TellOfSales. It looks at limit of these sales.
func (s *Store) AccountsWithSales(ctx context.Context, limit int) ([]string, error) {
	accounts, err := db.Select[string](ctx, s.db, `SELECT account_id FROM sale_notices WHERE due_at <= ? ORDER BY due_at LIMIT ?`, s.Now(), limit)
	slices.Sort(accounts)
	return slices.Compact(accounts), err
}

// errTooSoon says that an account has had its letters about sales of this hour.
var errTooSoon = errors.New("too soon")

// TellOfSales writes one letter about the sales that the team of an account is to be told of now. There are saleLetters in an hour; after that, sales wait.
// An account that is disabled, or has switched these letters off, has its sales forgotten. After an error its sales wait for a minute, so that others have
// their turn. It reports whether there were sales that no other replica has in hand.
func (s *Store) TellOfSales(ctx context.Context, account string) (bool, error) {
	var wait time.Duration
	did, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		seller, err := s.Tenant.Seller(ctx, u, account)
		if err != nil {
			return false, err
		}
		sold, err := s.takeSales(ctx, u, account)
		if err != nil || len(sold) == 0 || seller.DisabledAt != nil || !seller.Writes(tenant.LetterSale) {
			return len(sold) > 0, err
		}
		if wait, err = s.countTeamLetter(ctx, account, "sale_letters", saleLetters); err != nil {
			return false, err
		}
		if wait > 0 {
			return false, errTooSoon // the sales stay
		}
		var orders []string
		for _, n := range sold[:min(len(sold), salesOfLetter)] {
			orders = append(orders, n.OrderID)
		}
		detail := person.LetterDetail{Orders: orders, Sums: sumsOf(sold)}
		return true, s.Person.TellTeam(ctx, u, person.TeamLetter{AccountID: account, Kind: tenant.LetterSale, Period: orders[0]}, detail)
	})
	switch {
	case errors.Is(err, errTooSoon):
		return true, s.postponeSales(ctx, account, wait)
	case err != nil:
		return false, errors.Join(fmt.Errorf("tell of sales: %w", err), s.postponeSales(ctx, account, time.Minute))
	}
	return did, nil
}

// takeSales deletes the notices of sales that an account is to be told of now, and returns them, those of the longest time ago first. There are
// salesAtOnce at most, and none that another replica has in hand.
func (s *Store) takeSales(ctx context.Context, u *db.Unit, account string) ([]saleNotice, error) {
	if err := u.PlanAnew(ctx); err != nil {
		return nil, err
	}
	sold, err := db.Select[saleNotice](ctx, u, `DELETE FROM sale_notices WHERE `+u.RowSelected(dueSales)+` RETURNING order_id, currency, amount, due_at`,
		account, s.Now(), salesAtOnce)
	slices.SortFunc(sold, func(a, b saleNotice) int {
		return cmp.Or(cmp.Compare(a.DueAt, b.DueAt), cmp.Compare(a.OrderID, b.OrderID))
	})
	return sold, err
}

// postponeSales has those sales wait that an account is to be told of now.
func (s *Store) postponeSales(ctx context.Context, account string, wait time.Duration) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		now := s.Now()
		return u.ExecBatch(ctx, `UPDATE sale_notices SET due_at = ?`, dueSales, now.Add(wait), account, now, salesAtOnce)
	})
	return err
}

// dueSales finds the sales that an account is to be told of now.
const dueSales = `sale_notices WHERE account_id = ? AND due_at <= ? ORDER BY due_at LIMIT ?`

// countTeamLetter counts a letter of which an account has so many in an hour. If it is one too many, it returns how long until there may be another.
func (s *Store) countTeamLetter(ctx context.Context, account, subject string, most int64) (wait time.Duration, err error) {
	note := func(o *throttle.Over) error {
		wait = o.Wait
		return nil
	}
	err = s.Throttle.Count(ctx, account, note, throttle.Limit{Subject: subject, Most: most, Window: time.Hour})
	return wait, err
}

// sumsOf adds up sales by currency.
func sumsOf(sold []saleNotice) []person.Sum {
	sums := map[string]person.Sum{}
	for _, n := range sold {
		sum := sums[n.Currency]
		sums[n.Currency] = person.Sum{Currency: n.Currency, Count: sum.Count + 1, Amount: sum.Amount + n.Amount}
	}
	return inOrder(sums)
}

// inOrder returns sums by the names of their currencies.
func inOrder(sums map[string]person.Sum) []person.Sum {
	return slices.SortedFunc(maps.Values(sums), func(a, b person.Sum) int { return cmp.Compare(a.Currency, b.Currency) })
}
