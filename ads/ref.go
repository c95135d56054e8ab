package ads

import "github.com/tillwright/tillwright/store/advert"

// Campaign returns the id of the campaign that a reference is in, or that it names.
func (r Ref) Campaign() string {
	if r.Level == advert.LevelCampaign {
		return r.ID
	}
	return r.CampaignID
}

// Part returns what a batch has of the thing that a reference names, and of everything below that.
func (r Ref) Part(b advert.Batch) advert.Batch {
	var p advert.Batch
	for _, row := range b.Campaigns {
		if r.Holds(row.PlatformID, "", "") {
			p.Campaigns = append(p.Campaigns, row)
		}
	}
	for _, row := range b.Groups {
		if r.Holds(row.CampaignID, row.PlatformID, "") {
			p.Groups = append(p.Groups, row)
		}
	}
	for _, row := range b.Ads {
		if r.Holds(row.CampaignID, row.AdGroupID, row.PlatformID) {
			p.Ads = append(p.Ads, row)
		}
	}
	return p
}

// Holds reports whether something is what a reference names, or below it. The ids are the thing's own and those of what it is in.
func (r Ref) Holds(campaign, group, ad string) bool {
	switch r.Level {
	case advert.LevelCampaign:
		return campaign == r.ID
	case advert.LevelGroup:
		return group == r.ID
	}
	return ad == r.ID
}
