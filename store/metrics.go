package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/report"
)

// MetricsInterval is how long a period of the metrics is.
type MetricsInterval string

// The lengths of periods. A week begins on Monday.
const (
	MetricsIntervalDay   MetricsInterval = "day"
	MetricsIntervalWeek  MetricsInterval = "week"
	MetricsIntervalMonth MetricsInterval = "month"
	MetricsIntervalYear  MetricsInterval = "year"
)

// maxPeriods is how many periods can be asked for at once.
const maxPeriods = 400

// GetMetrics says which figures are asked for. An empty To is today, an empty From 29 days before, and other empty fields are the account's.
type GetMetrics struct {
	From     string // 2026-01-01
	To       string // a day that is included
	Interval MetricsInterval
	Timezone string
	Currency string
}

// Metrics are the figures of an account by periods, which follow on each other. The first and the last one are cut at From and To.
type Metrics struct {
	From     time.Time // at its midnight in UTC, as every day here
	To       time.Time
	Interval MetricsInterval
	Timezone string
	Currency string
	Before   report.Figures // of which MRR and Active are those before From
	Periods  []MetricsPeriod
}

// MetricsPeriod is what happened from one day to another, both included. MRR and Active are what they were at its end.
type MetricsPeriod struct {
	From    time.Time
	To      time.Time
	Figures report.Figures
}

// GetMetrics returns the figures of an account. A day that does not exist is CodeBadRequest, a time zone or a currency that is not known is CodeInvalid on it, an end before the start on
// to, or on from if only that was sent, and more than 400 periods on interval.
func (s *Store) GetMetrics(ctx context.Context, account string, in GetMetrics) (*Metrics, error) {
	seller, err := s.Tenant.Seller(ctx, account)
	if err != nil {
		return nil, err
	}
	now, err := s.db.BusinessNow(ctx, account)
	if err != nil {
		return nil, err
	}
	m := &Metrics{Interval: cmp.Or(in.Interval, MetricsIntervalDay), Timezone: cmp.Or(in.Timezone, seller.Timezone), Currency: cmp.Or(in.Currency, seller.DefaultCurrency)}
	where, err := core.LoadZone(m.Timezone)
	var p core.Problems
	_, isKnown := core.LookupCurrency(m.Currency)
	p.Check(err == nil, "timezone", "Send an IANA time zone, such as Europe/Berlin.")
	p.Check(isKnown, "currency", "This currency is not supported. Send a lower-case ISO 4217 code such as usd.")
	if err := p.Err(); err != nil {
		return nil, err
	}
	today := now.Time().In(where)
	if m.To, err = dayOf("to", in.To, time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC)); err != nil {
		return nil, err
	}
	if m.From, err = dayOf("from", in.From, m.To.AddDate(0, 0, -29)); err != nil {
		return nil, err
	}
	if in.To == "" && m.From.After(m.To) {
		return nil, core.Invalid("from", "Send a day that is not after today, or to with it.")
	}
	if err := m.divide(); err != nil {
		return nil, err
	}
	return m, s.readMetrics(ctx, account, m, where)
}

// readMetrics reads the figures of the periods, whose days are those of a place.
func (s *Store) readMetrics(ctx context.Context, account string, m *Metrics, where *time.Location) error {
	spans := make([]report.Span, len(m.Periods))
	for i, p := range m.Periods {
		spans[i] = report.Span{Start: dayStart(p.From, where), Until: dayStart(p.To.AddDate(0, 0, 1), where)}
	}
	read, err := s.Report.Read(ctx, account, m.Currency, spans)
	if err != nil {
		return err
	}
	m.Before = read.Before
	for i := range m.Periods {
		m.Periods[i].Figures = read.Spans[i]
	}
	return nil
}

// divide makes the periods between From and To.
func (m *Metrics) divide() error {
	if m.To.Before(m.From) {
		return core.Invalid("to", "Send a day that is not before from.")
	}
	for start := m.From; !start.After(m.To); {
		if len(m.Periods) == maxPeriods {
			return core.Invalid("interval", fmt.Sprintf("There would be more than %d periods. Send a longer interval, or days that are closer together.", maxPeriods))
		}
		next := m.Interval.after(start)
		end := next.AddDate(0, 0, -1)
		if end.After(m.To) {
			end = m.To
		}
		m.Periods = append(m.Periods, MetricsPeriod{From: start, To: end})
		start = next
	}
	return nil
}

// after returns the first day of the period that follows on the one of a day.
func (i MetricsInterval) after(day time.Time) time.Time {
	switch i {
	case MetricsIntervalWeek:
		return day.AddDate(0, 0, 7-(int(day.Weekday())+6)%7)
	case MetricsIntervalMonth:
		return day.AddDate(0, 1, 1-day.Day())
	case MetricsIntervalYear:
		return day.AddDate(1, 1-int(day.Month()), 1-day.Day())
	case MetricsIntervalDay:
	}
	return day.AddDate(0, 0, 1)
}

// dayOf reads a date, or returns otherwise for an empty text.
func dayOf(param, text string, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, &core.Error{Code: core.CodeBadRequest, Param: param, Message: "Send " + param + " as a day that exists, such as 2026-01-31."}
	}
	return day, nil
}

// dayStart returns the first moment of a day at a place. That is midnight, but where the clock is changed then: midnight may be left out, or
// come twice.
func dayStart(day time.Time, where *time.Location) core.Time {
	const step = 15 * time.Minute
	is := func(at time.Time) bool { return at.Day() == day.Day() }
	at := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, where)
	for ; !is(at); at = at.Add(step) {
	}
	for ; is(at.Add(-step)); at = at.Add(-step) {
	}
	return core.TimeOf(at)
}

// monthly returns what a subscription counts with in the metrics: what its current period costs, for a month, rounded half up. It is nil for
// one that is neither active nor past due.
func (s *Subscription) monthly() *int64 {
	if s.Status != SubscriptionStatusActive && s.Status != SubscriptionStatusPastDue {
		return nil
	}
	months := 12 * s.IntervalCount // for so many times per periods
	per := map[string]int64{"day": 365, "week": 52, "month": 12, "year": 1}[s.Interval]
	return new((2*s.PeriodAmount*per + months) / (2 * months))
}

// countSubscription counts what has changed about a locked subscription since it was last stored, and notes it in there. What ends it counts
// for when it ended.
func (s *Store) countSubscription(u *db.Unit, sub *Subscription, now core.Time) {
	at, counts := now, sub.monthly()
	f := report.Figures{MRR: core.Deref(counts) - core.Deref(sub.MonthlyAmount), Active: one(counts) - one(sub.MonthlyAmount)}
	if sub.ends {
		at = *sub.EndedAt
		if sub.Status == SubscriptionStatusCanceled {
			f.Churned = 1
		}
	}
	sub.MonthlyAmount, sub.ends = counts, false
	s.Report.Count(u, sub.AccountID, sub.Currency, at, f)
}

// one returns 1 for a value and 0 for nil.
func one(counts *int64) int64 {
	if counts == nil {
		return 0
	}
	return 1
}

// countPaid counts an order that has just been paid.
func (s *Store) countPaid(u *db.Unit, o *Order) {
	f := report.Figures{Revenue: o.TotalAmount, NetRevenue: o.NetAmount, Orders: 1}
	if o.BillingReason == BillingReasonSubscriptionCycle {
		f.Renewed = 1
	}
	s.Report.Count(u, o.AccountID, o.Currency, *o.PaidAt, f)
}

// countRefund counts a refund for when it succeeded, or with -1 takes it back from there.
func (s *Store) countRefund(u *db.Unit, r *Refund, at core.Time, times int64) {
	s.Report.Count(u, r.AccountID, r.Currency, at, report.Figures{Refunds: times * r.Amount, NetRevenue: -times * (r.Amount - r.TaxAmount)})
}

// countCheckout counts a checkout for when it was made, or with -1 takes it back from there.
func (s *Store) countCheckout(u *db.Unit, c *Checkout, times int64) {
	s.Report.Count(u, c.AccountID, c.Currency, c.CreatedAt, report.Figures{Checkouts: times})
}
