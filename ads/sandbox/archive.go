package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

var _ ads.Archive = (*Driver)(nil)

const (
	// reportDelay is how long the sandbox makes a report, reportLife how long it has it.
	reportDelay = 2 * time.Second
	reportLife  = time.Hour
	// reportWidth is how many days a report has at most, as Pinterest's do.
	reportWidth = 186
)

// OrderReport implements ads.Archive. All that a report will say stands in its id.
func (d *Driver) OrderReport(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, days ads.Period) (string, error) {
	if _, err := d.read(ctx, c, adAccount); err != nil {
		return "", err
	}
	oldest := ads.DateOf(c.Now().UTC()).AddDays(-d.Caps().Figures.ReportDays)
	switch {
	case d.Caps().Figures.ReportDays == 0:
		return "", fmt.Errorf("reports of %s: %w", d.platform, ads.ErrUnsupported)
	case days.From.Compare(oldest) < 0 || days.From.DaysUntil(days.To) >= reportWidth:
		return "", &ads.Rejected{Message: "A report has 186 days at most, and reaches 914 days back.", Raw: "400/1"}
	}
	return strings.Join([]string{strconv.FormatInt(c.Now().UnixMicro(), 10), string(level), days.From.String(), days.To.String()}, "/"), nil
}

// ReadReport implements ads.Archive.
func (d *Driver) ReadReport(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, id string) ([]advert.DayFigures, bool, error) {
	account, err := d.read(ctx, c, adAccount)
	if err != nil {
		return nil, false, err
	}
	ordered, days, err := openReport(level, id)
	if err != nil {
		return nil, false, err
	}
	switch age := c.Now().Sub(ordered.Time()); {
	case age > reportLife:
		return nil, false, fmt.Errorf("report %s: %w", id, ads.ErrNotFound)
	case age < reportDelay:
		return nil, false, nil
	}
	var all []advert.DayFigures
	for after := int64(0); ; {
		page, err := d.store.NextSandboxCampaigns(ctx, c.Account, c.Channel, adAccount, after, syncPage)
		if err != nil {
			return nil, false, err
		}
		found, err := plant(page.Entities)
		if err != nil {
			return nil, false, err
		}
		some, err := d.reportDays(&account, page, level, days, core.TimeOf(c.Now()))
		if all = append(all, some...); err != nil || len(found.campaigns) < syncPage {
			return all, err == nil, err
		}
		after = found.campaigns[syncPage-1].Seq
	}
}

// openReport reads the id of a report of a level.
func openReport(level advert.Level, id string) (ordered core.Time, days ads.Period, err error) {
	parts := strings.Split(id, "/")
	if len(parts) != 4 || parts[1] != string(level) {
		return 0, days, fmt.Errorf("report %q: %w", id, ads.ErrNotFound)
	}
	micros, err := strconv.ParseInt(parts[0], 10, 64)
	if err == nil {
		days.From, err = ads.ParseDate(parts[2])
	}
	if err == nil {
		days.To, err = ads.ParseDate(parts[3])
	}
	return core.Time(micros), days, err
}

// reportDays returns the figures of some campaigns, or of what is in them, on each day on which something came of it.
func (d *Driver) reportDays(account *advert.Account, page advert.SandboxCampaigns, level advert.Level, days ads.Period, now core.Time) ([]advert.DayFigures, error) {
	var all []advert.DayFigures
	zone := d.marketOf(account).zone
	for day := days.From; day.Compare(days.To) <= 0; day = day.AddDays(1) {
		s, err := d.stateOf(account, page, window{core.TimeOf(day.Start(zone)), core.TimeOf(day.End(zone))}, now)
		if err != nil {
			return nil, err
		}
		for _, t := range s.byID {
			if m := s.metrics(t); t.Kind == level && (*m.Spend != 0 || *m.Impressions != 0) {
				all = append(all, advert.DayFiguresOf(t.ID, day.String(), m))
			}
		}
	}
	slices.SortFunc(all, func(a, b advert.DayFigures) int { return strings.Compare(a.PlatformID+a.Day, b.PlatformID+b.Day) })
	return all, nil
}
