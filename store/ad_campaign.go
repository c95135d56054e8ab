package store

// AdCampaign mirrors a campaign of a network. A driver fills in PlatformID to PlatformCreatedAt; the rest is the store's.
// An amount of 0 and an empty text stand for what there is not.
type AdCampaign struct {
	AccountID         string       `db:"account_id"`
	ID                string       `db:"id"` // of the row, time-ordered; never shown
	ChannelID         string       `db:"channel_id"`
	Platform          Platform     `db:"platform"`
	AdAccountID       string       `db:"ad_account_id"` // platform id
	PlatformID        string       `db:"platform_id"`
	Name              string       `db:"name"`
	ConfiguredStatus  AdConfigured `db:"configured_status"`
	Status            AdStatus     `db:"status"` // as last heard of; StatusAt is what holds now
	ReviewStatus      AdReview     `db:"review_status"`
	PlatformStatus    string       `db:"platform_status"` // the network's word
	RejectionReason   string       `db:"rejection_reason"`
	Goal              AdGoal       `db:"goal"`
	Objective         string       `db:"objective"` // the network's word
	BudgetLevel       BudgetLevel  `db:"budget_level"`
	BudgetAmount      AdAmount     `db:"budget_amount"` // 0 if each ad group has its own
	BudgetType        BudgetType   `db:"budget_type"`
	BidStrategy       BidStrategy  `db:"bid_strategy"`
	BidAmount         AdAmount     `db:"bid_amount"`
	RoasFloor         AdRatio      `db:"roas_floor"`
	StartsAt          *Time        `db:"starts_at"`
	EndsAt            *Time        `db:"ends_at"` // the first moment after the last day
	PlatformCreatedAt *Time        `db:"platform_created_at"`
	Source            AdSource     `db:"source"`
	SyncedAt          Time         `db:"synced_at"` // when the network was last heard about it
	DeletedAt         *Time        `db:"deleted_at"`
	CreatedAt         Time         `db:"created_at"`
	UpdatedAt         Time         `db:"updated_at"`

	AdAccount    *AdAccount `db:"-"` // set by every read
	AdGroupCount int        `db:"-"` // without deleted ones; set by every read
	AdCount      int        `db:"-"` // without deleted ones; set by every read
}

// StatusAt returns the state of delivery: past the end it is completed, whatever the network says.
func (c *AdCampaign) StatusAt(now Time) AdStatus { return statusAt(c.Status, c.EndsAt, now) }

func statusAt(status AdStatus, endsAt *Time, now Time) AdStatus {
	if endsAt != nil && *endsAt <= now && !status.IsTerminal() {
		return AdStatusCompleted
	}
	return status
}
