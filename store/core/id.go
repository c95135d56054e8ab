package core

import (
	"crypto/rand"
	"encoding/base32"
	"hash/crc32"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Kind is a type of object, by the name that its `object` field carries.
type Kind string

// The kinds that exist. A new one is a line here and a case in Prefix.
const (
	KindAccount          Kind = "account"
	KindAPIKey           Kind = "api_key"
	KindProduct          Kind = "product"
	KindPriceVariant     Kind = "price_variant"
	KindCustomer         Kind = "customer"
	KindCheckout         Kind = "checkout"
	KindLineItem         Kind = "line_item"
	KindOrder            Kind = "order"
	KindInvoice          Kind = "invoice"
	KindPayment          Kind = "payment"
	KindPaymentMethod    Kind = "payment_method"
	KindRefund           Kind = "refund"
	KindSubscription     Kind = "subscription"
	KindWebhookEndpoint  Kind = "webhook_endpoint"
	KindEvent            Kind = "event"
	KindDelivery         Kind = "webhook_delivery"
	KindBlogPost         Kind = "blog_post"
	KindLegalPage        Kind = "legal_page"
	KindExperience       Kind = "experience"
	KindAISite           Kind = "ai_site"
	KindAISiteVersion    Kind = "ai_site_version"
	KindSocialAccount    Kind = "social_account"
	KindSocialPost       Kind = "social_post"
	KindAudience         Kind = "audience"
	KindSocialConnection Kind = "social_connection"
	KindAdAction         Kind = "ad_action"

	KindConversionDestination Kind = "conversion_destination"
	KindConversion            Kind = "conversion"

	KindCheckoutLink       Kind = "checkout_link"
	KindDiscount           Kind = "discount"
	KindDiscountRedemption Kind = "discount_redemption"
	KindPortalSession      Kind = "portal_session"
	KindGrant              Kind = "grant"
	KindLead               Kind = "lead"
	KindLetter             Kind = "letter"
	KindProductNews        Kind = "product_news"
	KindBalanceTransaction Kind = "balance_transaction"
	KindTrial              Kind = "trial"

	KindLicenseKey        Kind = "license_key"
	KindLicenseActivation Kind = "license_activation"
	KindLicenseSigningKey Kind = "license_signing_key"
	KindFile              Kind = "file"
	KindFileVersion       Kind = "file_version"

	KindActivity Kind = "activity"
	KindPerson   Kind = "person"
	KindRequest  Kind = "request"
)

// Prefix returns the prefix of the kind's ids, underscore included.
func (k Kind) Prefix() string {
	switch k {
	case KindAccount:
		return "acct_"
	case KindAPIKey:
		return "key_"
	case KindProduct:
		return "prod_"
	case KindPriceVariant:
		return "price_"
	case KindCustomer:
		return "cus_"
	case KindCheckout:
		return "chk_"
	case KindLineItem:
		return "li_"
	case KindOrder:
		return "order_"
	case KindInvoice:
		return "inv_"
	case KindPayment:
		return "pay_"
	case KindPaymentMethod:
		return "pm_"
	case KindRefund:
		return "re_"
	case KindSubscription:
		return "sub_"
	case KindWebhookEndpoint:
		return "we_"
	case KindEvent:
		return "whev_"
	case KindDelivery:
		return "whd_"
	case KindBlogPost:
		return "post_"
	case KindLegalPage:
		return "legal_"
	case KindExperience:
		return "exp_"
	case KindAISite:
		return "site_"
	case KindAISiteVersion:
		return "sitever_"
	case KindSocialAccount:
		return "sacct_"
	case KindSocialPost:
		return "spost_"
	case KindSocialConnection:
		return "sconn_"
	case KindAudience:
		return "aud_"
	case KindAdAction:
		return "adact_"
	case KindConversionDestination:
		return "cdest_"
	case KindConversion:
		return "conv_"
	case KindCheckoutLink:
		return "clink_"
	case KindDiscount:
		return "disc_"
	case KindDiscountRedemption:
		return "redm_"
	case KindPortalSession:
		return "psess_"
	case KindGrant:
		return "grant_"
	case KindLead:
		return "lead_"
	case KindTrial:
		return "trial_"
	case KindBalanceTransaction:
		return "bal_"
	case KindLetter:
		return "letter_"
	case KindProductNews:
		return "pnw_"
	case KindLicenseKey:
		return "lic_"
	case KindLicenseActivation:
		return "lact_"
	case KindLicenseSigningKey:
		return "lsk_"
	case KindFile:
		return "file_"
	case KindFileVersion:
		return "fver_"
	case KindActivity:
		return "log_"
	case KindPerson:
		return "pers_"
	case KindRequest:
		return "req_"
	}
	panic("store: kind without a prefix: " + string(k))
}

// customerAlias is another prefix of a customer's id. It is accepted wherever cus_ is, and never sent.
const customerAlias = "cust_"

// IDAlphabet is Crockford's base32 in lower case, the alphabet of a ULID.
const IDAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// IDLength is the length of an id after its prefix.
const IDLength = 26

// idSource keeps the time of the last id in milliseconds, so that ids do not descend when the clock is set back.
var idSource = struct {
	sync.Mutex
	entropy *ulid.MonotonicEntropy
	millis  uint64
}{entropy: ulid.Monotonic(rand.Reader, 0)}

// NewID returns a new id. The ids of one process ascend strictly; those of several processes ascend by the millisecond.
func NewID(k Kind) string { return k.Prefix() + NewULID() }

// NewULID returns a new id without a prefix.
func NewULID() string {
	idSource.Lock()
	defer idSource.Unlock()
	idSource.millis = max(idSource.millis, ulid.Timestamp(time.Now()))
	id := ulid.MustNew(idSource.millis, idSource.entropy)
	return strings.ToLower(id.String())
}

// IDTime returns the moment at which an id was made, to the millisecond. It panics for a text that is no id.
func IDTime(id string) Time {
	_, random, _ := strings.Cut(id, "_")
	return TimeOf(ulid.Time(ulid.MustParse(strings.ToUpper(random)).Time()))
}

// IDsBefore returns a text that divides the ids of a kind by their age, to be compared with them in SQL. It is greater than every id that was made
// before t, and less than every other.
func IDsBefore(k Kind, t Time) string {
	const perMilli = int64(time.Millisecond / time.Microsecond)
	millis := uint64(min(max((int64(t)+perMilli-1)/perMilli, 0), int64(ulid.MaxTime())))
	var id ulid.ULID
	if err := id.SetTime(millis); err != nil {
		panic(err) // it is at most the greatest
	}
	return k.Prefix() + strings.ToLower(id.String()[:10])
}

// ParseID returns the canonical form of an id of the kind. It returns false if s is not one.
func ParseID(k Kind, s string) (string, bool) {
	prefix := k.Prefix()
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok && k == KindCustomer {
		rest, ok = strings.CutPrefix(s, customerAlias)
	}
	if !ok || len(rest) != IDLength || rest[0] > '7' {
		return "", false
	}
	for i := range len(rest) {
		if strings.IndexByte(IDAlphabet, rest[i]) < 0 {
			return "", false
		}
	}
	return prefix + rest, true
}

// TokenEncoding writes bytes as lower-case letters and digits. Tokens consist of nothing else, so that a double click selects
// the whole of one.
var TokenEncoding = base32.NewEncoding(IDAlphabet).WithPadding(base32.NoPadding)

const (
	tokenPrefix = "sk_"
	tokenSecret = 52 // characters of 32 random bytes
	tokenCheck  = 7  // characters of a CRC-32
)

// NewToken returns a new API token: sk_, a public id, 256 random bits and a checksum.
func NewToken() string {
	var secret [32]byte
	if _, err := rand.Read(secret[:]); err != nil {
		panic(err) // crypto/rand does not fail on a supported system
	}
	body := NewULID() + TokenEncoding.EncodeToString(secret[:])
	return tokenPrefix + body + tokenChecksum(body)
}

// WellFormedToken reports whether s has the form of a token and the right checksum. A mistyped token is refused by that without
// a query.
func WellFormedToken(s string) bool {
	body, ok := strings.CutPrefix(s, tokenPrefix)
	if !ok || len(body) != IDLength+tokenSecret+tokenCheck {
		return false
	}
	body, check := body[:IDLength+tokenSecret], body[IDLength+tokenSecret:]
	return check == tokenChecksum(body)
}

// tokenChecksum returns the CRC-32 of a token's body as text.
func tokenChecksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	return TokenEncoding.EncodeToString([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}
