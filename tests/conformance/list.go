package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// HasQuery reports whether an operation has a query parameter.
func (o *Operation) HasQuery(name string) bool {
	for _, p := range o.QueryParameters() {
		if p.Name == name {
			return true
		}
	}
	return false
}

func paged(op *Operation) bool { return op.HasQuery("limit") }

// asks sends a query to a list or another GET, and returns the answer; nil if there is nothing to ask for.
func (s *Subject) asks(t T, client *Client, op *Operation, query string) *Response {
	t.Helper()
	path, body, ok := s.request(t, op, query)
	if !ok {
		return nil
	}
	return client.Do(t, op.Method, path, body)
}

// refusesQuery expects that a query is refused for a parameter, whose name is not looked at if it is "".
func (s *Subject) refusesQuery(t T, client *Client, op *Operation, query, param string) {
	t.Helper()
	if resp := s.asks(t, client, op, query); resp != nil {
		f := resp.Fault(t, http.StatusBadRequest, "bad_request")
		if f.Param != param && param != "" || f.Param == "" {
			t.Errorf("?%s: param is %q", query, f.Param)
		}
	}
}

// RefusesAnUnknownParameter sends a query parameter that no operation has.
func RefusesAnUnknownParameter(t T, s *Subject) {
	s.Every(t, All, func(t T, op *Operation, _ int) {
		s.refusesQuery(t, s.Fresh(t), op, "surprise=1", "surprise")
	})
}

// RefusesWhatIsEmptyOrNoText sends query parameters without a value, with what is no text, and moments that never were.
func RefusesWhatIsEmptyOrNoText(t T, s *Subject) {
	s.Every(t, func(op *Operation) bool { return len(op.QueryParameters()) > 0 }, func(t T, op *Operation, turn int) {
		client := s.Fresh(t)
		var queries [][2]string
		add := func(query, param string) { queries = append(queries, [2]string{query, param}) }
		for _, p := range op.QueryParameters() {
			switch {
			case p.Style == "deepObject":
				for _, key := range []string{"a%00", "%ff"} {
					add(p.Name+"["+key+"]=1", "")
				}
				add(p.Name+"[a]="+strings.Repeat("x", 501), p.Name+"[a]")
				add(p.Name+"[a]=%00", p.Name+"[a]")
			case p.Schema.Value.Format == "date-time":
				for _, never := range []string{"2026-02-30T00:00:00Z", "2026-01-31T23:58:60Z", "2026-01-31T12:00:00%2B99:99"} {
					add(p.Name+"="+never, p.Name)
				}
				fallthrough
			default:
				if !p.AllowEmptyValue {
					add(p.Name+"=", p.Name)
				}
				add(p.Name+"=%00", p.Name)
			}
		}
		for _, q := range turns(s, turn, 1, queries) {
			s.refusesQuery(t, client, op, q[0], q[1])
		}
	})
}

// ChecksPositions sends limits and positions that are none.
func ChecksPositions(t T, s *Subject) {
	s.Every(t, paged, func(t T, op *Operation, turn int) {
		client := s.Fresh(t)
		queries := [][2]string{
			{"limit=0", "limit"}, {"limit=101", "limit"}, {"limit=-1", "limit"}, {"limit=abc", "limit"}, {"limit=", "limit"}, {"limit=1000000000000000000000", "limit"},
		}
		id := cmp.Or(s.id(op, op.Listed()), RandomID(cmp.Or(op.Listed(), "row"))) // the rows of a series have none
		positions := [][2]string{
			{"starting_after=nonsense", "starting_after"},
			{"starting_after=" + RandomID("other"), "starting_after"},
			{"ending_before=" + id[min(5, len(id)):], "ending_before"},
			{"starting_after=" + id + "&ending_before=" + id, "ending_before"},
		}
		if op.HasQuery("cursor") {
			if !op.HasQuery("starting_after") { // its cursors are ids
				positions = [][2]string{{"cursor=" + id, "cursor"}}
			}
			positions = append(positions, [2]string{"cursor=nonsense", "cursor"}, [2]string{"cursor=", "cursor"})
		}
		if op.HasQuery("page") {
			positions = append(positions, [2]string{"page=0", "page"}, [2]string{"page=-1", "page"}, [2]string{"page=one", "page"}, [2]string{"page=", "page"})
		}
		for _, q := range turns(s, turn, 2, append(queries, positions...)) {
			s.refusesQuery(t, client, op, q[0], q[1])
		}
	})
}

// list is a page of a list, decoded.
type list struct {
	object map[string]any
	items  []map[string]any
	ids    []string // "" for rows without one
	more   bool
}

// page asks for a page of a list; nil if that was not answered, which was said.
func (s *Subject) page(t T, client *Client, op *Operation, query string) *list {
	t.Helper()
	resp := s.asks(t, client, op, query)
	if resp == nil || s.excuses(t, op, resp) {
		return nil
	}
	if resp.Status >= 300 {
		t.Errorf("?%s is answered %d: %s", query, resp.Status, resp.Body)
		return nil
	}
	l := &list{object: resp.Object(t)}
	data, isList := l.object["data"].([]any)
	more, isBool := l.object["has_more"].(bool)
	if !isList || !isBool {
		return nil // the transport said so
	}
	l.more = more
	for _, item := range data {
		object, _ := item.(map[string]any)
		id, _ := object["id"].(string)
		l.items, l.ids = append(l.items, object), append(l.ids, id)
	}
	return l
}

// HasItsEnvelope asks for a page of one from each list.
func HasItsEnvelope(t T, s *Subject) {
	s.Every(t, paged, func(t T, op *Operation, _ int) {
		page := s.page(t, s.Fresh(t), op, "limit=1")
		if page == nil {
			return
		}
		path, err := s.Path(op)
		if err != nil {
			t.Fatal(err)
		}
		next, walked := page.object["next_cursor"]
		if page.object["object"] != "list" || page.object["url"] != path || len(page.ids) > 1 || s.Thorough && len(page.ids) < 1 || walked != op.HasQuery("cursor") {
			t.Errorf("the envelope is %v", page.object)
		}
		if walked && (next != nil) != page.more {
			t.Errorf("has_more is %v, next_cursor is %v", page.more, next)
		}
	})
}

// walkedItems is how many of a list's items a walk goes over.
const walkedItems = 8

// WalksPages reads the newest of each list in one page, and again in several. Whatever is made meanwhile comes before them.
func WalksPages(t T, s *Subject) {
	walked := func(op *Operation) bool { return paged(op) && op.HasQuery("starting_after") }
	s.Every(t, walked, func(t T, op *Operation, _ int) {
		client := s.Fresh(t)
		whole := s.page(t, client, op, fmt.Sprint("limit=", walkedItems))
		if whole == nil || len(whole.ids) < 2 || whole.ids[0] == "" {
			if whole != nil {
				t.NotChecked("a walk needs two items with ids")
			}
			return
		}
		size := max(1, (len(whole.ids)-1)/3) // so that several pages are needed
		got := whole.ids[:1]
		for len(got) < len(whole.ids) {
			page := s.page(t, client, op, fmt.Sprintf("limit=%d&starting_after=%s", size, got[len(got)-1]))
			if page == nil {
				return
			}
			got = append(slices.Clone(got), page.ids...)
			if behind := len(got) < len(whole.ids) || whole.more; page.more != behind && len(got) <= len(whole.ids) {
				t.Errorf("has_more is %v behind %d of the items %v", page.more, len(got), whole.ids)
				return
			}
			if len(page.ids) == 0 {
				break
			}
		}
		if got = got[:min(len(got), len(whole.ids))]; !slices.Equal(got, whole.ids) {
			t.Errorf("in one page the newest are %v, page by page %v", whole.ids, got)
		}
	})
}

// BeginsWithItsOldestWhenAsked compares both orders of each list.
func BeginsWithItsOldestWhenAsked(t T, s *Subject) {
	s.Every(t, func(op *Operation) bool { return op.HasQuery("sort") }, func(t T, op *Operation, turn int) {
		client := s.Fresh(t)
		ids := func(query string) []string {
			if page := s.page(t, client, op, query); page != nil {
				return page.ids
			}
			return nil
		}
		wrong := []string{"name", "", "CREATED_AT", "created_at,name"}
		for _, wrong := range turns(s, turn, 1, wrong) {
			s.refusesQuery(t, client, op, "sort="+wrong, "sort")
		}
		if s.isMade != nil && !s.ReadsOnly {
			s.another(t, client, op)
		}
		newest := s.page(t, client, op, "limit=100")
		if newest == nil {
			return
		}
		s.areNewestFirst(t, op, newest)
		stands := func() bool { // asked by another client, so that a break shows the request it is about
			if s.Thorough {
				return true
			}
			now := s.page(t, s.Client, op, "limit=100")
			return now != nil && slices.Equal(now.ids, newest.ids)
		}
		if again := ids("limit=100&sort=-created_at"); !slices.Equal(again, newest.ids) && stands() {
			t.Errorf("newest first is %v, and %v without saying so", again, newest.ids)
		}
		if newest.more { // the oldest are others
			t.NotChecked("there are more than a hundred to be sorted")
			return
		}
		oldest := ids("limit=100&sort=created_at")
		if len(oldest) < 2 { // one is in order whatever is done with it
			t.NotChecked("order needs two items")
			return
		}
		differs := func(format string, args ...any) {
			if stands() {
				t.Errorf(format, args...)
			} else {
				t.NotChecked("it changed meanwhile")
			}
		}
		if !slices.Equal(backwards(oldest), newest.ids) {
			differs("oldest first is %v, newest first %v", oldest, newest.ids)
			return
		}
		for i, id := range oldest {
			if !s.Thorough && i != len(oldest)/2 {
				continue
			}
			if got, want := ids("limit=2&sort=created_at&starting_after="+id), oldest[i+1:min(i+3, len(oldest))]; !slices.Equal(got, want) {
				differs("behind %s is %v, %v is expected", id, got, want)
			}
			if got, want := ids("limit=2&sort=created_at&ending_before="+id), oldest[max(i-2, 0):i]; !slices.Equal(got, want) {
				differs("in front of %s is %v, %v is expected", id, got, want)
			}
		}
	})
}

// another makes one more item of a list if that makes one object, some time after the others.
func (s *Subject) another(t T, client *Client, list *Operation) {
	t.Helper()
	for _, op := range s.Document.Operations {
		if op.Path != list.Path || !op.creates() {
			continue
		}
		if path, body, ok := s.object(t, op); ok {
			client.Do(t, op.Method, path, body)
		}
	}
}

// clocks is how much those of several servers may differ.
const clocks = 200 * time.Millisecond

// areNewestFirst compares the moments of what was made for the checks.
func (s *Subject) areNewestFirst(t T, op *Operation, page *list) {
	t.Helper()
	if s.isMade == nil {
		return
	}
	var previous time.Time
	for i, item := range page.items {
		moment, err := time.Parse(time.RFC3339, fmt.Sprint(item["created_at"]))
		if err != nil || !s.isMade(op.Path+"/"+page.ids[i]) { // others may be dated otherwise, as an order is of an invoice
			continue
		}
		if !previous.IsZero() && moment.Sub(previous) > clocks {
			t.Errorf("%s was created at %v, and stands behind one of %v", page.ids[i], moment, previous)
			return
		}
		previous = moment
	}
}

func backwards(ids []string) []string {
	turned := slices.Clone(ids)
	slices.Reverse(turned)
	return turned
}
