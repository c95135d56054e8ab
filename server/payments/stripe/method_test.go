package stripe_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
)

func TestAccept_TakesPaymentMethodsOfStripe(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"pm_card_visa", "pm_1Pgc75B7WZ01zgkWlHVgdEGJ"} {
		method, err := stripe.New(stripe.Options{}).Accept(payments.MethodInput{Ref: ref}, time.Now())
		require.NoError(t, err)
		assert.Equal(t, ref, method.Ref)
		assert.Equal(t, "card", method.Card.Type)
	}
}

func TestAccept_RefusesCardNumbersAndSaysWhatToSend(t *testing.T) {
	t.Parallel()
	for _, in := range []payments.MethodInput{
		{Card: &payments.Card{Number: "4242424242424242", ExpMonth: 12, ExpYear: 2099, CVC: "123"}},
		{}, {Ref: "4242424242424242"}, {Ref: "tok_visa"}, {Ref: "pm_"}, {Ref: "pm_a/b"}, {Ref: "pm_" + strings.Repeat("a", 300)},
	} {
		_, err := stripe.New(stripe.Options{}).Accept(in, time.Now())
		e := refused(t, err)
		assert.Contains(t, e.Message, "PaymentMethod")
		assert.Contains(t, e.Message, "pm_...")
		assert.NotContains(t, e.Message, "4242")
	}
}
