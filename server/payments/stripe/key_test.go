package stripe_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/server/payments"
)

// Whoever has to know is told which key Stripe refuses, whether it is wrong or may not do what was asked. Other refusals tell nothing of the key.
func TestKeyRefused_IsToldWhichKey(t *testing.T) {
	b := open(t)
	pays := func() {
		_, err := b.PrepareCharge(t.Context(), input("pay_1", "pm_card_visa"))
		d, declined := errors.AsType[*payments.Decline](err)
		assert.True(t, err == nil || declined && d.OfSeller && d.Code == "api_key_refused", "%v", err)
	}
	pays()
	b.charge(input("pay_2", "pm_card_chargeDeclined"))
	b.fake.Lack("customer_write")
	pays()
	assert.Empty(t, b.refusedKeys)

	b.fake.Lack("payment_intent_write")
	pays()
	assert.Equal(t, []string{b.fake.Key}, b.refusedKeys, "it is a restricted key")
	b.keys.SecretKey = "sk_test_wrong"
	pays()
	assert.Equal(t, []string{b.fake.Key, "sk_test_wrong"}, b.refusedKeys)
}
