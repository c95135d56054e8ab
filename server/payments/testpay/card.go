package testpay

import (
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/testbank"
)

// behaviour is what happens to the charges and refunds of a test card.
type behaviour struct {
	decline string                // the decline code; empty: the charge goes through
	spares  spares                // which charges go through all the same; nil: none
	action  bool                  // the buyer has to authenticate, if they are there
	refund  payments.RefundStatus // what a pending refund becomes after a while; empty: it succeeds at once
}

// spares reports whether a charge goes through although its card declines, given what the card was charged before.
type spares func(c testbank.Charge, before testbank.History) bool

// untilRenewed lets the first charge of a saved method through.
func untilRenewed(_ testbank.Charge, before testbank.History) bool { return before.Charges == 0 }

// fromThird lets every charge through whose buyer is there. Of the others, it lets through the third and all later ones.
func fromThird(c testbank.Charge, before testbank.History) bool {
	return !c.OffSession || before.OffSession >= 2
}

// testCard is a card number that anybody may use, and the token that stands for it.
type testCard struct {
	number string // empty: there is a token only
	token  string
	brand  string
	behaviour
}

// testCards are the cards that are taken. Their numbers are those that developers know from other providers, so that habits
// work.
var testCards = []testCard{
	{"4242424242424242", "pm_card_visa", "visa", behaviour{}},
	{"5555555555554444", "pm_card_mastercard", "mastercard", behaviour{}},
	{"378282246310005", "pm_card_amex", "amex", behaviour{}},
	{"6011111111111117", "pm_card_discover", "discover", behaviour{}},
	{"4000000000000002", "pm_card_chargeDeclined", "visa", behaviour{decline: "generic_decline"}},
	{"4000000000009995", "pm_card_chargeDeclinedInsufficientFunds", "visa", behaviour{decline: "insufficient_funds"}},
	{"4000000000009987", "pm_card_chargeDeclinedLostCard", "visa", behaviour{decline: "lost_card"}},
	{"4000000000000069", "pm_card_chargeDeclinedExpiredCard", "visa", behaviour{decline: "expired_card"}},
	{"4000000000000127", "pm_card_chargeDeclinedIncorrectCvc", "visa", behaviour{decline: "incorrect_cvc"}},
	{"4000000000000119", "pm_card_chargeDeclinedProcessingError", "visa", behaviour{decline: "processing_error"}},
	{"4000000000000341", "pm_card_chargeCustomerFail", "visa", behaviour{decline: "generic_decline"}},
	{"4000002500003155", "pm_card_authenticationRequired", "visa", behaviour{action: true}},
	{"4000000000005126", "pm_card_refundFail", "visa", behaviour{refund: payments.RefundFailed}},
	{"4000000000007726", "pm_card_pendingRefund", "visa", behaviour{refund: payments.RefundSucceeded}},
	{"", "tok_fail_on_renewal", "visa", behaviour{decline: "generic_decline", spares: untilRenewed}},
	{"", "tok_recover_on_3rd", "visa", behaviour{decline: "generic_decline", spares: fromThird}},
}

// cardOf returns the test card of a method. The reference is its token, to which AttachMethod appends a part after "@".
func cardOf(methodRef string) (testCard, bool) {
	token, _, _ := strings.Cut(methodRef, "@")
	for _, c := range testCards {
		if c.token == token {
			return c, true
		}
	}
	return testCard{}, false
}

// tokenExpMonth and tokenExpYear are shown for a method that came as a token.
const tokenExpMonth, tokenExpYear = 12, 2099

// Accept implements payments.Provider. It takes test cards, by number or token, and refuses everything else: a real card number
// must not come here.
func (*Provider) Accept(in payments.MethodInput, now time.Time) (payments.Method, error) {
	if in.Card != nil {
		return acceptCard(*in.Card, now)
	}
	for _, c := range testCards {
		if c.token == in.Ref {
			return c.method(tokenExpMonth, tokenExpYear), nil
		}
	}
	return refuse("", "No such payment method: '"+in.Ref+"'. Send pm_card_visa, another test token, or a card.")
}

// acceptCard checks a test card as a buyer types it. A refusal says the first thing that is wrong with it, as payments.Card has them.
func acceptCard(card payments.Card, now time.Time) (payments.Method, error) {
	faults, number := card.Faults(now), card.Digits()
	known := slices.IndexFunc(testCards, func(c testCard) bool { return number != "" && c.number == number })
	switch {
	case known < 0 && (len(faults) == 0 || faults[0].Reason != "incorrect_number"):
		return refuse("not_test_card", "The test provider takes test card numbers only, such as 4242424242424242.")
	case len(faults) > 0:
		return refuse(faults[0].Reason, faults[0].Message)
	}
	return testCards[known].method(card.ExpMonth, card.ExpYear), nil
}

func refuse(reason, message string) (payments.Method, error) {
	return payments.Method{}, core.Invalid("payment_method", message).Because(reason)
}

func (c testCard) method(month, year int) payments.Method {
	last4 := "4242"
	if c.number != "" {
		last4 = c.number[len(c.number)-4:]
	}
	return payments.Method{Ref: c.token, Card: payment.Method{
		Type: "card", Brand: c.brand, Last4: last4, ExpMonth: month, ExpYear: year,
	}}
}
