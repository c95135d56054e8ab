package stripe_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// later asks for nothing now, of a method that a customer has.
func (b *bank) later(token, card string) payments.ChargeInput {
	b.t.Helper()
	customer, err := b.CreateCustomer(b.t.Context(), payments.CustomerInput{Token: token, Account: account})
	require.NoError(b.t, err)
	method, err := b.AttachMethod(b.t.Context(), payments.AttachInput{Token: token, Account: account, CustomerRef: customer, MethodRef: card})
	require.NoError(b.t, err)
	in := input(token, method.Ref)
	in.Amount, in.CustomerRef = 0, customer
	return in
}

// A charge of nothing moves nothing, and the bank has agreed to the charges that follow while the buyer is away.
func TestCharge_OfNothingAsksForLaterOnes(t *testing.T) {
	b := open(t)
	in := b.later("pay_1", "pm_card_authenticationRequiredOnSetup")
	charge := b.charge(in)
	assert.Equal(t, payments.ChargeRequiresAction, charge.Status)
	assert.Equal(t, "https://hooks.stripe.test/3d_secure", charge.NextActionURL)
	intent := b.fake.Object(charge.Ref)
	assert.Equal(t, "setup_intent", intent["object"])
	assert.Equal(t, "off_session", intent["usage"])
	assert.Equal(t, page, intent["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["return_url"])
	b.fake.Settle(charge.Ref, true)
	assert.Equal(t, payments.ChargeSucceeded, b.get(charge.Ref).Status)

	event, err := b.parse(b.last())
	require.NoError(t, err)
	assert.Equal(t, payments.EventCharge, event.Kind)
	assert.Equal(t, b.get(charge.Ref), event.Charge)
	assert.Equal(t, "pay_1", event.Metadata["payment"])

	assert.Zero(t, b.fake.Taken())
	in.Token, in.Amount, in.OffSession = "pay_2", 1900, true
	assert.Equal(t, payments.ChargeSucceeded, b.charge(in).Status, "its owner is not asked again")
}

func TestCharge_OfNothingIsDeclinedOrGivenUp(t *testing.T) {
	b := open(t)
	declined := b.charge(b.later("pay_1", "pm_card_chargeDeclinedInsufficientFunds"))
	assert.Equal(t, payments.ChargeDeclined, declined.Status)
	assert.Equal(t, "insufficient_funds", declined.Decline.DeclineCode)
	assert.Equal(t, declined, b.get(declined.Ref))

	refusedByOwner := b.charge(b.later("pay_2", "pm_card_authenticationRequiredOnSetup"))
	b.fake.Settle(refusedByOwner.Ref, false)
	assert.Equal(t, "setup_intent_authentication_failure", b.get(refusedByOwner.Ref).Decline.Code)

	waits := b.charge(b.later("pay_3", "pm_card_authenticationRequiredOnSetup"))
	canceled, err := b.CancelCharge(t.Context(), account, waits.Ref)
	require.NoError(t, err)
	assert.Equal(t, payments.ChargeCanceled, canceled.Status)
	confirmed, err := b.ConfirmCharge(t.Context(), account, waits.Ref, page)
	require.NoError(t, err)
	assert.Equal(t, payments.ChargeCanceled, confirmed.Status)
}

func TestCharge_OfNothingThatTimesOutIsMadeOnce(t *testing.T) {
	b := open(t)
	for i, fault := range []stripefake.Fault{{Path: "/v1/setup_intents"}, {Path: "/confirm"}, {Path: "/confirm", Status: 500}} {
		in := b.later("pay_"+string(rune('a'+i)), "pm_card_visa")
		b.fake.Spoil(fault)
		ref, err := b.PrepareCharge(t.Context(), in)
		if err == nil {
			_, err = b.ConfirmCharge(t.Context(), account, ref, page)
		}
		require.Error(t, err, fault)
		ref = b.prepare(in)
		charge, err := b.ConfirmCharge(t.Context(), account, ref, page)
		require.NoError(t, err)
		assert.Equal(t, payments.ChargeSucceeded, charge.Status)
		assert.Equal(t, i+1, b.fake.Count("setup_intent"))
	}
}
