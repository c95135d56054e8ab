package store

// AudienceType says how an audience is made.
type AudienceType string

// The types of audience.
const (
	AudienceTypeCustomerList AudienceType = "customer_list"
	AudienceTypeRetargeting  AudienceType = "retargeting"
	AudienceTypeLookalike    AudienceType = "lookalike"
)

// AudienceStatus is how far an audience is.
type AudienceStatus string

// The states of an audience.
const (
	AudienceStatusPending    AudienceStatus = "pending" // the network has nothing of it yet
	AudienceStatusProcessing AudienceStatus = "processing"
	AudienceStatusReady      AudienceStatus = "ready"
	AudienceStatusTooSmall   AudienceStatus = "too_small"
	AudienceStatusError      AudienceStatus = "error"
)

// AdAudience is a group of people that ads can be shown to. A driver fills in PlatformID to PlatformCreatedAt; the rest
// is the store's.
type AdAudience struct {
	AccountID         string         `db:"account_id"`
	ID                string         `db:"id"` // aud_
	ChannelID         string         `db:"channel_id"`
	Platform          Platform       `db:"platform"`
	AdAccountID       string         `db:"ad_account_id"` // platform id
	PlatformID        *string        `db:"platform_id"`   // nil while the network makes it only with the first upload
	Name              string         `db:"name"`
	Description       string         `db:"description"`
	Type              AudienceType   `db:"type"`
	Size              *int64         `db:"size"` // nil = unknown
	Status            AudienceStatus `db:"status"`
	PlatformStatus    string         `db:"platform_status"` // the network's word
	RetentionDays     int            `db:"retention_days"`  // 0 = none
	PixelID           string         `db:"pixel_id"`        // of retargeting
	Country           string         `db:"country"`         // of a lookalike, two letters
	Ratio             AdRatio        `db:"ratio"`           // of a lookalike
	PlatformCreatedAt *Time          `db:"platform_created_at"`
	SourceAudienceID  string         `db:"source_audience_id"` // aud_, of a lookalike
	Source            AdSource       `db:"source"`
	DeletedAt         *Time          `db:"deleted_at"`
	CreatedAt         Time           `db:"created_at"`
	UpdatedAt         Time           `db:"updated_at"`
}

// AdIdentifier is a kind of hash that people are known by to a network.
type AdIdentifier string

// The kinds of identifier.
const (
	AdIdentifierEmail AdIdentifier = "email"
	AdIdentifierPhone AdIdentifier = "phone"
)

// AdMember is one identifier of somebody in a customer list. A user who was sent with two is two members.
type AdMember struct {
	Kind  AdIdentifier `db:"kind"`
	Hash  string       `db:"hash"`       // SHA-256, 64 lower-case hex digits, of the form that the network wants
	Index int          `db:"user_index"` // of the user in the request

	// Details are hashes of what else is known of the user, such as city, for networks that match it. They are sent along
	// and not stored.
	Details map[string]string `db:"-"`
}
