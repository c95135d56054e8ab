// Package ads is one shape for many ad networks: what a network can do, its use cases, and the guardrails before them.
// A driver per network stands in a folder of its own; this package knows none of them.
package ads

import (
	"context"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// Network speaks to one ad network; a value serves one platform. It is safe for concurrent use, speaks in store's
// types, and fails with the errors of this package. Rows that it returns have what their type says a driver fills in.
//
// Every call ends by itself within a bounded time. Reads are tried again after a fault; a write is sent once, and is
// ErrIndeterminate when nobody knows what became of it.
type Network interface {
	// Caps returns what the network can do. It is constant.
	Caps() Caps

	// AdAccounts returns every ad account that the channel sees, disabled ones too.
	AdAccounts(context.Context, Conn) ([]store.AdAccount, error)
	// BusinessCenters returns them all; ErrUnsupported where the network has none.
	BusinessCenters(context.Context, Conn) ([]store.AdBusinessCenter, error)
	// Posts returns the posts of the channel that may be boosted some day, drafts too.
	Posts(context.Context, Conn) ([]store.SocialPost, error)

	// Sync returns a stretch of an ad account, what was made elsewhere included, and the cursor of the next one: "" is
	// the first, and ends the walk. What is not in a whole walk has been deleted.
	Sync(ctx context.Context, c Conn, adAccount, cursor string) (store.AdBatch, string, error)
	// Report returns figures and state of things of one level, by platform id, in one or a few calls for all of them.
	// Days are those of the ad account, `to` is included. What the network does not know any more is not in the map.
	Report(ctx context.Context, c Conn, adAccount string, level store.AdLevel, ids []string, from, to Date) (map[string]Report, error)

	// Create makes what the plan says, and nothing if it fails: what it made on the way is removed. Should that fail,
	// too, or the network not answer, it is ErrIndeterminate. Plan.Token is left at the network so that Find finds it.
	Create(context.Context, Conn, Plan) (Created, error)
	// Find returns what Create or CreateAudience made for a token. False is a proof that nothing whole was made, and
	// nothing will be: only then may the token be used again.
	Find(ctx context.Context, c Conn, adAccount, token string) (Created, bool, error)
	// SetStatus turns switches of one ad account and returns a result for each reference, in their order. It may be
	// repeated. The error is of the request as a whole, such as *RateLimited before anything was changed.
	SetStatus(context.Context, Conn, []Ref, store.AdConfigured) ([]ItemResult, error)
	// Update changes what the patch names and returns how the thing stands afterwards. It may be repeated.
	Update(context.Context, Conn, Ref, Patch) (Entity, error)
	// Delete cancels a campaign with all that is in it, for good. One that is gone is ErrNotFound.
	Delete(context.Context, Conn, Ref) (Deleted, error)

	// CreateAudience makes an audience. PlatformID stays nil where the network makes one only with its first upload.
	CreateAudience(context.Context, Conn, AudiencePlan) (store.AdAudience, error)
	// Audience returns an audience by platform id, or ErrNotFound.
	Audience(ctx context.Context, c Conn, adAccount, id string) (store.AdAudience, error)
	// Audiences returns those of an ad account, what was made elsewhere included.
	Audiences(ctx context.Context, c Conn, adAccount string) ([]store.AdAudience, error)
	// DeleteAudience deletes it for good. One that is gone is ErrNotFound.
	DeleteAudience(ctx context.Context, c Conn, adAccount, id string) error
	// UploadUsers adds people to a customer list. Adding them once more changes nothing, so it may be repeated.
	UploadUsers(context.Context, Conn, Upload) (Uploaded, error)
}

// Conn is a channel as a driver needs it.
type Conn struct {
	Account    string // acct_
	Channel    string // sacct_
	Platform   store.Platform
	PlatformID string   // the network's id of the channel's profile or page; may be empty
	AdAccounts []string // platform ids that the channel is limited to; empty = all
	Token      Secret
	Now        func() time.Time // never nil
}

// Secret is a text that is never logged, printed or stored. Reveal returns it.
type Secret string

// Reveal returns the text itself, for the header of a request.
func (s Secret) Reveal() string { return string(s) }

// String hides the text.
func (Secret) String() string { return "[secret]" }

// GoString hides the text.
func (Secret) GoString() string { return "[secret]" }

// LogValue hides the text.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalJSON hides the text.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"[secret]"`), nil }

// Plan is an ad to create. Without AdGroupID it comes with a campaign and an ad group of its own, and has a goal and a
// budget; with it the ad joins that group. Its JSON is kept in the action, so that recovery knows what was asked for.
type Plan struct {
	Token     string          `json:"token"`      // adact_: unique, to be left at the network
	AdAccount store.AdAccount `json:"ad_account"` // with its currency and time zone
	Name      string          `json:"name"`

	CampaignID string `json:"campaign_id,omitempty"` // platform id of AdGroupID's campaign
	AdGroupID  string `json:"ad_group_id,omitempty"` // platform id

	Goal           store.AdGoal       `json:"goal,omitempty"`
	BudgetLevel    store.BudgetLevel  `json:"budget_level,omitempty"`
	BudgetAmount   store.AdAmount     `json:"budget_amount,omitempty"`
	BudgetType     store.BudgetType   `json:"budget_type,omitempty"`
	StartsAt       *core.Time         `json:"starts_at,omitempty"` // nil = at once
	EndsAt         *core.Time         `json:"ends_at,omitempty"`   // the first moment after the last day; set for lifetime
	BidStrategy    store.BidStrategy  `json:"bid_strategy,omitempty"`
	BidAmount      store.AdAmount     `json:"bid_amount,omitempty"`
	RoasFloor      store.AdRatio      `json:"roas_floor,omitempty"`
	Targeting      store.AdObject     `json:"targeting,omitempty"`       // in the network's words; empty = the driver's default
	PromotedObject store.AdObject     `json:"promoted_object,omitempty"` // in the network's words
	Configured     store.AdConfigured `json:"configured"`                // of all levels that are created

	Creative store.AdCreative  `json:"creative"`
	Post     *store.SocialPost `json:"post,omitempty"` // boosted instead of a creative
}

// Created is what Create or CreateAudience made; nil is what was there before or is not of that kind.
type Created struct {
	Campaign *store.AdCampaign
	Group    *store.AdGroup
	Ad       *store.Ad
	Audience *store.AdAudience
}

// Batch returns the campaign, ad group and ad for the mirror.
func (c Created) Batch() store.AdBatch { return Entity{c.Campaign, c.Group, c.Ad}.Batch() }

// Ref names something at a network. Of what is above it only what exists is set.
type Ref struct {
	AdAccount  string // platform id
	Level      store.AdLevel
	ID         string // platform id
	CampaignID string // platform id, of an ad group or ad
	AdGroupID  string // platform id, of an ad
}

// Patch says what to change. Nil is left alone.
type Patch struct {
	Token       string             `json:"token"`    // adact_
	Currency    string             `json:"currency"` // of the ad account
	Timezone    string             `json:"timezone"` // of the ad account
	Budget      *Budget            `json:"budget,omitempty"`
	EndsAt      *core.Time         `json:"ends_at,omitempty"` // the first moment after the last day
	BidStrategy *store.BidStrategy `json:"bid_strategy,omitempty"`
	BidAmount   *store.AdAmount    `json:"bid_amount,omitempty"` // 0 removes it
	RoasFloor   *store.AdRatio     `json:"roas_floor,omitempty"` // 0 removes it
}

// Budget is what may be spent.
type Budget struct {
	Amount store.AdAmount   `json:"amount"`
	Type   store.BudgetType `json:"type"`
}

// Entity is one campaign, ad group or ad; the others are nil.
type Entity struct {
	Campaign *store.AdCampaign
	Group    *store.AdGroup
	Ad       *store.Ad
}

// Batch returns what is set, for the mirror.
func (e Entity) Batch() store.AdBatch {
	var b store.AdBatch
	if e.Campaign != nil {
		b.Campaigns = append(b.Campaigns, *e.Campaign)
	}
	if e.Group != nil {
		b.Groups = append(b.Groups, *e.Group)
	}
	if e.Ad != nil {
		b.Ads = append(b.Ads, *e.Ad)
	}
	return b
}

// ItemResult is what became of one switch. State is how the thing and what is below it stand afterwards, as far as the
// network said: empty if that could not be read any more. Err is nil unless it failed, and one of this package's errors
// then.
type ItemResult struct {
	Ref     Ref
	State   store.AdBatch
	Updated int // ads below whose delivery changed
	Skipped int // ads below whose delivery did not
	Reasons []string
	Message string // for people, where the network did it in another way than by a switch of this level
	Err     error
}

// Deleted is what was cancelled along with a campaign.
type Deleted struct {
	AdGroups int
	Ads      int
}

// Report is what a network says about one thing: its figures in some days, and how it stands now. A state that the
// network does not tell is empty, and left as it is in the mirror.
type Report struct {
	Metrics         store.AdMetrics
	Status          store.AdStatus
	Configured      store.AdConfigured
	Review          store.AdReview
	PlatformStatus  string
	RejectionReason string
	BudgetSpent     bool      // the lifetime budget is used up
	SyncedAt        core.Time // as of when the figures are
}

// AudiencePlan is an audience to create. Its JSON is kept in the action.
type AudiencePlan struct {
	Token         string             `json:"token"` // adact_: unique, to be left at the network
	AdAccount     store.AdAccount    `json:"ad_account"`
	Name          string             `json:"name"`
	Description   string             `json:"description,omitempty"`
	Type          store.AudienceType `json:"type"`
	PixelID       string             `json:"pixel_id,omitempty"`       // of retargeting
	RetentionDays int                `json:"retention_days,omitempty"` // of retargeting
	SourceID      string             `json:"source_id,omitempty"`      // platform id, of a lookalike
	Country       string             `json:"country,omitempty"`        // two letters, of a lookalike
	Ratio         store.AdRatio      `json:"ratio,omitempty"`          // of a lookalike
}

// Upload is people to add to a customer list.
type Upload struct {
	Token    string // adact_
	Audience store.AdAudience
	Members  []store.AdMember // at most 20,000
}

// Uploaded is what a network says about an upload. Audience is how the list stands afterwards.
type Uploaded struct {
	Audience store.AdAudience
	Accepted int
	Invalid  []InvalidMember
}

// InvalidMember is an identifier that a network did not take, by its place in Upload.Members.
type InvalidMember struct {
	Place   int
	Message string
}
