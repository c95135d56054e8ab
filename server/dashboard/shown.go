package dashboard

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
)

// moment returns a time as the shop's people read it.
func (v *visit) moment(t core.Time) ui.Cell { return v.at(t.Time()) }

func (v *visit) at(t time.Time) ui.Cell {
	local := t.In(v.zone)
	return ui.Cell{Time: &ui.Moment{Shown: local.Format("2 Jan 2006, 15:04"), Machine: local.Format(time.RFC3339), Zone: v.zone.String()}}
}

// when returns a time of the API, a dash for none.
func (v *visit) when(t *sdk.Time) ui.Cell {
	if t == nil {
		return ui.Cell{}
	}
	return v.at(t.Time())
}

// money returns an amount, which stands at the end of its column.
func money(amount int64, currency string) ui.Cell {
	return ui.Cell{Text: core.FormatAmount(amount, currency), Number: true}
}

// textCell returns a text, a dash for none.
func textCell(s *string) ui.Cell { return ui.Cell{Text: core.Deref(s)} }

// onPage is how many rows a page of a list has.
const onPage = int64(25)

// position returns where in a list a page begins or ends, as its address says, both nil for the first.
func (v *visit) position() (after, before *string) {
	for name, into := range map[string]**string{"after": &after, "before": &before} {
		if id := v.QueryParam(name); id != "" {
			*into = &id
		}
	}
	return after, before
}

// turn gives a table the addresses of the pages beside it. The filters in the address stay.
func (v *visit) turn(t *ui.Table, first, last string, hasMore bool) {
	after, before := v.position()
	address := func(name, id string) string {
		query := url.Values{}
		for key, values := range v.QueryParams() {
			if key != "after" && key != "before" && values[0] != "" {
				query[key] = values
			}
		}
		query.Set(name, id)
		return "?" + query.Encode()
	}
	if before == nil && hasMore || before != nil {
		t.Older = address("after", last)
	}
	if after != nil || before != nil && hasMore {
		t.Newer = address("before", first)
	}
	if len(t.Rows) == 0 {
		t.Newer, t.Older = "", ""
		if after != nil || before != nil {
			t.Newer = v.Request().URL.Path
		}
	}
}

// chosen returns options of a select, one of which is chosen. Values and texts alternate.
func chosen(value string, pairs ...string) []ui.Option {
	var options []ui.Option
	for i := 0; i < len(pairs); i += 2 {
		options = append(options, ui.Option{Value: pairs[i], Text: pairs[i+1], Chosen: pairs[i] == value})
	}
	return options
}

// query returns a filter that the address has, nil if it is empty.
func query(v *visit, name string) *string {
	if text := strings.TrimSpace(v.QueryParam(name)); text != "" {
		return &text
	}
	return nil
}

// nothing returns what stands in place of a table without rows: that nothing matches, if the address has filters.
func (v *visit) nothing(empty *ui.Empty) *ui.Empty {
	for name, values := range v.QueryParams() {
		if name != "after" && name != "before" && strings.TrimSpace(values[0]) != "" {
			return &ui.Empty{Text: "Nothing matches.", Action: &ui.Link{Text: "Clear", Address: v.Request().URL.Path}}
		}
	}
	return empty
}

// cleared returns a text of an update, which an empty one clears.
func cleared(s string) nullable.Nullable[string] {
	if s == "" {
		return sdk.Null[string]()
	}
	return sdk.Set(s)
}

// renamed returns a refusal by the API with other names for some fields: those of the form that was filled in.
func renamed(err error, names map[string]string) error {
	var refused *sdk.Error
	if !errors.As(err, &refused) {
		return err
	}
	other := *refused
	other.Errors = map[string][]string{}
	for field, messages := range refused.Errors {
		root, _, _ := strings.Cut(field, ".")
		name := cmp.Or(names[field], names[root], field)
		other.Errors[name] = append(other.Errors[name], messages...)
	}
	other.Param = cmp.Or(names[other.Param], other.Param)
	return &other
}

func upper(s string) string { return strings.ToUpper(s) }

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// toText returns a value of JSON as people read it.
func toText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return fmt.Sprint(value)
}

// leafs returns a refusal by the API with fields by their last name alone. It is for a form that has one of several things of
// a kind.
func leafs(err error) error {
	var refused *sdk.Error
	if !errors.As(err, &refused) {
		return err
	}
	names := map[string]string{refused.Param: refused.Param[strings.LastIndex(refused.Param, ".")+1:]}
	for field := range refused.Errors {
		names[field] = field[strings.LastIndex(field, ".")+1:]
	}
	return renamed(err, names)
}
