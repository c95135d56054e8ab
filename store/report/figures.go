package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Figures are what happened in a stretch of time, in one currency. MRR and Active are by how much they changed. Amounts are in the minor unit.
type Figures struct {
	Start core.Time `db:"start"` // of the span that they are read of

	Revenue    int64 `db:"revenue"`     // total_amount of the orders that were paid, with tax
	Refunds    int64 `db:"refunds"`     // amount of the refunds that succeeded
	NetRevenue int64 `db:"net_revenue"` // net_amount of those orders without what of those refunds was no tax
	Orders     int64 `db:"orders"`
	MRR        int64 `db:"mrr"`    // what active and past due subscriptions come to a month
	Active     int64 `db:"active"` // active and past due subscriptions
	Started    int64 `db:"started"`
	Renewed    int64 `db:"renewed"` // orders of a renewal that were paid
	Churned    int64 `db:"churned"` // subscriptions that are canceled
	Checkouts  int64 `db:"checkouts"`
	Completed  int64 `db:"completed"` // of the checkouts that were made then
}

// Add adds other figures.
func (f *Figures) Add(g Figures) {
	f.Revenue, f.Refunds, f.NetRevenue, f.Orders = f.Revenue+g.Revenue, f.Refunds+g.Refunds, f.NetRevenue+g.NetRevenue, f.Orders+g.Orders
	f.MRR, f.Active = f.MRR+g.MRR, f.Active+g.Active
	f.Started, f.Renewed, f.Churned = f.Started+g.Started, f.Renewed+g.Renewed, f.Churned+g.Churned
	f.Checkouts, f.Completed = f.Checkouts+g.Checkouts, f.Completed+g.Completed
}

// Figures are kept by the quarter of an hour, because that is what time zones differ by. MRR and Active are kept once more by stretches of 365
// days, so that nobody has to add up all that ever was. Both are counted from 1970, in microseconds.
const (
	quarter = core.Time(15 * 60 * 1_000_000)
	year    = 365 * 24 * 4 * quarter
)

// place is where figures are kept.
type place struct {
	account, currency string
	start             core.Time
}

// compare orders places: they are locked in this order.
func (p place) compare(q place) int {
	if c := strings.Compare(p.account+" "+p.currency, q.account+" "+q.currency); c != 0 {
		return c
	}
	return int(p.start - q.start)
}

// counted is what a transaction has to add, which is stored with the commit.
type counted map[place]Figures

// Count adds figures to what happened at a moment. They are stored just before the transaction commits, after the account's counters and in one
// order. All who sell something add to the same row.
func (s *Store) Count(u *db.Unit, account, currency string, at core.Time, f Figures) {
	if f == (Figures{}) {
		return
	}
	kept := db.Kept[counted](u)
	if *kept == nil {
		*kept = counted{}
		u.BeforeCommit(func(ctx context.Context) error { return store(ctx, u) })
	}
	at -= at % quarter
	sum := (*kept)[place{account, currency, at}]
	sum.Add(f)
	(*kept)[place{account, currency, at}] = sum
}

// store adds what a transaction has counted to what is stored.
func store(ctx context.Context, u *db.Unit) error {
	kept := db.Kept[counted](u)
	quarters, years := *kept, counted{}
	*kept = nil
	maps.DeleteFunc(quarters, func(_ place, f Figures) bool { return f == Figures{} })
	for p, f := range quarters {
		p.start -= p.start % year
		sum := years[p]
		sum.Add(f)
		years[p] = sum
	}
	if err := add(ctx, u, "metric_quarters", quarters, quarterColumns, func(f Figures) []any {
		return []any{f.Revenue, f.Refunds, f.NetRevenue, f.Orders, f.MRR, f.Active, f.Started, f.Renewed, f.Churned, f.Checkouts, f.Completed}
	}); err != nil {
		return err
	}
	maps.DeleteFunc(years, func(_ place, f Figures) bool { return f.MRR == 0 && f.Active == 0 })
	return add(ctx, u, "metric_years", years, yearColumns, func(f Figures) []any { return []any{f.MRR, f.Active} })
}

var (
	quarterColumns = []string{"revenue", "refunds", "net_revenue", "orders", "mrr", "active", "started", "renewed", "churned", "checkouts", "completed"}
	yearColumns    = []string{"mrr", "active"}
)

// add adds figures to the rows of a table, which are made where they are missing.
func add(ctx context.Context, u *db.Unit, table string, sums counted, columns []string, values func(Figures) []any) error {
	if len(sums) == 0 {
		return nil
	}
	var args []any
	for _, p := range slices.SortedFunc(maps.Keys(sums), place.compare) {
		args = append(append(args, p.account, p.currency, p.start), values(sums[p])...)
	}
	adding := make([]string, len(columns))
	for i, c := range columns {
		adding[i] = fmt.Sprintf("%[1]s = m.%[1]s + excluded.%[1]s", c)
	}
	row := "(?, ?, ?" + strings.Repeat(", ?", len(columns)) + ")"
	return u.Later(ctx, db.Change{
		Table: table, Args: args, Rows: int64(len(sums)),
		Query: `INSERT INTO ` + table + ` AS m (account_id, currency, start, ` + strings.Join(columns, ", ") + `)
			VALUES ` + row + strings.Repeat(", "+row, len(sums)-1) + `
			ON CONFLICT (account_id, currency, start) DO UPDATE SET ` + strings.Join(adding, ", "),
	})
}
