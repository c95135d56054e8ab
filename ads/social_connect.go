package ads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// ConnectSocialAccount is a channel to connect, as it was sent. "" means that a field was not sent.
type ConnectSocialAccount struct {
	Platform     string
	Driver       string // who speaks to the network; without it the sandbox does, or with a Token a real driver
	PlatformID   string // the network's id of the profile or page
	Username     string
	DisplayName  string
	Token        string   // the access to the network; sealed, and never shown
	AdAccountIDs []string // platform ids that the channel is limited to; nil = as before, or all
}

// ConnectSocialAccount connects a channel, which is inactive for ads at first. The network is asked whose token it is: a profile that
// is connected already keeps its channel, with all that is in it.
func (s *Service) ConnectSocialAccount(ctx context.Context, account string, in ConnectSocialAccount) (*advert.SocialAccount, error) {
	if err := (required{{"platform", in.Platform}}).err(); err != nil {
		return nil, err
	}
	platform, err := bodyPlatform(in.Platform)
	if err != nil {
		return nil, err
	}
	driver, err := s.chooseDriver(platform, in.Driver, in.Token)
	if err != nil {
		return nil, err
	}
	channel := advert.NewSocialAccount{
		Platform: platform, Driver: driver, PlatformID: in.PlatformID, Username: in.Username, DisplayName: in.DisplayName,
		AdAccountIDs: in.AdAccountIDs, SocialAccess: advert.SocialAccess{Token: in.Token},
	}
	profiles, err := s.profiles(ctx, account, &channel)
	if err != nil {
		return nil, err
	}
	if profiles != nil {
		profile, err := choose(platform, profiles, in.PlatformID)
		if err != nil {
			return nil, err
		}
		nameOf(profile, &channel)
	}
	return s.store.ConnectSocialAccount(ctx, account, channel)
}

// nameOf says of a channel which profile it is of.
func nameOf(p *advert.SocialProfile, channel *advert.NewSocialAccount) {
	channel.PlatformID, channel.AlsoID = p.ID, p.AlsoID
	if channel.Driver == DriverZernio {
		channel.Token = p.ID // there is no other: it says which access is meant, of those that Zernio keeps
	}
	if channel.Username == "" {
		channel.Username = p.Username
	}
	if channel.DisplayName == "" {
		channel.DisplayName = p.Name
	}
}

// profiles asks the network whose token a channel has. Without a token, or where nobody can say, they are nil. It ends the transaction
// of a request.
func (s *Service) profiles(ctx context.Context, account string, channel *advert.NewSocialAccount) ([]advert.SocialProfile, error) {
	connector, ok := s.drivers[channel.Driver][channel.Platform].(Connector)
	if !ok || channel.Token == "" && channel.Driver != DriverZernio {
		return nil, nil
	}
	if err := s.store.Leave(ctx); err != nil {
		return nil, err
	}
	found, err := connector.Profiles(ctx, Conn{
		Account: account, Platform: channel.Platform, PlatformID: channel.PlatformID, Token: Secret(channel.Token), Now: func() time.Time { return s.store.Now().Time() },
	})
	switch {
	case errors.Is(err, ErrUnsupported) && channel.Driver != DriverZernio: // which alone says whose a profile is
		return nil, nil
	case errors.Is(err, ErrUnauthorized):
		return nil, core.Invalid("token", fmt.Sprintf("%s does not accept this token. Send one that is valid, of an app and a person with access to the profile.", channel.Platform))
	case err != nil:
		return nil, unanswered(channel.Platform, "profile", err)
	case len(found) == 0 && channel.Driver == DriverZernio:
		return nil, core.Invalid("platform", fmt.Sprintf("Nothing of %s is connected through zernio that can advertise. Ask for consent with POST /socials/connect first.", channel.Platform))
	case len(found) == 0:
		return nil, core.Invalid("token", fmt.Sprintf("The token reaches no profile or page at %s. Send one of somebody who may advertise for it.", channel.Platform))
	}
	return found, nil
}

// choose returns the profile with an id. Without an id there must be only one.
func choose(platform advert.Platform, profiles []advert.SocialProfile, id string) (*advert.SocialProfile, error) {
	if id == "" && len(profiles) == 1 {
		return &profiles[0], nil
	}
	if i := slices.IndexFunc(profiles, func(p advert.SocialProfile) bool { return is(p, id) }); i >= 0 {
		return &profiles[i], nil
	}
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = fmt.Sprintf("%s (%s)", p.ID, p.Name)
	}
	return nil, core.Invalid("platform_account_id", fmt.Sprintf("The token is to these profiles of %s: %s. Send the id of one of them.", platform, strings.Join(names, ", ")))
}

// RenewSocialAccount gives a channel another token of its profile. The token of another profile is CodeInvalid.
func (s *Service) RenewSocialAccount(ctx context.Context, account, id, token string) (*advert.SocialAccount, error) {
	if err := (required{{"token", token}}).err(); err != nil {
		return nil, err
	}
	known, err := s.store.GetSocialAccount(ctx, account, id)
	if err != nil {
		return nil, err
	}
	channel := advert.NewSocialAccount{Platform: known.Platform, Driver: known.Driver, PlatformID: known.PlatformID, SocialAccess: advert.SocialAccess{Token: token}}
	if s.drivers[known.Driver][known.Platform] == nil {
		return nil, core.Invalid("token", fmt.Sprintf("%s was connected through %q, which this service does not have any more. Connect the profile with POST /socials instead.", known.ID, known.Driver))
	}
	profiles, err := s.profiles(ctx, account, &channel)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(profiles, func(p advert.SocialProfile) bool { return is(p, known.PlatformID) }); i >= 0 {
		nameOf(&profiles[i], &channel)
	} else if profiles != nil && known.PlatformID != "" {
		return nil, core.Invalid("token", fmt.Sprintf("The token is not of %s, the profile of this channel. Send a token of that profile, or connect the other one with POST /socials.", known.PlatformID))
	} else if len(profiles) == 1 {
		nameOf(&profiles[0], &channel)
	}
	channel.Username, channel.DisplayName = "", ""
	return s.store.RenewSocialAccount(ctx, account, known.ID, channel)
}

// DeleteSocialAccount erases a channel's access. What runs at the network goes on, and is counted in the answer. The network is not told. Meta could
// only take the whole app from the person, and with it their other channels, here and in other shops. Pinterest ends the tokens of system users
// alone.
func (s *Service) DeleteSocialAccount(ctx context.Context, account, id string) (*advert.DeletedSocialAccount, error) {
	return s.store.DeleteSocialAccount(ctx, account, id)
}
