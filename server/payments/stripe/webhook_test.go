package stripe_test

import (
	"bytes"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

func errorsAsDecline(err error) (*payments.Decline, bool) {
	return errors.AsType[*payments.Decline](err)
}

func (b *bank) parse(e stripefake.Event) (payments.Event, error) {
	return b.ParseWebhook(b.t.Context(), b.fake.Sign(e.Body, time.Now()), e.Body)
}

// last is the newest notification.
func (b *bank) last() stripefake.Event {
	b.t.Helper()
	events := b.fake.Events()
	require.NotEmpty(b.t, events)
	return events[len(events)-1]
}

func TestParseWebhook_TellsWhatBecameOfACharge(t *testing.T) {
	b := open(t)
	for method, want := range map[string]payments.Status{
		"pm_card_visa": payments.ChargeSucceeded, "pm_card_chargeDeclined": payments.ChargeDeclined, "pm_card_slow": payments.ChargePending,
		"pm_card_authenticationRequiredOnSetup": payments.ChargeRequiresAction,
	} {
		charge := b.charge(input("pay_"+method, method))
		sent := b.last()
		event, err := b.parse(sent)
		require.NoError(t, err)
		assert.Equal(t, sent.ID, event.ID)
		assert.Equal(t, account, event.Account)
		assert.Equal(t, payments.EventCharge, event.Kind)
		assert.Equal(t, charge, event.Charge)
		assert.Equal(t, want, event.Charge.Status)
		assert.Equal(t, "pay_"+method, event.Metadata["payment"])
	}
}

func TestParseWebhook_TellsWhatBecameOfARefund(t *testing.T) {
	b := open(t)
	charge := b.charge(input("pay_1", "pm_card_pendingRefund")).Ref
	made := b.refund("re_1", charge, 500)
	event, err := b.parse(b.last())
	require.NoError(t, err)
	assert.Equal(t, payments.EventRefund, event.Kind)
	assert.Equal(t, made, event.Refund)
	assert.Equal(t, "re_1", event.Metadata["refund"])
	b.fake.SettleRefund(made.Ref, "failed")
	event, err = b.parse(b.last())
	require.NoError(t, err)
	assert.Equal(t, payments.Refund{Ref: made.Ref, Status: payments.RefundFailed, FailureReason: "expired_or_canceled_card"}, event.Refund)
}

func TestParseWebhook_BelievesOnlyStripe(t *testing.T) {
	b := open(t)
	b.charge(input("pay_1", "pm_card_visa"))
	event := b.last()
	signed := func(at time.Time, secret string, body []byte) http.Header {
		was := b.fake.WebhookSecret
		defer func() { b.fake.WebhookSecret = was }()
		b.fake.WebhookSecret = secret
		return b.fake.Sign(body, at)
	}
	now, good := time.Now(), b.fake.WebhookSecret
	for name, c := range map[string]struct {
		header http.Header
		body   []byte
	}{
		"no signature":            {http.Header{}, event.Body},
		"another secret":          {signed(now, "whsec_other", event.Body), event.Body},
		"another body":            {signed(now, good, event.Body), bytes.Replace(event.Body, []byte("succeeded"), []byte("canceled"), 1)},
		"five minutes and a bit":  {signed(now.Add(-301*time.Second), good, event.Body), event.Body},
		"as much ahead":           {signed(now.Add(310*time.Second), good, event.Body), event.Body},
		"an hour ahead":           {signed(now.Add(time.Hour), good, event.Body), event.Body},
		"nonsense":                {http.Header{"Stripe-Signature": {"t=1,v1=zz"}}, event.Body},
		"not JSON":                {signed(now, good, []byte("{")), []byte("{")},
		"an account that is not":  {signed(now, good, elsewhere(event.Body, "acct_9")), elsewhere(event.Body, "acct_9")},
		"signed without a secret": {signed(now, "", event.Body), event.Body},
		"a signature not of v1":   {http.Header{"Stripe-Signature": {"t=1,v0=00"}}, event.Body},
		"the header of a sibling": {http.Header{"X-Signature": signed(now, good, event.Body)["Stripe-Signature"]}, event.Body},
	} {
		_, err := b.ParseWebhook(t.Context(), c.header, c.body)
		assert.ErrorIs(t, err, payments.ErrForged, name)
	}
	for _, off := range []time.Duration{-295 * time.Second, 290 * time.Second} {
		_, err := b.ParseWebhook(t.Context(), signed(now.Add(off), good, event.Body), event.Body)
		require.NoError(t, err, off)
	}
	b.keys.WebhookSecret = ""
	_, err := b.ParseWebhook(t.Context(), signed(now, "", event.Body), event.Body)
	assert.ErrorIs(t, err, payments.ErrForged, "no secret is no signature")
}

func elsewhere(body []byte, account string) []byte {
	return bytes.Replace(body, []byte(`"tillwright_account":"acct_1"`), []byte(`"tillwright_account":"`+account+`"`), 1)
}

// A seller may do more with Stripe than sell here.
func TestParseWebhook_LeavesAloneWhatIsNotOurs(t *testing.T) {
	b := open(t)
	for _, body := range []string{
		`{"id": "evt_1", "object": "event", "type": "invoice.paid", "data": {"object": {"object": "invoice"}}}`,
		`{"id": "evt_2", "object": "event", "type": "charge.succeeded", "data": {"object": {"object": "charge", "metadata": {"tillwright_account": "acct_1"}}}}`,
		`{"id": "evt_3", "object": "event", "type": "payment_intent.succeeded", "data": {"object": {"object": "payment_intent", "metadata": {}}}}`,
	} {
		event, err := b.ParseWebhook(t.Context(), b.fake.Sign([]byte(body), time.Now()), []byte(body))
		require.NoError(t, err)
		assert.Empty(t, event.Kind)
	}
	waits := `{"id": "evt_4", "object": "event", "type": "payment_intent.created", "data": {"object": {"id": "pi_1", "object": "payment_intent",
		"status": "requires_confirmation", "metadata": {"tillwright_account": "acct_1"}}}}`
	event, err := b.ParseWebhook(t.Context(), b.fake.Sign([]byte(waits), time.Now()), []byte(waits))
	require.NoError(t, err)
	assert.Empty(t, event.Kind)
}
