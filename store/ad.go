package store

// Ad mirrors an ad of a network. Its budget, bid and schedule are its ad group's and its campaign's. A driver fills in
// PlatformID to PlatformCreatedAt; the rest is the store's. An empty text stands for what there is not.
type Ad struct {
	AccountID         string           `db:"account_id"`
	ID                string           `db:"id"` // of the row, time-ordered; never shown
	ChannelID         string           `db:"channel_id"`
	Platform          Platform         `db:"platform"`
	AdAccountID       string           `db:"ad_account_id"` // platform id
	PlatformID        string           `db:"platform_id"`
	CampaignID        string           `db:"campaign_id"` // platform id
	AdGroupID         string           `db:"ad_group_id"` // platform id
	Name              string           `db:"name"`
	ConfiguredStatus  AdConfigured     `db:"configured_status"`
	Status            AdStatus         `db:"status"` // as last heard of; StatusAt is what holds now
	ReviewStatus      AdReview         `db:"review_status"`
	PlatformStatus    string           `db:"platform_status"` // the network's word
	RejectionReason   string           `db:"rejection_reason"`
	Type              AdType           `db:"ad_type"`
	PlatformPostID    string           `db:"platform_post_id"`
	Creative          JSON[AdCreative] `db:"creative"`
	PlatformCreatedAt *Time            `db:"platform_created_at"`
	Goal              AdGoal           `db:"goal"`    // as asked for; else the ad group's or the campaign's
	PostID            string           `db:"post_id"` // spost_
	Extra             AdObject         `db:"extra"`   // what the caller sent besides; never sent to a network
	Source            AdSource         `db:"source"`
	SyncedAt          Time             `db:"synced_at"` // when the network was last heard about it
	DeletedAt         *Time            `db:"deleted_at"`
	CreatedAt         Time             `db:"created_at"`
	UpdatedAt         Time             `db:"updated_at"`

	AdAccount *AdAccount  `db:"-"` // set by every read
	Campaign  *AdCampaign `db:"-"` // set by every read
	Group     *AdGroup    `db:"-"` // set by every read
}

// AdCreative is what an ad shows.
type AdCreative struct {
	Headline     string `json:"headline,omitempty"`
	Body         string `json:"body,omitempty"`
	CallToAction string `json:"call_to_action,omitempty"`
	LinkURL      string `json:"link_url,omitempty"`
	ImageURL     string `json:"image_url,omitempty"` // of the video where a network shows only videos
}

// StatusAt returns the state of delivery: past the end of its ad group or campaign it is completed, whatever the
// network says.
func (a *Ad) StatusAt(now Time) AdStatus {
	status := a.Status
	if a.Group != nil {
		status = statusAt(status, a.Group.EndsAt, now)
	}
	if a.Campaign != nil {
		status = statusAt(status, a.Campaign.EndsAt, now)
	}
	return status
}

// AdBatch is a stretch of an ad account as its network has it, or what a write made or changed there.
type AdBatch struct {
	Campaigns []AdCampaign
	Groups    []AdGroup
	Ads       []Ad
}
