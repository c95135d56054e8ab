package metafake

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Delivery is what an ad did on a day. Amounts are decimals as Meta writes them.
type Delivery struct {
	Impressions, Reach, Clicks int64
	Spend                      string
	Actions                    map[string]int64  // by action_type
	Values                     map[string]string // by action_type, in the account's currency

	Split map[string]Delivery // parts of it by what it can be divided by, such as "age=25-34"
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
	spans, e := r.spans()
	if e != nil {
		return nil, e
	}
	if levels[level] == "" {
		return nil, invalid("level is needed here")
	}
	divided := r.params.Has("breakdowns")
	wanted, e := f.wantedInsights(r, levels[level])
	if e != nil {
		return nil, e
	}
	for _, name := range append([]string{"date_start", "date_stop"}, r.breakdowns()...) {
		r.fields[name] = nil // they are in every row
	}
	var shown []*object
	for _, s := range spans {
		if e := f.checkWindows(r, s.Since); e != nil {
			return nil, e
		}
		for _, one := range f.rows(r, level, s) {
			o := f.nodes[one.id]
			if f.settle(o); !wanted(o) {
				continue
			}
			row := f.row(level, o, one.Delivery, s.Since, s.Until)
			for _, part := range strings.FieldsFunc(one.value, func(r rune) bool { return r == ',' }) {
				name, value, _ := strings.Cut(part, "=")
				row[name] = value
			}
			if divided && s.Since < f.Now().AddDate(0, -13, 0).Format(time.DateOnly) {
				delete(row, "reach") // rule I2
			}
			shown = append(shown, &object{"AdsInsights", row})
		}
	}
	return f.pageRows(r, shown)
}

// span is a range of days, both included.
type span struct{ Since, Until string }

// spans returns the ranges that are asked for: one, each of its days, or several that are named.
func (r *request) spans() ([]span, *Error) {
	var one span
	var several []span
	if r.params.Has("time_ranges") {
		r.decode("time_ranges", &several)
	} else if r.decode("time_range", &one); r.params.Get("time_increment") == "1" {
		for day := one.Since; day <= one.Until && len(several) < 1000; day = next(day) {
			several = append(several, span{day, day})
		}
	} else {
		several = []span{one}
	}
	for _, s := range several {
		if s.Since == "" || s.Until < s.Since {
			return nil, invalid("time_range must be dictionary with since and until")
		}
	}
	if len(several) == 0 {
		return nil, invalid("time_range is needed here")
	}
	return several, nil
}

func next(day string) string {
	t, _ := time.Parse(time.DateOnly, day)
	return t.AddDate(0, 0, 1).Format(time.DateOnly)
}

// breakdowns returns the names of what rows are divided by.
func (r *request) breakdowns() []string {
	return strings.FieldsFunc(r.params.Get("breakdowns"), func(r rune) bool { return r == ',' || r == '[' || r == ']' || r == '"' })
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

// part is what a node did, or a part of it that has a value.
type part struct {
	id, value string
	Delivery
}

// rows adds up the deliveries of an ad account in a range. It does so by the node of the level that they belong to, and by what they are divided by.
func (f *Fake) rows(r *request, level string, s span) []part {
	sums := map[[2]string]Delivery{}
	by := r.breakdowns()
	for ad, days := range f.delivery {
		o := f.nodes[ad]
		if o.text("account_id") != r.account() {
			continue
		}
		id := map[string]string{"campaign": o.text("campaign_id"), "adset": o.text("adset_id"), "ad": ad}[level]
		for date, d := range days {
			if date < s.Since || date > s.Until {
				continue
			}
			if len(by) == 0 {
				sums[[2]string{id, ""}] = merge(sums[[2]string{id, ""}], d)
			}
			for value, share := range d.Split {
				if isOf(value, by) {
					sums[[2]string{id, value}] = merge(sums[[2]string{id, value}], share)
				}
			}
		}
	}
	var rows []part
	for key, d := range sums {
		rows = append(rows, part{key[0], key[1], d})
	}
	slices.SortFunc(rows, func(a, b part) int { return strings.Compare(a.id+a.value, b.id+b.value) })
	return rows
}

// isOf reports whether a value such as "age=25-34" has exactly these names.
func isOf(value string, by []string) bool {
	var names []string
	for _, part := range strings.Split(value, ",") {
		name, _, _ := strings.Cut(part, "=")
		names = append(names, name)
	}
	return slices.Equal(names, by)
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
