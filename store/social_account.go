package store

// AdsStatus says whether a channel can be used for ads.
type AdsStatus string

// A channel is inactive until it is activated. Error means that its network does not let us in any more.
const (
	AdsStatusInactive AdsStatus = "inactive"
	AdsStatusActive   AdsStatus = "active"
	AdsStatusError    AdsStatus = "error"
)

// SocialAccount is a channel: an account's connection to one network.
type SocialAccount struct {
	AccountID      string         `db:"account_id"`
	ID             string         `db:"id"` // sacct_
	Platform       Platform       `db:"platform"`
	Driver         string         `db:"driver"`      // who speaks to the network: sandbox, meta, pinterest
	PlatformID     string         `db:"platform_id"` // the network's id of the profile or page
	Username       string         `db:"username"`
	DisplayName    string         `db:"display_name"`
	AdsStatus      AdsStatus      `db:"ads_status"`
	AdsActivatedAt *Time          `db:"ads_activated_at"`
	AdAccountIDs   JSON[[]string] `db:"ad_account_ids"` // platform ids that the channel is limited to; empty = all
	SealedToken    []byte         `db:"token"`
	CreatedAt      Time           `db:"created_at"`
	UpdatedAt      Time           `db:"updated_at"`
}

// IsActivated reports whether ads can be made through the channel.
func (a *SocialAccount) IsActivated() bool { return a.AdsStatus == AdsStatusActive }
