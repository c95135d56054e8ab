package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/report"
	"github.com/tillwright/tillwright/store/tenant"
)

const (
	// morning is the hour in which teams are told of the day before, where the seller is. Each account has a minute of it, so that not all come at once.
	morning = 7

	// teamPause is how long an account is left alone whose day could not be read, so that others have their turn.
	teamPause = 10 * time.Minute

	// largestOfDay is how many sales the letter about a day names. It looks for them among the last ordersOfDay.
	largestOfDay = 5
	ordersOfDay  = 1000
)

// teamLetter is a letter to a team that is to be written.
type teamLetter struct {
	kind   tenant.LetterKind
	period string
	detail person.LetterDetail
}

// DueTeams returns enabled accounts whose teams are to be told of the day before now, for TellOfDay, at most limit.
func (s *Store) DueTeams(ctx context.Context, limit int) ([]string, error) {
	return db.Select[string](ctx, s.db, `SELECT id FROM accounts WHERE disabled_at IS NULL AND team_due_at <= ? ORDER BY team_due_at LIMIT ?`, s.Now(), limit)
}

// TellOfDay writes the letters about the day before to the team of an account, and plans those of the next morning. The first time it plans alone. Of several
// days that a server was off, the last one is told.
func (s *Store) TellOfDay(ctx context.Context, account string) error {
	due, err := db.Get[core.Time](ctx, s.db, `SELECT team_due_at FROM accounts WHERE id = ? AND disabled_at IS NULL`, account)
	if err != nil || due == nil || *due > s.Now() {
		return err
	}
	seller, err := s.Tenant.Seller(ctx, s.db, account)
	if err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return err
	}
	var letters []teamLetter
	next := s.Now().Add(nextMorning(seller, now).Sub(now.Time()))
	if *due > 0 {
		if letters, err = s.readDay(ctx, seller, now, *due); err != nil {
			return errors.Join(fmt.Errorf("read what a team is told of a day: %w", err), s.planTeam(ctx, account, *due, s.Now().Add(teamPause), nil))
		}
	}
	return s.planTeam(ctx, account, *due, next, letters)
}

// planTeam writes letters to a team that was due at a time, and has it due next at another, unless another replica has done so.
func (s *Store) planTeam(ctx context.Context, account string, due, next core.Time, letters []teamLetter) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		// With a sum PostgreSQL does not go through all that are due at that time.
		rows, err := u.Exec(ctx, `UPDATE accounts SET team_due_at = ? WHERE id = ? AND team_due_at + 0 = ? AND disabled_at IS NULL`, next, account, due)
		if err != nil || rows == 0 {
			return nil, err
		}
		for _, l := range letters {
			if err := s.Person.TellTeam(ctx, u, person.TeamLetter{AccountID: account, Kind: l.kind, Period: l.period}, l.detail); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return err
}

// nextMorning returns when a team is told next, after a moment.
func nextMorning(seller *tenant.Account, now core.Time) time.Time {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(seller.ID)) // which never fails
	local := seller.Local(now)
	for day := 0; ; day++ {
		at := time.Date(local.Year(), local.Month(), local.Day()+day, morning, int(hash.Sum32()%60), 0, 0, local.Location())
		if at.After(local) {
			return at
		}
	}
}

// readDay reads what there is to tell of the day before, where the seller is. If a Monday came since the team was due to be told, it reads the week before
// that, too.
func (s *Store) readDay(ctx context.Context, seller *tenant.Account, now, due core.Time) ([]teamLetter, error) {
	local := seller.Local(now)
	today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	yesterday := today.AddDate(0, 0, -1)
	span := report.SpanOfDays(yesterday, today, local.Location())
	day := yesterday.Format(time.DateOnly)
	var letters []teamLetter
	add := func(kind tenant.LetterKind, detail *person.LetterDetail, err error) error {
		if err == nil && detail != nil {
			detail.Day = day
			letters = append(letters, teamLetter{kind, day, *detail})
		}
		return err
	}
	if seller.Writes(tenant.LetterSalesDaily) {
		detail, err := s.salesOf(ctx, seller, span)
		if err := add(tenant.LetterSalesDaily, detail, err); err != nil {
			return nil, err
		}
	}
	if seller.Writes(tenant.LetterFailedDaily) {
		detail, err := s.failuresOf(ctx, seller.ID, span, failuresOfDay)
		if err := add(tenant.LetterFailedDaily, detail, err); err != nil {
			return nil, err
		}
	}
	wasDue := seller.Local(now - (s.Now() - due)) // by the account's clock
	if monday := mondayOf(today); seller.Writes(tenant.LetterWeek) && wasDue.Format(time.DateOnly) <= monday.Format(time.DateOnly) {
		detail, err := s.weekOf(ctx, seller, monday, local.Location())
		day = monday.AddDate(0, 0, -7).Format(time.DateOnly)
		if err := add(tenant.LetterWeek, detail, err); err != nil {
			return nil, err
		}
	}
	return letters, nil
}

// salesOf returns what a team is told of the sales in a span, nil if there were none.
func (s *Store) salesOf(ctx context.Context, seller *tenant.Account, span report.Span) (*person.LetterDetail, error) {
	figures, err := s.Report.ByCurrency(ctx, seller.ID, span)
	if err != nil {
		return nil, err
	}
	sums := map[string]person.Sum{}
	for currency, f := range figures {
		if f[0].Orders > 0 {
			sums[currency] = person.Sum{Currency: currency, Count: f[0].Orders, Amount: f[0].Revenue}
		}
	}
	if len(sums) == 0 {
		return nil, nil
	}
	orders, err := s.largest(ctx, seller, span)
	return &person.LetterDetail{Sums: inOrder(sums), Orders: orders}, err
}

// paidOrder is what has to be known of an order to find out whether it is among the largest.
type paidOrder struct {
	ID       string     `db:"id"`
	Currency string     `db:"currency"`
	Amount   int64      `db:"total_amount"`
	PaidAt   *core.Time `db:"paid_at"`
}

// largest returns the ids of some of the largest orders that were paid in a span, those in the account's currency first. It looks at the last ordersOfDay that
// were made in it. So it misses some of a day with more, and those that were made before.
func (s *Store) largest(ctx context.Context, seller *tenant.Account, span report.Span) ([]string, error) {
	made, err := db.Select[paidOrder](ctx, s.db, `
		SELECT id, currency, total_amount, paid_at FROM orders WHERE account_id = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT ?`,
		seller.ID, core.IDsBefore(core.KindOrder, span.Start), core.IDsBefore(core.KindOrder, span.Until), ordersOfDay)
	if err != nil {
		return nil, err
	}
	made = slices.DeleteFunc(made, func(o paidOrder) bool {
		return o.PaidAt == nil || *o.PaidAt < span.Start || *o.PaidAt >= span.Until || o.Amount == 0
	})
	slices.SortStableFunc(made, func(a, b paidOrder) int {
		if isFirst, isSecond := a.Currency == seller.DefaultCurrency, b.Currency == seller.DefaultCurrency; isFirst != isSecond {
			return map[bool]int{true: -1, false: 1}[isFirst]
		}
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(b.Amount, a.Amount))
	})
	var ids []string
	for _, o := range made[:min(len(made), largestOfDay)] {
		ids = append(ids, o.ID)
	}
	return ids, nil
}
