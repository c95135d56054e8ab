package store

// AdLimits are the guardrails of an account: what its keys may commit to spend at all networks together.
type AdLimits struct {
	AccountID         string                   `db:"account_id"`
	Currencies        JSON[map[string]AdLimit] `db:"currencies"`          // by currency; another one has DefaultAdLimit
	MaxIncrease       AdRatio                  `db:"max_budget_increase"` // percent by which one change may raise a daily budget; 0 = any
	BlockedOperations JSON[[]AdOp]             `db:"blocked_operations"`
	CreatedAt         Time                     `db:"created_at"`
	UpdatedAt         Time                     `db:"updated_at"`
}

// AdLimit is what may be spent in one currency. Lifetime budgets count as their amount by day.
type AdLimit struct {
	MaxDailyPerCampaign AdAmount `json:"max_daily_budget_per_campaign"`
	MaxDailyTotal       AdAmount `json:"max_total_daily_budget"` // of everything that is switched on
	MaxBid              AdAmount `json:"max_bid_amount"`         // 0 = any
}
