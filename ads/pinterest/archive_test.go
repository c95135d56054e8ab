package pinterest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

// back returns the days that are so many days ago.
func back(from, to int) ads.Period {
	today := ads.DateOf(noon)
	return ads.Period{From: today.AddDays(-from), To: today.AddDays(-to)}
}

// Figures that are older than 90 days are there by report: rule P12.
func TestReadReport_HasOldDays(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	ad, idle := w.create(t, w.boost("busy")), w.create(t, w.boost("idle"))
	day := back(300, 0).From
	w.net.Deliver(w.account, ad.Ad.PlatformID, day.String(), map[string]float64{"SPEND_IN_MICRO_DOLLAR": 33_510_000, "TOTAL_IMPRESSION": 40, "TOTAL_IMPRESSION_USER": 31, "TOTAL_CONVERSIONS": 0.125})
	w.net.Deliver(w.account, ad.Ad.PlatformID, day.AddDays(2).String(), map[string]float64{"TOTAL_IMPRESSION": 7})
	w.net.Deliver(w.account, idle.Ad.PlatformID, day.AddDays(1).String(), map[string]float64{"TOTAL_IMPRESSION": 0})
	for level, id := range map[advert.Level]string{
		advert.LevelCampaign: ad.Campaign.PlatformID, advert.LevelGroup: ad.Group.PlatformID, advert.LevelAd: ad.Ad.PlatformID,
	} {
		w.net.SlowReports(1)
		order, err := w.driver.OrderReport(t.Context(), w.conn, w.account.ID, level, ads.Period{From: day, To: day.AddDays(30)})
		require.NoError(t, err)
		none, made, err := w.driver.ReadReport(t.Context(), w.conn, w.account.ID, level, order)
		require.NoError(t, err)
		assert.False(t, made)
		assert.Empty(t, none)
		figures, made, err := w.driver.ReadReport(t.Context(), w.conn, w.account.ID, level, order)
		require.NoError(t, err)
		assert.True(t, made)
		busy, less := advert.NoMetrics(), advert.NoMetrics()
		*busy.Spend, *busy.Impressions, *busy.Reach, *busy.Conversions = 33_510_000, 40, 31, 125
		*less.Impressions, less.Reach = 7, nil
		assert.Equal(t, []advert.DayFigures{advert.DayFiguresOf(id, day.String(), busy), advert.DayFiguresOf(id, day.AddDays(2).String(), less)}, figures,
			"what is not in a report is 0, but nobody knows how many people they were")
	}
	assert.Empty(t, w.net.Refused())
}

// The network refuses what rule P12 does not allow, which the months of the archive keep to.
func TestOrderReport_KeepsToTheDaysOfReports(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	rules := w.driver.Caps().Figures
	for days, fine := range map[ads.Period]bool{
		back(rules.ReportDays, rules.ReportDays-30): true, back(rules.ReportDays+1, rules.ReportDays-29): false, back(300, 115): true, back(300, 114): false,
	} {
		_, err := w.driver.OrderReport(t.Context(), w.conn, w.account.ID, advert.LevelAd, days)
		if fine {
			require.NoError(t, err)
			continue
		}
		require.ErrorAs(t, err, new(*ads.Rejected))
	}
}

func TestReadReport_SaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	now := noon
	w := newWorldAt(func() time.Time { return now }, "USD", nil)
	order, err := w.driver.OrderReport(t.Context(), w.conn, w.account.ID, advert.LevelAd, back(300, 280))
	require.NoError(t, err)
	read := func(token string) error {
		_, made, err := w.driver.ReadReport(t.Context(), w.conn, w.account.ID, advert.LevelAd, token)
		assert.Equal(t, err == nil, made)
		return err
	}
	require.NoError(t, read(order))
	require.ErrorIs(t, read("another"), ads.ErrNotFound)
	for _, status := range []string{"FAILED", "CANCELLED"} {
		w.net.EndReports(status)
		require.ErrorIs(t, read(order), ads.ErrNotFound)
	}
	w.net.EndReports("")
	w.net.Break("analytics/get_report", 0, pinterestfake.FaultRateLimit)
	require.ErrorAs(t, read(order), new(*ads.RateLimited))
	now = now.Add(2 * time.Hour)
	require.ErrorIs(t, read(order), ads.ErrNotFound, "EXPIRED")

	w.net.Break("analytics/create_report", 0, pinterestfake.FaultDropAfter)
	_, err = w.driver.OrderReport(t.Context(), w.conn, w.account.ID, advert.LevelAd, back(300, 280))
	require.ErrorIs(t, err, ads.ErrIndeterminate, "a report that nobody fetches does no harm")
}

// elsewhere is a host of files of reports that answers something of its own.
type elsewhere struct {
	network http.RoundTripper
	file    func() io.Reader
	status  int
}

func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "reports.example" {
		return e.network.RoundTrip(r)
	}
	header := http.Header{}
	if e.status == http.StatusFound {
		header.Set("Location", "https://shop.example/")
	}
	return &http.Response{StatusCode: e.status, Header: header, Body: io.NopCloser(e.file()), Request: r}, nil
}

// repeated is a text for ever.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	n = copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

func endless(text string) io.Reader { return &repeated{text: text} }

func TestReadReport_TrustsNoFile(t *testing.T) {
	t.Parallel()
	row := `{"DATE": "2026-01-31", "AD_ID": 687, "TOTAL_IMPRESSION": 1}`
	for name, c := range map[string]struct {
		file   io.Reader
		status int
		fatal  bool
	}{
		"nothing in it":   {strings.NewReader(`{}`), 200, false},
		"cut off":         {strings.NewReader(`{"687": [` + row), 200, false},
		"a list":          {strings.NewReader(`[` + row + `]`), 200, false},
		"another level":   {strings.NewReader(`{"687": [{"DATE": "2026-01-31", "CAMPAIGN_ID": 687}]}`), 200, false},
		"without a day":   {strings.NewReader(`{"687": [{"AD_ID": 687}]}`), 200, false},
		"expired":         {strings.NewReader(``), 403, false},
		"elsewhere again": {strings.NewReader(``), 302, false},
		"a space bomb":    {io.MultiReader(strings.NewReader(`{`), endless(strings.Repeat(" ", 4096))), 200, true},
		"a text bomb":     {io.MultiReader(strings.NewReader(`{"`), endless(strings.Repeat("a", 4096))), 200, true},
		"too large":       {io.MultiReader(strings.NewReader(`{`), endless(`"687": [`+row+`],`)), 200, true},
		"too many rows":   {strings.NewReader(`{"687": [` + strings.Repeat(row+",", ads.MaxReportRows) + row + `]}`), 200, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld("USD", func(n http.RoundTripper) http.RoundTripper {
				return elsewhere{n, func() io.Reader { return c.file }, c.status}
			})
			order, err := w.driver.OrderReport(t.Context(), w.conn, w.account.ID, advert.LevelAd, back(300, 280))
			require.NoError(t, err)
			figures, _, err := w.driver.ReadReport(t.Context(), w.conn, w.account.ID, advert.LevelAd, order)
			assert.Empty(t, figures)
			switch {
			case name == "nothing in it":
				require.NoError(t, err)
			case c.fatal:
				require.ErrorAs(t, err, new(*ads.Rejected))
				assert.Contains(t, err.Error(), "more than the")
			default:
				require.ErrorIs(t, err, ads.ErrUnavailable)
				assert.NotContains(t, err.Error(), "Signature", "whoever has the address has the file")
			}
		})
	}
}
