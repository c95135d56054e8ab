package zernio

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// change is a change of a campaign, an ad group or an ad as Zernio takes it. What is absent stays as it is.
type change struct {
	Platform string    `json:"platform,omitempty"` // not of an ad
	Budget   *budget   `json:"budget,omitempty"`
	Name     string    `json:"name,omitempty"`
	Status   string    `json:"status,omitempty"`
	Creative *creative `json:"creative,omitempty"`
	flatBid
	Settings *settings `json:"platformSpecificData,omitempty"`
}

// settings are what an ad group of Meta's has besides.
type settings struct {
	End string `json:"endDate,omitempty"`
}

// creative is another creative of an ad.
type creative struct {
	Headline     string `json:"headline,omitempty"`
	Body         string `json:"body,omitempty"`
	CallToAction string `json:"callToAction,omitempty"`
	LinkURL      string `json:"linkUrl,omitempty"`
	ImageURL     string `json:"imageUrl,omitempty"`
	VideoURL     string `json:"videoUrl,omitempty"`
}

// Update implements ads.Network. What Zernio cannot change of a thing is *ads.Rejected by its field before anything is asked for.
func (d *Driver) Update(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	w, err := d.change(ref, patch)
	if err != nil {
		return ads.Entity{}, err
	}
	at, err := d.find(ctx, c, ref)
	if err != nil {
		return ads.Entity{}, err
	}
	target, err := d.target(at, ref, &w)
	if err != nil {
		return ads.Entity{}, err
	}
	if err := d.write(ctx, request{method: http.MethodPut, path: target, body: w}, nil); err != nil {
		return ads.Entity{}, err
	}
	if at, err = d.find(ctx, c, ref); err != nil {
		return ads.Entity{}, fmt.Errorf("zernio: read after the change: %w: %w", ads.ErrIndeterminate, err)
	}
	return d.entity(at, ref, patch), nil
}

// change returns what a patch asks for.
func (d *Driver) change(ref ads.Ref, patch ads.Patch) (w change, err error) {
	onTikTok := d.platform == advert.PlatformTikTok
	switch {
	case patch.Targeting != nil:
		return w, refused("targeting", "Through Zernio the targeting of an ad group stays as it is. Make another ad with POST /ads.")
	case patch.EndsAt != nil && (ref.Level != advert.LevelGroup || !d.isMeta()):
		return w, refused("end_date", "Through Zernio that end stays as it is on %s. Leave end_date out.", d.platform)
	case patch.Name != nil && !d.isMeta():
		return w, refused("name", "Through Zernio an ad on %s keeps its name. Leave name out.", d.platform)
	case patch.BidStrategy == nil && (patch.BidAmount != nil || patch.RoasFloor != nil):
		return w, refused("bid_strategy", "Send the bid_strategy that the amount goes with.")
	case patch.BidStrategy != nil && ref.Level == advert.LevelCampaign && onTikTok:
		return w, refused("bid_strategy", "On TikTok each ad group has its own bid strategy.")
	case ref.Level == advert.LevelCampaign && d.isMeta() && (some(patch.BidAmount) || some(patch.RoasFloor)):
		return w, refused("bid_amount", "Through Zernio the ad groups of Meta have the amounts of a bid. Change them there.")
	}
	if patch.Budget != nil {
		amount, err := d.wire("budget.amount", patch.Budget.Amount, patch.Currency)
		if err != nil {
			return w, err
		}
		w.Budget = &budget{amount, string(patch.Budget.Type)}
	}
	if patch.BidStrategy != nil {
		bid := ads.Bid{Strategy: *patch.BidStrategy}
		if patch.BidAmount != nil {
			bid.Amount = *patch.BidAmount
		}
		if patch.RoasFloor != nil {
			bid.RoasFloor = *patch.RoasFloor
		}
		if w.flatBid, err = d.bid(bid, patch.Currency); err != nil {
			return w, err
		}
	}
	if patch.EndsAt != nil {
		w.Settings = &settings{moment(patch.EndsAt)}
	}
	if patch.Name != nil {
		w.Name = *patch.Name
	}
	if patch.Configured != nil {
		w.Status = string(*patch.Configured)
	}
	if patch.Creative != nil {
		w.Creative, err = d.replaced(*patch.Creative)
	}
	return w, err
}

func some[T ~int64](n *T) bool { return n != nil && *n != 0 }

// replaced returns another creative. Zernio replaces an image on Meta, and a video on TikTok.
func (d *Driver) replaced(c advert.Creative) (*creative, error) {
	w := &creative{Headline: c.Headline, Body: c.Body, CallToAction: c.CallToAction, LinkURL: c.LinkURL, ImageURL: c.ImageURL, VideoURL: c.VideoURL}
	switch {
	case d.platform == advert.PlatformTikTok && c.ThumbnailURL != "":
		return nil, refused("creative.thumbnail_url", "On %s the network takes a frame of the video. Leave thumbnail_url out.", d.platform)
	case d.platform == advert.PlatformTikTok:
		w.Headline = ""
		return w, nil
	case !d.isMeta():
		return nil, refused("creative", "Through Zernio an ad on %s keeps its creative. Make another ad with POST /ads.", d.platform)
	case c.ImageURL == "":
		return nil, refused("creative.image_url", "Through Zernio an ad is given another image, nothing else: send image_url, or make another ad with POST /ads.")
	case c.Description != "":
		return nil, refused("creative.description", "Through Zernio a new creative has no description. Leave it out.")
	}
	return w, nil
}

// target returns where a change is sent to. A network whose campaigns and ad groups Zernio cannot change takes a budget by way of an ad in them. It
// is the budget of that ad too.
func (d *Driver) target(at place, ref ads.Ref, w *change) (string, error) {
	if ref.Level == advert.LevelAd {
		return path("ads", at.ad.Own), nil
	}
	w.Platform = at.campaign.Platform
	switch {
	case ref.Level == advert.LevelCampaign && d.isMeta():
		return path("ads", "campaigns", ref.ID), nil
	case ref.Level == advert.LevelGroup && (d.isMeta() || d.platform == advert.PlatformTikTok):
		return path("ads", "ad-sets", ref.ID), nil
	}
	first := at.campaign.first()
	if at.set != nil && len(at.set.Ads) > 0 {
		first = &at.set.Ads[0]
	}
	if first == nil || w.Budget == nil {
		return "", fmt.Errorf("zernio: %w", ads.ErrUnsupported)
	}
	w.Platform = ""
	return path("ads", first.Own), nil
}

// entity returns the thing that a reference names as it is after a change, of which Zernio may not tell everything at once.
func (d *Driver) entity(at place, ref ads.Ref, patch ads.Patch) ads.Entity {
	above := d.campaignRow(*at.campaign)
	switch ref.Level {
	case advert.LevelCampaign:
		return ads.Entity{Campaign: &above}
	case advert.LevelGroup:
		row := d.groupRow(*at.set, above)
		if patch.EndsAt != nil {
			row.EndsAt = patch.EndsAt
		}
		return ads.Entity{Group: &row}
	}
	one := *at.ad
	one.CampaignID, one.AdSetID = at.campaign.ID, at.set.ID
	row := d.adRow(one)
	return ads.Entity{Ad: &row}
}

// Shows implements ads.Network. Zernio tells of a creative neither all nor who made it.
func (d *Driver) Shows(context.Context, ads.Conn, ads.Ref, string) (bool, error) {
	return false, fmt.Errorf("zernio: %w: it does not tell which creative an ad shows", ads.ErrIndeterminate)
}
