package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// item is what a list shows, and other lists of it.
type item struct {
	list string
	of   map[string]any
	all  *business
}

// text returns a field as a query would have it, "" for null.
func (i item) text(field string) string {
	switch v := i.of[field].(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case map[string]any: // expanded
		return fmt.Sprint(v["id"])
	default:
		return fmt.Sprint(v)
	}
}

// compared returns how a field that is a number or a time compares with a value; false if it is null.
func (i item) compared(field, value string) (int, bool) {
	if is, want := i.text(field), value; is == "" {
		return 0, false
	} else if number, err := strconv.ParseInt(want, 10, 64); err == nil {
		return cmp.Compare(int64(i.of[field].(float64)), number), true
	} else {
		at, _ := time.Parse(time.RFC3339Nano, is)
		than, _ := time.Parse(time.RFC3339Nano, want)
		return at.Compare(than), true
	}
}

// lets reports whether a filter lets an item through. It says false for a filter that it does not know, too.
func (i item) lets(filter, value string) (let, known bool) {
	field, isAfter := strings.CutSuffix(filter, "_after")
	if start, ok := strings.CutSuffix(filter, "_before"); ok {
		field = start
	} else if !isAfter {
		field = ""
	}
	switch filter {
	case "product", "price_variant":
		if i.list == "listDiscounts" {
			products := i.all.covered[i.text("id")]
			return products == nil || slices.Contains(products, value), true
		}
		if lines, ok := i.all.lines[i.text("id")]; ok {
			return slices.ContainsFunc(lines, func(l map[string]any) bool { return l[filter] == value }), true
		}
		return i.text(filter) == value, true
	case "customer_email", "email", "code":
		return strings.EqualFold(i.text(filter), value), true
	case "tag":
		return slices.Contains(i.of["tags"].([]any), any(value)), true
	case "metadata":
		return i.of["metadata"].(map[string]any)["shelf"] == value, true
	case "q":
		return i.text("id") == value, true
	case "has_active_subscription":
		return fmt.Sprint(i.all.members[i.text("id")]) == value, true
	case "has_recurring":
		return fmt.Sprint(i.all.members[i.text("id")]) == value, true
	case "cancellation_reason":
		reason := ""
		if c, ok := i.of["cancellation"].(map[string]any); ok {
			reason = fmt.Sprint(c["reason"])
		}
		return reason == value, true
	case "source":
		if source, ok := i.of[filter].(map[string]any); ok { // by its id or its type
			return source["id"] == value || source["type"] == value, true
		}
	case "actor": // by its id, or without one by its type
		actor := i.of[filter].(map[string]any)
		return cmp.Or(actor["id"], actor["type"]) == value, true
	case "total_min":
		order, is := i.compared("total_amount", value)
		return is && order >= 0, true
	case "total_max":
		order, is := i.compared("total_amount", value)
		return is && order <= 0, true
	}
	if field == "" {
		_, known := i.of[filter]
		return i.text(filter) == value, known
	}
	if field != "current_period_end" {
		field += "_at"
	}
	order, is := i.compared(field, value)
	_, known = i.of[field]
	return is && (order >= 0) == isAfter, known
}
