package ads

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// past knows the days of a query that lie before those that its network still counts, where that makes reports of them. They are fetched by calendar
// months, so that all who ask share them. A month is fetched once one of its days is too old to be counted, and never again. Nothing in it changes
// then: its youngest day is 60 days old, and a conversion counts for at most 30 days after a click. A nil past has no such days.
type past struct {
	caps    Caps
	days    Period // `to` is the last day that is too old to be counted
	now     core.Time
	isWhole bool // they are not asked for in parts, which reports do not have
	months  map[string]*advert.FigureMonth
	place   advert.FigurePlace
}

// past returns what is known of the days of a query that its network does not count any more. It notes those that somebody has to fetch.
func (s *Service) past(ctx context.Context, b *subject, caps Caps, level advert.Level, days Period, isWhole bool, now core.Time) (*past, error) {
	last := DateOf(now.Time()).AddDays(-caps.Figures.Days - 1)
	if caps.Figures.ReportDays == 0 || days.From.Compare(last) > 0 {
		return nil, nil
	}
	p := &past{
		caps: caps, days: Period{days.From, earlier(days.To, last)}, now: now, isWhole: isWhole, months: map[string]*advert.FigureMonth{},
		place: advert.FigurePlace{ChannelID: b.channel, AdAccountID: b.adAccountID, Level: level},
	}
	if !isWhole {
		return p, nil
	}
	months, err := s.store.ListFigureMonths(ctx, b.account, p.place, monthOf(p.days.From), monthOf(p.days.To))
	if err != nil {
		return nil, err
	}
	for i := range months {
		p.months[months[i].Month] = &months[i]
	}
	var wanted []string
	for day := later(p.days.From, p.oldest()); day.Compare(p.days.To) <= 0; day = DateOf(Date{day.Year, day.Month + 1, 1}.Start(time.UTC)) {
		if m := p.months[monthOf(day)]; m == nil || m.State == advert.FigureFailed {
			wanted = append(wanted, monthOf(day))
		}
	}
	if len(wanted) == 0 {
		return p, nil
	}
	return p, s.store.WantFigureMonths(ctx, b.account, p.place, wanted)
}

// monthOf returns the month of a day, such as 2026-05.
func monthOf(day Date) string { return day.String()[:len("2026-05")] }

// oldest is the first day that a report can have.
func (p *past) oldest() Date { return DateOf(p.now.Time()).AddDays(-p.caps.Figures.ReportDays) }

// reaches reports whether a period begins before the days that the network counts.
func (p *past) reaches(period Period) bool {
	return p != nil && period.From.Compare(p.days.To) <= 0
}

// has reports whether the figures of a day are there.
func (p *past) has(day Date) bool {
	m := p.months[monthOf(day)]
	return m != nil && m.State == advert.FigureDone && day.String() >= m.FirstDay
}

// part returns the last days of a period before those that the network counts, as far back as their figures are there without a gap. If
// there are none, the first is behind the last.
func (p *past) part(period Period) Period {
	known := Period{To: earlier(period.To, p.days.To)}
	known.From = known.To.AddDays(1)
	for p.isWhole && known.From.Compare(period.From) > 0 && p.has(known.From.AddDays(-1)) {
		known.From = known.From.AddDays(-1)
	}
	return known
}

// isEmpty reports whether a period has no day.
func (p Period) isEmpty() bool { return p.From.Compare(p.To) > 0 }

// warnings says why the figures of some days of a period are not there, one sentence for each reason.
func (p *past) warnings(period Period) []string {
	if !p.isWhole {
		return []string{fmt.Sprintf("metrics: The days from %s to %s are not counted, because %s divides no figures that are older than %d days.",
			period.From, earlier(period.To, p.days.To), p.caps.Platform, p.caps.Figures.Days)}
	}
	var all []string
	end := p.part(period).From.AddDays(-1) // the last day that is not counted
	for end.Compare(period.From) >= 0 {
		from, because := end, p.because(end)
		for from.Compare(period.From) > 0 && (p.has(from.AddDays(-1)) || p.because(from.AddDays(-1)) == because) {
			from = from.AddDays(-1)
		}
		all = append(all, fmt.Sprintf("metrics: The days from %s to %s are not counted%s", from, end, because))
		end = from.AddDays(-1)
	}
	slices.Reverse(all)
	return all
}

// because says why the figures of a day are not there.
func (p *past) because(day Date) string {
	m := p.months[monthOf(day)]
	switch {
	case day.Compare(p.oldest()) < 0:
		return fmt.Sprintf(", because %s tells no figures that are older than %d days.", p.caps.Platform, p.caps.Figures.ReportDays)
	case m != nil && m.State == advert.FigureFailed:
		return " because they could not be fetched: " + m.Reason + " They are tried again when somebody asks for them an hour later."
	case m != nil && m.Reason != "":
		return fmt.Sprintf(" yet: %s makes a report of days older than %d days, which is being fetched. The last try failed: %s", p.caps.Platform, p.caps.Figures.Days, m.Reason)
	}
	return fmt.Sprintf(" yet: %s makes a report of days older than %d days, which is being fetched. Ask again in some minutes.", p.caps.Platform, p.caps.Figures.Days)
}

// keptDays returns the figures of a thing on the days of the past, by day.
func (s *Service) keptDays(ctx context.Context, b *subject, p *past) (map[string]advert.Metrics, error) {
	if p == nil || !p.isWhole {
		return nil, nil
	}
	figures, err := s.store.ListDayFigures(ctx, b.account, p.place, b.id, p.days.From.String(), p.days.To.String())
	if err != nil {
		return nil, err
	}
	kept := map[string]advert.Metrics{}
	for i := range figures {
		kept[figures[i].Day] = figures[i].Metrics()
	}
	return kept, nil
}

// with adds the figures of the past to a period, as far as they are there.
func (p *past) with(row ShownPeriod, kept map[string]advert.Metrics) ShownPeriod {
	if !p.reaches(row.Row) {
		return row
	}
	part := p.part(row.Row)
	var sum *advert.Metrics
	for day := part.From; !part.isEmpty() && day.Compare(part.To) <= 0; day = day.AddDays(1) {
		if m, did := kept[day.String()]; did {
			sum = plus(sum, m)
		}
	}
	row.Metrics, row.Days = p.join(part, sum, row.Metrics, row.Days)
	return row
}

// plus adds figures to a sum, nil if there is none yet.
func plus(sum *advert.Metrics, m advert.Metrics) *advert.Metrics {
	if sum != nil {
		m.Add(*sum)
	}
	return &m
}

// join puts the figures of a thing in a part of the past before those of the days that the network counts. Without any in the past, old is nil.
func (p *past) join(part Period, old, counted *advert.Metrics, days Days) (*advert.Metrics, Days) {
	if part.isEmpty() {
		return counted, days
	}
	if days.From.IsZero() {
		days.From, days.To, counted = part.From, part.To, nil
	} else {
		days.From = part.From
	}
	switch {
	case old == nil && counted == nil:
		none := advert.NoMetrics()
		none.Actions = nil // reports have no counts by other names
		return &none, days
	case old == nil:
		return counted, days
	case counted == nil:
		return old, days
	}
	return plus(old, *counted), days
}

// pastSums are the figures of things in the past days of one period.
type pastSums struct {
	*past
	period Period
	part   Period // of which the sums are
	sums   map[string]advert.Metrics
}

// pasts returns the figures of rows in the days that their networks do not count any more, by ad account, where there are such days.
func (s *Service) pasts(ctx context.Context, q inquiry, order []reportPlace, places map[reportPlace][]subject, now core.Time) (map[reportPlace]*pastSums, error) {
	all := map[reportPlace]*pastSums{}
	for _, at := range order {
		first := &places[at][0]
		from, to := first.days(q.window, now)
		past, err := s.past(ctx, first, CapsOf(first.platform), q.level, Period{from, to}, true, now)
		if err != nil {
			return nil, err
		}
		if past == nil {
			continue
		}
		of := &pastSums{past: past, period: Period{from, to}, part: past.part(Period{from, to})}
		if all[at] = of; of.part.isEmpty() {
			continue
		}
		ids := make([]string, len(places[at]))
		for i, b := range places[at] {
			ids[i] = b.id
		}
		if of.sums, err = s.store.SumDayFigures(ctx, q.account, past.place, ids, of.part.From.String(), of.part.To.String()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// with adds the past figures of a thing to those that its network has counted. If it was not asked or did not answer, counted is nil.
func (p *pastSums) with(id string, counted *advert.Metrics, days Days) (*advert.Metrics, Days) {
	days.Warnings = p.warnings(p.period)
	if counted == nil {
		return nil, days
	}
	var old *advert.Metrics
	if m, did := p.sums[id]; did {
		old = &m
	}
	return p.join(p.part, old, counted, days)
}
