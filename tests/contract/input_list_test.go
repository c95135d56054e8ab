package contract

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestEverySortedList_BeginsWithItsOldestWhenAsked(t *testing.T) {
	t.Parallel()
	sorted := func(op *harness.Operation) bool { return hasQuery(op, "sort") }
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		for n := range 4 {
			name := fmt.Sprint("sorted ", n)
			w.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": name, "price_variants": []any{map[string]any{"amount": 100}}})
			w.Must(t, http.MethodPost, "/v1/customers", map[string]any{"email": fmt.Sprintf("sorted%d@example.com", n)})
			w.Must(t, http.MethodPost, "/v1/leads", map[string]any{"email": fmt.Sprintf("sorted%d@example.com", n)})
			w.Must(t, http.MethodPost, "/v1/discounts", map[string]any{"name": name, "type": "percent", "percent_bps": 100})
			w.Must(t, http.MethodPost, "/v1/checkout_links", map[string]any{"price_variants": []any{w.ids["sold price"]}})
			w.Must(t, http.MethodPost, "/v1/refunds", map[string]any{"order": w.ids["order"], "amount": 1})
			w.Must(t, http.MethodPost, "/v1/blog_posts", map[string]any{"title": name})
			w.Must(t, http.MethodPost, "/v1/experiences", map[string]any{"name": name, "type": "link"})
			w.Must(t, http.MethodPost, "/v1/legal_pages", map[string]any{"kind": "custom", "title": name})
		}
		every(t, sorted, func(t *testing.T, op *harness.Operation) {
			w.Client = w.fresh(t, s)
			ids := func(query string) (found []string) {
				for _, item := range w.Must(t, op.Method, w.at(op, query), nil)["data"].([]any) {
					found = append(found, item.(map[string]any)["id"].(string))
				}
				return found
			}
			newest, oldest := ids("limit=100"), ids("limit=100&sort=created_at")
			if again := ids("limit=100&sort=-created_at"); !slices.Equal(again, newest) {
				t.Errorf("newest first is %v, and %v without saying so", again, newest)
			}
			if len(oldest) < 2 { // one is in order whatever is done with it
				t.Fatalf("there are only %v to be sorted", oldest)
			}
			if !slices.Equal(backwards(oldest), newest) {
				t.Errorf("oldest first is %v, newest first %v", oldest, newest)
			}
			for i, id := range oldest {
				if got, want := ids("limit=2&sort=created_at&starting_after="+id), oldest[i+1:min(i+3, len(oldest))]; !slices.Equal(got, want) {
					t.Errorf("behind %s is %v, %v is expected", id, got, want)
				}
				if got, want := ids("limit=2&sort=created_at&ending_before="+id), oldest[max(i-2, 0):i]; !slices.Equal(got, want) {
					t.Errorf("in front of %s is %v, %v is expected", id, got, want)
				}
			}
			for _, wrong := range []string{"name", "", "CREATED_AT", "created_at,name"} {
				if f := w.Do(t, op.Method, w.at(op, "sort="+wrong), nil).Fault(t, http.StatusBadRequest, "bad_request"); f.Param != "sort" {
					t.Errorf("sort=%s: param is %q", wrong, f.Param)
				}
			}
		})
	})
}

func backwards(ids []string) []string {
	turned := slices.Clone(ids)
	slices.Reverse(turned)
	return turned
}

func TestEveryList_ChecksItsPosition(t *testing.T) {
	t.Parallel()
	paged := func(op *harness.Operation) bool { return hasQuery(op, "limit") }
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, paged, func(t *testing.T, op *harness.Operation) {
			queries := map[string]string{
				"limit=0": "limit", "limit=-1": "limit", "limit=101": "limit", "limit=abc": "limit", "limit=": "limit", "limit=1000000000000000000000": "limit",
			}
			id := cmp.Or(w.ids[listed(op)], randomID("row")) // the rows of a series have none
			positions := map[string]string{
				"starting_after=nonsense":                       "starting_after",
				"starting_after=" + randomID("other"):           "starting_after",
				"ending_before=" + id[5:]:                       "ending_before",
				"starting_after=" + id + "&ending_before=" + id: "ending_before",
			}
			if hasQuery(op, "cursor") {
				if !hasQuery(op, "starting_after") { // its cursors are ids
					positions = map[string]string{"cursor=" + id: "cursor"}
				}
				maps.Copy(positions, map[string]string{"cursor=nonsense": "cursor", "cursor=": "cursor"})
			}
			if hasQuery(op, "page") {
				maps.Copy(positions, map[string]string{"page=0": "page", "page=-1": "page", "page=one": "page", "page=": "page"})
			}
			maps.Copy(queries, positions)
			for query, param := range queries {
				f := w.Do(t, op.Method, w.at(op, query), nil).Fault(t, http.StatusBadRequest, "bad_request")
				if f.Param != param {
					t.Errorf("?%s: param is %q", query, f.Param)
				}
			}
			page := w.Must(t, op.Method, w.at(op, "limit=1"), nil)
			next, walked := page["next_cursor"]
			if page["object"] != "list" || page["url"] != w.path(op) || len(page["data"].([]any)) != 1 || walked != hasQuery(op, "cursor") {
				t.Errorf("the envelope is %v", page)
			}
			if walked && (next != nil) != page["has_more"].(bool) {
				t.Errorf("has_more is %v, next_cursor is %v", page["has_more"], next)
			}
		})
	})
}
