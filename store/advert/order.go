package advert

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/internal/db"
)

// lockCampaigns locks the campaigns with the ids until the commit, by id. Whoever changes campaigns, or several rows in
// them, locks all of these campaigns first. So no two transactions wait for each other, whatever they do below.
func (s *Store) lockCampaigns(ctx context.Context, u *db.Unit, account string, ids []string) error {
	if u.Lock() == "" || len(ids) == 0 {
		return nil
	}
	condition, arg := s.db.In("platform_id", ids)
	if _, err := db.Select[string](ctx, u, `SELECT platform_id FROM ad_campaigns WHERE account_id = ? AND `+condition+` ORDER BY platform_id, platform`+u.Lock(), account, arg); err != nil {
		return fmt.Errorf("lock campaigns: %w", err)
	}
	return nil
}

// lockCampaignsIn locks all campaigns of an ad account, as lockCampaigns does.
func (s *Store) lockCampaignsIn(ctx context.Context, u *db.Unit, a *Account) error {
	if u.Lock() == "" {
		return nil
	}
	if _, err := db.Select[string](ctx, u, `SELECT platform_id FROM ad_campaigns WHERE account_id = ? AND ad_account_id = ? AND platform = ? ORDER BY platform_id`+u.Lock(),
		a.AccountID, a.PlatformID, a.Platform); err != nil {
		return fmt.Errorf("lock the campaigns of an ad account: %w", err)
	}
	return nil
}

// lockAbove locks the campaigns that ids of a level name, or that the named ad groups or ads are in, as lockCampaigns does.
func (s *Store) lockAbove(ctx context.Context, u *db.Unit, account string, level Level, ids []string) error {
	above, err := s.campaignsAbove(ctx, u, account, level, ids)
	if err != nil {
		return err
	}
	return s.lockCampaigns(ctx, u, account, above)
}

// campaignsAbove returns the ids of the campaigns that ids of a level name, or that the named ad groups or ads are in.
// Nothing ever changes its campaign.
func (s *Store) campaignsAbove(ctx context.Context, u *db.Unit, account string, level Level, ids []string) ([]string, error) {
	if u.Lock() == "" || level == LevelCampaign || len(ids) == 0 {
		return ids, nil
	}
	condition, arg := s.db.In("platform_id", ids)
	above, err := db.Select[string](ctx, u, `SELECT DISTINCT campaign_id FROM `+levelTables[level]+` WHERE account_id = ? AND `+condition, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read campaigns of what is to be locked: %w", err)
	}
	return above, nil
}

// lockOutcomes locks the campaigns of all that the outcomes of some actions change, as lockCampaigns does.
func (s *Store) lockOutcomes(ctx context.Context, u *db.Unit, account string, actions []*Action, settlements []Settlement) error {
	if u.Lock() == "" {
		return nil
	}
	var targets []Place
	var ids []string
	for i, action := range actions {
		out := &settlements[i].Outcome
		ids = append(ids, campaignsOf(out.Made.Campaigns, out.Made.Groups, out.Made.Ads)...)
		ids = append(ids, campaignsOf(out.Changed.Campaigns, out.Changed.Groups, out.Changed.Ads)...)
		targets = append(targets, action.Target())
	}
	for level, of := range byLevel(targets) {
		above, err := s.campaignsAbove(ctx, u, account, level, of)
		if err != nil {
			return err
		}
		ids = append(ids, above...)
	}
	return s.lockCampaigns(ctx, u, account, ids)
}

// byAdAccount returns the indexes of actions by their ad accounts, which are marked in this order if something is in doubt.
func byAdAccount(actions []*Action) []int {
	indexes := make([]int, len(actions))
	for i := range indexes {
		indexes[i] = i
	}
	slices.SortStableFunc(indexes, func(a, b int) int {
		return cmp.Or(cmp.Compare(actions[a].ChannelID, actions[b].ChannelID), cmp.Compare(actions[a].AdAccountID, actions[b].AdAccountID))
	})
	return indexes
}
