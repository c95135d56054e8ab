package zernio

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// Sync implements ads.Network. The cursor is the number of a page.
func (d *Driver) Sync(ctx context.Context, c ads.Conn, adAccount, cursor string) (advert.Batch, string, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	number := 1
	if cursor != "" {
		var err error
		if number, err = strconv.Atoi(cursor); err != nil {
			return advert.Batch{}, "", fmt.Errorf("zernio: read the cursor: %w", err)
		}
	}
	query, err := within(c, adAccount)
	if err != nil {
		return advert.Batch{}, "", err
	}
	query.Set("sort", "oldest")
	t, last, _, err := d.page(ctx, c, adAccount, query, number)
	if err != nil {
		return advert.Batch{}, "", err
	}
	next := ""
	if !last {
		next = strconv.Itoa(number + 1)
	}
	return d.batch(t), next, nil
}

// page returns a page of campaigns with everything in them, whether it is the last one, and the status of the answer.
func (d *Driver) page(ctx context.Context, c ads.Conn, adAccount string, query url.Values, number int) (all []campaign, last bool, status int, err error) {
	var answer struct {
		Campaigns []campaign `json:"campaigns"`
		Paging    pages      `json:"pagination"`
	}
	if status, err = d.read(ctx, path("ads", "tree"), pageOf(query, number), &answer); err != nil {
		return nil, false, 0, err
	}
	answer.Campaigns = slices.DeleteFunc(answer.Campaigns, func(w campaign) bool { return w.AdAccount != "" && w.AdAccount != adAccount })
	for i := range answer.Campaigns {
		if err := d.fill(ctx, c, adAccount, &answer.Campaigns[i]); err != nil {
			return nil, false, 0, err
		}
	}
	return answer.Campaigns, number >= answer.Paging.Pages, status, nil
}

// fill reads the ads of ad groups that have more than are shown with them.
func (d *Driver) fill(ctx context.Context, c ads.Conn, adAccount string, w *campaign) error {
	if !slices.ContainsFunc(w.AdSets, func(s adSet) bool { return s.AdCount > len(s.Ads) }) {
		return nil
	}
	all, err := d.adsIn(ctx, c, adAccount, w.ID)
	if err != nil {
		return err
	}
	for i := range w.AdSets {
		set := &w.AdSets[i]
		set.Ads = nil
		for _, one := range all {
			if one.AdSetID == set.ID {
				set.Ads = append(set.Ads, one)
			}
		}
	}
	return nil
}

// adsIn returns all ads of a campaign.
func (d *Driver) adsIn(ctx context.Context, c ads.Conn, adAccount, campaign string) ([]ad, error) {
	query, err := within(c, adAccount)
	if err != nil {
		return nil, err
	}
	query.Set("campaignId", campaign)
	var all []ad
	for number := 1; ; number++ {
		var answer struct {
			Ads    []ad  `json:"ads"`
			Paging pages `json:"pagination"`
		}
		if _, err := d.read(ctx, path("ads"), pageOf(query, number), &answer); err != nil {
			return nil, err
		}
		all = append(all, answer.Ads...)
		if number >= answer.Paging.Pages {
			return all, nil
		}
	}
}

// campaignNamed returns a campaign of the channel's Zernio account, with everything in it. One that is not there, or is somebody else's, is
// ads.ErrNotFound.
func (d *Driver) campaignNamed(ctx context.Context, c ads.Conn, adAccount, id string) (*campaign, error) {
	query, err := within(c, adAccount)
	if err != nil {
		return nil, err
	}
	query.Set("campaignId", id)
	all, _, _, err := d.page(ctx, c, adAccount, query, 1)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(w campaign) bool { return w.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("zernio: campaign %s: %w", id, ads.ErrNotFound)
	}
	return &all[i], nil
}

// place is where something is in a campaign. What a reference does not name is nil.
type place struct {
	campaign *campaign
	set      *adSet
	ad       *ad
}

// find returns where what a reference names is. Nothing is changed that was not found so.
func (d *Driver) find(ctx context.Context, c ads.Conn, ref ads.Ref) (place, error) {
	id := ref.CampaignID
	if ref.Level == advert.LevelCampaign {
		id = ref.ID
	}
	w, err := d.campaignNamed(ctx, c, ref.AdAccount, id)
	if err != nil || ref.Level == advert.LevelCampaign {
		return place{campaign: w}, err
	}
	for i := range w.AdSets {
		set := &w.AdSets[i]
		if ref.Level == advert.LevelGroup && set.ID == ref.ID {
			return place{w, set, nil}, nil
		}
		for j := range set.Ads {
			if ref.Level == advert.LevelAd && set.Ads[j].ID == ref.ID {
				return place{w, set, &set.Ads[j]}, nil
			}
		}
	}
	return place{}, fmt.Errorf("zernio: %s %s: %w", ref.Level, ref.ID, ads.ErrNotFound)
}
