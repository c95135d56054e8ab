package advert

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/tillwright/tillwright/store/core"
)

// Ad mirrors an ad of a network. It has no budget, bid or schedule of its own: those are its ad group's and its
// campaign's. A driver fills in the fields from PlatformID to PlatformCreatedAt; the store fills in the rest. An empty
// text means that the ad has no such thing.
type Ad struct {
	AccountID         string              `db:"account_id"`
	ID                string              `db:"id"` // of the row, time-ordered; never shown
	ChannelID         string              `db:"channel_id"`
	Platform          Platform            `db:"platform"`
	AdAccountID       string              `db:"ad_account_id"` // platform id
	PlatformID        string              `db:"platform_id"`
	CampaignID        string              `db:"campaign_id"` // platform id
	AdGroupID         string              `db:"ad_group_id"` // platform id
	Name              string              `db:"name"`
	ConfiguredStatus  Configured          `db:"configured_status"`
	Status            Status              `db:"status"` // as last heard of; StatusAt is what holds now
	ReviewStatus      Review              `db:"review_status"`
	PlatformStatus    string              `db:"platform_status"` // the network's word
	RejectionReason   string              `db:"rejection_reason"`
	Type              Type                `db:"ad_type"`
	PlatformPostID    string              `db:"platform_post_id"`
	Creative          core.JSON[Creative] `db:"creative"`
	PlatformCreatedAt *core.Time          `db:"platform_created_at"`
	Goal              Goal                `db:"goal"`    // as asked for; else the ad group's or the campaign's
	PostID            string              `db:"post_id"` // spost_
	Extra             Object              `db:"extra"`   // what the caller sent besides; never sent to a network
	Source            Source              `db:"source"`
	EndsAt            *core.Time          `db:"ends_at"`   // of its ad group or its campaign, whichever is first; kept by the store
	SyncedAt          core.Time           `db:"synced_at"` // when the network was last heard about it
	DeletedAt         *core.Time          `db:"deleted_at"`
	CreatedAt         core.Time           `db:"created_at"`
	UpdatedAt         core.Time           `db:"updated_at"`

	AdAccount *Account  `db:"-"` // set by every read
	Campaign  *Campaign `db:"-"` // set by every read, unless the network has not told of it
	Group     *Group    `db:"-"` // set by every read, unless the network has not told of it
}

func (a *Ad) key() entityKey  { return entityKey{a.Platform, a.PlatformID} }
func (a *Ad) channel() string { return a.ChannelID }

// Creative is what an ad shows: an image, or a video, or cards.
type Creative struct {
	Headline     string `json:"headline,omitempty"`
	Body         string `json:"body,omitempty"`
	Description  string `json:"description,omitempty"`
	CallToAction string `json:"call_to_action,omitempty"`
	LinkURL      string `json:"link_url,omitempty"`
	ImageURL     string `json:"image_url,omitempty"`
	VideoURL     string `json:"video_url,omitempty"`
	ThumbnailURL string `json:"thumbnail_url,omitempty"` // of the video; "" = the network takes one of its frames
	Cards        []Card `json:"cards,omitempty"`
}

// Card is one of the images or videos that people leaf through.
type Card struct {
	ImageURL    string `json:"image_url,omitempty"`
	VideoURL    string `json:"video_url,omitempty"`
	Headline    string `json:"headline,omitempty"`
	Description string `json:"description,omitempty"`
	LinkURL     string `json:"link_url,omitempty"` // "" = the creative's
}

// IsZero reports whether nothing is known of what the ad shows.
func (c *Creative) IsZero() bool { return reflect.ValueOf(*c).IsZero() }

// isLink reports whether a creative says no more than where it leads.
func (c *Creative) isLink() bool {
	link := Creative{LinkURL: c.LinkURL, CallToAction: c.CallToAction}
	return !c.IsZero() && reflect.DeepEqual(*c, link)
}

// Videos returns the addresses of the videos, each once.
func (c *Creative) Videos() []string {
	var addresses []string
	add := func(address string) {
		if address != "" && !slices.Contains(addresses, address) {
			addresses = append(addresses, address)
		}
	}
	add(c.VideoURL)
	for _, card := range c.Cards {
		add(card.VideoURL)
	}
	return addresses
}

// StatusAt returns the state of delivery: past the end of its ad group or campaign it is completed, whatever the
// network says.
func (a *Ad) StatusAt(now core.Time) Status { return statusAt(a.Status, a.EndsAt, now) }

// Batch is a set of campaigns, ad groups and ads of one ad account. It is one step of a walk through all that its network has, or what a write made
// or changed there.
type Batch struct {
	Campaigns []Campaign
	Groups    []Group
	Ads       []Ad
}

var (
	adRows = hierarchy[Ad]("ads")
	// linkRows mirrors ads of whose creative the network tells no more than where it leads. One that was made through this service shows what it was
	// told to show.
	linkRows = linkMirror()
)

func linkMirror() *mirror[Ad] {
	m := hierarchy[Ad]("ads")
	m.takes["creative"] = `CASE t.source WHEN 'native' THEN t.creative ELSE excluded.creative END`
	return m
}

// ListAds holds the filters of a list of ads. An empty one does not filter.
type ListAds struct {
	Page
	Channel     string // sacct_
	AdAccountID string
	Platform    Platform
	Statuses    []Status
	CampaignID  string
	Source      Source
}

// ListAds returns a page of the ads of activated channels, newest first, as ListCampaigns does.
func (s *Store) ListAds(ctx context.Context, account string, in ListAds) (*List[Ad], error) {
	f, filters, err := s.filter(ctx, account, in.Channel, in.AdAccountID, in.Platform, in.Source)
	if err != nil {
		return nil, err
	}
	f.OrderedIfSet("campaign_id", in.CampaignID)
	whereStatusIn(f, in.Statuses, `ends_at <= ?`, s.Now())
	filters = append(append(filters, in.CampaignID), statusWords(in.Statuses)...)
	list, err := listPage(ctx, s, adRows.Columns, account, in.Page, f, filters...)
	if err != nil {
		return nil, err
	}
	return list, s.fillAds(ctx, account, pointers(list.Items))
}

// GetAd returns an ad by platform id, as GetCampaign does.
func (s *Store) GetAd(ctx context.Context, account string, platform Platform, id string) (*Ad, error) {
	a, err := findEntity(ctx, s, adRows, "ad", account, platform, id)
	if err != nil {
		return nil, err
	}
	return a, s.fillAds(ctx, account, []*Ad{a})
}

// fillAds sets the fields of ads that are not columns: the ad group, its campaign and its ad account. Where the mirror
// does not have the ad group or the campaign, they stay nil.
func (s *Store) fillAds(ctx context.Context, account string, ads []*Ad) error {
	var parents []string
	for _, a := range ads {
		parents = append(parents, a.AdGroupID)
	}
	groups, err := entitiesByID(ctx, s.db, s, groupRows, account, parents)
	if err != nil {
		return err
	}
	if err := s.fillGroups(ctx, account, slices.Collect(maps.Values(groups))); err != nil {
		return err
	}
	for _, a := range ads {
		if a.Group = groups[entityKey{a.Platform, a.AdGroupID}]; a.Group != nil {
			a.Campaign, a.AdAccount = a.Group.Campaign, a.Group.AdAccount
		}
	}
	return fillAccounts(ctx, s, account, ads, func(a *Ad) (accountKey, **Account) { return accountKey{a.ChannelID, a.AdAccountID}, &a.AdAccount })
}
