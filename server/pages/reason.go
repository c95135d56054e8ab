package pages

import (
	"cmp"
	"strings"
	"time"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// reasons are the messages for what a refusal says of a field and why, and for what it says of the field whatever the reason.
var reasons = map[string]string{
	"billing_address.tax": "error.country.tax", "customer_email.unconfirmed": "error.email.unconfirmed",
	"discount.unconfirmed": "error.discount_code.unconfirmed", "discount_code.unconfirmed": "error.discount_code.unconfirmed", "discount_code.unknown": "error.discount_code.unknown",
	"line_items": "error.sold_out", "line_items.changed": "error.total_changed", "terms_accepted": "error.accept",
}

// elsewhere are the messages for fields of which the API's words, in English, say more.
var elsewhere = map[string]string{"customer_email": "error.email", "discount_code": "error.discount_code"}

// declines are the reasons for which a card was refused that are said as another one is.
var declines = map[string]string{
	"generic_decline": "card_declined", "do_not_honor": "card_declined", "lost_card": "card_declined", "stolen_card": "card_declined", "pickup_card": "card_declined",
	"restricted_card": "card_declined", "fraudulent": "card_declined", "call_issuer": "card_declined", "not_permitted": "card_declined", "transaction_not_allowed": "card_declined",
	"withdrawal_count_limit_exceeded": "insufficient_funds", "card_velocity_exceeded": "insufficient_funds", "try_again_later": "processing_error", "issuer_not_available": "processing_error",
	"invalid_cvc": "incorrect_cvc", "invalid_expiry_month": "invalid_expiry", "invalid_expiry_year": "invalid_expiry", "invalid_number": "incorrect_number",
	"payment_intent_authentication_failure": "authentication_required", "setup_intent_authentication_failure": "authentication_required",
}

// explain says to the reader of a page what is wrong with a field that was refused. A refusal names the field as the API does.
func explain(l *locale.Locale, refused *core.Error, field string) string {
	said := refused.Message
	if messages := refused.Fields[field]; len(messages) > 0 {
		said = messages[0]
	}
	if text, known := explained(l, refused, field); known {
		return text
	}
	if key := reasons[field]; key != "" {
		return l.T(key)
	}
	if strings.HasPrefix(field, "custom_field_data.") {
		return l.T("error.answer")
	}
	if l.Tag == locale.English.Tag {
		return said
	}
	if refused.Outcome == core.Recorded && field == "payment_method" {
		return l.T("decline.card_declined")
	}
	return l.T(cmp.Or(elsewhere[field], "error.refused"))
}

// explained says why a field was refused if a message is of that reason, and reports whether one is.
func explained(l *locale.Locale, refused *core.Error, field string) (string, bool) {
	if key := reasons[field+"."+refused.Reason]; key != "" {
		return l.T(key), true
	}
	text, known := decline(l, refused.Reason)
	return text, known && field == "payment_method"
}

// decline says why a card was refused, and what to do. It is false if no message is of that reason.
func decline(l *locale.Locale, reason string) (string, bool) {
	key := "decline." + cmp.Or(declines[reason], reason)
	return l.T(key), reason != "" && l.Has(key)
}

// declined says to its buyer why a payment failed. What no message is of is said as the provider does to those who read English.
func declined(l *locale.Locale, why *store.PaymentFailure) string {
	for _, reason := range []string{why.Reason(), why.Code} {
		if said, known := decline(l, reason); known {
			return said
		}
	}
	if l.Tag == locale.English.Tag && why.Message != "" {
		return why.Message
	}
	return l.T("decline.card_declined")
}

// tooMany says how long to wait. English says why as well.
func tooMany(l *locale.Locale, refused *core.Error) string {
	if l.Tag == locale.English.Tag {
		return refused.Message
	}
	return l.T("error.too_many", "wait", wait(l, refused.After))
}

// wait writes a time as people say it: seconds up to 90, then whole minutes, rounded up.
func wait(l *locale.Locale, after time.Duration) string {
	if after <= 90*time.Second {
		return l.T("wait.seconds", "count", max(int64((after+time.Second-1)/time.Second), 1))
	}
	return l.T("wait.minutes", "count", int64((after+time.Minute-1)/time.Minute))
}
