package store

// AdAccountStatus says whether ads can run in an ad account.
type AdAccountStatus string

// The states of an ad account.
const (
	AdAccountActive   AdAccountStatus = "active"
	AdAccountDisabled AdAccountStatus = "disabled"
	AdAccountPending  AdAccountStatus = "pending"
)

// AdAccount is an account with a network, as a channel sees it. A driver fills in PlatformID and what follows; the rest
// is the store's.
type AdAccount struct {
	AccountID          string          `db:"account_id"`
	ID                 string          `db:"id"` // of the row, time-ordered; never shown
	ChannelID          string          `db:"channel_id"`
	Platform           Platform        `db:"platform"`
	PlatformID         string          `db:"platform_id"`
	Name               string          `db:"name"`
	Currency           string          `db:"currency"` // lower-case ISO 4217
	Timezone           string          `db:"timezone"` // IANA name; days of budgets and reports are days there
	Status             AdAccountStatus `db:"status"`
	PlatformStatus     string          `db:"platform_status"` // the network's word
	UnusableReason     string          `db:"unusable_reason"` // why ads cannot be made in it; empty if they can
	MinimumDailyBudget AdAmount        `db:"minimum_daily_budget"`
	AmountSpent        AdAmount        `db:"amount_spent"`
	SpendCap           AdAmount        `db:"spend_cap"`          // 0 = none
	BusinessCenterID   string          `db:"business_center_id"` // platform id; empty = none
	SyncedAt           Time            `db:"synced_at"`          // when its campaigns were last mirrored; 0 = never
	CreatedAt          Time            `db:"created_at"`
	UpdatedAt          Time            `db:"updated_at"`
}

// IsSelectable reports whether ads can be made in it.
func (a *AdAccount) IsSelectable() bool { return a.Status == AdAccountActive && a.UnusableReason == "" }

// AdBusinessCenter is what an agency keeps its ad accounts in. A driver fills in PlatformID and what follows.
type AdBusinessCenter struct {
	AccountID       string   `db:"account_id"`
	ID              string   `db:"id"` // of the row, time-ordered; never shown
	ChannelID       string   `db:"channel_id"`
	Platform        Platform `db:"platform"`
	PlatformID      string   `db:"platform_id"`
	Name            string   `db:"name"`
	AdvertiserCount *int64   `db:"advertiser_count"` // nil = unknown
	CreatedAt       Time     `db:"created_at"`
	UpdatedAt       Time     `db:"updated_at"`
}
