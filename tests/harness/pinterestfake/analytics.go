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
	sums map[string]float64
}

// Deliver gives an ad figures on a day (YYYY-MM-DD), by the names of the report's columns.
func (n *Network) Deliver(a *Account, ad, day string, sums map[string]float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a.figures = append(a.figures, figure{ad, day, sums})
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
	if query.Get("granularity") != "TOTAL" {
		return refuse(invalid("Only TOTAL here."))
	}
	rows := []Object{}
	for _, id := range query[filter] {
		sums, did := c.sums(key, id, query.Get("start_date"), query.Get("end_date"))
		if !did {
			continue
		}
		o := Object{column: id}
		for _, name := range splitColumns(query.Get("columns")) {
			if sum, has := sums[name]; has {
				o[name] = sum
			}
		}
		rows = append(rows, o)
	}
	return ok(rows)
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

// sums adds up the figures of the ads whose key is id.
func (c *call) sums(key, id, from, to string) (map[string]float64, bool) {
	sums, did := map[string]float64{}, false
	for _, f := range c.account.figures {
		if f.day < from || f.day > to || row(c.account.ads, f.ad).Text(key) != id {
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
