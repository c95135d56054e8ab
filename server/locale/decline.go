package locale

import "cmp"

// declines are the reasons for which a card was refused that are said as another one is.
var declines = map[string]string{
	"generic_decline": "card_declined", "do_not_honor": "card_declined", "lost_card": "card_declined", "stolen_card": "card_declined", "pickup_card": "card_declined",
	"restricted_card": "card_declined", "fraudulent": "card_declined", "call_issuer": "card_declined", "not_permitted": "card_declined", "transaction_not_allowed": "card_declined",
	"withdrawal_count_limit_exceeded": "insufficient_funds", "card_velocity_exceeded": "insufficient_funds", "try_again_later": "processing_error", "issuer_not_available": "processing_error",
	"invalid_cvc": "incorrect_cvc", "invalid_expiry_month": "invalid_expiry", "invalid_expiry_year": "invalid_expiry", "invalid_number": "incorrect_number",
	"payment_intent_authentication_failure": "authentication_required", "setup_intent_authentication_failure": "authentication_required",
}

// Decline says why a card was refused, and what to do. It is false if no message is of that reason.
func (l *Locale) Decline(reason string) (string, bool) {
	key := "decline." + cmp.Or(declines[reason], reason)
	return l.T(key), reason != "" && l.Has(key)
}

// Declined says why a card was refused, by the first of the reasons that a message is of. What no message is of is said in the provider's words to those
// who read English.
func (l *Locale) Declined(providersWords string, reasons ...string) string {
	for _, reason := range reasons {
		if said, known := l.Decline(reason); known {
			return said
		}
	}
	if l.Tag == English.Tag && providersWords != "" {
		return providersWords
	}
	return l.T("decline.card_declined")
}
