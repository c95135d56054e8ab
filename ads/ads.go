// Package ads lets an account run ads at many ad networks in the same way. It says what each network can do, has the use
// cases, and checks the guardrails before anything is spent. The driver of each network is in a folder of its own; this
// package knows none of them.
package ads

import (
	"context"
	"log/slog"
	"maps"
	"slices"
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
	// Report returns the figures and the state of things of one level, by platform id. It asks for all of them in one call or a few. `to` is
	// included, and days that Caps.Figures does not count are left out. If that is all of them, the figures are unknown. What the network does not
	// know any more is not in the map.
	Report(ctx context.Context, c Conn, adAccount string, level advert.Level, ids []string, from, to Date) (map[string]Report, error)

	// Series returns the figures of one thing in each of some periods, of what was deleted as well. Without a breakdown every period
	// has a row, with one each value that the network knows. Values are in its own words.
	Series(ctx context.Context, c Conn, adAccount string, q SeriesQuery) ([]PeriodFigures, error)

	// Target writes whom an ad is shown to in the network's own words, to which it adds what the caller said in those words. It asks
	// nobody. What cannot be said is *Rejected.
	Target(Targeting, advert.Object) (advert.Object, error)
	// Beneficiaries returns whom the network recommends to name as who profits from the ads of an ad account. A network without such
	// a thing fails with ErrUnsupported.
	Beneficiaries(ctx context.Context, c Conn, adAccount string) ([]string, error)

	// UploadVideo brings a video to an ad account and returns the network's id of it, before the network is through with it.
	// Nothing is spent by that, so that it may be repeated.
	UploadVideo(ctx context.Context, c Conn, adAccount, address string) (string, error)
	// VideoReady reports whether an ad can show a video that was uploaded. One that never can is *Rejected.
	VideoReady(ctx context.Context, c Conn, adAccount, id string) (bool, error)

	// Create makes what the plan says, all of its ads or none. If it fails, it removes what it has made on the way. If that fails too, or the
	// network does not answer, the error is ErrIndeterminate. Plan.Token is left at the network, so that Find can find
	// it.
	Create(context.Context, Conn, Plan) (Created, error)
	// Shows reports whether an ad shows the creative that Update has made with a token.
	Shows(ctx context.Context, c Conn, ref Ref, token string) (bool, error)
	// Find returns what Create or CreateAudience made for a token. False proves that nothing whole was made with it and
	// nothing will be; only then may the token be used again.
	Find(ctx context.Context, c Conn, adAccount, token string) (Created, bool, error)
	// TidyNames takes the tokens of a Create off the names of what it made, where Caps.Reconcile says that they stand there. It gives back what was
	// cut off a name to make room. What was renamed since keeps its new name. It may be repeated.
	TidyNames(ctx context.Context, c Conn, adAccount string, made []MadeName) error
	// SetStatus switches things of one ad account on or off and returns a result for each reference, in their order. It
	// may be repeated. An error is about the request as a whole, such as *RateLimited before anything was changed.
	SetStatus(context.Context, Conn, []Ref, advert.Configured) ([]ItemResult, error)
	// Update changes what the patch names and returns the campaign, ad group or ad as it is afterwards. It may be repeated.
	Update(context.Context, Conn, Ref, Patch) (Entity, error)
	// Delete cancels a campaign for good, with all that is in it, or an ad. If it is gone already, the error is ErrNotFound.
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
	// RemoveUsers takes people out of a customer list and returns it as it is afterwards. To take away whoever is not in it
	// changes nothing, so it may be repeated.
	RemoveUsers(context.Context, Conn, Upload) (advert.Audience, error)

	// SearchTargeting returns what a targeting can name, what the network holds to be nearest first. The type of the search
	// is one of Caps.SearchTypes.
	SearchTargeting(context.Context, Conn, Search) ([]TargetingOption, error)
	// Reach returns how many people a targeting reaches. A network that makes no such guesses fails with ErrUnsupported.
	Reach(context.Context, Conn, ReachQuery) (Reach, error)

	// Pixels returns the pixels of an ad account. A network without any fails with ErrUnsupported, as does SendConversions.
	Pixels(ctx context.Context, c Conn, adAccount string) ([]Pixel, error)
	// SendConversions tells a pixel what happened, and returns for each event, in their order, nil or why the network does not take it (*Rejected).
	// Any other error of an event says that the driver did not come to it, and that it may be sent again. An error is about all of them. With
	// ErrIndeterminate nobody knows, and they may be sent again. The network counts an event with the same kind and id once for as long as
	// Caps.Conversions.Dedupe.
	SendConversions(context.Context, Conn, ConversionBatch) ([]error, error)
}

// Checker is a Network that cannot make some ads for reasons that Caps has no words for. Check asks nobody, and refuses with *Rejected what
// Create would.
type Checker interface{ Check(Plan) error }

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
	PromotedObject advert.Object      `json:"promoted_object,omitempty"` // in the network's words
	Configured     advert.Configured  `json:"configured"`                // of all levels that are created

	Targeting         Targeting     `json:"shown_to,omitzero"`               // whom it is shown to
	PlatformTargeting advert.Object `json:"targeting,omitempty"`             // all of that as Target writes it, with what the caller said in those words
	Categories        []string      `json:"special_ad_categories,omitempty"` // in the network's words
	CategoryCountries []string      `json:"special_ad_countries,omitempty"`
	DSABeneficiary    string        `json:"dsa_beneficiary,omitempty"`
	DSAPayor          string        `json:"dsa_payor,omitempty"`

	Creative  advert.Creative    `json:"creative"`
	Creatives []NamedCreative    `json:"creatives,omitempty"` // instead of Creative: several ads in the ad group
	Media     Media              `json:"-"`                   // the videos of the creatives; the action keeps them beside the plan
	Post      *advert.SocialPost `json:"post,omitempty"`      // boosted instead of a creative
}

// Created holds what Create or CreateAudience made. A field is nil if such a thing was there before or is not of this
// kind.
type Created struct {
	Campaign *advert.Campaign
	Group    *advert.Group
	Ad       *advert.Ad
	More     map[string]*advert.Ad // the ads besides the first of a plan for several, by their tokens
	Audience *advert.Audience
}

// Batch returns the campaign, ad group and ads that were made, for the mirror.
func (c Created) Batch() advert.Batch {
	b := Entity{c.Campaign, c.Group, c.Ad}.Batch()
	for _, token := range slices.Sorted(maps.Keys(c.More)) {
		b.Ads = append(b.Ads, *c.More[token])
	}
	return b
}

// MadeName is the name that a plan gave a campaign, ad group or ad, and the token that stands behind it at the network.
type MadeName struct {
	Level advert.Level
	ID    string // platform id
	Name  string
	Token string
}

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

	Name       *string            `json:"name,omitempty"`              // of an ad
	Configured *advert.Configured `json:"configured_status,omitempty"` // of an ad
	Creative   *advert.Creative   `json:"creative,omitempty"`          // of an ad: all of what it shows
	Media      Media              `json:"-"`                           // the videos of the creative

	Targeting         *Targeting    `json:"shown_to,omitempty"`  // of an ad group; it replaces the whole of it
	PlatformTargeting advert.Object `json:"targeting,omitempty"` // goes with Targeting, as in a Plan
	DSABeneficiary    string        `json:"dsa_beneficiary,omitempty"`
	DSAPayor          string        `json:"dsa_payor,omitempty"`
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
// afterwards, as far as the network said so. It is empty if that could not be read. Err is nil if it succeeded, and
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

// Upload is a list of people to add to a customer list, or to take out of it.
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
