package ads

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Interval says how long the periods of a series are.
type Interval string

// The intervals. Every network has all of them.
const (
	IntervalTotal Interval = "total"
	IntervalDay   Interval = "day"
	IntervalWeek  Interval = "week" // from Monday
	IntervalMonth Interval = "month"
)

// Breakdown is what the figures of a period can be divided by.
type Breakdown string

// The breakdowns. Figures.Breakdowns says which a network has.
const (
	BreakdownAge       Breakdown = "age"
	BreakdownGender    Breakdown = "gender"
	BreakdownCountry   Breakdown = "country"
	BreakdownPlacement Breakdown = "placement"
	BreakdownDevice    Breakdown = "device"
)

// everyBreakdown lists them. It is never changed.
var everyBreakdown = []Breakdown{BreakdownAge, BreakdownGender, BreakdownCountry, BreakdownPlacement, BreakdownDevice}

// Period is a stretch of days, both included.
type Period struct{ From, To Date }

// SeriesQuery asks for the figures of one thing in some periods.
type SeriesQuery struct {
	Level     advert.Level
	ID        string // platform id
	Interval  Interval
	Breakdown Breakdown // "" = none
	Periods   []Period  // at least one, in their order, one after the other; all of their days are counted by the network
}

// Days returns the first and the last day of all periods.
func (q SeriesQuery) Days() Period { return Period{q.Periods[0].From, q.Periods[len(q.Periods)-1].To} }

// PeriodFigures are the figures of a period, or of one value of it in the network's words.
type PeriodFigures struct {
	Period
	Value   string
	Metrics advert.Metrics
}

// ListMetrics says which figures over time are wanted, as it was sent. "" and 0 are absent.
type ListMetrics struct {
	Platform  string
	From, To  string
	Interval  string // day
	Breakdown string
	Limit     int // 100
	Cursor    string
}

// ShownPeriod is a period of a series with its figures. What its Days do not have was not counted.
type ShownPeriod struct {
	Reported[Period]
	Timezone  string
	Breakdown Breakdown
	Value     string
}

// ListMetrics returns a page of the figures over time of a campaign, an ad group or an ad, the oldest first. A breakdown that its network
// does not have is CodeInvalid.
func (s *Service) ListMetrics(ctx context.Context, account string, level advert.Level, id string, in ListMetrics) (*advert.List[ShownPeriod], error) {
	if in.Limit == 0 {
		in.Limit = maxLimit
	}
	q, err := readQuery(s.store.Now(), Paging{Limit: in.Limit}, in.Platform, "", "", in.From, in.To)
	if err != nil {
		return nil, err
	}
	b, err := s.subjectOf(ctx, account, q.platform, level, id)
	if err != nil {
		return nil, err
	}
	line, err := s.activated(ctx, account, b.channel)
	if err != nil {
		return nil, err
	}
	breakdown, figures := Breakdown(in.Breakdown), line.Caps().Figures
	if breakdown != "" && !slices.Contains(figures.Breakdowns, breakdown) {
		return nil, core.Invalid("breakdown", fmt.Sprintf("%s does not divide its figures by %s. It does by: %s.", b.platform, breakdown, list(figures.Breakdowns)))
	}
	from, to := b.days(q.window, s.store.Now())
	interval := Interval(in.Interval)
	if interval == "" {
		interval = IntervalDay
	}
	described := strings.Join([]string{"metrics", account, string(level), id, string(interval), in.Breakdown, from.String(), to.String()}, "\x00")
	periods, skip, err := behind(interval.periods(from, to), in.Cursor, described)
	if err != nil {
		return nil, err
	}
	rows, err := s.series(ctx, line, b, SeriesQuery{level, id, interval, breakdown, periods[:min(len(periods), in.Limit+1)]})
	if err != nil {
		return nil, err
	}
	return pageOf(rows, skip, in.Limit, len(periods) > in.Limit+1, described), nil
}

// subjectOf returns the row of a campaign, an ad group or an ad.
func (s *Service) subjectOf(ctx context.Context, account string, platform advert.Platform, level advert.Level, id string) (*subject, error) {
	var b subject
	switch level {
	case advert.LevelCampaign:
		row, err := s.store.GetCampaign(ctx, account, platform, id)
		if err != nil {
			return nil, err
		}
		b = campaignSubject(row)
	case advert.LevelGroup:
		row, err := s.store.GetGroup(ctx, account, platform, id)
		if err != nil {
			return nil, err
		}
		b = groupSubject(row)
	default:
		row, err := s.store.GetAd(ctx, account, platform, id)
		if err != nil {
			return nil, err
		}
		b = adSubject(row)
	}
	return &b, nil
}

// periods cuts days into periods of the interval.
func (i Interval) periods(from, to Date) []Period {
	var all []Period
	for from.Compare(to) <= 0 {
		last := to
		switch i {
		case IntervalTotal:
		case IntervalDay:
			last = from
		case IntervalWeek:
			last = from.AddDays((7 - int(from.Start(time.UTC).Weekday())) % 7)
		case IntervalMonth:
			last = DateOf(Date{from.Year, from.Month + 1, 1}.Start(time.UTC)).AddDays(-1)
		}
		last = earlier(last, to)
		all = append(all, Period{from, last})
		from = last.AddDays(1)
	}
	return all
}

// behind returns the periods from the one in which a cursor stands, and how many of its rows were seen. A cursor is a day and a number.
func behind(periods []Period, cursor, described string) (rest []Period, skip int, err error) {
	if cursor == "" {
		return periods, 0, nil
	}
	row, err := advert.OpenCursor(cursor, described)
	if err != nil {
		return nil, 0, err
	}
	day, seen, _ := strings.Cut(row, "_")
	at := slices.IndexFunc(periods, func(p Period) bool { return cursorDay(p) == day })
	skip, _ = strconv.Atoi(seen)
	return periods[max(at, 0):], skip, nil
}

func cursorDay(p Period) string { return strings.ReplaceAll(p.From.String(), "-", "") }

// pageOf returns the rows behind the first ones, at most limit of them. more says that there are periods behind those of the rows.
func pageOf(rows []ShownPeriod, skip, limit int, more bool, described string) *advert.List[ShownPeriod] {
	page := &advert.List[ShownPeriod]{Items: rows[min(skip, len(rows)):]}
	if page.HasMore = more || len(page.Items) > limit; !page.HasMore {
		return page
	}
	page.Items = page.Items[:min(limit, len(page.Items))]
	last := page.Items[len(page.Items)-1].Row
	seen := 0
	for _, row := range rows[:min(skip, len(rows))+len(page.Items)] {
		if row.Row == last {
			seen++
		}
	}
	page.NextCursor = advert.CursorBehind(cursorDay(last)+"_"+strconv.Itoa(seen), described)
	return page
}

// series asks the network about the days that it counts, and returns a row for every period, or for every value in it. A period always has
// one. What is older is added where the network makes reports of it.
func (s *Service) series(ctx context.Context, l *line, b *subject, q SeriesQuery) ([]ShownPeriod, error) {
	now := s.store.Now()
	caps, zone := l.Caps(), l.Caps().Figures.zone(b.adAccount)
	past, err := s.past(ctx, b, caps, q.Level, q.Days(), q.Breakdown == "", now)
	if err != nil {
		return nil, err
	}
	kept, err := s.keptDays(ctx, b, past)
	if err != nil {
		return nil, err
	}
	asked := q
	asked.Periods = nil
	days := make([]Days, len(q.Periods))
	for i, p := range q.Periods {
		if days[i] = caps.counted(p.From, p.To, now.Time()); !days[i].From.IsZero() && !caps.Figures.isAhead(days[i].From, now.Time()) {
			asked.Periods = append(asked.Periods, Period{days[i].From, days[i].To})
		}
	}
	var heard []PeriodFigures
	if len(asked.Periods) > 0 {
		if err := s.store.Leave(ctx); err != nil {
			return nil, err
		}
		var err error
		if heard, err = l.Series(ctx, l.conn, b.adAccountID, asked); err != nil {
			return nil, s.fault(ctx, l, "metrics of "+q.ID, err)
		}
	}
	var rows []ShownPeriod
	for i, p := range q.Periods {
		shown := ShownPeriod{Reported: Reported[Period]{Row: p, Days: days[i], SyncedAt: now}, Timezone: zone.String(), Breakdown: q.Breakdown}
		if past.reaches(p) {
			shown.Days.Warnings = past.warnings(p)
		}
		found := false
		for _, f := range heard {
			if f.Period == (Period{days[i].From, days[i].To}) {
				row := shown
				row.Value, row.Metrics, found = f.Value, &f.Metrics, true
				rows = append(rows, past.with(row, kept))
			}
		}
		if found {
			continue
		}
		shown.Metrics = &advert.Metrics{} // nobody knows
		if slices.Contains(asked.Periods, Period{days[i].From, days[i].To}) {
			none := advert.NoMetrics() // there is nothing to divide
			none.Conversions, none.Actions = nil, nil
			shown.Metrics = &none
		}
		rows = append(rows, past.with(shown, kept))
	}
	return rows, nil
}
