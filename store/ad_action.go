package store

// AdOp is what was done to ads.
type AdOp string

// The operations that change something at a network, by the names that limits can block.
const (
	AdOpCreateAd       AdOp = "create_ad"
	AdOpBoostPost      AdOp = "boost_post"
	AdOpUpdateGroup    AdOp = "update_ad_group"
	AdOpUpdateCampaign AdOp = "update_campaign"
	AdOpPauseGroup     AdOp = "pause_ad_group"
	AdOpResumeGroup    AdOp = "resume_ad_group"
	AdOpPauseCampaign  AdOp = "pause_campaign"
	AdOpResumeCampaign AdOp = "resume_campaign"
	AdOpDeleteCampaign AdOp = "delete_campaign"
	AdOpCreateAudience AdOp = "create_audience"
	AdOpDeleteAudience AdOp = "delete_audience"
	AdOpUploadAudience AdOp = "upload_audience_users"
)

// AdOps lists the operations. It is a constant.
var AdOps = []AdOp{
	AdOpCreateAd, AdOpBoostPost, AdOpUpdateGroup, AdOpUpdateCampaign, AdOpPauseGroup, AdOpResumeGroup, AdOpPauseCampaign,
	AdOpResumeCampaign, AdOpDeleteCampaign, AdOpCreateAudience, AdOpDeleteAudience, AdOpUploadAudience,
}

// AdActionState is how far an action is.
type AdActionState string

// The states of an action. Done and refused are final.
const (
	AdActionBegun   AdActionState = "begun" // the network was or will be asked
	AdActionUnknown AdActionState = "unknown"
	AdActionDone    AdActionState = "done"
	AdActionRefused AdActionState = "refused"
)

// AdAction is one write at a network: the intent before, the line of the audit trail after. Its id is the token of what
// it creates, minted once and kept by every retry.
type AdAction struct {
	AccountID   string           `db:"account_id"`
	ID          string           `db:"id"` // adact_
	ChannelID   string           `db:"channel_id"`
	Platform    Platform         `db:"platform"`
	AdAccountID string           `db:"ad_account_id"` // platform id
	Op          AdOp             `db:"op"`
	Approval    string           `db:"approval"` // the operation's tag: allow or ask
	Actor       string           `db:"actor"`    // key_ of who asked
	RequestID   string           `db:"request_id"`
	TargetID    string           `db:"target_id"` // platform id, or aud_; of what was created once it is known
	State       AdActionState    `db:"state"`
	Plan        AdObject         `db:"plan"` // what the network is asked for: all that it takes to go on
	Before      AdObject         `db:"before_state"`
	After       AdObject         `db:"after_state"`
	Failure     JSON[*AdFailure] `db:"failure"`
	Currency    string           `db:"currency"`
	Daily       AdAmount         `db:"daily_amount"` // what it adds to what may be spent in a day; counted while it is open
	LeaseUntil  Time             `db:"lease_until"`  // by the database's clock; the reconciler leaves it alone until then
	CreatedAt   Time             `db:"created_at"`
	UpdatedAt   Time             `db:"updated_at"`
}

// IsFinal reports whether the action has its outcome.
func (a *AdAction) IsFinal() bool { return a.State == AdActionDone || a.State == AdActionRefused }

// AdFailure says why an action was refused, or why its outcome is not known.
type AdFailure struct {
	Code    Code                `json:"code"`
	Param   string              `json:"param,omitempty"`
	Message string              `json:"message"`
	Fields  map[string][]string `json:"fields,omitempty"`
}
