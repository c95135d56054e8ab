package pages

import (
	"cmp"
	"strings"
	"time"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

// reasons are the messages for what a refusal says of a field and why, and for what it says of the field whatever the reason.
var reasons = map[string]string{
	"billing_address.tax": "error.country.tax", "customer_email.unconfirmed": "error.email.unconfirmed",
	"discount.unconfirmed": "error.discount_code.unconfirmed", "discount_code.unconfirmed": "error.discount_code.unconfirmed", "discount_code.unknown": "error.discount_code.unknown",
	"payment_method.late": "error.card.late", "payment_method.many": "error.card.many", "payment_method.none": "error.card.none", "payment_method.pays": "error.card.pays", "payment_method.pays_last": "error.card.pays_last",
	"shown.less": "plan.amount_changed", "status.changing": "error.subscription.changing", "status.charging": "error.subscription.charging", "status.ended": "error.subscription.ended",
	"status.no_change": "error.subscription.no_change", "status.no_pause": "subscription.no_pause", "status.not_canceled": "error.subscription.not_canceled", "status.others_change": "error.subscription.no_keep", "status.others_pause": "subscription.no_resume", "status.put_off": "error.put_off",
	"line_items": "error.sold_out", "line_items.changed": "error.total_changed", "line_items.large": "error.quantity.fewer", "line_items.stock": "error.stock.held", "terms_accepted": "error.accept", "terms_accepted.changed": "error.accept.changed", "withdrawal_waived": "error.waive",
}

// elsewhere are the messages for fields of which the API's words, in English, say more.
var elsewhere = map[string]string{"customer_email": "error.email", "discount_code": "error.discount_code"}

// wrongEmail says what is wrong with an address that the reader of a page typed. Unlike is the key of what is said of one that does not even look
// like an address. Of no fault it says nothing.
func wrongEmail(l *locale.Locale, fault core.EmailFault, unlike string) string {
	switch fault {
	case "":
		return ""
	case core.EmailUnlike:
		return l.T(unlike)
	}
	return l.T("error.email." + string(fault))
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
		return l.T(key, refused.Named...), true
	}
	text, known := l.Decline(refused.Reason)
	return text, known && field == "payment_method"
}

// declined says to its buyer why a payment failed.
func declined(l *locale.Locale, why *payment.Failure) string {
	return l.Declined(why.Message, why.Reason(), why.Code)
}

// tooMany says how long to wait. English says why as well.
func tooMany(l *locale.Locale, refused *core.Error) string {
	if l.Tag == locale.English.Tag {
		return refused.Message
	}
	return l.T("error.too_many", "wait", wait(l, refused.After))
}

// wait writes a time as people say it, as throttle.Spoken does: seconds up to 90, then minutes up to 90, then hours, rounded up.
func wait(l *locale.Locale, after time.Duration) string {
	whole := func(unit time.Duration) int64 { return max(int64((after+unit-1)/unit), 1) }
	switch {
	case after > 90*time.Minute:
		return l.T("wait.hours", "count", whole(time.Hour))
	case after > 90*time.Second:
		return l.T("wait.minutes", "count", whole(time.Minute))
	}
	return l.T("wait.seconds", "count", whole(time.Second))
}
