package ads

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Drift is a change that somebody makes to a campaign in the network's own ad manager, without this program. The mirror
// does not know of it until it is synchronised.
type Drift string

// The kinds of drift.
const (
	DriftRename Drift = "rename"
	DriftPause  Drift = "pause"
	DriftResume Drift = "resume"
	DriftBudget Drift = "budget" // doubled: the campaign's own, or those of its ad groups
	DriftDelete Drift = "delete"
)

// Drifting is implemented by a network that is only simulated. Drift changes a campaign there, as people do in the ad
// manager of a real network.
type Drifting interface {
	Drift(ctx context.Context, c Conn, campaign Ref, kind Drift) error
}

// DriftAds says which campaign is to be changed in the ad manager, and how.
type DriftAds struct {
	Channel    string // sacct_
	CampaignID string // "" = the newest of the channel that there still is
	Kind       Drift
}

// DriftAds changes a campaign at a simulated network, and returns it as the mirror still has it. A channel of a real
// network is CodeInvalid on account_id; a campaign that the channel does not have is CodeMissing on campaign_id.
func (s *Service) DriftAds(ctx context.Context, account string, in DriftAds) (*advert.Campaign, error) {
	line, err := s.activated(ctx, account, in.Channel)
	if err != nil {
		return nil, err
	}
	network, ok := line.Network.(outside).network.(Drifting)
	if !ok {
		return nil, core.Invalid("account_id", fmt.Sprintf("%s is a channel of %s itself. Only what the sandbox plays can be made to drift.", line.channel.ID, line.channel.Platform))
	}
	campaign, err := s.drifting(ctx, line.channel, in.CampaignID)
	if err != nil {
		return nil, err
	}
	if err := s.store.Leave(ctx); err != nil {
		return nil, err
	}
	outer, cancel := leave(ctx, writeTimeout)
	defer cancel()
	ref := Ref{AdAccount: campaign.AdAccountID, Level: advert.LevelCampaign, ID: campaign.PlatformID}
	if err := network.Drift(outer, line.conn, ref, in.Kind); err != nil {
		return nil, at("campaign_id", unanswered(line.channel.Platform, "campaign", err))
	}
	return campaign, nil
}

// drifting returns the campaign with an id, or without one the channel's newest campaign that is active, paused or in
// review.
func (s *Service) drifting(ctx context.Context, channel *advert.SocialAccount, id string) (*advert.Campaign, error) {
	missing := &core.Error{Code: core.CodeMissing, Param: "campaign_id", Message: "The channel has no such campaign."}
	if id == "" {
		list, err := s.store.ListCampaigns(ctx, channel.AccountID, advert.ListCampaigns{
			Channel: channel.ID, Page: advert.Page{Limit: 1}, Statuses: []advert.Status{advert.StatusActive, advert.StatusPaused, advert.StatusPendingReview},
		})
		if err != nil {
			return nil, err
		}
		if len(list.Items) == 0 {
			return nil, missing
		}
		return &list.Items[0], nil
	}
	campaign, err := s.store.GetCampaign(ctx, channel.AccountID, channel.Platform, id)
	if err == nil && campaign.ChannelID != channel.ID {
		err = missing
	}
	return campaign, at("campaign_id", err)
}
