package ads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Archive is a Network that makes reports of days for which Series has no figures any more. Figures.ReportDays says that it is one.
type Archive interface {
	// OrderReport asks the network to make a report of a level of an ad account, by day, and returns its id of it. That costs nothing,
	// and may be repeated.
	OrderReport(ctx context.Context, c Conn, adAccount string, level advert.Level, days Period) (string, error)
	// ReadReport returns the figures in a report, or false as long as it is being made. On a day that is not in it nothing came of a thing.
	// A report that the network does not have any more, or did not come to make, is ErrNotFound; one that is too large is *Rejected.
	ReadReport(ctx context.Context, c Conn, adAccount string, level advert.Level, id string) ([]advert.DayFigures, bool, error)
}

// MaxReportRows is how many days with figures a report may have: those of 1,600 things in a month.
const MaxReportRows = 50_000

// OrderReport implements Archive.
func (o outside) OrderReport(ctx context.Context, c Conn, adAccount string, level advert.Level, days Period) (string, error) {
	archive, is := o.network.(Archive)
	if !is {
		return "", ErrUnsupported
	}
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return archive.OrderReport(ctx, c, adAccount, level, days)
}

// ReadReport implements Archive.
func (o outside) ReadReport(ctx context.Context, c Conn, adAccount string, level advert.Level, id string) ([]advert.DayFigures, bool, error) {
	archive, is := o.network.(Archive)
	if !is {
		return nil, false, ErrUnsupported
	}
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return archive.ReadReport(ctx, c, adAccount, level, id)
}

const (
	figuresBatch = 100
	// maxFigureTries is how often a report may fail, and maxFigureWait how long all of that may take.
	maxFigureTries = 5
	maxFigureWait  = 24 * time.Hour
	// maxReportTime is how long a network may take to make one.
	maxReportTime = time.Hour
	// offPause is how long it rests while a channel cannot be used.
	offPause = 10 * time.Minute
)

// FetchFigures goes on with the months of old figures that somebody wants. It orders their reports, looks whether they are made, and stores what is
// in them. Any number of replicas may do so at the same time: each month is claimed by one of them.
func (s *Service) FetchFigures(ctx context.Context) error {
	due, err := s.store.DueFigureMonths(ctx, figuresBatch)
	if err != nil {
		return err
	}
	return inTurns(s, due, func(one advert.FigureMonth) string { return one.AccountID }, func(one advert.FigureMonth) error {
		if err := s.fetchFigures(ctx, &one); err != nil {
			return fmt.Errorf("figures of %s in %s: %w", one.AdAccountID, one.Month, err)
		}
		return nil
	})
}

// fetchFigures claims one month and takes the next step with it.
func (s *Service) fetchFigures(ctx context.Context, due *advert.FigureMonth) error {
	m, err := s.store.ClaimFigureMonth(ctx, due)
	if err != nil || m == nil {
		return err
	}
	line, err := s.activated(ctx, m.AccountID, m.ChannelID)
	if err != nil {
		if isLate(m, s.store.Now()) {
			return s.store.FailFigureMonth(ctx, m, "The channel is not activated for ads.")
		}
		return errors.Join(ignoreAnswer(err), s.store.YieldFigureMonth(ctx, m, offPause))
	}
	heard, err := askFigures(ctx, line, m)
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		return s.retryFigures(ctx, line, m, err)
	}
	return s.keepFigures(ctx, m, heard)
}

func isLate(m *advert.FigureMonth, now core.Time) bool { return now > m.AskedAt.Add(maxFigureWait) }

// heardFigures is what a network said about a month: which report it makes, or what is in it. As long as it is being made, there are no figures.
type heardFigures struct {
	days    Period
	report  string
	figures []advert.DayFigures
	made    bool
}

// askFigures orders the report of a month, or looks whether it is made.
func askFigures(ctx context.Context, l *line, m *advert.FigureMonth) (h heardFigures, err error) {
	archive, now := l.Network.(Archive), core.TimeOf(l.conn.Now())
	if h.report = m.ReportID; h.report != "" {
		h.days = reportedDays(l.Caps().Figures, m.Month, *m.OrderedAt)
		if h.figures, h.made, err = archive.ReadReport(ctx, l.conn, m.AdAccountID, m.Level, h.report); err == nil && !h.made && now > m.OrderedAt.Add(maxReportTime) {
			err = fmt.Errorf("the report is not made after %s: %w", maxReportTime, ErrNotFound)
		}
		return h, err
	}
	if h.days = reportedDays(l.Caps().Figures, m.Month, now); h.days.From.Compare(h.days.To) > 0 { // nobody came to it for so long
		return h, &Rejected{Message: l.Caps().uncounted(h.days.To, h.days.To)}
	}
	h.report, err = archive.OrderReport(ctx, l.conn, m.AdAccountID, m.Level, h.days)
	return h, err
}

// keepFigures stores what a network said about a month.
func (s *Service) keepFigures(ctx context.Context, m *advert.FigureMonth, h heardFigures) error {
	switch now := s.store.Now(); {
	case m.ReportID == "":
		m.ReportID, m.OrderedAt = h.report, &now
		return s.store.YieldFigureMonth(ctx, m, interval)
	case !h.made:
		return s.store.YieldFigureMonth(ctx, m, max(interval, now.Time().Sub(m.OrderedAt.Time())/4))
	}
	if err := s.store.PutDayFigures(ctx, m.AccountID, m.Place(), h.figures); err != nil {
		return err
	}
	return s.store.FinishFigureMonth(ctx, m, h.days.From.String())
}

// retryFigures leaves a month for later after its network failed, or gives it up. What is refused is given up at once, and the rest after
// maxFigureTries or maxFigureWait. A limit of the network's is no failure.
func (s *Service) retryFigures(ctx context.Context, l *line, m *advert.FigureMonth, err error) error {
	var limited *RateLimited
	isLimited, why := errors.As(err, &limited), why(l.channel.Platform, err)
	switch {
	case errors.As(err, new(*Rejected)), isLate(m, s.store.Now()), !isLimited && m.Tries+1 >= maxFigureTries:
		return s.store.FailFigureMonth(ctx, m, why)
	case isLimited:
		return s.store.YieldFigureMonth(ctx, m, max(limited.After, retryAfter))
	}
	if !errors.Is(err, ErrUnavailable) {
		m.ReportID, m.OrderedAt = "", nil // another one is ordered
	}
	m.Tries, m.Reason = m.Tries+1, why
	pause := time.Minute << (2 * (m.Tries - 1)) // 1, 4, 16 and 64 minutes
	return errors.Join(ignoreAnswer(s.fault(ctx, l, "figures", err)), s.store.YieldFigureMonth(ctx, m, pause))
}

// why says for people why a network did not make a report.
func why(platform advert.Platform, err error) string {
	if errors.Is(err, ErrNotFound) {
		return fmt.Sprintf("%s did not make its report.", platform)
	}
	if refused := refusal(platform, "report", err); refused != nil {
		return refused.Message
	}
	return fmt.Sprintf("%s did not answer.", platform)
}

// reportedDays returns the days of a month that a report ordered at a time can have. If there are none, the first is behind the last.
func reportedDays(f Figures, month string, at core.Time) Period {
	first, err := ParseDate(month + "-01")
	if err != nil {
		panic(err) // it was stored by us
	}
	last := DateOf(Date{first.Year, first.Month + 1, 1}.Start(time.UTC)).AddDays(-1)
	return Period{later(first, DateOf(at.Time()).AddDays(-f.ReportDays)), last}
}
