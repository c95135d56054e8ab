package report

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Interval is how long a period of the metrics is.
type Interval string

// The lengths of periods. A week begins on Monday.
const (
	IntervalDay   Interval = "day"
	IntervalWeek  Interval = "week"
	IntervalMonth Interval = "month"
	IntervalYear  Interval = "year"
)

// maxPeriods is how many periods can be asked for at once.
const maxPeriods = 400

// GetMetrics says which figures are asked for. An empty To is today, an empty From 29 days before, and other empty fields are the account's.
type GetMetrics struct {
	From     string // 2026-01-01
	To       string // a day that is included
	Interval Interval
	Timezone string
	Currency string
}

// Metrics are the figures of an account by periods, which follow on each other. The first and the last one are cut at From and To.
type Metrics struct {
	From     time.Time // at its midnight in UTC, as every day here
	To       time.Time
	Interval Interval
	Timezone string
	Currency string
	Before   Figures // of which MRR and Active are those before From
	Periods  []Period
}

// Period is what happened from one day to another, both included. MRR and Active are what they were at its end.
type Period struct {
	From    time.Time
	To      time.Time
	Figures Figures
}

// GetMetrics returns the figures of an account. A day that does not exist is CodeBadRequest, and a time zone or a currency that is
// not known is CodeInvalid on it. An end before the start is CodeInvalid on to, or on from if only that was sent. More than 400
// periods are CodeInvalid on interval.
func (s *Store) GetMetrics(ctx context.Context, account string, in GetMetrics) (*Metrics, error) {
	seller, err := s.rooms.Tenant.Seller(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	m := &Metrics{Interval: cmp.Or(in.Interval, IntervalDay), Timezone: cmp.Or(in.Timezone, seller.Timezone), Currency: cmp.Or(in.Currency, seller.DefaultCurrency)}
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
	if err := m.Divide(); err != nil {
		return nil, err
	}
	return m, s.readMetrics(ctx, account, m, where)
}

// readMetrics reads the figures of the periods, whose days are those of a place.
func (s *Store) readMetrics(ctx context.Context, account string, m *Metrics, where *time.Location) error {
	spans := make([]Span, len(m.Periods))
	for i, p := range m.Periods {
		spans[i] = Span{Start: dayStart(p.From, where), Until: dayStart(p.To.AddDate(0, 0, 1), where)}
	}
	read, err := s.read(ctx, account, m.Currency, spans)
	if err != nil {
		return err
	}
	m.Before = read.before
	for i := range m.Periods {
		m.Periods[i].Figures = read.spans[i]
	}
	return nil
}

// Divide makes the periods between From and To.
func (m *Metrics) Divide() error {
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
		m.Periods = append(m.Periods, Period{From: start, To: end})
		start = next
	}
	return nil
}

// after returns the first day of the period that follows on the one of a day.
func (i Interval) after(day time.Time) time.Time {
	switch i {
	case IntervalWeek:
		return day.AddDate(0, 0, 7-(int(day.Weekday())+6)%7)
	case IntervalMonth:
		return day.AddDate(0, 1, 1-day.Day())
	case IntervalYear:
		return day.AddDate(1, 1-int(day.Month()), 1-day.Day())
	case IntervalDay:
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
