package pinterest

import (
	"context"
	"net/http"

	"github.com/tillwright/tillwright/ads"
)

// sizing is how many people a targeting reaches in a month, as the network guesses it.
type sizing struct {
	Lower *float64 `json:"audience_size_lower_bound"`
	Upper *float64 `json:"audience_size_upper_bound"`
}

// Reach implements ads.Network. As in an ad group, the network may show ads to more people unless it is told not to.
func (d *Driver) Reach(ctx context.Context, c ads.Conn, q ads.ReachQuery) (ads.Reach, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	body := map[string]any{"targeting_spec": q.Words, "auto_targeting_enabled": q.Targeting.Expand}
	if group := placementGroup(q.Targeting.Placements); group != "" {
		body["placement_group"] = group
	}
	var found sizing
	err := d.write(ctx, c, request{method: http.MethodPost, path: inAccount(q.AdAccount.PlatformID, "ad_groups", "audience_sizing"), body: body}, &found)
	return ads.Reach{Lower: people(found.Lower), Upper: people(found.Upper), Ready: err == nil}, err
}

// people returns a number of people, which the network does not write as an integer.
func people(number *float64) *int64 {
	if number == nil {
		return nil
	}
	return new(int64(*number))
}
