package store

// AdGroup mirrors an ad group (ad set) of a network. A driver fills in PlatformID to PlatformCreatedAt; the rest is the
// store's. An amount of 0 and an empty text stand for what there is not.
type AdGroup struct {
	AccountID         string       `db:"account_id"`
	ID                string       `db:"id"` // of the row, time-ordered; never shown
	ChannelID         string       `db:"channel_id"`
	Platform          Platform     `db:"platform"`
	AdAccountID       string       `db:"ad_account_id"` // platform id
	PlatformID        string       `db:"platform_id"`
	CampaignID        string       `db:"campaign_id"` // platform id
	Name              string       `db:"name"`
	ConfiguredStatus  AdConfigured `db:"configured_status"`
	Status            AdStatus     `db:"status"` // as last heard of; StatusAt is what holds now
	ReviewStatus      AdReview     `db:"review_status"`
	PlatformStatus    string       `db:"platform_status"` // the network's word
	RejectionReason   string       `db:"rejection_reason"`
	Goal              AdGoal       `db:"goal"`
	OptimizationGoal  string       `db:"optimization_goal"` // the network's word
	BudgetAmount      AdAmount     `db:"budget_amount"`     // 0 if the campaign has it
	BudgetType        BudgetType   `db:"budget_type"`
	BidStrategy       BidStrategy  `db:"bid_strategy"`
	BidAmount         AdAmount     `db:"bid_amount"`
	RoasFloor         AdRatio      `db:"roas_floor"`
	Targeting         AdObject     `db:"targeting"`       // as the network has it
	PromotedObject    AdObject     `db:"promoted_object"` // as the network has it
	StartsAt          *Time        `db:"starts_at"`
	EndsAt            *Time        `db:"ends_at"` // the first moment after the last day
	PlatformCreatedAt *Time        `db:"platform_created_at"`
	Source            AdSource     `db:"source"`
	SyncedAt          Time         `db:"synced_at"` // when the network was last heard about it
	DeletedAt         *Time        `db:"deleted_at"`
	CreatedAt         Time         `db:"created_at"`
	UpdatedAt         Time         `db:"updated_at"`

	AdAccount *AdAccount  `db:"-"` // set by every read
	Campaign  *AdCampaign `db:"-"` // set by every read
	AdCount   int         `db:"-"` // without deleted ones; set by every read
}

// StatusAt returns the state of delivery: past the end, or its campaign's, it is completed, whatever the network says.
func (g *AdGroup) StatusAt(now Time) AdStatus {
	status := statusAt(g.Status, g.EndsAt, now)
	if g.Campaign != nil {
		status = statusAt(status, g.Campaign.EndsAt, now)
	}
	return status
}

// BudgetLevel returns who has the budget.
func (g *AdGroup) BudgetLevel() BudgetLevel {
	if g.Campaign != nil {
		return g.Campaign.BudgetLevel
	}
	return BudgetLevelGroup
}
