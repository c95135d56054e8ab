// Package ads lets an account run ads at many ad networks in the same way. It says what each network can do, has the use
// cases, and checks the guardrails before anything is spent. The driver of each network is in a folder of its own; this
// package knows none of them.
package ads

import (
	"context"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Network speaks to one ad network; a value serves one platform. It is safe for concurrent use, takes and returns the
// types of package advert, and fails with the errors of this package. In the rows that it returns it sets the fields that
// their type says a driver fills in.
//
// Every call ends by itself within a bounded time. A read is tried again after a fault. A write is sent only once, and
// fails with ErrIndeterminate if nobody knows whether it took place.
type Network interface {
	// Caps returns what the network can do. It is constant.
	Caps() Caps

	// AdAccounts returns every ad account that the channel sees, disabled ones too.
	AdAccounts(context.Context, Conn) ([]advert.Account, error)
	// BusinessCenters returns all business centers that the channel sees. A network that has none fails with
	// ErrUnsupported.
	BusinessCenters(context.Context, Conn) ([]advert.BusinessCenter, error)
	// Posts returns the posts of the channel that may be boosted now or later, so drafts too.
	Posts(context.Context, Conn) ([]advert.SocialPost, error)

	// Sync returns one part of what an ad account holds, whoever made it, and the cursor of the next part. The walk
	// begins with the cursor "" and ends when "" is returned. What a whole walk did not mention has been deleted.
	Sync(ctx context.Context, c Conn, adAccount, cursor string) (advert.Batch, string, error)
	// Report returns the figures and the state of things of one level, by platform id. It asks for all of them in one
	// call or a few. The days are those of the ad account, and `to` is included. What the network does not know any more
	// is not in the map.
	Report(ctx context.Context, c Conn, adAccount string, level advert.Level, ids []string, from, to Date) (map[string]Report, error)

	// Create makes what the plan says. If it fails, it removes what it has made on the way. If that fails too, or the
	// network does not answer, the error is ErrIndeterminate. Plan.Token is left at the network, so that Find can find
	// it.
	Create(context.Context, Conn, Plan) (Created, error)
	// Find returns what Create or CreateAudience made for a token. False proves that nothing whole was made with it and
	// nothing will be; only then may the token be used again.
	Find(ctx context.Context, c Conn, adAccount, token string) (Created, bool, error)
	// SetStatus switches things of one ad account on or off and returns a result for each reference, in their order. It
	// may be repeated. An error is about the request as a whole, such as *RateLimited before anything was changed.
	SetStatus(context.Context, Conn, []Ref, advert.Configured) ([]ItemResult, error)
	// Update changes what the patch names and returns the campaign or ad group as it is afterwards. It may be repeated.
	Update(context.Context, Conn, Ref, Patch) (Entity, error)
	// Delete cancels a campaign for good, with all that is in it. If it is gone already, the error is ErrNotFound.
	Delete(context.Context, Conn, Ref) (Deleted, error)

	// CreateAudience makes an audience. PlatformID stays nil if the network makes one only with its first upload.
	CreateAudience(context.Context, Conn, AudiencePlan) (advert.Audience, error)
	// Audience returns an audience by platform id, or ErrNotFound.
	Audience(ctx context.Context, c Conn, adAccount, id string) (advert.Audience, error)
	// Audiences returns all audiences of an ad account, whoever made them.
	Audiences(ctx context.Context, c Conn, adAccount string) ([]advert.Audience, error)
	// DeleteAudience deletes an audience for good. If it is gone already, the error is ErrNotFound.
	DeleteAudience(ctx context.Context, c Conn, adAccount, id string) error
	// UploadUsers adds people to a customer list. Adding them once more changes nothing, so it may be repeated.
	UploadUsers(context.Context, Conn, Upload) (Uploaded, error)
}

// Conn is what a driver has to know of a channel to speak to its network.
type Conn struct {
	Account    string // acct_
	Channel    string // sacct_
	Platform   advert.Platform
	PlatformID string   // the network's id of the channel's profile or page; may be empty
	AdAccounts []string // platform ids that the channel is limited to; empty = all
	Token      Secret
	Now        func() time.Time // never nil
}

// Secret is a text that is never logged, printed or stored as JSON. Only Reveal returns it.
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

// Plan is an ad to create. With AdGroupID the ad joins that ad group. Without it a campaign and an ad group are created
// for it, which have the goal and the budget. The action keeps the plan as JSON, so that recovery after a crash knows
// what was asked for.
type Plan struct {
	Token     string         `json:"token"`      // adact_: unique, to be left at the network
	AdAccount advert.Account `json:"ad_account"` // with its currency and time zone
	Name      string         `json:"name"`

	CampaignID string `json:"campaign_id,omitempty"` // platform id of AdGroupID's campaign
	AdGroupID  string `json:"ad_group_id,omitempty"` // platform id

	Goal           advert.Goal        `json:"goal,omitempty"`
	BudgetLevel    advert.BudgetLevel `json:"budget_level,omitempty"`
	BudgetAmount   advert.Amount      `json:"budget_amount,omitempty"`
	BudgetType     advert.BudgetType  `json:"budget_type,omitempty"`
	StartsAt       *core.Time         `json:"starts_at,omitempty"` // nil = at once
	EndsAt         *core.Time         `json:"ends_at,omitempty"`   // the first moment after the last day; set for lifetime
	BidStrategy    advert.BidStrategy `json:"bid_strategy,omitempty"`
	BidAmount      advert.Amount      `json:"bid_amount,omitempty"`
	RoasFloor      advert.Ratio       `json:"roas_floor,omitempty"`
	Targeting      advert.Object      `json:"targeting,omitempty"`       // in the network's words; empty = the driver's default
	PromotedObject advert.Object      `json:"promoted_object,omitempty"` // in the network's words
	Configured     advert.Configured  `json:"configured"`                // of all levels that are created

	Creative advert.Creative    `json:"creative"`
	Post     *advert.SocialPost `json:"post,omitempty"` // boosted instead of a creative
}

// Created holds what Create or CreateAudience made. A field is nil if such a thing was there before or is not of this
// kind.
type Created struct {
	Campaign *advert.Campaign
	Group    *advert.Group
	Ad       *advert.Ad
	Audience *advert.Audience
}

// Batch returns the campaign, ad group and ad that were made, for the mirror.
func (c Created) Batch() advert.Batch { return Entity{c.Campaign, c.Group, c.Ad}.Batch() }

// Ref names a campaign, ad group or ad at a network. The ids of what it is in are set only where there is such a thing.
type Ref struct {
	AdAccount  string // platform id
	Level      advert.Level
	ID         string // platform id
	CampaignID string // platform id, of an ad group or ad
	AdGroupID  string // platform id, of an ad
}

// Patch says what to change. A field that is nil is left as it is.
type Patch struct {
	Token       string              `json:"token"`    // adact_
	Currency    string              `json:"currency"` // of the ad account
	Timezone    string              `json:"timezone"` // of the ad account
	Budget      *Budget             `json:"budget,omitempty"`
	EndsAt      *core.Time          `json:"ends_at,omitempty"` // the first moment after the last day
	BidStrategy *advert.BidStrategy `json:"bid_strategy,omitempty"`
	BidAmount   *advert.Amount      `json:"bid_amount,omitempty"` // 0 removes it
	RoasFloor   *advert.Ratio       `json:"roas_floor,omitempty"` // 0 removes it
}

// Budget is how much may be spent, in a day or in all.
type Budget struct {
	Amount advert.Amount     `json:"amount"`
	Type   advert.BudgetType `json:"type"`
}

// Entity holds one campaign, ad group or ad. The other fields are nil.
type Entity struct {
	Campaign *advert.Campaign
	Group    *advert.Group
	Ad       *advert.Ad
}

// Batch returns the fields that are set, for the mirror.
func (e Entity) Batch() advert.Batch {
	var b advert.Batch
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

// ItemResult is the result of switching one thing on or off. State is how the thing, and what is below it, stands
// afterwards, as far as the network said so; it is empty if that could not be read. Err is nil if it succeeded, and
// otherwise one of this package's errors.
type ItemResult struct {
	Ref     Ref
	State   advert.Batch
	Updated int // ads below whose delivery changed
	Skipped int // ads below whose delivery did not
	Reasons []string
	Message string // for people, where the network did it in another way than by a switch of this level
	Err     error
}

// Deleted says how much was cancelled along with a campaign.
type Deleted struct {
	AdGroups int
	Ads      int
}

// Report is what a network says about one thing: its figures in some days, and its state now. A part of the state that
// the network does not tell is empty, and stays as it is in the mirror.
type Report struct {
	Metrics         advert.Metrics
	Status          advert.Status
	Configured      advert.Configured
	Review          advert.Review
	PlatformStatus  string
	RejectionReason string
	BudgetSpent     bool      // the lifetime budget is used up
	SyncedAt        core.Time // as of when the figures are
}

// AudiencePlan is an audience to create. The action keeps it as JSON, so that recovery after a crash knows what was
// asked for.
type AudiencePlan struct {
	Token         string              `json:"token"` // adact_: unique, to be left at the network
	AdAccount     advert.Account      `json:"ad_account"`
	Name          string              `json:"name"`
	Description   string              `json:"description,omitempty"`
	Type          advert.AudienceType `json:"type"`
	PixelID       string              `json:"pixel_id,omitempty"`       // of retargeting
	RetentionDays int                 `json:"retention_days,omitempty"` // of retargeting
	SourceID      string              `json:"source_id,omitempty"`      // platform id, of a lookalike
	Country       string              `json:"country,omitempty"`        // two letters, of a lookalike
	Ratio         advert.Ratio        `json:"ratio,omitempty"`          // of a lookalike
}

// Upload is a list of people to add to a customer list.
type Upload struct {
	Token    string // adact_
	Audience advert.Audience
	Members  []advert.Member // at most 20,000
}

// Uploaded is what a network says about an upload. Audience is the list as it is afterwards.
type Uploaded struct {
	Audience advert.Audience
	Accepted int
	Invalid  []InvalidMember
}

// InvalidMember is an identifier that a network did not take, by its place in Upload.Members.
type InvalidMember struct {
	Place   int
	Message string
}
