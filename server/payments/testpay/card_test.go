package testpay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

var now = time.Date(2026, time.November, 30, 23, 59, 59, 0, time.UTC)

func accept(card payments.Card) (payments.Method, error) {
	return testpay.New(nil).Accept(payments.MethodInput{Card: &card}, now)
}

func TestAccept_ShowsNoMoreThanMayBeShown(t *testing.T) {
	t.Parallel()
	method, err := accept(payments.Card{Number: "4242 4242 4242 4242", ExpMonth: 11, ExpYear: 2026, CVC: "123"})
	require.NoError(t, err)
	assert.Equal(t, payment.Method{Type: "card", Brand: "visa", Last4: "4242", ExpMonth: 11, ExpYear: 2026}, method.Card)
	assert.NotContains(t, fmt.Sprintf("%+v", method), "4242424242424242")

	method, err = accept(payments.Card{Number: "378282246310005", ExpMonth: 1, ExpYear: 2030, CVC: "1234"})
	require.NoError(t, err)
	assert.Equal(t, "amex", method.Card.Brand)
}

func TestAccept_ANumberAndItsTokenAreTheSame(t *testing.T) {
	t.Parallel()
	card, err := accept(payments.Card{Number: "4000000000000002", ExpMonth: 12, ExpYear: 2030, CVC: "123"})
	require.NoError(t, err)
	token, err := testpay.New(nil).Accept(payments.MethodInput{Ref: card.Ref}, now)
	require.NoError(t, err)
	assert.Equal(t, card.Ref, token.Ref)
	assert.Equal(t, "0002", token.Card.Last4)
}

func TestAccept_RefusesCardsThatCanNeverPay(t *testing.T) {
	t.Parallel()
	good := payments.Card{Number: "4242424242424242", ExpMonth: 12, ExpYear: 2030, CVC: "123"}
	tests := map[string]func(*payments.Card){
		"wrong check digit":               func(c *payments.Card) { c.Number = "4242424242424241" },
		"two digits swapped":              func(c *payments.Card) { c.Number = "2442424242424242" },
		"too short":                       func(c *payments.Card) { c.Number = "42" },
		"no digits":                       func(c *payments.Card) { c.Number = "4242-4242-4242-4242" },
		"expired last month":              func(c *payments.Card) { c.ExpMonth, c.ExpYear = 10, 2026 },
		"expired last year":               func(c *payments.Card) { c.ExpYear = 2025 },
		"no such month":                   func(c *payments.Card) { c.ExpMonth = 13 },
		"code of two digits":              func(c *payments.Card) { c.CVC = "12" },
		"code of letters":                 func(c *payments.Card) { c.CVC = "abc" },
		"code as long as that of an Amex": func(c *payments.Card) { c.CVC = "1234" },
		"Amex with a short code":          func(c *payments.Card) { c.Number, c.CVC = "378282246310005", "123" },
		"valid but not a test card":       func(c *payments.Card) { c.Number = "4929420573595709" },
		"Luhn holds for all zeroes":       func(c *payments.Card) { c.Number = "0000000000000000" },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			card := good
			spoil(&card)
			_, err := accept(card)
			var e *core.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, core.CodeInvalid, e.Code)
			assert.Equal(t, core.Refused, e.Outcome)
			assert.Contains(t, e.Fields, "payment_method")
			assert.NotContains(t, e.Message, card.Number)
		})
	}
}

func TestAccept_RefusesUnknownTokens(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"", "pm_card_nobody", "4242424242424242"} {
		_, err := testpay.New(nil).Accept(payments.MethodInput{Ref: ref}, now)
		assert.Error(t, err, ref)
	}
}
