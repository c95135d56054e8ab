package zernio

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/ads"
)

// Pixels implements ads.Network. Zernio lists those of Meta; at other networks it lists conversions, which are something else.
func (d *Driver) Pixels(ctx context.Context, c ads.Conn, _ string) ([]ads.Pixel, error) {
	if !d.isMeta() {
		return nil, fmt.Errorf("zernio: %w", ads.ErrUnsupported)
	}
	ctx, cancel := d.bound(ctx)
	defer cancel()
	if _, err := of(c); err != nil {
		return nil, err
	}
	var answer struct {
		Destinations []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"destinations"`
	}
	if _, err := d.read(ctx, path("accounts", c.PlatformID, "conversion-destinations"), nil, &answer); err != nil {
		return nil, err
	}
	pixels := []ads.Pixel{}
	for _, p := range answer.Destinations {
		pixels = append(pixels, ads.Pixel{ID: p.ID, Name: p.Name})
	}
	return pixels, nil
}

// SendConversions implements ads.Network. Zernio takes buyers as they are and hashes them itself. We keep hashes only, and tell a third party
// nothing of buyers.
func (d *Driver) SendConversions(context.Context, ads.Conn, ads.ConversionBatch) ([]error, error) {
	return nil, fmt.Errorf("zernio: %w", ads.ErrUnsupported)
}
