package tiktokfake

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// figure is what was delivered of an ad in a day, to one kind of people.
type figure struct {
	ad, day string
	of      map[string]string // of a breakdown: its word to its value
	metrics Object
}

// Deliver adds what was delivered of an ad in a day: texts, as a report has them. The argument of says to whom, by TikTok's words: age, gender.
func (n *Network) Deliver(a *Account, ad, day string, metrics, of map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f := figure{ad: ad, day: day, of: of, metrics: Object{}}
	for name, text := range metrics {
		f.metrics[name] = text
	}
	a.figures = append(a.figures, f)
}

// counted are the metrics that the fake knows; those of an audience are less.
var (
	counted = []string{"spend", "impressions", "reach", "clicks", "engagements", "conversion", "total_complete_payment_rate", "video_play_actions"}
	byWhom  = []string{"spend", "impressions", "clicks", "conversion"}
	whoms   = []string{"age", "gender", "country_code", "placement", "platform"}
)

// report serves a report: a row for each thing, day and kind of people with figures (T10).
func (n *Network) report(r *request) (any, *refusal) {
	p := r.params
	kind := strings.ToLower(strings.TrimPrefix(p.Text("data_level"), "AUCTION_"))
	dimensions := p.Texts("dimensions")
	daily := slices.Contains(dimensions, "stat_time_day")
	from, err := time.Parse(time.DateOnly, p.Text("start_date"))
	to, err2 := time.Parse(time.DateOnly, p.Text("end_date"))
	days := int(to.Sub(from).Hours()/24) + 1
	most := map[bool]int{true: 30, false: 365}[daily]
	metrics := map[string][]string{"BASIC": counted, "AUDIENCE": byWhom}[p.Text("report_type")]
	switch {
	case r.account == nil || err != nil || err2 != nil || days < 1:
		return nil, broken("T10", "advertiser_id, start_date and end_date are needed.")
	case days > most:
		return nil, broken("T10", "At most %d days.", most)
	case metrics == nil || !slices.Contains(dimensions, kind+"_id"):
		return nil, broken("T10", "dimensions: data_level %s and %v do not match.", p.Text("data_level"), dimensions)
	}
	whom := ""
	for _, one := range dimensions {
		switch {
		case one == kind+"_id", one == "stat_time_day":
		case slices.Contains(whoms, one) && p.Text("report_type") == "AUDIENCE" && whom == "":
			whom = one
		default:
			return nil, broken("T10", "dimensions: %s is not supported.", one)
		}
	}
	for _, one := range p.Texts("metrics") {
		if !slices.Contains(metrics, one) {
			return nil, broken("T10", "metrics: %s is not supported.", one)
		}
	}
	ids, deleted, e := filters(p, kind)
	if e != nil {
		return nil, e
	}
	return n.paged(r, n.rows(r, kind, ids, deleted, daily, whom), 1000)
}

// filters reads the filters of a report, whose values are texts of JSON.
func filters(p Object, kind string) (ids []string, deleted bool, e *refusal) {
	for _, one := range objects(p["filtering"]) {
		var values []string
		if one.Text("filter_type") != "IN" || json.Unmarshal([]byte(one.Text("filter_value")), &values) != nil {
			return nil, false, broken("T10", "filter_value: a JSON array as a text.")
		}
		switch one.Text("field_name") {
		case kind + "_ids":
			if ids = values; len(ids) > 100 {
				return nil, false, broken("T13", "At most 100 ids.")
			}
		case kind + "_status":
			deleted = slices.Contains(values, "STATUS_ALL")
		default:
			return nil, false, broken("T10", "filtering: %s is not supported.", one.Text("field_name"))
		}
	}
	return ids, deleted, nil
}

// rows sums figures up. Reach is that of the one day that has some, and "-" for several.
func (n *Network) rows(r *request, kind string, ids []string, deleted, daily bool, whom string) []Object {
	var found []Object
	at := map[string]int{}
	for _, f := range r.account.figures {
		ad := find(r.account.ads, "ad_id", f.ad)
		id := ad.Text(kind + "_id")
		if f.day < r.params.Text("start_date") || f.day > r.params.Text("end_date") || !slices.Contains(ids, id) || (whom != "") != (f.of != nil) {
			continue
		}
		if !deleted && strings.HasSuffix(r.account.secondaryOfAd(n, ad), "DELETE") {
			continue
		}
		dims := Object{kind + "_id": id}
		if daily {
			dims["stat_time_day"] = f.day + " 00:00:00"
		}
		if whom != "" {
			if f.of[whom] == "" {
				continue
			}
			dims[whom] = f.of[whom]
		}
		key, _ := json.Marshal(dims)
		shown := Object{}
		for _, name := range r.params.Texts("metrics") {
			if shown[name] = f.metrics[name]; shown[name] == nil {
				shown[name] = "0"
			}
		}
		if i, known := at[string(key)]; known {
			sum(found[i]["metrics"].(Object), shown)
			continue
		}
		at[string(key)] = len(found)
		found = append(found, Object{"dimensions": dims, "metrics": shown})
	}
	return found
}

func sum(into, more Object) {
	for name := range into {
		a, b := json.Number(into.Text(name)), json.Number(more.Text(name))
		x, err := a.Float64()
		y, err2 := b.Float64()
		if name == "reach" || err != nil || err2 != nil {
			into[name] = "-"
			continue
		}
		text, _ := json.Marshal(x + y)
		into[name] = string(text)
	}
}
