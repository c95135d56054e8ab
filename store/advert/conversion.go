package advert

import "github.com/tillwright/tillwright/store/core"

// ConversionKind is what somebody did that ads are measured by.
type ConversionKind string

// The kinds of conversions.
const (
	ConversionPurchase            ConversionKind = "purchase"
	ConversionLead                ConversionKind = "lead"
	ConversionSubscriptionStarted ConversionKind = "subscription_started"
	ConversionTrialStarted        ConversionKind = "trial_started"
)

// ConversionKinds lists the kinds of conversions.
var ConversionKinds = []ConversionKind{ConversionPurchase, ConversionLead, ConversionSubscriptionStarted, ConversionTrialStarted}

// ConversionEvent is something that somebody did, as a network is told of it. With its kind, EventID makes it one event however often
// it is told.
type ConversionEvent struct {
	EventID  string           `json:"event_id"`
	Kind     ConversionKind   `json:"kind"`
	At       core.Time        `json:"at"`
	Value    Amount           `json:"value"`    // 0 = it has none
	Currency string           `json:"currency"` // lower-case; empty without a value
	Items    []ConversionItem `json:"items,omitempty"`
	Offsite  bool             `json:"offsite,omitempty"` // it did not happen on a page: no PageURL, no UserAgent
	User     ConversionUser   `json:"user"`
}

// ConversionItem is something that was bought.
type ConversionItem struct {
	ID       string `json:"id"` // prod_, or the caller's
	Quantity int    `json:"quantity"`
	Price    Amount `json:"price"` // of one
}

// ConversionUser says who did it. What identifies a person is a SHA-256 in hex of the form that the network asks for; a field that is
// not known is empty.
type ConversionUser struct {
	Email      string `json:"email,omitempty"`
	Phone      string `json:"phone,omitempty"`
	FirstName  string `json:"first_name,omitempty"`
	LastName   string `json:"last_name,omitempty"`
	City       string `json:"city,omitempty"`
	State      string `json:"state,omitempty"`
	Zip        string `json:"zip,omitempty"`
	Country    string `json:"country,omitempty"`
	ExternalID string `json:"external_id,omitempty"` // of cus_

	// Plain, because the networks ask for it so.
	ClientIP  string    `json:"client_ip,omitempty"`
	UserAgent string    `json:"user_agent,omitempty"`
	PageURL   string    `json:"page_url,omitempty"`
	ClickID   string    `json:"click_id,omitempty"` // as the network appended it to the address: fbclid, epik, ttclid, gclid
	ClickAt   core.Time `json:"click_at,omitempty"` // when we first saw it; 0 without a ClickID
}

// IsKnown reports whether anything says who it was: an identifier, a click, or a browser.
func (u ConversionUser) IsKnown() bool {
	return u.Email != "" || u.Phone != "" || u.ExternalID != "" || u.ClickID != "" || u.ClientIP != "" && u.UserAgent != ""
}

// Happening is something that happened in the shop, as commerce tells of it. Identifiers are plain: only their hashes are stored.
type Happening struct {
	Account    string
	Kind       ConversionKind
	EventID    string // of the order, the subscription or the lead
	At         core.Time
	Value      Amount
	Currency   string // lower-case
	Items      []ConversionItem
	ProductIDs []string // prod_, for destinations that are about certain products

	CustomerID                        string // cus_
	Email, Phone, FirstName, LastName string
	City, State, Zip, Country         string
	ClientIP, UserAgent, PageURL      string
	Clicks                            map[string]string // parameter of the address -> value: fbclid, epik, ttclid, gclid
	ClickAt                           core.Time

	Unconfirmed bool // of a lead: nobody is told before ReleaseConversions
}
