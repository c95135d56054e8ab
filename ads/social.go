package ads

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// chooseDriver returns the name of the driver for a channel. It is the one that was asked for, else a real one if a token
// was sent, else the sandbox. If this service does not have that driver, or the token that it needs is missing, the error
// is CodeInvalid.
func (s *Service) chooseDriver(platform advert.Platform, asked, token string) (string, error) {
	name := asked
	switch {
	case asked == "" && token == "":
		name = DriverSandbox
	case asked == "":
		if name = s.driverOf(platform); name == DriverSandbox {
			return "", core.Invalid("token", noUse(platform))
		}
	}
	if s.drivers[name][platform] == nil {
		return "", core.Invalid("driver", fmt.Sprintf("This service does not speak to %s through %q. It has: %s.", platform, name, list(s.driversOf(platform))))
	}
	if name != DriverSandbox && name != DriverZernio && token == "" { // what a consent gives, Zernio keeps itself
		return "", core.Invalid("token", fmt.Sprintf("A channel of %s needs a token of the network.", name))
	}
	return name, nil
}

// LiveNetworks are the platforms for which there are real drivers. Whoever runs the service turns them on. It is never
// changed.
var LiveNetworks = []advert.Platform{advert.PlatformFacebook, advert.PlatformInstagram, advert.PlatformPinterest, advert.PlatformTikTok}

// noUse returns the message that says why a token cannot connect a channel of a platform.
func noUse(platform advert.Platform) string {
	why := fmt.Sprintf("There is no driver for %s, only a sandbox, so the token would be of no use. Tokens can connect %s.", platform, list(LiveNetworks))
	if slices.Contains(LiveNetworks, platform) {
		why = fmt.Sprintf("This service does not speak to %s itself, so the token would be of no use. Whoever runs it turns %s on with TILLWRIGHT_ADS_NETWORKS.",
			platform, platform)
	}
	return why + " For a channel of the sandbox send the driver " + DriverSandbox + "."
}

// driversOf returns the names of the drivers for a platform, real ones first.
func (s *Service) driversOf(platform advert.Platform) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.drivers)) {
		if name != DriverSandbox && s.drivers[name][platform] != nil {
			names = append(names, name)
		}
	}
	if s.drivers[DriverSandbox][platform] != nil {
		names = append(names, DriverSandbox)
	}
	return names
}

// driverOf returns the driver that is used for a platform if no other one is asked for, or "" if there is none.
func (s *Service) driverOf(platform advert.Platform) string {
	for _, name := range s.driversOf(platform) {
		if name != DriverZernio {
			return name
		}
	}
	return ""
}

// ActivateSocialAccount makes a channel ready for ads and mirrors what its network has. If it is active already, nothing
// changes. If it does not exist, the error is CodeMissing on account_id.
func (s *Service) ActivateSocialAccount(ctx context.Context, account, id string) (*advert.SocialAccount, error) {
	if err := (required{{"account_id", id}}).err(); err != nil {
		return nil, err
	}
	channel, err := s.store.GetSocialAccount(ctx, account, id)
	if err != nil {
		return nil, at("account_id", err)
	}
	if channel.IsActivated() {
		return channel, nil
	}
	line, err := s.line(channel)
	if err != nil {
		return nil, err
	}
	if err := s.mirror(ctx, line); err != nil {
		return nil, err
	}
	return s.store.ActivateSocialAccount(ctx, account, channel.ID)
}

// DeactivateSocialAccount ends the use of a channel for ads. What runs at the network goes on.
func (s *Service) DeactivateSocialAccount(ctx context.Context, account, id string) (*advert.SocialAccount, error) {
	return s.store.DeactivateSocialAccount(ctx, account, id)
}

// SyncSocialAccount mirrors what the network of an activated channel has, and returns the channel.
func (s *Service) SyncSocialAccount(ctx context.Context, account, id string) (*advert.SocialAccount, error) {
	channel, err := s.store.GetSocialAccount(ctx, account, id)
	if err != nil {
		return nil, err
	}
	line, err := s.activated(ctx, account, channel.ID)
	if err != nil {
		return nil, err
	}
	return channel, s.mirror(ctx, line)
}

// ListSocialPosts returns a page of a channel's posts, newest first, and whether there are more. For the first page the
// network is asked, and the mirror brought up to date.
func (s *Service) ListSocialPosts(ctx context.Context, account, id string, p core.Page) ([]advert.SocialPost, bool, error) {
	channel, err := s.store.GetSocialAccount(ctx, account, id)
	if err != nil {
		return nil, false, err
	}
	if p.StartingAfter == "" && p.EndingBefore == "" {
		line, err := s.line(channel)
		if err != nil {
			return nil, false, err
		}
		if err := s.mirrorPosts(ctx, line); err != nil {
			return nil, false, err
		}
	}
	return s.store.ListSocialPosts(ctx, account, channel.ID, p)
}

// mirrorPosts stores the posts of a channel as the network has them now.
func (s *Service) mirrorPosts(ctx context.Context, l *line) error {
	posts, err := l.Posts(ctx, l.conn)
	if err != nil {
		return s.fault(ctx, l, "posts", err)
	}
	return s.store.PutSocialPosts(ctx, l.channel, posts)
}

// mirrorTime is how long a request waits while the campaigns of its channel are mirrored. The worker mirrors what is
// left.
const mirrorTime = 20 * time.Second

// mirror brings all that we keep of a channel's network up to date: posts, ad accounts, business centers and campaigns.
func (s *Service) mirror(ctx context.Context, l *line) error {
	if err := s.store.Leave(ctx); err != nil {
		return err
	}
	if err := s.mirrorPosts(ctx, l); err != nil {
		return err
	}
	if err := s.store.Leave(ctx); err != nil {
		return err
	}
	accounts, err := s.mirrorAccess(ctx, l)
	if err != nil {
		return err
	}
	return s.mirrorAdAccounts(ctx, l, accounts)
}

// mirrorAccess stores the ad accounts and business centers that a channel sees now, and returns the ad accounts.
func (s *Service) mirrorAccess(ctx context.Context, l *line) ([]advert.Account, error) {
	accounts, err := l.AdAccounts(ctx, l.conn)
	if err != nil {
		return nil, s.fault(ctx, l, "ad accounts", err)
	}
	var centers []advert.BusinessCenter
	if l.Caps().BusinessCenters {
		if centers, err = l.BusinessCenters(ctx, l.conn); err != nil {
			return nil, s.fault(ctx, l, "business centers", err)
		}
	}
	if err := s.store.PutAccounts(ctx, l.channel, accounts); err != nil {
		return nil, err
	}
	return accounts, s.store.PutBusinessCenters(ctx, l.channel, centers)
}

// mirrorAdAccounts mirrors the campaigns of those ad accounts that the channel may use, until mirrorTime is over.
func (s *Service) mirrorAdAccounts(ctx context.Context, l *line, accounts []advert.Account) error {
	until := s.store.Now().Add(mirrorTime)
	for _, a := range accounts {
		if !l.channel.Allows(a.PlatformID) {
			continue
		}
		known, err := s.store.GetAccount(ctx, l.channel, a.PlatformID)
		if err != nil {
			return err
		}
		if _, err := s.syncAdAccount(ctx, l, known, until); err != nil {
			return err
		}
	}
	return nil
}
