// Package pinterest is the driver for Pinterest's ads API, version 5. What it sends and reads is in the description
// that its tests hold it against, tests/harness/pinterestfake/pinterest.yaml.
package pinterest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
)

// BaseURL is where Pinterest serves its API.
const BaseURL = "https://api.pinterest.com/v5"

// Config is what a driver needs. Only Client has no default.
type Config struct {
	Client  *http.Client  // it does the requests; redirects are not followed
	BaseURL string        // BaseURL
	Request time.Duration // how long one request may take; 8 s
	Total   time.Duration // how long one call of the driver may take; 60 s
	Tries   int           // how often a read is sent in all; 3
	Pause   time.Duration // before a read is sent again, doubled each time; 250 ms
}

// Driver is Pinterest. Bids and reviews differ from other networks: a campaign has no bid strategy, its ad groups have,
// and only ads are reviewed.
type Driver struct {
	caps   ads.Caps
	config Config
	client http.Client
}

var _ ads.Network = (*Driver)(nil)

// New returns a driver.
func New(c Config) *Driver {
	c.BaseURL = strings.TrimSuffix(orDefault(c.BaseURL, BaseURL), "/")
	c.Request = orDefault(c.Request, 8*time.Second)
	c.Total = orDefault(c.Total, time.Minute)
	c.Tries = orDefault(c.Tries, 3)
	c.Pause = orDefault(c.Pause, 250*time.Millisecond)
	client := *c.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Driver{caps: ads.CapsOf(store.PlatformPinterest), config: c, client: client}
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// Caps returns what Pinterest can do.
func (d *Driver) Caps() ads.Caps { return d.caps }

// BusinessCenters is not supported.
func (d *Driver) BusinessCenters(context.Context, ads.Conn) ([]store.AdBusinessCenter, error) {
	return nil, ads.ErrUnsupported
}

// bound gives a call of the driver its end.
func (d *Driver) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.config.Total)
}

// inAccount returns a path within an ad account.
func inAccount(adAccount string, segments ...string) string {
	return path(append([]string{"ad_accounts", adAccount}, segments...)...)
}
