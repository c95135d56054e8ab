package store

// SocialPostStatus is how far a post is.
type SocialPostStatus string

// The states of a post. Only a published one can be boosted.
const (
	SocialPostPublished SocialPostStatus = "published"
	SocialPostDraft     SocialPostStatus = "draft"
	SocialPostScheduled SocialPostStatus = "scheduled"
	SocialPostDeleted   SocialPostStatus = "deleted"
)

// SocialPost mirrors a post of a channel. A driver fills in PlatformID to PublishedAt; the rest is the store's.
type SocialPost struct {
	AccountID   string           `db:"account_id"`
	ID          string           `db:"id"` // spost_
	ChannelID   string           `db:"channel_id"`
	Platform    Platform         `db:"platform"`
	PlatformID  string           `db:"platform_id"`
	Status      SocialPostStatus `db:"status"`
	Text        string           `db:"text"`
	LinkURL     string           `db:"link_url"` // of the post itself
	MediaURL    string           `db:"media_url"`
	PublishedAt *Time            `db:"published_at"`
	CreatedAt   Time             `db:"created_at"`
	UpdatedAt   Time             `db:"updated_at"`
}
