package pinterest

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// adNow reads an ad. One that is not there, or archived, is ads.ErrNotFound.
func (d *Driver) adNow(ctx context.Context, c ads.Conn, ref ads.Ref) (*ad, error) {
	found, err := filtered[ad](ctx, d, c, inAccount(ref.AdAccount, "ads"), "ad_ids", []string{ref.ID})
	if err != nil {
		return nil, err
	}
	if len(found) != 1 || found[0].Status == archived {
		return nil, fmt.Errorf("pinterest: ad %s: %w", ref.ID, ads.ErrNotFound)
	}
	return &found[0], nil
}

// updateAd changes an ad in one call. A name keeps the token behind it, by which the ad is known as one of this program's.
func (d *Driver) updateAd(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	if patch.Creative != nil {
		return ads.Entity{}, fmt.Errorf("pinterest: %w", ads.ErrUnsupported)
	}
	was, err := d.adNow(ctx, c, ref)
	if err != nil {
		return ads.Entity{}, err
	}
	change := changedAd{ID: ref.ID}
	if patch.Name != nil {
		change.Name = *patch.Name
		if token := tokenIn(was.Name); token != "" {
			change.Name = mark(*patch.Name, token)
		}
	}
	if patch.Configured != nil {
		change.Status = d.caps.SwitchWord(*patch.Configured)
	}
	if _, err := one[ad](ctx, d, c, http.MethodPatch, inAccount(ref.AdAccount, "ads"), change); err != nil {
		return ads.Entity{}, err
	}
	t, err := d.below(ctx, c, ref.AdAccount, []string{was.CampaignID})
	if err != nil {
		return ads.Entity{}, unread(err)
	}
	now, err := d.batch(t)
	if err != nil {
		return ads.Entity{}, unread(err)
	}
	now = ads.Ref{Level: advert.LevelAd, ID: ref.ID}.Part(now)
	if len(now.Ads) != 1 {
		return ads.Entity{}, unread(ads.ErrNotFound)
	}
	return ads.Entity{Ad: &now.Ads[0]}, nil
}

// archiveAd ends an ad for good.
func (d *Driver) archiveAd(ctx context.Context, c ads.Conn, ref ads.Ref) error {
	if _, err := d.adNow(ctx, c, ref); err != nil {
		return err
	}
	_, err := one[ad](ctx, d, c, http.MethodPatch, inAccount(ref.AdAccount, "ads"), changedAd{ID: ref.ID, Status: archived})
	return err
}
