// Package zernio is the driver that reaches all networks through Zernio, a company that speaks to them with accounts of its own making.
// What is sent to it, a third party reads: ads, creatives, figures, names of profiles. People's addresses are never sent, see audience.go
// and conversion.go. What it sends and reads is in the table that its tests hold it against, tests/harness/zerniofake/facts.txt.
//
// # Whose is what
//
// An installation has one key at Zernio for all of its accounts, and with that key everything of everybody can be read and changed. That an
// account of ours reaches nothing of another one is therefore kept here:
//
//   - Each account of ours has one Zernio profile, whose name is the account's id (acct_). Names are unique at Zernio and nobody else can
//     choose this one, so that nothing has to be stored. The networks that a consent of the account connects are connected in that profile.
//   - A channel is of one Zernio account. Which one comes from outside: the browser that comes back brings it, or somebody sends it to
//     POST /socials. Profiles takes it only if it is in the profile of the account that asks. It answers for all others as for one that does
//     not exist. It looks at the names and the profiles that come back itself, and does not trust that Zernio has filtered. Every way to
//     a channel goes through Profiles, and only what it returned becomes Conn.PlatformID, under which everything else is asked.
//   - Lists are asked for by that Zernio account. Some requests take nothing but the id of a campaign, an ad group, an ad or an audience. The thing
//     is first looked up in the lists of the Zernio account then, and is ErrNotFound if it is not there.
package zernio

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// BaseURL is the address of Zernio's API.
const BaseURL = "https://zernio.com/api"

// Config is what a driver needs. Client and Key have no default.
type Config struct {
	Client  *http.Client  // it does the requests; redirects are not followed
	Key     ads.Secret    // of the installation
	BaseURL string        // BaseURL
	Request time.Duration // how long one request may take; 22 s, because Zernio waits for the network while it makes an ad
	Total   time.Duration // how long one call of the driver may take; 60 s
	Tries   int           // how often a read is sent in all; 3
	Pause   time.Duration // before a read is sent again, doubled each time; 250 ms
}

// Driver speaks to one network through Zernio.
type Driver struct {
	platform advert.Platform
	caps     ads.Caps
	config   Config
	client   http.Client
}

var (
	_ ads.Network   = (*Driver)(nil)
	_ ads.Connector = (*Driver)(nil)
	_ ads.Checker   = (*Driver)(nil)
)

// New returns a driver for a platform with the defaults filled in.
func New(p advert.Platform, c Config) *Driver {
	c.BaseURL = strings.TrimSuffix(orDefault(c.BaseURL, BaseURL), "/")
	c.Request = orDefault(c.Request, 22*time.Second)
	c.Total = orDefault(c.Total, time.Minute)
	c.Tries = orDefault(c.Tries, 3)
	c.Pause = orDefault(c.Pause, 250*time.Millisecond)
	client := *c.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Driver{platform: p, caps: capsOf(p), config: c, client: client}
}

// All returns a driver for each platform.
func All(c Config) map[advert.Platform]ads.Network {
	all := map[advert.Platform]ads.Network{}
	for _, p := range advert.Platforms {
		all[p] = New(p, c)
	}
	return all
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

// isMeta reports whether the network is one of Meta's, of which Zernio passes on the most.
func (d *Driver) isMeta() bool {
	return d.platform == advert.PlatformFacebook || d.platform == advert.PlatformInstagram
}
