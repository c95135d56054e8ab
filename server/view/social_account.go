package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
)

// SocialAccount renders a channel, without its token.
func SocialAccount(a *advert.SocialAccount) api.SocialAccount {
	return api.SocialAccount{
		ID:                 a.ID,
		Object:             "social_account",
		Platform:           api.AdPlatform(a.Platform),
		PlatformAccountID:  textOrNil(a.PlatformID),
		Username:           a.Username,
		DisplayName:        a.DisplayName,
		Driver:             a.Driver,
		ThirdParty:         textOrNil(ads.ThirdParty(a.Driver)),
		AdsStatus:          api.SocialAdsStatus(a.AdsStatus),
		AdsActivatedAt:     atOrNull(a.AdsActivatedAt),
		ScopedAdAccountIDs: list(a.AdAccountIDs.V),
		TokenExpiresAt:     atOrNull(a.TokenExpiresAt),
		Scopes:             list(a.Scopes.V),
		LastError:          textOrNil(a.LastError),
		CreatedAt:          at(a.CreatedAt),
		UpdatedAt:          at(a.UpdatedAt),
	}
}

// ListSocialAccounts reads the query of a list.
func ListSocialAccounts(q api.ListSocialAccountsParams) advert.ListSocialAccounts {
	return advert.ListSocialAccounts{
		Page:      Page(q.Limit, q.StartingAfter, q.EndingBefore),
		Platform:  advert.Platform(value(q.Platform)),
		AdsStatus: advert.AdsStatus(value(q.AdsStatus)),
	}
}

// ConnectSocialAccount reads the body of a connection.
func ConnectSocialAccount(b *api.SocialAccountConnect) ads.ConnectSocialAccount {
	return ads.ConnectSocialAccount{
		Platform: string(b.Platform), Driver: value(b.Driver), PlatformID: value(b.PlatformAccountID), Username: value(b.Username), DisplayName: value(b.DisplayName), Token: value(b.Token), AdAccountIDs: b.ScopedAdAccountIDs,
	}
}

// DeletedSocialAccount renders the confirmation of a channel's delete.
func DeletedSocialAccount(d *advert.DeletedSocialAccount) api.DeletedSocialAccount {
	return api.DeletedSocialAccount{
		ID: d.ID, Object: "social_account", Deleted: true, RunningCampaignCount: int64(d.RunningCampaigns), RunningAdCount: int64(d.RunningAds),
	}
}

// SocialPost renders a post of a channel.
func SocialPost(p *advert.SocialPost) api.SocialPost {
	return api.SocialPost{
		ID:             p.ID,
		Object:         "social_post",
		Platform:       api.AdPlatform(p.Platform),
		PlatformPostID: p.PlatformID,
		AccountID:      p.ChannelID,
		Status:         api.SocialPostStatus(p.Status),
		Text:           textOrNil(p.Text),
		LinkURL:        textOrNil(p.LinkURL),
		MediaURL:       textOrNil(p.MediaURL),
		PublishedAt:    atOrNull(p.PublishedAt),
		CreatedAt:      at(p.CreatedAt),
		UpdatedAt:      at(p.UpdatedAt),
	}
}
