package advert

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Group mirrors an ad group of a network (Meta calls it an ad set). A driver fills in the fields from PlatformID to
// PlatformCreatedAt; the store fills in the rest. An amount of 0 and an empty text mean that the ad group has no such
// thing.
type Group struct {
	AccountID         string      `db:"account_id"`
	ID                string      `db:"id"` // of the row, time-ordered; never shown
	ChannelID         string      `db:"channel_id"`
	Platform          Platform    `db:"platform"`
	AdAccountID       string      `db:"ad_account_id"` // platform id
	PlatformID        string      `db:"platform_id"`
	CampaignID        string      `db:"campaign_id"` // platform id
	Name              string      `db:"name"`
	ConfiguredStatus  Configured  `db:"configured_status"`
	Status            Status      `db:"status"` // as last heard of; StatusAt is what holds now
	ReviewStatus      Review      `db:"review_status"`
	PlatformStatus    string      `db:"platform_status"` // the network's word
	RejectionReason   string      `db:"rejection_reason"`
	Goal              Goal        `db:"goal"`
	OptimizationGoal  string      `db:"optimization_goal"` // the network's word
	BudgetAmount      Amount      `db:"budget_amount"`     // 0 if the campaign has it
	BudgetType        BudgetType  `db:"budget_type"`
	BidStrategy       BidStrategy `db:"bid_strategy"`
	BidAmount         Amount      `db:"bid_amount"`
	RoasFloor         Ratio       `db:"roas_floor"`
	Targeting         Object      `db:"targeting"`          // in the words of all networks, as far as they go
	PlatformTargeting Object      `db:"platform_targeting"` // as the network has it
	PromotedObject    Object      `db:"promoted_object"`    // as the network has it
	StartsAt          *core.Time  `db:"starts_at"`
	EndsAt            *core.Time  `db:"ends_at"` // the first moment after the last day
	PlatformCreatedAt *core.Time  `db:"platform_created_at"`
	Currency          string      `db:"currency"`     // of the ad account
	Daily             Amount      `db:"daily_amount"` // what BudgetAmount comes to in a day
	Source            Source      `db:"source"`
	OffSince          *core.Time  `db:"off_since"` // since when it is off, nil if it was never seen on; kept by the store
	SyncedAt          core.Time   `db:"synced_at"` // when the network was last heard about it
	DeletedAt         *core.Time  `db:"deleted_at"`
	CreatedAt         core.Time   `db:"created_at"`
	UpdatedAt         core.Time   `db:"updated_at"`

	AdAccount *Account  `db:"-"` // set by every read
	Campaign  *Campaign `db:"-"` // set by every read, unless the network has not told of it
	AdCount   int       `db:"-"` // without deleted ones; set by every read
}

func (g *Group) key() entityKey  { return entityKey{g.Platform, g.PlatformID} }
func (g *Group) channel() string { return g.ChannelID }

// StatusAt returns the state of delivery at a time. Past the end of the ad group or of its campaign it is completed,
// whatever the network says.
func (g *Group) StatusAt(now core.Time) Status {
	status := statusAt(g.Status, g.EndsAt, now)
	if g.Campaign != nil {
		status = statusAt(status, g.Campaign.EndsAt, now)
	}
	return status
}

// BudgetLevel returns who has the budget: the campaign or its ad groups.
func (g *Group) BudgetLevel() BudgetLevel {
	if g.Campaign != nil {
		return g.Campaign.BudgetLevel
	}
	return BudgetLevelGroup
}

var groupRows = hierarchy[Group]("ad_groups")

// ListGroups returns a page of the ad groups of a campaign, newest first. It finds the campaign as GetCampaign does.
func (s *Store) ListGroups(ctx context.Context, account string, platform Platform, campaign string, p Page) (*List[Group], error) {
	c, err := findEntity(ctx, s, campaignRows, "campaign", account, platform, campaign)
	if err != nil {
		return nil, err
	}
	var f db.Filter
	f.OrderedIfSet("campaign_id", c.PlatformID)
	f.OrderedIfSet("platform", string(c.Platform))
	list, err := listPage(ctx, s, groupRows.Columns, account, p, &f, string(c.Platform), c.PlatformID)
	if err != nil {
		return nil, err
	}
	return list, s.fillGroups(ctx, account, pointers(list.Items))
}

// GetGroup returns an ad group by platform id, as GetCampaign does.
func (s *Store) GetGroup(ctx context.Context, account string, platform Platform, id string) (*Group, error) {
	g, err := findEntity(ctx, s, groupRows, "ad group", account, platform, id)
	if err != nil {
		return nil, err
	}
	return g, s.fillGroups(ctx, account, []*Group{g})
}

// GroupsOf returns every ad group of a campaign, deleted ones too, oldest first.
func (s *Store) GroupsOf(ctx context.Context, c *Campaign) ([]Group, error) {
	return s.groupsOfIn(ctx, s.db, c)
}

// groupsOfIn does what GroupsOf does, where r says.
func (s *Store) groupsOfIn(ctx context.Context, r db.Reader, c *Campaign) ([]Group, error) {
	rows, err := db.Select[Group](ctx, r, groupRows.SelectSQL+` WHERE account_id = ? AND campaign_id = ? AND platform = ? ORDER BY id`,
		c.AccountID, c.PlatformID, c.Platform)
	if err != nil {
		return nil, fmt.Errorf("read ad groups: %w", err)
	}
	for i := range rows {
		rows[i].Campaign, rows[i].AdAccount = c, c.AdAccount
	}
	return rows, nil
}

// fillGroups sets the fields of ad groups that are not columns: the campaign, its ad account, and how many ads there
// are. Where the mirror does not have the campaign, it stays nil.
func (s *Store) fillGroups(ctx context.Context, account string, groups []*Group) error {
	if len(groups) == 0 {
		return nil
	}
	var ids, parents []string
	for _, g := range groups {
		ids, parents = append(ids, g.PlatformID), append(parents, g.CampaignID)
	}
	campaigns, err := entitiesByID(ctx, s.db, s, campaignRows, account, parents)
	if err != nil {
		return err
	}
	if err := s.fillCampaigns(ctx, account, slices.Collect(maps.Values(campaigns))); err != nil {
		return err
	}
	ads, err := s.countBelow(ctx, "ads", "ad_group_id", account, ids)
	if err != nil {
		return err
	}
	for _, g := range groups {
		g.AdCount = ads[entityKey{g.Platform, g.PlatformID}]
		if g.Campaign = campaigns[entityKey{g.Platform, g.CampaignID}]; g.Campaign != nil {
			g.AdAccount = g.Campaign.AdAccount
		}
	}
	return fillAccounts(ctx, s, account, groups, func(g *Group) (accountKey, **Account) {
		return accountKey{g.ChannelID, g.AdAccountID}, &g.AdAccount
	})
}

// fillAccounts sets the ad accounts of things whose parent the mirror does not have: a network may tell of an ad without its ad group.
func fillAccounts[T any](ctx context.Context, s *Store, account string, things []*T, of func(*T) (accountKey, **Account)) error {
	var keys []accountKey
	for _, thing := range things {
		if key, at := of(thing); *at == nil {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	accounts, err := s.accountsOf(ctx, s.db, account, keys)
	if err != nil {
		return err
	}
	for _, thing := range things {
		if key, at := of(thing); *at == nil {
			*at = accounts[key]
		}
	}
	return nil
}
