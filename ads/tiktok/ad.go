package tiktok

import (
	"context"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// adNow reads an ad. One that is not there, or deleted, is ads.ErrNotFound.
func (d *Driver) adNow(ctx context.Context, c ads.Conn, ref ads.Ref) (ad, error) {
	found, err := filtered[ad](ctx, d, c, ref.AdAccount, "ad/get", "ad_ids", []string{ref.ID})
	if err != nil {
		return ad{}, err
	}
	if len(found) != 1 || found[0].isDeleted() {
		return ad{}, notFound("ad", ref.ID)
	}
	return found[0], nil
}

// updateAd changes an ad. A name keeps the token behind it, until TidyNames takes it off.
func (d *Driver) updateAd(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	was, err := d.adNow(ctx, c, ref)
	if err != nil {
		return ads.Entity{}, err
	}
	name := was.Name
	if patch.Name != nil {
		name = *patch.Name
		if token := tokenIn(was.Name); token != "" {
			name = mark(*patch.Name, token, widestName)
		}
	}
	if err := d.rewrite(ctx, c, ref, was, name, patch); err != nil {
		return ads.Entity{}, err
	}
	if patch.Configured != nil {
		if err := d.turn(ctx, c, ref.AdAccount, advert.LevelAd, d.caps.SwitchWord(*patch.Configured), ref.ID); err != nil {
			return ads.Entity{}, partly(err, patch.Name != nil || patch.Creative != nil)
		}
	}
	t, err := d.above(ctx, c, ref.AdAccount, advert.LevelAd, []string{ref.ID})
	if err != nil {
		return ads.Entity{}, unread(err)
	}
	b, err := d.batch(t)
	if err == nil && len(b.Ads) != 1 {
		err = ads.ErrNotFound
	}
	if err != nil {
		return ads.Entity{}, unread(err)
	}
	return ads.Entity{Ad: &b.Ads[0]}, nil
}

// partly returns the error of a step as one after which something may be changed, if a step before it changed something.
func partly(err error, before bool) error {
	if before {
		return unread(err)
	}
	return err
}

// rewrite changes the name and the creative of an ad in one request. A creative replaces all of the ad's words, so that all of them are
// sent; a name alone is patched (T11).
func (d *Driver) rewrite(ctx context.Context, c ads.Conn, ref ads.Ref, was ad, name string, patch ads.Patch) error {
	body := fields{"ad_id": ref.ID, "ad_name": name}
	change := fields{"advertiser_id": ref.AdAccount, "adgroup_id": was.AdGroupID, "creatives": []fields{body}}
	switch {
	case patch.Creative != nil && was.ItemID != "":
		return rejected("creative", "A post that is boosted shows itself. Boost another one instead.")
	case patch.Creative != nil:
		who, err := d.identity(ctx, c, ref.AdAccount)
		if err != nil {
			return err
		}
		for word, value := range who.fields() {
			body[word] = value
		}
		body["ad_format"] = singleVideo
		pageID := was.PageID.String()
		if pageID == "0" {
			pageID = ""
		}
		if err := d.show(ctx, c, ref.AdAccount, body, *patch.Creative, patch.Media, pageID); err != nil {
			return err
		}
	case patch.Name != nil:
		change["patch_update"] = true
	default:
		return nil
	}
	return d.write(ctx, c, "ad/update", change, nil)
}
