package pinterestfake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// reportPath is where the files of reports are. At the network that is another company's host.
const reportPath = "/reports/"

// What a report can be of and how long it can be had: rule P12.
const (
	oldestReport = 914
	widestReport = 186 // days
	reportLife   = time.Hour
	addressLife  = 5 * time.Minute
)

// entityColumns are the columns that say of what a row is, by level, each with the property of an ad that it is.
var entityColumns = map[string][]struct{ column, key string }{
	"CAMPAIGN":      {{"CAMPAIGN_ID", "campaign_id"}},
	"AD_GROUP":      {{"AD_GROUP_ID", "ad_group_id"}, {"CAMPAIGN_ID", "campaign_id"}},
	"PIN_PROMOTION": {{"AD_ID", "id"}, {"AD_GROUP_ID", "ad_group_id"}, {"CAMPAIGN_ID", "campaign_id"}},
}

// report is a report that was ordered.
type report struct {
	account *Account
	token   string
	order   reportOrder
	pending int // looks until it is made
	made    time.Time
}

type reportOrder struct {
	From        string   `json:"start_date"`
	To          string   `json:"end_date"`
	Granularity string   `json:"granularity"`
	Level       string   `json:"level"`
	Columns     []string `json:"columns"`
	Format      string   `json:"report_format"`
}

// SlowReports makes so many looks at a report find it still in progress.
func (n *Network) SlowReports(looks int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.slowReports = looks
}

// EndReports makes reports become something else than FINISHED, such as FAILED. "" ends that.
func (n *Network) EndReports(status string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lateReport = status
}

// ReportsAt lets the files of reports be at another host than reports.example.
func (n *Network) ReportsAt(url string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reportHost = url
}

func (c *call) orderReport() answer {
	var order reportOrder
	c.read(&order)
	if refused := c.checkOrder(&order); refused != nil {
		return refuse(refused)
	}
	r := &report{account: c.account, token: "INV4LID+" + c.n.mint() + "==", order: order, pending: c.n.slowReports, made: c.n.now()}
	c.n.reports = append(c.n.reports, r)
	return ok(Object{"token": r.token})
}

// checkOrder refuses an order against the words of rule P12.
func (c *call) checkOrder(o *reportOrder) *refusal {
	from, fromErr := time.Parse(time.DateOnly, o.From)
	to, toErr := time.Parse(time.DateOnly, o.To)
	today := c.n.now().UTC().Truncate(24 * time.Hour)
	known := entityColumns[o.Level]
	switch {
	case fromErr != nil || toErr != nil || to.Before(from):
		return invalid("end_date must follow start_date.")
	case from.Before(today.AddDate(0, 0, -oldestReport)):
		return invalid("start_date is more than %d days back.", oldestReport)
	case !to.Before(from.AddDate(0, 0, widestReport)):
		return invalid("A report has %d days at most.", widestReport)
	case known == nil || o.Granularity != "DAY" || o.Format == "CSV":
		return invalid("This fake makes reports of campaigns, ad groups and ads by day, in JSON.")
	case !slices.Contains(o.Columns, known[0].column):
		return invalid("The columns do not say of what a row is.")
	}
	for _, name := range o.Columns {
		if isEntity(name) && !slices.ContainsFunc(known, func(e struct{ column, key string }) bool { return e.column == name }) {
			return invalid("%s is no column of a report of %s.", name, o.Level)
		}
	}
	return nil
}

func isEntity(column string) bool {
	return column == "CAMPAIGN_ID" || column == "AD_GROUP_ID" || column == "AD_ID"
}

func (c *call) getReport() answer {
	token := c.r.URL.Query().Get("token")
	i := slices.IndexFunc(c.n.reports, func(r *report) bool { return r.account == c.account && r.token == token })
	if i < 0 {
		return ok(Object{"report_status": "DOES_NOT_EXIST", "url": nil})
	}
	r := c.n.reports[i]
	switch now := c.n.now(); {
	case r.pending > 0:
		r.pending--
		r.made = now
		return ok(Object{"report_status": "IN_PROGRESS", "url": nil})
	case c.n.lateReport != "":
		return ok(Object{"report_status": c.n.lateReport, "url": nil})
	case now.After(r.made.Add(reportLife)):
		return ok(Object{"report_status": "EXPIRED", "url": nil})
	default:
		address := fmt.Sprintf("%s%s%d?Expires=%d&Signature=s", c.n.reportHost, reportPath, i, now.Add(addressLife).Unix())
		return ok(Object{"report_status": "FINISHED", "url": address})
	}
}

// handOut hands out the file of a report. As the store behind the network does, it refuses a second way to say who asks.
func (n *Network) handOut(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	number, err := strconv.Atoi(r.PathValue("number"))
	expires, _ := strconv.ParseInt(r.URL.Query().Get("Expires"), 10, 64)
	switch {
	case err != nil || number >= len(n.reports):
		w.WriteHeader(http.StatusNotFound)
	case r.Header.Get("Authorization") != "":
		w.WriteHeader(http.StatusBadRequest)
	case n.now().Unix() > expires || r.URL.Query().Get("Signature") != "s":
		w.WriteHeader(http.StatusForbidden)
	default:
		w.Header().Set("Content-Type", "binary/octet-stream")
		_ = json.NewEncoder(w).Encode(n.reports[number].file())
	}
}

// file returns the rows of a report by the ids of what they are of. It has no rows of nothing, and no columns of 0.
func (r *report) file() map[string][]Object {
	rows := map[string][]Object{}
	for day, _ := time.Parse(time.DateOnly, r.order.From); day.Format(time.DateOnly) <= r.order.To; day = day.AddDate(0, 0, 1) {
		for id, sums := range r.day(day.Format(time.DateOnly)) {
			o := Object{"DATE": day.Format(time.DateOnly)}
			for _, name := range r.order.Columns {
				if value := sums[name]; value != 0 {
					o[name] = value
				}
			}
			if len(o) == 1 {
				continue
			}
			for _, e := range entityColumns[r.order.Level] {
				if slices.Contains(r.order.Columns, e.column) {
					o[e.column] = json.Number(r.keyOf(id, e.key)) // a number, other than everywhere else
				}
			}
			rows[id] = append(rows[id], o)
		}
	}
	return rows
}

// day adds up the figures of a day by the ids of the report's level.
func (r *report) day(day string) map[string]map[string]float64 {
	all := map[string]map[string]float64{}
	for _, f := range r.account.figures {
		id := row(r.account.ads, f.ad).Text(entityColumns[r.order.Level][0].key)
		if f.by != "" || f.day != day || id == "" {
			continue
		}
		if all[id] == nil {
			all[id] = map[string]float64{}
		}
		for name, value := range f.sums {
			all[id][name] += value
		}
	}
	return all
}

// keyOf returns a property of an ad of what has an id on the report's level.
func (r *report) keyOf(id, key string) string {
	for _, ad := range r.account.ads {
		if ad.Text(entityColumns[r.order.Level][0].key) == id {
			return ad.Text(key)
		}
	}
	return ""
}
