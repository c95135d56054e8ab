package advert

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Campaign mirrors a campaign of a network. A driver fills in the fields from PlatformID to PlatformCreatedAt; the
// store fills in the rest. An amount of 0 and an empty text mean that the campaign has no such thing.
type Campaign struct {
	AccountID         string      `db:"account_id"`
	ID                string      `db:"id"` // of the row, time-ordered; never shown
	ChannelID         string      `db:"channel_id"`
	Platform          Platform    `db:"platform"`
	AdAccountID       string      `db:"ad_account_id"` // platform id
	PlatformID        string      `db:"platform_id"`
	Name              string      `db:"name"`
	ConfiguredStatus  Configured  `db:"configured_status"`
	Status            Status      `db:"status"` // as last heard of; StatusAt is what holds now
	ReviewStatus      Review      `db:"review_status"`
	PlatformStatus    string      `db:"platform_status"` // the network's word
	RejectionReason   string      `db:"rejection_reason"`
	Goal              Goal        `db:"goal"`
	Objective         string      `db:"objective"` // the network's word
	BudgetLevel       BudgetLevel `db:"budget_level"`
	BudgetAmount      Amount      `db:"budget_amount"` // 0 if each ad group has its own
	BudgetType        BudgetType  `db:"budget_type"`
	BidStrategy       BidStrategy `db:"bid_strategy"`
	BidAmount         Amount      `db:"bid_amount"`
	RoasFloor         Ratio       `db:"roas_floor"`
	StartsAt          *core.Time  `db:"starts_at"`
	EndsAt            *core.Time  `db:"ends_at"`       // the first moment after the last day
	GroupsEndAt       *core.Time  `db:"groups_end_at"` // when the last of its ad groups ends, if each does; kept by the store
	PlatformCreatedAt *core.Time  `db:"platform_created_at"`
	Currency          string      `db:"currency"`     // of the ad account
	Daily             Amount      `db:"daily_amount"` // what BudgetAmount comes to in a day
	Source            Source      `db:"source"`
	OffSince          *core.Time  `db:"off_since"` // since when it is off, nil if it was never seen on; kept by the store
	SyncedAt          core.Time   `db:"synced_at"` // when the network was last heard about it
	DeletedAt         *core.Time  `db:"deleted_at"`
	CreatedAt         core.Time   `db:"created_at"`
	UpdatedAt         core.Time   `db:"updated_at"`

	AdAccount    *Account `db:"-"` // set by every read
	AdGroupCount int      `db:"-"` // without deleted ones; set by every read
	AdCount      int      `db:"-"` // without deleted ones; set by every read
}

func (c *Campaign) key() entityKey  { return entityKey{c.Platform, c.PlatformID} }
func (c *Campaign) channel() string { return c.ChannelID }

// StatusAt returns the state of delivery at a time. Past the campaign's end, or the end of the last of its ad groups, it
// is completed, whatever the network says.
func (c *Campaign) StatusAt(now core.Time) Status {
	return statusAt(statusAt(c.Status, c.EndsAt, now), c.GroupsEndAt, now)
}

// statusAt returns completed if the end is past and the state is not final, and the state itself otherwise.
func statusAt(status Status, endsAt *core.Time, now core.Time) Status {
	if endsAt != nil && *endsAt <= now && !status.IsTerminal() {
		return StatusCompleted
	}
	return status
}

// startOf returns when a campaign or ad group begins to spend: at its start, else when the network created it, else now.
func startOf(startsAt, platformCreatedAt *core.Time, now core.Time) core.Time {
	switch {
	case startsAt != nil:
		return *startsAt
	case platformCreatedAt != nil:
		return *platformCreatedAt
	}
	return now
}

var campaignRows = hierarchy[Campaign]("ad_campaigns", "groups_end_at")

// ListCampaigns holds the filters of a list of campaigns. An empty one does not filter.
type ListCampaigns struct {
	Page
	Channel     string // sacct_
	AdAccountID string
	Platform    Platform
	Statuses    []Status
	Source      Source
}

// ListCampaigns returns a page of the campaigns of activated channels, newest first. If the account has no activated channel, or the channel asked
// for is not activated, the error is CodeNotActivated. If that channel does not exist, it is CodeMissing on account_id.
func (s *Store) ListCampaigns(ctx context.Context, account string, in ListCampaigns) (*List[Campaign], error) {
	f, filters, err := s.filter(ctx, account, in.Channel, in.AdAccountID, in.Platform, in.Source)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	whereStatusIn(f, in.Statuses, `(ends_at <= ? OR groups_end_at <= ?)`, now, now)
	list, err := listPage(ctx, s, campaignRows.Columns, account, in.Page, f, append(filters, statusWords(in.Statuses)...)...)
	if err != nil {
		return nil, err
	}
	return list, s.fillCampaigns(ctx, account, pointers(list.Items))
}

// GetCampaign returns a campaign by platform id. If the account has no activated channel, or the channel of this campaign is not activated, the error
// is CodeNotActivated. If there is no such campaign, it is CodeMissing. If platform is empty and two networks have the id, it is CodeParameterMissing
// on platform.
func (s *Store) GetCampaign(ctx context.Context, account string, platform Platform, id string) (*Campaign, error) {
	c, err := findEntity(ctx, s, campaignRows, "campaign", account, platform, id)
	if err != nil {
		return nil, err
	}
	return c, s.fillCampaigns(ctx, account, []*Campaign{c})
}

// fillCampaigns sets the fields of campaigns that are not columns: the ad account, and how many ad groups and ads there
// are.
func (s *Store) fillCampaigns(ctx context.Context, account string, campaigns []*Campaign) error {
	if len(campaigns) == 0 {
		return nil
	}
	keys := make([]accountKey, len(campaigns))
	ids := make([]string, len(campaigns))
	for i, c := range campaigns {
		keys[i], ids[i] = accountKey{c.ChannelID, c.AdAccountID}, c.PlatformID
	}
	accounts, err := s.accountsOf(ctx, s.db, account, keys)
	if err != nil {
		return err
	}
	groups, err := s.countBelow(ctx, "ad_groups", "campaign_id", account, ids)
	if err != nil {
		return err
	}
	ads, err := s.countBelow(ctx, "ads", "campaign_id", account, ids)
	if err != nil {
		return err
	}
	for i, c := range campaigns {
		key := entityKey{c.Platform, c.PlatformID}
		c.AdAccount, c.AdGroupCount, c.AdCount = accounts[keys[i]], groups[key], ads[key]
	}
	return nil
}

// entityKey names a campaign, ad group or ad: its platform id is unique only within its network.
type entityKey struct {
	platform Platform
	id       string
}

// countBelow counts the rows of a table by the id in the column parent, without deleted ones. An id without rows is not
// in the map.
func (s *Store) countBelow(ctx context.Context, table, parent, account string, ids []string) (map[entityKey]int, error) {
	condition, arg := s.db.In(parent, core.Distinct(ids))
	rows, err := db.Select[struct {
		Platform Platform `db:"platform"`
		Parent   string   `db:"parent"`
		Count    int      `db:"count"`
	}](ctx, s.db, `SELECT platform, `+parent+` AS parent, count(*) AS count FROM `+table+`
		WHERE account_id = ? AND `+condition+` AND deleted_at IS NULL GROUP BY platform, `+parent, account, arg)
	if err != nil {
		return nil, fmt.Errorf("count %s: %w", table, err)
	}
	counts := make(map[entityKey]int, len(rows))
	for _, row := range rows {
		counts[entityKey{row.Platform, row.Parent}] = row.Count
	}
	return counts, nil
}
