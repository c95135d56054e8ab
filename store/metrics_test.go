package store

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/migrations"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/report"
	"github.com/tillwright/tillwright/store/subscription"
)

// sold is what a random shop sold, by which its metrics are added up once more.
type sold struct {
	orders  []order.Order
	refunds []Refund
	made    []subscription.Subscription
}

// seeded returns a source of random numbers, whose seed the test prints.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := time.Now().UnixNano()
	if given := os.Getenv("TILLWRIGHT_TEST_SEED"); given != "" {
		var err error
		seed, err = strconv.ParseInt(given, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("TILLWRIGHT_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(uint64(seed), 0))
}

// trade sells at random moments of three years, in two currencies, as the use cases would have counted it.
func trade(t *testing.T, s *shop, r *rand.Rand, orders int) *sold {
	t.Helper()
	customer := s.customer(t, "grace@example.com", nil)
	begin := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	moment := func() core.Time { return core.Time(begin + r.Int64N(3*365*24*3600*1e6)) }
	currency := func() string { return []string{"usd", "usd", "eur"}[r.IntN(3)] }
	var all sold
	for len(all.orders) < orders {
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
			from := len(all.orders)
			for range 100 {
				at, net := moment(), r.Int64N(100_000)
				o := order.Order{
					AccountID: s.account, ID: core.NewID(core.KindOrder), InvoiceID: ref("inv_1"), Number: int64(len(all.orders) + 1), Status: order.StatusPaid, CustomerID: customer.ID,
					BillingReason: []order.BillingReason{order.BillingReasonPurchase, order.BillingReasonSubscriptionCycle}[r.IntN(2)], Currency: currency(),
					NetAmount: net, TaxAmount: net / 5, TotalAmount: net + net/5, PaidAt: &at, CreatedAt: at, UpdatedAt: at,
				}
				all.orders = append(all.orders, o)
				s.countPaid(u, &o)
				if r.IntN(10) == 0 {
					again := moment()
					refund := Refund{Currency: o.Currency, Amount: o.TotalAmount, TaxAmount: o.TaxAmount, SucceededAt: &again, AccountID: s.account}
					s.countRefund(u, &refund, again, 1)
					if r.IntN(3) == 0 { // it fails after all
						s.countRefund(u, &refund, again, -1)
						continue
					}
					all.refunds = append(all.refunds, refund)
				}
				if r.IntN(10) == 0 {
					all.made = append(all.made, subscribed(s.Store, u, s.account, r, currency(), moment(), moment()))
				}
			}
			return nil, db.InsertAll(ctx, u, order.Columns, all.orders[from:])
		})
		require.NoError(t, err)
	}
	return &all
}

// subscribed counts a subscription that begins and that may end, at moments that may be swapped.
func subscribed(s *Store, u *db.Unit, account string, r *rand.Rand, currency string, from, until core.Time) subscription.Subscription {
	sub := subscription.Subscription{
		AccountID: account, Currency: currency, Status: subscription.StatusActive, PeriodAmount: r.Int64N(100_000), StartedAt: min(from, until),
		Interval: []string{"day", "week", "month", "year"}[r.IntN(4)], IntervalCount: 1 + r.Int64N(5),
	}
	s.Report.Count(u, account, currency, sub.StartedAt, report.Figures{Started: 1})
	s.Subscription.Count(u, &sub, sub.StartedAt)
	amount := *sub.MonthlyAmount
	if r.IntN(2) == 0 {
		sub.End([]subscription.Status{subscription.StatusCanceled, subscription.StatusCompleted}[r.IntN(2)], max(from, until))
		s.Subscription.Count(u, &sub, max(from, until)+1)
	}
	sub.MonthlyAmount = &amount
	return sub
}

// calendar tells the day of a moment by the clock of a place, and remembers it.
type calendar struct {
	where *time.Location
	known map[core.Time]string
}

func (c calendar) day(at core.Time) string {
	if _, ok := c.known[at]; !ok {
		c.known[at] = at.Time().In(c.where).Format(time.DateOnly)
	}
	return c.known[at]
}

// figures adds up what was sold in a period.
func (all *sold) figures(p report.Period, currency string, where calendar) (f report.Figures) {
	from, to := p.From.Format(time.DateOnly), p.To.Format(time.DateOnly)
	within := func(at core.Time) bool { return from <= where.day(at) && where.day(at) <= to }
	for _, o := range all.orders {
		if o.Currency == currency && within(*o.PaidAt) {
			f.Revenue, f.NetRevenue, f.Orders = f.Revenue+o.TotalAmount, f.NetRevenue+o.NetAmount, f.Orders+1
			if o.BillingReason == order.BillingReasonSubscriptionCycle {
				f.Renewed++
			}
		}
	}
	for _, r := range all.refunds {
		if r.Currency == currency && within(*r.SucceededAt) {
			f.Refunds, f.NetRevenue = f.Refunds+r.Amount, f.NetRevenue-(r.Amount-r.TaxAmount)
		}
	}
	for _, s := range all.made {
		if s.Currency != currency {
			continue
		}
		if within(s.StartedAt) {
			f.Started++
		}
		if s.Status == subscription.StatusCanceled && within(*s.EndedAt) {
			f.Churned++
		}
		if where.day(s.StartedAt) <= to && (s.EndedAt == nil || where.day(*s.EndedAt) > to) {
			f.MRR, f.Active = f.MRR+*s.MonthlyAmount, f.Active+1
		}
	}
	return f
}

// The clock is changed by half an hour on Lord Howe, and at midnight in Santiago. So there is a day without its first hour.
func TestMetrics_AreWhatWasSold(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		r := seeded(t)
		all := trade(t, s, r, 10_000)
		for _, zone := range []string{"Europe/Berlin", "America/Santiago", "Australia/Lord_Howe"} {
			where, err := time.LoadLocation(zone)
			require.NoError(t, err)
			days := calendar{where, map[core.Time]string{}}
			for _, in := range []report.GetMetrics{
				{From: "2023-08-17", To: "2024-09-19", Interval: report.IntervalDay, Currency: "usd"},
				{From: "2024-02-29", To: "2025-06-03", Interval: report.IntervalWeek, Currency: "eur"},
				{From: "2022-12-31", To: "2026-02-01", Interval: report.IntervalMonth, Currency: "usd"},
				{From: "2023-05-05", To: "2025-05-05", Interval: report.IntervalYear, Currency: "eur"},
			} {
				in.Timezone = zone
				m, err := s.Report.GetMetrics(t.Context(), s.account, in)
				require.NoError(t, err)
				for i, p := range m.Periods {
					want := all.figures(p, in.Currency, days)
					want.Start = p.Figures.Start
					require.Equal(t, want, p.Figures, "%s: %s %s, %s to %s", zone, in.Interval, in.Currency, p.From, p.To)
					if i > 0 {
						require.Equal(t, m.Periods[i-1].To.AddDate(0, 0, 1), p.From)
					}
				}
				require.Equal(t, in.From+" "+in.To, m.Periods[0].From.Format(time.DateOnly)+" "+m.Periods[len(m.Periods)-1].To.Format(time.DateOnly))
			}
		}
	})
}

// However many orders there are, three years have no more than 105,120 quarters of an hour: a million orders leave hardly one of them empty.
// All of them, and the limit, are looked at with TILLWRIGHT_SOAK, which has the machine to itself. Otherwise it is one in ten.
func TestMetrics_OfAMillionOrdersAreQuick(t *testing.T) {
	const limit = 8 * time.Second
	soak, step := os.Getenv("TILLWRIGHT_SOAK") != "", "10"
	if soak {
		step = "1"
	}
	eachShop(t, func(t *testing.T, s *shop) {
		_, err := s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`
			INSERT INTO metric_quarters (account_id, currency, start, revenue, refunds, net_revenue, orders, mrr, active, started, renewed, churned, checkouts, completed)
			WITH RECURSIVE many (n) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT n + `+step+` FROM many WHERE n + `+step+` < 105120)
			SELECT '`+s.account+`', 'usd', 1672531200000000 + n * 900000000, 19000, 0, 19000, 10, 100, 1, 1, 1, 0, 20, 10 FROM many`))
		require.NoError(t, err)
		for _, in := range []report.GetMetrics{
			{From: "2023-01-01", To: "2025-12-30", Interval: report.IntervalMonth},
			{From: "2024-01-01", To: "2024-12-31", Interval: report.IntervalDay},
		} {
			in.Timezone = "Europe/Berlin"
			var best time.Duration
			for try := 0; try == 0 || soak && try < 5; try++ {
				begun := time.Now()
				m, err := s.Report.GetMetrics(t.Context(), s.account, in)
				require.NoError(t, err)
				require.NotZero(t, m.Periods[1].Figures.Orders)
				if took := time.Since(begun); best == 0 || took < best {
					best = took
				}
			}
			t.Logf("by the %s it takes %s", in.Interval, best)
			if soak {
				require.Less(t, best, limit)
			}
		}
	})
}

func TestMetrics_PeriodsBeginWhereTheCalendarDoes(t *testing.T) {
	t.Parallel()
	for interval, starts := range map[report.Interval]string{
		report.IntervalDay:   "2024-02-28 2024-02-29 2024-03-01",
		report.IntervalWeek:  "2024-01-31 2024-02-05 2024-02-12",
		report.IntervalMonth: "2024-01-31 2024-02-01 2024-03-01 2024-04-01",
		report.IntervalYear:  "2023-12-31 2024-01-01 2025-01-01",
	} {
		from, err := time.Parse(time.DateOnly, strings.Fields(starts)[0])
		require.NoError(t, err)
		to, err := time.Parse(time.DateOnly, starts[strings.LastIndex(starts, " ")+1:])
		require.NoError(t, err)
		m := report.Metrics{From: from, To: to, Interval: interval}
		require.NoError(t, m.Divide())
		var got []string
		for _, p := range m.Periods {
			got = append(got, p.From.Format(time.DateOnly))
		}
		assert.Equal(t, starts, strings.Join(got, " "), interval)
	}
}

// TestMigrate_CountsWhatWasSoldBefore forgets all metrics and has the migration make them anew. What subscriptions came to in between is not known.
func TestMigrate_CountsWhatWasSoldBefore(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.subscribers(t, 10)
		purchases(t, s.Store, s.account)
		read := func() string {
			rows, err := db.Select[report.Figures](t.Context(), s.db, `
				SELECT start, revenue, refunds, net_revenue, orders, 0 AS mrr, 0 AS active, 0 AS started, renewed, churned, checkouts, completed FROM metric_quarters WHERE start > 0 ORDER BY start`)
			require.NoError(t, err)
			return core.JSONText(rows)
		}
		counted := read()
		require.Contains(t, counted, "3420")
		for _, statement := range []string{`DROP TABLE metric_quarters`, `DROP TABLE metric_years`, `ALTER TABLE subscriptions DROP COLUMN monthly_amount`} {
			_, err := s.db.Write.DB.ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		files, err := migrations.FS(s.Engine())
		require.NoError(t, err)
		step, err := fs.ReadFile(files, "00099_metric.sql")
		require.NoError(t, err)
		_, err = s.db.Write.DB.ExecContext(t.Context(), string(step))
		require.NoError(t, err)
		require.Equal(t, counted, read())
		broken, err := s.Audit.Check(t.Context(), aDay)
		require.NoError(t, err)
		require.Empty(t, broken)
		m, err := s.Report.GetMetrics(t.Context(), s.account, report.GetMetrics{})
		require.NoError(t, err)
		require.Equal(t, int64(10*900), m.Periods[29].Figures.MRR)
	})
}
