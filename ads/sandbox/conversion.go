package sandbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// pixels are those of each ad account.
var pixels = []string{"Website", "Checkout"}

// Pixels implements ads.Network.
func (d *Driver) Pixels(ctx context.Context, c ads.Conn, adAccount string) ([]ads.Pixel, error) {
	if _, err := d.enter(ctx, c, false); err != nil {
		return nil, err
	}
	return d.pixels(c, adAccount)
}

func (d *Driver) pixels(c ads.Conn, adAccount string) ([]ads.Pixel, error) {
	if d.Caps().Conversions.PerCall == 0 {
		return nil, fmt.Errorf("pixels of %s: %w", d.platform, ads.ErrUnsupported)
	}
	place := slices.IndexFunc(d.accounts(c), func(a advert.Account) bool { return a.PlatformID == adAccount })
	if _, err := d.account(c, adAccount); err != nil {
		return nil, err
	}
	all := make([]ads.Pixel, len(pixels))
	for i, name := range pixels {
		all[i] = ads.Pixel{ID: d.id(c, kindPixel, int64(place*len(pixels)+i)), Name: "Sandbox " + name}
	}
	return all, nil
}

// SendConversions implements ads.Network.
func (d *Driver) SendConversions(ctx context.Context, c ads.Conn, b ads.ConversionBatch) ([]error, error) {
	fault, err := d.enter(ctx, c, true)
	if err != nil {
		return nil, err
	}
	known, err := d.pixels(c, b.AdAccount)
	rules := d.Caps().Conversions
	switch {
	case err != nil:
		return nil, err
	case !slices.ContainsFunc(known, func(p ads.Pixel) bool { return p.ID == b.PixelID }):
		return nil, fmt.Errorf("pixel %s: %w", b.PixelID, ads.ErrNotFound)
	case rules.OwnToken && b.Token == "": // P14 of Pinterest: it takes no other access
		return nil, fmt.Errorf("a conversion token of its own is needed: %w", ads.ErrUnauthorized)
	case len(b.Events) > rules.PerCall:
		return nil, &ads.Rejected{Message: fmt.Sprintf("Send at most %d events.", rules.PerCall)}
	}
	for _, e := range b.Events {
		if c.Now().Sub(e.At.Time()) > rules.MaxAge { // P1 of Meta: one of them, and all are refused
			return nil, &ads.Rejected{Message: fmt.Sprintf("The event %s is too old, so that none of these events was taken.", e.EventID)}
		}
	}
	results := make([]error, len(b.Events))
	var taken []advert.ConversionEvent
	seen := map[string]bool{}
	for i, e := range b.Events {
		key := string(e.Kind) + "\x00" + e.EventID
		switch {
		case !fault.does(i):
			results[i] = &ads.Rejected{Message: "The sandbox was told not to take this."}
		case d.flaw(e, c) != "":
			results[i] = &ads.Rejected{Message: d.flaw(e, c)}
		case !seen[key]:
			seen[key], taken = true, append(taken, e)
		}
	}
	if err := d.store.TellSandbox(ctx, c.Account, c.Channel, b.PixelID, taken, rules.Dedupe, core.TimeOf(c.Now())); err != nil {
		return nil, unanswered(err)
	}
	return results, fault.lost(ctx)
}

// flaw returns why the network does not take an event, or "".
func (d *Driver) flaw(e advert.ConversionEvent, c ads.Conn) string {
	user := e.User
	hasBrowser := user.ClientIP != "" && user.UserAgent != ""
	for _, hash := range []string{user.Email, user.Phone, user.FirstName, user.LastName, user.City, user.State, user.Zip, user.Country, user.ExternalID} {
		if hash != "" && !hexDigest.MatchString(hash) {
			return "What identifies a person must be a SHA-256 in lower-case hexadecimal digits."
		}
	}
	switch {
	case d.Caps().Conversions.Words[e.Kind] == "":
		return "There is no such event."
	case e.At.Time().After(c.Now()):
		return "The event lies in the future."
	case e.Value != 0 && e.Currency == "":
		return "A value needs a currency."
	case d.platform == advert.PlatformPinterest: // P14
		if user.Email == "" && !hasBrowser {
			return "An e-mail address is needed, or the address and the user agent of the browser."
		}
		return ""
	case !e.Offsite && (user.PageURL == "" || user.UserAgent == ""): // P1 of Meta; TikTok asks for as much
		return "What happened on a website needs the address of the page and the user agent of the browser."
	case user.Email == "" && user.Phone == "" && user.ExternalID == "" && user.ClickID == "" && !hasBrowser:
		return "Nothing says who it was."
	}
	return ""
}
