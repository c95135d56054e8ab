package pinterest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

var _ ads.Archive = (*Driver)(nil)

// largestReport is how many bytes of the file of a report are read.
const largestReport = 32 << 20

// reportLevels are the network's words for the levels of a report, with the column that says of what a row is.
var reportLevels = map[advert.Level]struct{ word, column string }{
	advert.LevelCampaign: {"CAMPAIGN", "CAMPAIGN_ID"}, advert.LevelGroup: {"AD_GROUP", "AD_GROUP_ID"}, advert.LevelAd: {"PIN_PROMOTION", "AD_ID"},
}

// reportOrder asks for a report of all that an ad account has on a level. Conversions count as in Series, for 30 days after a click.
type reportOrder struct {
	From        string   `json:"start_date"`
	To          string   `json:"end_date"`
	Granularity string   `json:"granularity"`
	Level       string   `json:"level"`
	Columns     []string `json:"columns"`
	Format      string   `json:"report_format"`
}

// OrderReport implements ads.Archive.
func (d *Driver) OrderReport(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, days ads.Period) (string, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	order := reportOrder{
		From: days.From.String(), To: days.To.String(), Granularity: "DAY", Level: reportLevels[level].word,
		Columns: append([]string{reportLevels[level].column}, columns...), Format: "JSON",
	}
	var answer struct {
		Token string `json:"token"`
	}
	if err := d.write(ctx, c, request{http.MethodPost, inAccount(adAccount, "reports"), nil, order}, &answer); err != nil {
		return "", err
	}
	if answer.Token == "" {
		return "", fmt.Errorf("pinterest: a report was ordered and has no token: %w", ads.ErrUnavailable)
	}
	return answer.Token, nil
}

// ReadReport implements ads.Archive. A report can be had for an hour, and its file for five minutes after each look.
func (d *Driver) ReadReport(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, id string) ([]advert.DayFigures, bool, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	var report struct {
		Status string `json:"report_status"`
		URL    string `json:"url"`
	}
	if err := d.read(ctx, c, inAccount(adAccount, "reports"), url.Values{"token": {id}}, &report); err != nil {
		return nil, false, err
	}
	switch {
	case report.Status == "IN_PROGRESS":
		return nil, false, nil
	case report.Status != "FINISHED": // DOES_NOT_EXIST, EXPIRED, FAILED, CANCELLED
		return nil, false, fmt.Errorf("pinterest: the report is %s: %w", report.Status, ads.ErrNotFound)
	case report.URL == "":
		return nil, false, fmt.Errorf("pinterest: the report is finished and has no address: %w", ads.ErrUnavailable)
	}
	figures, err := d.download(ctx, report.URL, level)
	return figures, err == nil, err
}

// download reads the file of a report. It is at another company's, which must not be told the token of the channel.
func (d *Driver) download(ctx context.Context, address string, level advert.Level) ([]advert.DayFigures, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("pinterest: the address of the report cannot be read: %w", ads.ErrUnavailable)
	}
	res, err := d.client.Do(req)
	if err != nil { // without the address, which opens the file to whoever has it
		return nil, fmt.Errorf("pinterest: the report cannot be fetched: %w: %s", ads.ErrUnavailable, errors.Unwrap(err).Error())
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("pinterest: the report was answered with status %d: %w", res.StatusCode, ads.ErrUnavailable)
	}
	file, err := io.ReadAll(io.LimitReader(res.Body, largestReport+1))
	if err != nil {
		return nil, fmt.Errorf("pinterest: the report did not arrive: %w: %s", ads.ErrUnavailable, err.Error())
	}
	if len(file) > largestReport {
		return nil, tooLarge(fmt.Sprintf("%d MiB", largestReport>>20))
	}
	figures, err := readReport(file, level)
	var rejected *ads.Rejected
	if err != nil && !errors.As(err, &rejected) {
		return nil, fmt.Errorf("pinterest: the report cannot be read: %w: %s", ads.ErrUnavailable, err.Error())
	}
	return figures, err
}

var errReport = errors.New("it is no report by day")

func tooLarge(most string) error {
	return &ads.Rejected{Message: "The report of this month has more than the " + most + " that are kept.", Raw: "too large"}
}

// reportRow is a row in the file of a report. Its ids may be numbers there.
type reportRow struct {
	dayFigures
	CampaignID json.Number `json:"CAMPAIGN_ID"`
	AdGroupID  json.Number `json:"AD_GROUP_ID"`
	AdID       json.Number `json:"AD_ID"`
}

// inReport converts a row. "Reports in JSON will not zero-fill metrics": what is not there is 0, but for the people who saw something.
func (f figures) inReport() advert.Metrics {
	m, none := f.metrics(), advert.NoMetrics()
	if m.Reach == nil && m.Impressions != nil {
		none.Reach = nil
	}
	m.Spend, m.Impressions, m.Reach = cmp.Or(m.Spend, none.Spend), cmp.Or(m.Impressions, none.Impressions), cmp.Or(m.Reach, none.Reach)
	m.Clicks, m.Engagement, m.Conversions = cmp.Or(m.Clicks, none.Clicks), cmp.Or(m.Engagement, none.Engagement), cmp.Or(m.Conversions, none.Conversions)
	m.PurchaseValue, m.VideoViews = cmp.Or(m.PurchaseValue, none.PurchaseValue), cmp.Or(m.VideoViews, none.VideoViews)
	return m
}

// readReport reads a file: an object that has the rows of each thing by its id. It reads one row after the other, so that a file of rows
// without anything in them takes no more room than others.
func readReport(file []byte, level advert.Level) ([]advert.DayFigures, error) {
	var all []advert.DayFigures
	d := json.NewDecoder(bytes.NewReader(file))
	err := within(d, '{', func() error {
		if _, err := d.Token(); err != nil {
			return err
		}
		return within(d, '[', func() error {
			var row reportRow
			if err := d.Decode(&row); err != nil {
				return err
			}
			id := map[advert.Level]json.Number{advert.LevelCampaign: row.CampaignID, advert.LevelGroup: row.AdGroupID, advert.LevelAd: row.AdID}[level]
			if _, err := ads.ParseDate(row.Date); err != nil || id == "" {
				return errReport
			}
			if len(all) == ads.MaxReportRows {
				return tooLarge(fmt.Sprintf("%d rows", ads.MaxReportRows))
			}
			all = append(all, advert.DayFiguresOf(id.String(), row.Date, row.inReport()))
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// within calls each with everything in an object or a list.
func within(d *json.Decoder, begins json.Delim, each func() error) error {
	if begin, err := d.Token(); err != nil || begin != begins {
		return errors.Join(errReport, err)
	}
	for d.More() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}
