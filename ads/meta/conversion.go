package meta

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Pixels implements ads.Network.
func (n *Network) Pixels(ctx context.Context, c ads.Conn, adAccount string) ([]ads.Pixel, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	return list[ads.Pixel](ctx, n.graph, c.Token, place{adAccount, "adspixels"}, url.Values{"fields": {"id,name"}})
}

// serverEvent is an event as Meta's "Server Event Parameters" write it.
type serverEvent struct {
	Name   string      `json:"event_name"`
	Time   int64       `json:"event_time"` // Unix seconds
	ID     string      `json:"event_id"`
	Source string      `json:"action_source"`
	URL    string      `json:"event_source_url,omitempty"`
	User   eventUser   `json:"user_data"`
	Custom eventDetail `json:"custom_data"`
}

// eventUser says who did it. What identifies a person is a list of hashes, and the rest is plain.
type eventUser struct {
	Email      []string `json:"em,omitempty"`
	Phone      []string `json:"ph,omitempty"`
	FirstName  []string `json:"fn,omitempty"`
	LastName   []string `json:"ln,omitempty"`
	City       []string `json:"ct,omitempty"`
	State      []string `json:"st,omitempty"`
	Zip        []string `json:"zp,omitempty"`
	Country    []string `json:"country,omitempty"`
	ExternalID []string `json:"external_id,omitempty"`
	IP         string   `json:"client_ip_address,omitempty"`
	Agent      string   `json:"client_user_agent,omitempty"`
	Click      string   `json:"fbc,omitempty"`
}

// eventDetail says what it was worth and what was bought.
type eventDetail struct {
	Value       json.Number `json:"value,omitempty"`
	Currency    string      `json:"currency,omitempty"`
	ContentIDs  []string    `json:"content_ids,omitempty"`
	Contents    []content   `json:"contents,omitempty"`
	ContentType string      `json:"content_type,omitempty"`
	Count       int         `json:"num_items,omitempty"`
	OrderID     string      `json:"order_id,omitempty"`
}

type content struct {
	ID       string      `json:"id"`
	Quantity int         `json:"quantity"`
	Price    json.Number `json:"item_price"`
}

// SendConversions implements ads.Network. Of an event that Meta is known to refuse it says so itself, because Meta would refuse all
// that come with it.
func (n *Network) SendConversions(ctx context.Context, c ads.Conn, b ads.ConversionBatch) ([]error, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	results := make([]error, len(b.Events))
	var events []serverEvent
	var places []int
	for i, e := range b.Events {
		if refused := n.refusal(e, c); refused != nil {
			results[i] = refused
			continue
		}
		events, places = append(events, n.serverEvent(e)), append(places, i)
	}
	told, err := ads.Isolate(events, func(some []serverEvent) ([]error, error) { return n.report(ctx, c, b.PixelID, some) })
	if err != nil {
		return nil, err
	}
	for i, result := range told {
		results[places[i]] = result
	}
	return results, nil
}

// report sends events in one call. If Meta did not receive all of them, the error is ErrIndeterminate.
func (n *Network) report(ctx context.Context, c ads.Conn, pixel string, events []serverEvent) ([]error, error) {
	var answer struct {
		Received int `json:"events_received"`
	}
	err := n.graph.post(ctx, c.Token, place{pixel, "events"}, url.Values{"data": {jsonText(events)}}, &answer)
	if err == nil && answer.Received != len(events) {
		err = fmt.Errorf("%w: %d of %d events were received", ads.ErrIndeterminate, answer.Received, len(events))
	}
	return make([]error, len(events)), err
}

// refusal returns why Meta does not take an event, or nil if it does as far as that is known. See rule P1, and the "Baseline requirements for
// matching".
func (n *Network) refusal(e advert.ConversionEvent, c ads.Conn) error {
	if refused := n.caps.Conversions.Refusal(e, c.Now()); refused != nil {
		return refused
	}
	switch {
	case !e.Offsite && (e.User.PageURL == "" || e.User.UserAgent == ""):
		return &ads.Rejected{Field: "user", Message: "Meta takes what happened on a page only with the address of the page and the browser's user agent."}
	case !identifies(e.User):
		return &ads.Rejected{Field: "user", Message: "Meta takes an event only with something that tells who it was, such as an e-mail address."}
	case e.Kind == advert.ConversionPurchase && e.Currency == "":
		return &ads.Rejected{Field: "value", Message: "Meta takes a purchase only with its value and currency."}
	}
	return nil
}

// identifies reports whether Meta can look for a person: a place, a browser or half a name alone are too little.
func identifies(u advert.ConversionUser) bool {
	if u.Email+u.Phone+u.ExternalID+u.ClickID+u.ClientIP != "" || u.FirstName != "" && u.LastName != "" {
		return true
	}
	return u.FirstName+u.LastName != "" && u.City+u.State+u.Zip+u.Country != ""
}

// serverEvent writes an event that Meta has a word for.
func (n *Network) serverEvent(e advert.ConversionEvent) serverEvent {
	u := e.User
	event := serverEvent{
		Name: n.caps.Conversions.Words[e.Kind], Time: e.At.Time().Unix(), ID: e.EventID, Source: "website", URL: u.PageURL, Custom: detailOf(e),
		User: eventUser{
			Email: hashes(u.Email), Phone: hashes(u.Phone), FirstName: hashes(u.FirstName), LastName: hashes(u.LastName), City: hashes(u.City),
			State: hashes(u.State), Zip: hashes(u.Zip), Country: hashes(u.Country), ExternalID: hashes(u.ExternalID),
			IP: u.ClientIP, Agent: u.UserAgent, Click: clickOf(u.ClickID, u.ClickAt),
		},
	}
	if e.Offsite {
		event.Source = "other"
	}
	return event
}

// hashes puts a hash into a list, which is empty without one.
func hashes(hash string) []string {
	if hash == "" {
		return nil
	}
	return []string{hash}
}

// clickOf writes a click as Meta's cookie does ("ClickID and the fbp and fbc Parameters"), on a domain below the top one. It has the time at which it
// was seen first, in milliseconds, and the id.
func clickOf(id string, at core.Time) string {
	if id == "" {
		return ""
	}
	return "fb.1." + strconv.FormatInt(at.Time().UnixMilli(), 10) + "." + id
}

// detailOf returns what an event was worth and what was bought.
func detailOf(e advert.ConversionEvent) eventDetail {
	var d eventDetail
	if e.Currency != "" {
		d.Value, d.Currency = json.Number(ads.ConversionValue(e.Value, e.Currency)), e.Currency
	}
	for _, item := range e.Items {
		d.ContentIDs, d.ContentType, d.Count = append(d.ContentIDs, item.ID), "product", d.Count+item.Quantity
		d.Contents = append(d.Contents, content{item.ID, item.Quantity, json.Number(ads.ConversionValue(item.Price, e.Currency))})
	}
	if e.Kind == advert.ConversionPurchase {
		d.OrderID = e.EventID
	}
	return d
}
