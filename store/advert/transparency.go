package advert

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// UpdateAccount says what to change about an ad account: what is kept here alone, and no network tells. A field that is nil stays as it
// is; "" removes it, so that the network's own holds again.
type UpdateAccount struct {
	DSABeneficiary *string
	DSAPayor       *string
}

// FindAccount returns an ad account by platform id. Without a channel it is the only one of that id that activated channels see. If there are
// several, the error is CodeParameterMissing on what tells them apart. An account without an activated channel learns nothing else than that, as with
// findEntity.
func (s *Store) FindAccount(ctx context.Context, account, channel string, platform Platform, id string) (*Account, error) {
	channels, err := s.channelsNamed(ctx, account, channel)
	if err != nil {
		return nil, err
	}
	if c := channels[channel]; c != nil && platform != "" && platform != c.Platform {
		return nil, core.Invalid("platform", fmt.Sprintf("%s is a channel of %s.", c.ID, c.Platform))
	}
	var f db.Filter
	f.OrderedIfSet("platform", string(platform))
	f.OrderedIfSet("channel_id", channel)
	where, args := f.SQL()
	rows, err := db.Select[Account](ctx, s.db, accountRows.SelectSQL+` WHERE account_id = ? AND platform_id = ?`+where, append([]any{account, id}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read ad account: %w", err)
	}
	reachable := slices.DeleteFunc(slices.Clone(rows), func(a Account) bool { return channels[a.ChannelID] == nil || !channels[a.ChannelID].Allows(id) })
	switch {
	case len(reachable) == 1:
		return &reachable[0], nil
	case len(reachable) > 1 && slices.ContainsFunc(reachable, func(a Account) bool { return a.Platform != reachable[0].Platform }):
		return nil, &core.Error{Code: core.CodeParameterMissing, Param: "platform", Message: "Several networks have an ad account with this id. Send platform, too."}
	case len(reachable) > 1:
		return nil, &core.Error{Code: core.CodeParameterMissing, Param: "account_id", Message: "Several channels see this ad account. Send account_id, too."}
	case len(rows) > 0 && channel == "":
		return nil, notActivated("The channel of this ad account is not activated for ads.")
	}
	return nil, core.Missing("ad account", "", id)
}

// channelsNamed returns the one activated channel, or all of them if none is named.
func (s *Store) channelsNamed(ctx context.Context, account, channel string) (map[string]*SocialAccount, error) {
	if channel == "" {
		return s.ActivatedChannels(ctx, account)
	}
	a, err := s.ActivatedChannel(ctx, account, channel)
	if err != nil {
		return nil, err
	}
	return map[string]*SocialAccount{a.ID: a}, nil
}

// UpdateAccount changes an ad account and returns it as it is afterwards.
func (s *Store) UpdateAccount(ctx context.Context, a *Account, in UpdateAccount) (*Account, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Account, error) {
		const row = ` WHERE account_id = ? AND channel_id = ? AND platform_id = ?`
		for column, value := range map[string]*string{"dsa_beneficiary": in.DSABeneficiary, "dsa_payor": in.DSAPayor} {
			if value == nil {
				continue
			}
			_, err := u.Exec(ctx, `UPDATE ad_accounts SET `+column+` = ?, updated_at = ?`+row+` AND `+column+` <> ?`,
				*value, s.Now(), a.AccountID, a.ChannelID, a.PlatformID, *value)
			if err != nil {
				return nil, fmt.Errorf("update ad account: %w", err)
			}
		}
		return db.Get[Account](ctx, u, accountRows.SelectSQL+row, a.AccountID, a.ChannelID, a.PlatformID)
	})
}
