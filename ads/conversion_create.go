package ads

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

const (
	maxConversions     = 1000 // in one request
	maxConversionItems = 100
	maxQuantity        = 1_000_000
	// aheadOfUs is how much the clock of a caller may be ahead of ours.
	aheadOfUs = time.Minute
)

// CreateConversion is something that happened elsewhere, as it was sent. "" means that a field was not sent.
type CreateConversion struct {
	EventID    string
	Kind       string
	OccurredAt string // RFC 3339
	Value      string // decimal text, in whole units
	Currency   string
	User       User
	PageURL    string
	ClientIP   string
	UserAgent  string
	ClickID    string
	Items      []CreateConversionItem
	AdsConsent bool
}

// CreateConversionItem is something that was bought, as it was sent.
type CreateConversionItem struct {
	ID       string
	Quantity int64
	Price    string // decimal text, in whole units
}

// CreatedConversion is what became of a conversion that was sent.
type CreatedConversion struct {
	EventID string
	ID      string // conv_; empty unless it is queued
	Err     *core.Error
}

// IsDuplicate reports whether the pixel was told of it before, or waits to be.
func (c CreatedConversion) IsDuplicate() bool { return c.Err == nil && c.ID == "" }

// CreateConversions keeps what a destination is to be told, and returns what became of each, in their order. One that is wrong does not stop
// the others. A destination that is paused is CodeInvalid on destination_id.
func (s *Service) CreateConversions(ctx context.Context, account, destination string, ins []CreateConversion) ([]CreatedConversion, error) {
	if err := (required{{"destination_id", destination}}).err(); err != nil {
		return nil, err
	}
	d, err := s.store.GetConversionDestination(ctx, account, destination)
	if err != nil {
		return nil, at("destination_id", err)
	}
	line, err := s.reach(ctx, d)
	switch {
	case err != nil:
		return nil, err
	case len(ins) == 0 || len(ins) > maxConversions:
		return nil, core.Invalid("events", fmt.Sprintf("Send 1 to %d events.", maxConversions))
	case d.Status == advert.DestinationPaused:
		return nil, core.Invalid("destination_id", "The destination is paused, and nothing is kept for it. Make it active first, with PATCH /ads/conversion-destinations/{id}.")
	}
	results := make([]CreatedConversion, len(ins))
	var events []advert.ConversionEvent
	var places []int
	for i := range ins {
		results[i].EventID = ins[i].EventID
		event, err := line.Caps().conversion(d, &ins[i], s.store.Now())
		if results[i].Err = err; err == nil {
			events, places = append(events, *event), append(places, i)
		}
	}
	queued, err := s.store.CreateConversions(ctx, d, events)
	if err != nil {
		return nil, err
	}
	for i, id := range queued {
		results[places[i]].ID = id
	}
	return results, nil
}

// conversion returns what a network is told of something that happened elsewhere, or what is wrong with it.
func (c Caps) conversion(d *advert.ConversionDestination, in *CreateConversion, now core.Time) (*advert.ConversionEvent, *core.Error) {
	kind := advert.ConversionKind(in.Kind)
	at, problem := c.moment(in.OccurredAt, now)
	value, wrong := worth(in)
	user, invalid := hashPerson(in.User, c.Conversions.Phone)
	switch {
	case !in.AdsConsent:
		return nil, core.Invalid("ads_consent", "Nobody is told of without their consent to it. Send true for who has given it, and leave out who has not.")
	case in.EventID == "" || utf8.RuneCountInString(in.EventID) > 200:
		return nil, core.Invalid("event_id", "Send 1 to 200 characters by which the event is known, such as the number of the order.")
	case c.Conversions.Words[kind] == "":
		return nil, core.Invalid("event", fmt.Sprintf("Send what %s is told of: %s.", c.Platform, list(c.ConversionKinds())))
	case !slices.Contains(d.Events.V, kind):
		return nil, core.Invalid("event", fmt.Sprintf("The destination is not told of %s. Add it to its events, with PATCH /ads/conversion-destinations/%s.", kind, d.ID))
	case problem != "":
		return nil, core.Invalid("occurred_at", problem)
	case wrong != nil:
		return nil, wrong
	case invalid != nil:
		return nil, core.Invalid("user."+invalid.Param, invalid.Message)
	}
	items, wrong := itemsOf(in.Items)
	if wrong == nil {
		wrong = checkBrowser(in)
	}
	if wrong != nil {
		return nil, wrong
	}
	user.ClientIP, user.UserAgent, user.PageURL = in.ClientIP, in.UserAgent, in.PageURL
	if in.ClickID != "" {
		user.ClickID, user.ClickAt = in.ClickID, at
	}
	if !user.IsKnown() {
		return nil, core.Invalid("user", "Nothing says who it was. Send an identifier of the person, a click_id, or client_ip with user_agent.")
	}
	return &advert.ConversionEvent{
		EventID: in.EventID, Kind: kind, At: at, Value: value, Currency: strings.ToLower(in.Currency), Items: items,
		Offsite: in.PageURL == "" || in.UserAgent == "", User: user,
	}, nil
}

// moment reads when something happened, or returns what is wrong with that.
func (c Caps) moment(text string, now core.Time) (core.Time, string) {
	moment, err := core.ParseTime(text)
	at := core.TimeOf(moment)
	switch {
	case err != nil:
		return 0, "Send when it happened, in RFC 3339, such as 2026-11-21T09:30:00Z."
	case at > now.Add(aheadOfUs):
		return 0, "This lies in the future. Send when it happened."
	case at < now.Add(-c.Conversions.MaxAge):
		return 0, fmt.Sprintf("%s takes nothing that happened more than %d days ago.", c.Platform, c.Conversions.MaxAge/(24*time.Hour))
	}
	return at, ""
}

// worth reads the value of a conversion, which a purchase must have.
func worth(in *CreateConversion) (advert.Amount, *core.Error) {
	_, known := core.LookupCurrency(strings.ToLower(in.Currency))
	needed := in.Value != "" || slices.ContainsFunc(in.Items, func(item CreateConversionItem) bool { return item.Price != "" })
	if !known && (needed || in.Currency != "") {
		return 0, core.Invalid("currency", "Send the currency of the value and the prices, such as usd.")
	}
	if in.Value == "" {
		if in.Kind == string(advert.ConversionPurchase) {
			return 0, core.Invalid("value", "Send what the purchase was worth, in whole units of the currency.")
		}
		return 0, nil
	}
	value, err := advert.ParseAmount(in.Value)
	if err != nil {
		return 0, core.Invalid("value", "value "+err.Error()+".")
	}
	return value, nil
}

// itemsOf reads what was bought.
func itemsOf(ins []CreateConversionItem) ([]advert.ConversionItem, *core.Error) {
	if len(ins) > maxConversionItems {
		return nil, core.Invalid("items", fmt.Sprintf("Send at most %d items.", maxConversionItems))
	}
	var items []advert.ConversionItem
	for i, in := range ins {
		field := func(name string) string { return fmt.Sprintf("items.%d.%s", i, name) }
		item := advert.ConversionItem{ID: in.ID, Quantity: int(in.Quantity)}
		if in.ID == "" || utf8.RuneCountInString(in.ID) > 200 {
			return nil, core.Invalid(field("id"), "Send 1 to 200 characters by which the product is known.")
		}
		if in.Quantity < 1 || in.Quantity > maxQuantity {
			return nil, core.Invalid(field("quantity"), "Send how many were bought, 1 or more.")
		}
		if in.Price != "" {
			price, err := advert.ParseSpend(in.Price)
			if err != nil {
				return nil, core.Invalid(field("price"), "price "+err.Error()+".")
			}
			item.Price = price
		}
		items = append(items, item)
	}
	return items, nil
}

// checkBrowser checks what is known of the browser.
func checkBrowser(in *CreateConversion) *core.Error {
	if in.PageURL != "" {
		page, err := url.Parse(in.PageURL)
		if err != nil || page.Host == "" || page.Scheme != "https" && page.Scheme != "http" || len(in.PageURL) > 2048 {
			return core.Invalid("page_url", "Send the address of the page, such as https://example.com/thanks, of at most 2048 characters.")
		}
	}
	if in.ClientIP != "" {
		if addr, err := netip.ParseAddr(in.ClientIP); err != nil || addr.Zone() != "" {
			return core.Invalid("client_ip", "Send the address of the browser, such as 203.0.113.7.")
		}
	}
	for _, text := range []struct{ field, value string }{{"user_agent", in.UserAgent}, {"click_id", in.ClickID}} {
		if utf8.RuneCountInString(text.value) > 1000 {
			return core.Invalid(text.field, "Send at most 1000 characters.")
		}
	}
	return nil
}

// hashPerson returns the hashes of who did something, or what is wrong with them.
func hashPerson(u User, form PhoneForm) (advert.ConversionUser, *InvalidUser) {
	var person advert.ConversionUser
	for _, id := range []struct {
		identifier
		hash *string
	}{
		{identifier{advert.IdentifierEmail, u.Email, u.EmailSHA256}, &person.Email},
		{identifier{advert.IdentifierPhone, u.Phone, u.PhoneSHA256}, &person.Phone},
	} {
		hash, invalid := id.hashed(form)
		if invalid != nil {
			return person, invalid
		}
		*id.hash = hash
	}
	for _, detail := range []struct {
		field, value string
		hash         *string
	}{
		{"first_name", u.FirstName, &person.FirstName}, {"last_name", u.LastName, &person.LastName}, {"city", u.City, &person.City},
		{"state", u.State, &person.State}, {"country", u.Country, &person.Country}, {"zip", u.Zip, &person.Zip},
	} {
		if detail.value == "" {
			continue
		}
		hash, invalid := hashDetail(detail.field, detail.value)
		if invalid != nil {
			return person, invalid
		}
		*detail.hash = hash
	}
	return person, nil
}
