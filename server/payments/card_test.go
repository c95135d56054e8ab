package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/server/payments"
)

// All that is wrong with a card is said at once, in the order in which a form asks for it.
func TestFaults_NamesAllThatIsWrong(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for reasons, card := range map[string]payments.Card{
		"": {Number: "4242 4242 4242 4242", ExpMonth: 11, ExpYear: 2026},
		"incorrect_number expired_card incorrect_cvc ": {Number: "4242424242424241", ExpMonth: 10, ExpYear: 2026, CVC: "12"},
		"incorrect_number invalid_expiry ":             {},
		"incorrect_cvc ":                               {Number: "378282246310005", ExpMonth: 1, ExpYear: 2030, CVC: "123"},
		"invalid_expiry incorrect_cvc ":                {Number: "5555555555554444", ExpMonth: 13, ExpYear: 2030, CVC: "12a"},
	} {
		said := ""
		for _, fault := range card.Faults(now) {
			said += fault.Reason + " "
		}
		assert.Equal(t, reasons, said)
	}
}
