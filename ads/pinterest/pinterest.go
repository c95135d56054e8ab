// Package pinterest is the driver for Pinterest's ads API, version 5. What it sends and reads is in the description
// that its tests hold it against, tests/harness/pinterestfake/pinterest.yaml.
package pinterest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// BaseURL is the address of Pinterest's API.
const BaseURL = "https://api.pinterest.com/v5"

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

// Driver speaks to Pinterest. Two things differ from other networks: only ad groups have a bid strategy, campaigns do
// not; and only ads are reviewed.
type Driver struct {
	caps   ads.Caps
	config Config
	client http.Client
	shelf  shelf
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
	return &Driver{caps: ads.CapsOf(advert.PlatformPinterest), config: c, client: client}
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

// BusinessCenters implements ads.Network. Pinterest has none.
func (d *Driver) BusinessCenters(context.Context, ads.Conn) ([]advert.BusinessCenter, error) {
	return nil, ads.ErrUnsupported
}

// bound returns a context that ends when the time for one call of the driver is up.
func (d *Driver) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.config.Total)
}

// inAccount returns the path of something in an ad account.
func inAccount(adAccount string, segments ...string) string {
	return path(append([]string{"ad_accounts", adAccount}, segments...)...)
}
