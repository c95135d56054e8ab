package advert

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// take gives a channel the access of a connection, and what else was said of it. What is not said stays. A channel that its network
// did not let in any more is active again; one that was deleted is there again, inactive for ads.
func (s *Store) take(a *SocialAccount, in *NewSocialAccount) {
	a.PlatformID = cmp.Or(in.PlatformID, a.PlatformID)
	a.Username = cmp.Or(in.Username, a.Username)
	a.DisplayName = cmp.Or(in.DisplayName, a.DisplayName)
	if in.AdAccountIDs != nil || a.AdAccountIDs.V == nil {
		a.AdAccountIDs = core.JSONOf(core.Distinct(in.AdAccountIDs))
	}
	s.give(a, in.SocialAccess)
	a.LastError = ""
	if a.AdsStatus == AdsStatusError {
		a.AdsStatus = AdsStatusActive
	}
	a.DeletedAt, a.UpdatedAt = nil, s.Now()
}

// RenewSocialAccount gives a channel another access to the profile that it is of, and changes nothing else. A channel of which nobody
// knew the profile is of this one from now on, unless another channel is: that is CodeInvalid on token.
func (s *Store) RenewSocialAccount(ctx context.Context, account, ref string, in NewSocialAccount) (*SocialAccount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SocialAccount, error) {
		if err := u.LockAccount(ctx, account); err != nil {
			return nil, err
		}
		a, err := s.lockSocialAccount(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		if a.PlatformID != "" {
			in.PlatformID = a.PlatformID
		} else if other, err := s.getProfile(ctx, u, account, &in); err != nil {
			return nil, err
		} else if other != nil {
			return nil, core.Invalid("token", fmt.Sprintf("The token is of the profile %s, which is the channel %s. Send it to PATCH /socials/%s, or to POST /socials.",
				in.PlatformID, other.ID, other.ID))
		}
		s.take(a, &in)
		if err := s.reviveDestinations(ctx, u, a); err != nil {
			return nil, err
		}
		return a, u.Update(ctx, socialAccountColumns, a)
	})
}

// DeletedSocialAccount is a channel that was deleted, with how much of it runs on at the network as far as was seen there last.
type DeletedSocialAccount struct {
	ID               string
	RunningCampaigns int
	RunningAds       int
}

// DeleteSocialAccount erases the access of a channel and ends its use, also to tell of conversions. Its rows are kept: the same profile that is connected again is
// the same channel.
func (s *Store) DeleteSocialAccount(ctx context.Context, account, ref string) (*DeletedSocialAccount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*DeletedSocialAccount, error) {
		a, err := s.lockSocialAccount(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		campaigns, err := db.Get[int](ctx, u, `SELECT count(*) FROM ad_campaigns WHERE account_id = ? AND channel_id = ? AND status IN ('active', 'pending_review')`, account, a.ID)
		if err != nil {
			return nil, fmt.Errorf("count campaigns: %w", err)
		}
		ads, err := db.Get[int](ctx, u, `SELECT count(*) FROM ads WHERE account_id = ? AND channel_id = ? AND status IN ('active', 'pending_review')`, account, a.ID)
		if err != nil {
			return nil, fmt.Errorf("count ads: %w", err)
		}
		if err := s.pauseDestinations(ctx, u, a); err != nil {
			return nil, err
		}
		now := s.Now()
		a.SealedToken, a.SealedRefresh, a.TokenExpiresAt, a.RefreshAt = []byte{}, nil, nil, nil
		a.AdsStatus, a.DeletedAt, a.UpdatedAt = AdsStatusInactive, &now, now
		return &DeletedSocialAccount{a.ID, *campaigns, *ads}, u.Update(ctx, socialAccountColumns, a)
	})
}

// getProfile returns the channel of the profile that a connection names, deleted or not, or nil if there is none.
func (s *Store) getProfile(ctx context.Context, r db.Reader, account string, in *NewSocialAccount) (*SocialAccount, error) {
	return findProfile(ctx, r, account, in)
}

// lockProfile does what getProfile does, and locks the row until the transaction ends.
func (s *Store) lockProfile(ctx context.Context, u *db.Unit, account string, in *NewSocialAccount) (*SocialAccount, error) {
	return findProfile(ctx, u.Locked(), account, in)
}

func findProfile(ctx context.Context, r db.Reader, account string, in *NewSocialAccount) (*SocialAccount, error) {
	for _, id := range []string{in.PlatformID, in.AlsoID} {
		if id == "" {
			continue
		}
		a, err := db.Get[SocialAccount](ctx, r, socialAccountColumns.SelectSQL+
			` WHERE account_id = ? AND platform = ? AND driver = ? AND platform_id = ? AND platform_id <> '' AND is_duplicate = 0`,
			account, in.Platform, in.Driver, id)
		if a != nil || err != nil {
			return a, err
		}
	}
	return nil, nil
}
