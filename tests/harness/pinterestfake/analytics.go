package pinterestfake

import (
	"slices"
	"strings"
	"time"
)

// oldest is how many days ago a report may begin, and also how many days it may cover.
const oldest = 90

// figure is what one ad did on one day.
type figure struct {
	ad   string
	day  string
	by   string // such as AGE_BUCKET=25-34; "" is all of it
	sums map[string]float64
}

// Deliver gives an ad figures on a day (YYYY-MM-DD), by the names of the report's columns.
func (n *Network) Deliver(a *Account, ad, day string, sums map[string]float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a.figures = append(a.figures, figure{ad, day, "", sums})
}

// DeliverTo gives an ad the part of its figures on a day that belongs to a value of a targeting type.
func (n *Network) DeliverTo(a *Account, ad, day, by, value string, sums map[string]float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a.figures = append(a.figures, figure{ad, day, by + "=" + value, sums})
}

func (c *call) reportCampaigns() answer {
	return c.report("campaign_ids", "CAMPAIGN_ID", "campaign_id")
}
func (c *call) reportGroups() answer { return c.report("ad_group_ids", "AD_GROUP_ID", "ad_group_id") }
func (c *call) reportAds() answer    { return c.report("ad_ids", "AD_ID", "id") }

// report answers with a row for each of the ids that has figures in the days asked for.
func (c *call) report(filter, column, key string) answer {
	query := c.r.URL.Query()
	if refused := c.checkDays(query.Get("start_date"), query.Get("end_date")); refused != nil {
		return refuse(refused)
	}
	rows := []Object{}
	for _, id := range query[filter] {
		for _, days := range c.steps() {
			if sums, did := c.sums(key, id, days[0], days[1], ""); did {
				rows = append(rows, c.figureRow(column, id, days[0], sums))
			}
		}
	}
	return ok(rows)
}

// steps returns the ranges of days of a report by its granularity.
func (c *call) steps() [][2]string {
	query := c.r.URL.Query()
	from, to := query.Get("start_date"), query.Get("end_date")
	if query.Get("granularity") == "TOTAL" {
		return [][2]string{{from, to}}
	}
	var days [][2]string
	for day, _ := time.Parse(time.DateOnly, from); day.Format(time.DateOnly) <= to; day = day.AddDate(0, 0, 1) {
		days = append(days, [2]string{day.Format(time.DateOnly), day.Format(time.DateOnly)})
	}
	return days
}

// figureRow writes sums in the columns that were asked for.
func (c *call) figureRow(column, id, day string, sums map[string]float64) Object {
	o := Object{column: id}
	if c.r.URL.Query().Get("granularity") == "DAY" {
		o["DATE"] = day
	}
	for _, name := range splitColumns(c.r.URL.Query().Get("columns")) {
		if sum, has := sums[name]; has {
			o[name] = sum
		}
	}
	return o
}

func (c *call) divideCampaigns() answer {
	return c.divide("campaign_ids", "CAMPAIGN_ID", "campaign_id")
}

func (c *call) divideGroups() answer { return c.divide("ad_group_ids", "AD_GROUP_ID", "ad_group_id") }

func (c *call) divideAds() answer { return c.divide("ad_ids", "AD_ID", "id") }

// divide answers with a row for each value of the targeting types that has figures.
func (c *call) divide(filter, column, key string) answer {
	query := c.r.URL.Query()
	if refused := c.checkDays(query.Get("start_date"), query.Get("end_date")); refused != nil {
		return refuse(refused)
	}
	data := []Object{}
	for _, by := range splitColumns(query.Get("targeting_types")) {
		for _, value := range c.account.valuesOf(by) {
			for _, id := range query[filter] {
				for _, days := range c.steps() {
					if sums, did := c.sums(key, id, days[0], days[1], by+"="+value); did {
						data = append(data, Object{"targeting_type": by, "targeting_value": value, "metrics": c.figureRow(column, id, days[0], sums)})
					}
				}
			}
		}
	}
	return ok(Object{"data": data})
}

// valuesOf returns the values of a targeting type that figures have.
func (a *Account) valuesOf(by string) []string {
	var values []string
	for _, f := range a.figures {
		if name, value, _ := strings.Cut(f.by, "="); f.by != "" && name == by {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func (c *call) checkDays(start, end string) *refusal {
	from, _ := time.Parse(time.DateOnly, start)
	to, _ := time.Parse(time.DateOnly, end)
	switch today := c.n.now().UTC().Truncate(24 * time.Hour); {
	case from.Before(today.AddDate(0, 0, -oldest)):
		return invalid("start_date is more than 90 days back.")
	case to.Before(from) || to.After(from.AddDate(0, 0, oldest)):
		return invalid("end_date must follow start_date within 90 days.")
	}
	return nil
}

// sums adds up the figures of the ads whose key is id, or the parts that by names.
func (c *call) sums(key, id, from, to, by string) (map[string]float64, bool) {
	sums, did := map[string]float64{}, false
	for _, f := range c.account.figures {
		if f.by != by || f.day < from || f.day > to || row(c.account.ads, f.ad).Text(key) != id {
			continue
		}
		did = true
		for name, value := range f.sums {
			sums[name] += value
		}
	}
	return sums, did
}

func splitColumns(text string) []string { return slices.Compact(strings.Split(text, ",")) }
