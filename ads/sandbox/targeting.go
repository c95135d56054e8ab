package sandbox

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// Target implements ads.Network. The sandbox's own words are those of the unified targeting.
func (d *Driver) Target(t ads.Targeting, own advert.Object) (advert.Object, error) {
	return ads.Overlay(t, own, nil)
}

// Beneficiaries implements ads.Network: whoever made an ad here before.
func (d *Driver) Beneficiaries(context.Context, ads.Conn, string) ([]string, error) {
	if !d.Caps().Targeting.DSA {
		return nil, fmt.Errorf("sandbox: %w", ads.ErrUnsupported)
	}
	return []string{sandboxPublisher}, nil
}
