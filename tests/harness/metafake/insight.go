package metafake

import (
	"maps"
	"slices"
	"strconv"
)

// Delivery is what an ad did on a day. Amounts are decimals as Meta writes them.
type Delivery struct {
	Impressions, Reach, Clicks int64
	Spend                      string
	Actions                    map[string]int64  // by action_type
	Values                     map[string]string // by action_type, in the account's currency
}

// Deliver sets what an ad did on a day (YYYY-MM-DD, in the ad account's time zone).
func (f *Fake) Deliver(ad, date string, d Delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.delivery[ad] == nil {
		f.delivery[ad] = map[string]Delivery{}
	}
	f.delivery[ad][date] = d
}

// levels are the levels that insights can be asked for, and the kind of node on each.
var levels = map[string]string{"campaign": "Campaign", "adset": "AdSet", "ad": "Ad"}

// insights answers with a row for each node of the level that was delivered within the time. Like Meta it leaves out all
// others, and archived or deleted nodes unless a filter asks for them.
func (f *Fake) insights(r *request) (any, *Error) {
	level := r.params.Get("level")
	var span struct{ Since, Until string }
	r.decode("time_range", &span)
	if levels[level] == "" || span.Since == "" || span.Until < span.Since {
		return nil, invalid("level and time_range are needed here")
	}
	if e := f.checkWindows(r, span.Since); e != nil {
		return nil, e
	}
	wanted, e := f.wantedInsights(r, levels[level])
	if e != nil {
		return nil, e
	}
	rows := f.rows(r, level, span.Since, span.Until)
	var shown []*object
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		o := f.nodes[id]
		if f.settle(o); !wanted(o) {
			continue
		}
		shown = append(shown, &object{"AdsInsights", f.row(level, o, rows[id], span.Since, span.Until)})
	}
	return f.pageRows(r, shown)
}

// wantedInsights reads filtering, and returns which nodes it lets through.
func (f *Fake) wantedInsights(r *request, node string) (func(*object) bool, *Error) {
	var filters []filter
	r.decode("filtering", &filters)
	asked := false
	for _, x := range filters {
		if e := x.check(f.table, node); e != nil {
			return nil, e
		}
		asked = asked || x.Field == prefixes[node]+".effective_status"
	}
	return func(o *object) bool {
		state := o.text("effective_status")
		if !asked && (state == "ARCHIVED" || state == "DELETED") {
			return false
		}
		return !slices.ContainsFunc(filters, func(x filter) bool { return !x.matches(o) })
	}, nil
}

// rows adds up the deliveries of an ad account, by the node of the level that they belong to.
func (f *Fake) rows(r *request, level, since, until string) map[string]Delivery {
	rows := map[string]Delivery{}
	for ad, days := range f.delivery {
		o := f.nodes[ad]
		if o.text("account_id") != r.account() {
			continue
		}
		id := map[string]string{"campaign": o.text("campaign_id"), "adset": o.text("adset_id"), "ad": ad}[level]
		for date, d := range days {
			if since <= date && date <= until {
				rows[id] = merge(rows[id], d)
			}
		}
	}
	return rows
}

// merge adds two deliveries. Reach is not added, because some of the people may be the same.
func merge(a, b Delivery) Delivery {
	if a.Spend == "" {
		a = Delivery{Spend: "0", Actions: map[string]int64{}, Values: map[string]string{}}
	}
	a.Impressions, a.Clicks, a.Reach, a.Spend = a.Impressions+b.Impressions, a.Clicks+b.Clicks, max(a.Reach, b.Reach), sum(a.Spend, b.Spend)
	for name, n := range b.Actions {
		a.Actions[name] += n
	}
	for name, v := range b.Values {
		if a.Values[name] == "" {
			a.Values[name] = "0"
		}
		a.Values[name] = sum(a.Values[name], v)
	}
	return a
}

// row writes figures as Meta does, with every number as a string.
func (f *Fake) row(level string, o *object, d Delivery, since, until string) map[string]any {
	row := map[string]any{level + "_id": o.id(), "account_id": o.text("account_id"), "date_start": since, "date_stop": until,
		"impressions": strconv.FormatInt(d.Impressions, 10), "reach": strconv.FormatInt(d.Reach, 10), "clicks": strconv.FormatInt(d.Clicks, 10),
		"spend": d.Spend}
	var actions, values, views []map[string]string
	for _, name := range slices.Sorted(maps.Keys(d.Actions)) {
		one := map[string]string{"action_type": name, "value": strconv.FormatInt(d.Actions[name], 10)}
		actions = append(actions, one)
		if name == "post_engagement" {
			row["inline_post_engagement"] = one["value"]
		}
		if name == "video_view" {
			views = append(views, one)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Values)) {
		values = append(values, map[string]string{"action_type": name, "value": d.Values[name]})
	}
	for name, list := range map[string][]map[string]string{"actions": actions, "action_values": values, "video_play_actions": views} {
		if list != nil {
			row[name] = list
		}
	}
	return row
}

// pageRows pages rows by their number, because they have no ids of their own.
func (f *Fake) pageRows(r *request, rows []*object) (any, *Error) {
	for i, o := range rows {
		o.fields["id"] = strconv.Itoa(i + 1)
	}
	body, e := f.page(r, rows)
	if e == nil {
		for _, row := range body.(map[string]any)["data"].([]any) {
			delete(row.(map[string]any), "id")
		}
	}
	return body, e
}
