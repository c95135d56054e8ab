package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// SocialConnection renders a channel that is being connected.
func SocialConnection(c *advert.SocialConnection, now core.Time) api.SocialConnection {
	profiles := make([]api.SocialProfile, len(c.Profiles.V))
	for i, p := range c.Profiles.V {
		profiles[i] = api.SocialProfile{PlatformAccountID: p.ID, Username: textOrNil(p.Username), Name: p.Name}
	}
	return api.SocialConnection{
		ID:         c.ID,
		Object:     "social_connection",
		Platform:   api.AdPlatform(c.Platform),
		Driver:     c.Driver,
		ThirdParty: textOrNil(ads.ThirdParty(c.Driver)),
		Status:     api.SocialConnectionStatus(c.StatusAt(now)),
		URL:        nil,
		ReturnURL:  c.ReturnURL,
		AccountID:  textOrNil(c.ChannelID),
		Profiles:   profiles,
		Error:      textOrNil(c.Error),
		ExpiresAt:  at(c.ExpiresAt),
		CreatedAt:  at(c.CreatedAt),
		UpdatedAt:  at(c.UpdatedAt),
	}
}

// BegunConnection renders a connection that was begun now, with the address that is told once.
func BegunConnection(c *ads.BegunConnection, now core.Time) api.SocialConnection {
	begun := SocialConnection(c.SocialConnection, now)
	begun.URL = &c.URL
	return begun
}

// CreateSocialConnection reads the body of a connection to begin.
func CreateSocialConnection(b *api.SocialConnectionCreate) ads.CreateSocialConnection {
	return ads.CreateSocialConnection{Platform: string(b.Platform), Driver: value(b.Driver), ReturnURL: b.ReturnURL}
}
