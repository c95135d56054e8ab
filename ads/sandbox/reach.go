package sandbox

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// How many people the sandbox has in a country, and in a place within one.
const (
	inCountry = 60_000_000
	inPlace   = 2_000_000
)

// Reach implements ads.Network. Meta's platforms and Pinterest make guesses.
func (d *Driver) Reach(ctx context.Context, c ads.Conn, q ads.ReachQuery) (ads.Reach, error) {
	if _, err := d.enter(ctx, c, false); err != nil {
		return ads.Reach{}, err
	}
	if d.platform != advert.PlatformFacebook && d.platform != advert.PlatformInstagram && d.platform != advert.PlatformPinterest {
		return ads.Reach{}, fmt.Errorf("reach on %s: %w", d.platform, ads.ErrUnsupported)
	}
	t := q.Targeting
	if err := checkPlaces(d.Caps(), &t); err != nil {
		return ads.Reach{}, err
	}
	lower := int64(inCountry*len(t.Countries) + inPlace*(len(t.Regions)+len(t.Cities)+len(t.Zips)+len(t.Metros)))
	for _, narrows := range []bool{len(t.Genders) > 0, t.AgeMin+t.AgeMax > 0, len(t.Languages) > 0, len(t.Interests)+len(t.Behaviors) > 0, t.Audiences != nil} {
		if narrows && !t.Expand {
			lower /= 2
		}
	}
	upper := lower + lower/5
	return ads.Reach{Lower: &lower, Upper: &upper, Ready: true}, nil
}
