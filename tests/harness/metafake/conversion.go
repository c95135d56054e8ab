package metafake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// What rule P1 says of events: how many come in one call, their greatest age, and for how long one that comes again counts once.
const (
	MostEvents    = 1_000
	OldestEvent   = 7 * 24 * time.Hour
	EventsDeduped = 48 * time.Hour
)

// Event is something that a pixel was told of and that Meta counts once.
type Event struct {
	Name, ID, Source, URL string
	At                    time.Time
	User, Custom          map[string]any // as they came first; numbers are json.Number
	Told                  int            // how often it came

	first time.Time // when it came
}

// AddPixel adds a pixel to an ad account.
func (f *Fake) AddPixel(account, id, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link(account, "adspixels", f.add("AdsPixel", map[string]any{"id": id, "name": name}))
}

// Events returns what Meta counts for a pixel, in the order in which it came first.
func (f *Fake) Events(pixel string) []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := make([]Event, len(f.events[pixel]))
	for i, e := range f.events[pixel] {
		events[i] = *e
	}
	return events
}

// serverEvent is an event as it is sent.
type serverEvent struct {
	Name   string         `json:"event_name"`
	Time   int64          `json:"event_time"`
	ID     string         `json:"event_id"`
	Source string         `json:"action_source"`
	URL    string         `json:"event_source_url"`
	User   map[string]any `json:"user_data"`
	Custom map[string]any `json:"custom_data"`
}

// receiveEvents counts what a pixel is told of. If one event is wrong, all that came with it are refused, and Meta does not say which it
// is.
func (f *Fake) receiveEvents(r *request) (any, *Error) {
	var sent []serverEvent
	d := json.NewDecoder(bytes.NewReader([]byte(r.params.Get("data"))))
	d.UseNumber()
	if err := d.Decode(&sent); err != nil {
		return nil, broken("P1", 0, "The events cannot be read.")
	}
	if len(sent) == 0 || len(sent) > MostEvents {
		return nil, broken("P1", 0, "One call has 1 to %d events.", MostEvents)
	}
	for _, e := range sent {
		if refused := f.checkEvent(e); refused != nil {
			return nil, refused
		}
	}
	for _, e := range sent {
		f.count(r.id, e)
	}
	return map[string]any{"events_received": len(sent), "messages": []string{}, "fbtrace_id": trace}, nil
}

// checkEvent checks an event against rule P1.
func (f *Fake) checkEvent(e serverEvent) *Error {
	switch {
	case e.Name == "" || e.Time == 0 || e.Source == "":
		return broken("P1", 0, "An event has event_name, event_time and action_source.")
	case f.Now().Sub(time.Unix(e.Time, 0)) > OldestEvent:
		return broken("P1", 2804003, "The timestamp for this event is too far in the past. Events can be sent for 7 days.")
	case e.Source == "website" && (e.URL == "" || e.User["client_user_agent"] == nil):
		return broken("P1", 0, "An event of a website has event_source_url and client_user_agent.")
	case isThin(e.User):
		return broken("P1", 2804050, "You haven't added sufficient customer information parameter data for this event.")
	case e.Name == "Purchase" && (e.Custom["value"] == nil || e.Custom["currency"] == nil):
		return broken("P1", 0, "A purchase has a value and a currency.")
	}
	return nil
}

// thin are the sets of which user data needs to have more than one.
var thin = [][]string{{"ct", "country", "st", "zp", "ge", "client_user_agent"}, {"db", "client_user_agent"}, {"fn", "ge"}, {"ln", "ge"}}

func isThin(user map[string]any) bool {
	return slices.ContainsFunc(thin, func(set []string) bool {
		rest := maps.Clone(user)
		maps.DeleteFunc(rest, func(key string, _ any) bool { return slices.Contains(set, key) })
		return len(rest) == 0
	})
}

// count counts an event, unless one with its name and id came a short time before.
func (f *Fake) count(pixel string, e serverEvent) {
	now := f.Now()
	for _, known := range f.events[pixel] {
		if e.ID != "" && known.Name == e.Name && known.ID == e.ID && now.Sub(known.first) <= EventsDeduped {
			known.Told++
			return
		}
	}
	f.events[pixel] = append(f.events[pixel], &Event{Name: e.Name, ID: e.ID, Source: e.Source, URL: e.URL, At: time.Unix(e.Time, 0).UTC(),
		User: e.User, Custom: e.Custom, Told: 1, first: now})
}

// String names an event, for the messages of tests.
func (e Event) String() string { return fmt.Sprintf("%s %s x%d", e.Name, e.ID, e.Told) }
