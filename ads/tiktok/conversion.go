package tiktok

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// pixel is a pixel as the network writes it. Ads name it by its id, events by its code.
type pixel struct {
	ID   string `json:"pixel_id"`
	Code string `json:"pixel_code"`
	Name string `json:"pixel_name"`
}

// pixelsPerPage is how many pixels a page has at most.
const pixelsPerPage = 20

// pixels are a page of pixels, which TikTok writes in another way than its other lists.
type pixels struct {
	List []pixel  `json:"pixels"`
	Info pageInfo `json:"page_info"`
}

// Pixels implements ads.Network.
func (d *Driver) Pixels(ctx context.Context, c ads.Conn, adAccount string) ([]ads.Pixel, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	var found []ads.Pixel
	for number := 1; ; number++ {
		var p pixels
		if err := d.read(ctx, c, "pixel/list", fields{"advertiser_id": adAccount, "page": number, "page_size": pixelsPerPage}, &p); err != nil {
			return nil, err
		}
		for _, w := range p.List {
			found = append(found, ads.Pixel{ID: w.ID, Name: w.Name})
		}
		if number >= p.Info.Pages {
			return found, nil
		}
	}
}

// SendConversions implements ads.Network, by the Events API 2.0. TikTok takes all events of a request or none.
func (d *Driver) SendConversions(ctx context.Context, c ads.Conn, b ads.ConversionBatch) ([]error, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	var p pixels
	if err := d.read(ctx, c, "pixel/list", fields{"advertiser_id": b.AdAccount, "pixel_id": b.PixelID}, &p); err != nil {
		return nil, err
	}
	if len(p.List) != 1 {
		return nil, notFound("pixel", b.PixelID)
	}
	if b.Token != "" {
		c.Token = b.Token
	}
	results := make([]error, len(b.Events))
	var events []fields
	var places []int
	for i, e := range b.Events {
		if refused := d.caps.Conversions.Refusal(e, c.Now()); refused != nil {
			results[i] = refused
			continue
		}
		events, places = append(events, d.event(e)), append(places, i)
	}
	told, err := ads.Isolate(events, func(some []fields) ([]error, error) {
		return make([]error, len(some)), d.write(ctx, c, "event/track", fields{"event_source": "web", "event_source_id": p.List[0].Code, "data": some}, nil)
	})
	if err != nil {
		return nil, err
	}
	for i, result := range told {
		results[places[i]] = result
	}
	return results, nil
}

// event returns an event in TikTok's words.
func (d *Driver) event(e advert.ConversionEvent) fields {
	user := fields{}
	for name, hash := range map[string]string{"email": e.User.Email, "phone": e.User.Phone, "external_id": e.User.ExternalID} {
		if hash != "" {
			user[name] = []string{hash}
		}
	}
	for name, text := range map[string]string{"ip": e.User.ClientIP, "user_agent": e.User.UserAgent, "ttclid": e.User.ClickID} {
		if text != "" {
			user[name] = text
		}
	}
	said := fields{"event": d.caps.Conversions.Words[e.Kind], "event_id": e.EventID, "event_time": e.At.Time().Unix(), "user": user}
	if e.User.PageURL != "" {
		said["page"] = fields{"url": e.User.PageURL}
	}
	properties := fields{}
	if e.Value != 0 {
		properties["value"], properties["currency"] = json.Number(e.Value.String()), strings.ToUpper(e.Currency)
	}
	var contents []fields
	for _, item := range e.Items {
		contents = append(contents, fields{"content_id": item.ID, "quantity": item.Quantity, "price": json.Number(item.Price.String())})
	}
	if len(contents) > 0 {
		properties["contents"], properties["content_type"] = contents, "product"
	}
	if len(properties) > 0 {
		said["properties"] = properties
	}
	return said
}
