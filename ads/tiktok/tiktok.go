// Package tiktok is the driver for TikTok's Business API, version 1.3. What it sends is in the tables that its tests hold it against,
// tests/harness/tiktokfake/facts.txt and documented.txt. The rules that it keeps are in that folder, under their numbers.
package tiktok

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// BaseURL is the address of TikTok's API.
const BaseURL = "https://business-api.tiktok.com/open_api/v1.3"

// Config is what a driver needs. Only Client has no default.
type Config struct {
	Client     *http.Client  // it does the requests; redirects are not followed
	BaseURL    string        // BaseURL
	App        string        // id of the app by which people can be asked for their consent; none
	Secret     ads.Secret    // of the app; none
	ConsentURL string        // ConsentURL
	Request    time.Duration // how long one request may take; 8 s
	Total      time.Duration // how long one call of the driver may take; 60 s
	Tries      int           // how often a read is sent in all; 3
	Pause      time.Duration // before a read is sent again, doubled each time; 250 ms
}

// Driver speaks to TikTok. Three things differ from other networks. An answer is always 200, and its code says how it went. An ad speaks in the name
// of an identity, which is the channel's profile. A campaign has no schedule, only its ad groups have one.
type Driver struct {
	caps   ads.Caps
	config Config
	client http.Client
}

var _ ads.Network = (*Driver)(nil)

// New returns a driver with the defaults filled in.
func New(c Config) *Driver {
	c.BaseURL = strings.TrimSuffix(orDefault(c.BaseURL, BaseURL), "/")
	c.ConsentURL = strings.TrimSuffix(orDefault(c.ConsentURL, ConsentURL), "/")
	c.Request = orDefault(c.Request, 8*time.Second)
	c.Total = orDefault(c.Total, time.Minute)
	c.Tries = orDefault(c.Tries, 3)
	c.Pause = orDefault(c.Pause, 250*time.Millisecond)
	client := *c.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	caps := ads.CapsOf(advert.PlatformTikTok)
	caps.Verified, caps.CallsToAction = ads.VerifiedSpec, callsToAction
	return &Driver{caps: caps, config: c, client: client}
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// Caps implements ads.Network.
func (d *Driver) Caps() ads.Caps { return d.caps }

// bound returns a context that ends when the time for one call of the driver is up.
func (d *Driver) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.config.Total)
}

// callsToAction are TikTok's own.
var callsToAction = []string{
	"APPLY_NOW", "BOOK_NOW", "CALL_NOW", "CHECK_AVAILABILITY", "CONTACT_US", "DOWNLOAD_NOW", "EXPERIENCE_NOW", "GET_QUOTE", "GET_SHOWTIMES",
	"GET_TICKETS_NOW", "INSTALL_NOW", "INTERESTED", "LEARN_MORE", "LISTEN_NOW", "ORDER_NOW", "PLAY_GAME", "PREORDER_NOW", "READ_MORE",
	"SEND_MESSAGE", "SHOP_NOW", "SIGN_UP", "SUBSCRIBE", "VIEW_NOW", "VIEW_PROFILE", "VISIT_STORE", "WATCH_NOW",
}
