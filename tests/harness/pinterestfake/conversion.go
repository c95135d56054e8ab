package pinterestfake

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"
)

// EventsDeduped is for how long an event that comes again counts once. The network does not say; this is the least that one has to
// reckon with.
const EventsDeduped = 24 * time.Hour

// Event is something that an ad account was told of and that the network counts once.
type Event struct {
	Name, ID, Source, URL string
	At                    time.Time
	User, Custom          Object // as they came first
	Told                  int    // how often it came

	first time.Time // when it came
}

// String names an event, for the messages of tests.
func (e Event) String() string { return fmt.Sprintf("%s %s x%d", e.Name, e.ID, e.Told) }

// AddConversionToken makes a token for the events of an ad account, as its owner does in the ads manager: rule P14.
func (n *Network) AddConversionToken(a *Account, token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a.eventKeys = append(a.eventKeys, token)
}

// Events returns what the network counts for an ad account, in the order in which it came first.
func (n *Network) Events(a *Account) []Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	events := make([]Event, len(a.events))
	for i, e := range a.events {
		events[i] = *e
	}
	return events
}

// eventSender returns who may tell of events with a token: nobody by the token of a consent (rule P14).
func (n *Network) eventSender(token string) *user {
	var u user
	for _, a := range n.accounts {
		if slices.Contains(a.eventKeys, token) {
			u.accounts = append(u.accounts, a)
		}
	}
	if u.accounts == nil {
		return nil
	}
	return &u
}

func (c *call) listTags() answer {
	items := []Object{}
	for i, id := range c.account.tags {
		items = append(items, Object{"id": id, "name": fmt.Sprintf("Tag %d", i+1)})
	}
	return ok(Object{"items": items})
}

// What the description lists only in words.
var (
	eventNames = []string{"add_payment_info", "add_to_cart", "add_to_wishlist", "app_install", "checkout", "custom", "initiate_checkout", "lead",
		"page_visit", "search", "signup", "subscribe", "view_category", "view_content", "watch_video"}
	eventSources = []string{"app_android", "app_ios", "web", "offline"}
	plainData    = []string{"click_id", "client_ip_address", "client_user_agent"} // of a user; the rest are hashes
	decimal      = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)
)

// createEvents counts each event that is right. The answer says of each what became of it.
func (c *call) createEvents() answer {
	var sent struct{ Data []Object }
	c.read(&sent)
	results, failed := []Object{}, 0
	for _, e := range sent.Data {
		if problem := checkEvent(e); problem != "" {
			results = append(results, Object{"status": "failed", "error_message": problem})
			failed++
			continue
		}
		results = append(results, Object{"status": "processed"})
		c.count(e)
	}
	if failed == 0 {
		return ok(Object{"events": results})
	}
	return answer{http.StatusUnprocessableEntity, Object{"code": codeInvalid, "message": "Not all events were successfully processed.", "details": Object{
		"num_events_received": len(results), "num_events_processed": len(results) - failed, "events": results,
	}}}
}

// checkEvent returns why an event is not processed, or "": what the description says in words, and rule P14.
func checkEvent(e Object) string {
	user, custom := object(e["user_data"]), object(e["custom_data"])
	for name, value := range user {
		if slices.Contains(plainData, name) {
			continue
		}
		for _, hash := range value.([]any) {
			if !record.MatchString(hash.(string)) {
				return fmt.Sprintf("user_data.%s is not a SHA-256.", name)
			}
		}
	}
	ems, _ := user["em"].([]any)
	switch {
	case !slices.Contains(eventNames, e.Text("event_name")):
		return "event_name is not one of the events."
	case !slices.Contains(eventSources, e.Text("action_source")):
		return "action_source is not one of app_android, app_ios, web, offline."
	case len(ems) == 0 && (user.Text("client_ip_address") == "" || user.Text("client_user_agent") == ""):
		return "user_data needs em, or client_ip_address with client_user_agent."
	case custom["value"] != nil && !decimal.MatchString(custom.Text("value")):
		return "custom_data.value is not a number."
	case custom["currency"] != nil && !currencyCode.MatchString(custom.Text("currency")):
		return "custom_data.currency is not a code of ISO 4217."
	}
	return ""
}

func object(value any) Object {
	o, _ := value.(map[string]any)
	return o
}

// count counts an event, unless one with its name and id came a short time before. What happened offline is counted each time it comes.
func (c *call) count(e Object) {
	now := c.n.now()
	for _, known := range c.account.events {
		same := known.Name == e.Text("event_name") && known.ID == e.Text("event_id")
		if same && known.Source != "offline" && e.Text("action_source") != "offline" && now.Sub(known.first) <= EventsDeduped {
			known.Told++
			return
		}
	}
	c.account.events = append(c.account.events, &Event{
		Name: e.Text("event_name"), ID: e.Text("event_id"), Source: e.Text("action_source"), URL: e.Text("event_source_url"),
		At: time.Unix(e.Number("event_time"), 0).UTC(), User: object(e["user_data"]), Custom: object(e["custom_data"]), Told: 1, first: now,
	})
}
