package pinterest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// Pixels implements ads.Network.
func (d *Driver) Pixels(ctx context.Context, c ads.Conn, adAccount string) ([]ads.Pixel, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	var tags page[ads.Pixel]
	err := d.read(ctx, c, inAccount(adAccount, "conversion_tags"), nil, &tags)
	return tags.Items, err
}

// event is a conversion as the network reads it.
type event struct {
	Name   string      `json:"event_name"`
	Source string      `json:"action_source"`
	Time   int64       `json:"event_time"` // Unix seconds
	ID     string      `json:"event_id"`
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
	Click      string   `json:"click_id,omitempty"`
}

// eventDetail says what it was worth and what was bought. The network reads amounts as texts.
type eventDetail struct {
	Value      string    `json:"value,omitempty"`
	Currency   string    `json:"currency,omitempty"`
	ContentIDs []string  `json:"content_ids,omitempty"`
	Contents   []content `json:"contents,omitempty"`
	Count      int       `json:"num_items,omitempty"`
	OrderID    string    `json:"order_id,omitempty"`
}

type content struct {
	ID       string `json:"id"`
	Quantity int    `json:"quantity"`
	Price    string `json:"item_price"`
}

// What action_source says.
const (
	sourceWeb     = "web"
	sourceOffline = "offline"
)

// errNoToken says that a pixel has no conversion token of its own, which no other token stands in for: rule P14.
var errNoToken = errors.New("make a conversion token in the ads manager and give it to the destination")

// lostOffline is why an event is given up.
const lostOffline = "Pinterest did not answer, and it is not told again: what did not happen on a page counts each time that it is told."

// SendConversions implements ads.Network. What did not happen on a page is told after the rest in calls of its own. Pinterest counts it again
// whenever it is told of it. If nobody knows the outcome of such a call, its events are refused, so that they are not sent again.
func (d *Driver) SendConversions(ctx context.Context, c ads.Conn, b ads.ConversionBatch) ([]error, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	if b.Token == "" {
		return nil, fmt.Errorf("pinterest: %w: %w", ads.ErrForbidden, errNoToken)
	}
	c.Token = b.Token
	results := make([]error, len(b.Events))
	places := map[string][]int{}
	for i, e := range b.Events {
		if refused := d.refusal(e, c); refused != nil {
			results[i] = refused
			continue
		}
		places[eventSource(e)] = append(places[eventSource(e)], i)
	}
	told := 0
	for _, source := range []string{sourceWeb, sourceOffline} {
		each, err := ads.Isolate(places[source], func(some []int) ([]error, error) { return d.tell(ctx, c, b, source, some) })
		if err != nil && told == 0 {
			return nil, err
		}
		for i, place := range places[source] {
			if results[place] = err; err == nil {
				results[place] = each[i]
			}
		}
		told += len(places[source])
	}
	return results, nil
}

// tell sends the events at some places in one call.
func (d *Driver) tell(ctx context.Context, c ads.Conn, b ads.ConversionBatch, source string, places []int) ([]error, error) {
	events := make([]event, len(places))
	for i, place := range places {
		events[i] = d.event(b.Events[place], source)
	}
	r := request{method: http.MethodPost, path: inAccount(b.AdAccount, "events"), body: map[string]any{"data": events}}
	results, err := d.outcomes(ctx, c, r, len(events))
	switch {
	case errors.Is(err, ads.ErrUnauthorized): // it is the token of the destination, not the channel's
		return nil, fmt.Errorf("pinterest: %w: the conversion token is not accepted: %w", ads.ErrForbidden, errNoToken)
	case errors.Is(err, ads.ErrIndeterminate) && source == sourceOffline:
		results = make([]error, len(events))
		for i := range results {
			results[i] = &ads.Rejected{Message: lostOffline}
		}
		return results, nil
	}
	return results, err
}

// outcomes sends a request with some events, and returns for each nil or why it was not processed. Status 422 says that some of them
// were not; the description does not tell whether the outcomes stand in details then.
func (d *Driver) outcomes(ctx context.Context, c ads.Conn, r request, count int) ([]error, error) {
	answer, err := d.exchange(ctx, c, r)
	if err != nil {
		return nil, err
	}
	var told struct {
		processed
		Details processed `json:"details"`
	}
	unread := json.Unmarshal(answer.body, &told)
	if told.Events == nil {
		told.processed = told.Details
	}
	isPartial := answer.status == http.StatusUnprocessableEntity && told.Events != nil
	if err := refusal(c, r, answer); err != nil && !isPartial {
		return nil, err
	}
	if unread == nil && len(told.Events) != count {
		unread = fmt.Errorf("%d outcomes for %d events", len(told.Events), count)
	}
	if unread != nil {
		return nil, failure(c, r, ads.ErrIndeterminate, unread)
	}
	results := make([]error, count)
	for i, e := range told.Events {
		if e.Status != "processed" {
			results[i] = problem{Message: e.Message}.rejected(c, answer.status)
		}
	}
	return results, nil
}

// processed says what became of each event, in their order.
type processed struct {
	Events []struct {
		Status  string `json:"status"`
		Message string `json:"error_message"`
	} `json:"events"`
}

// refusal returns why the network does not take an event, nil if it does as far as that is known: rule P14.
func (d *Driver) refusal(e advert.ConversionEvent, c ads.Conn) error {
	if refused := d.caps.Conversions.Refusal(e, c.Now()); refused != nil {
		return refused
	}
	if e.User.Email == "" && (e.User.ClientIP == "" || e.User.UserAgent == "") {
		return &ads.Rejected{Field: "user", Message: "Pinterest takes an event only with an e-mail address, or with the browser's address and user agent."}
	}
	return nil
}

func eventSource(e advert.ConversionEvent) string {
	if e.Offsite {
		return sourceOffline
	}
	return sourceWeb
}

// event writes an event that the network has a word for.
func (d *Driver) event(e advert.ConversionEvent, source string) event {
	u := e.User
	return event{
		Name: d.caps.Conversions.Words[e.Kind], Source: source, Time: e.At.Time().Unix(), ID: e.EventID, URL: u.PageURL, Custom: detailOf(e),
		User: eventUser{
			Email: hashes(u.Email), Phone: hashes(u.Phone), FirstName: hashes(u.FirstName), LastName: hashes(u.LastName), City: hashes(u.City),
			State: hashes(u.State), Zip: hashes(u.Zip), Country: hashes(u.Country), ExternalID: hashes(u.ExternalID),
			IP: u.ClientIP, Agent: u.UserAgent, Click: u.ClickID,
		},
	}
}

// hashes puts a hash into a list, which is empty without one.
func hashes(hash string) []string {
	if hash == "" {
		return nil
	}
	return []string{hash}
}

// detailOf returns what an event was worth and what was bought.
func detailOf(e advert.ConversionEvent) eventDetail {
	var d eventDetail
	if e.Currency != "" {
		d.Value, d.Currency = ads.ConversionValue(e.Value, e.Currency), strings.ToUpper(e.Currency)
	}
	for _, item := range e.Items {
		d.ContentIDs, d.Count = append(d.ContentIDs, item.ID), d.Count+item.Quantity
		d.Contents = append(d.Contents, content{item.ID, item.Quantity, ads.ConversionValue(item.Price, e.Currency)})
	}
	if e.Kind == advert.ConversionPurchase {
		d.OrderID = e.EventID
	}
	return d
}
