package stripe_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// notified is a driver that is only told, and never asks Stripe anything.
func notified(secret string) *bank {
	b := &bank{keys: payments.Credentials{SecretKey: "sk_test_1", WebhookSecret: secret}}
	b.Provider = stripe.New(stripe.Options{Client: http.DefaultClient, BaseURL: "http://127.0.0.1:0", Credentials: b.credentials})
	return b
}

// notifications are bodies as Stripe sends them, and what somebody might make of them.
var notifications = []string{
	`{"id":"evt_1","object":"event","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","object":"payment_intent","amount":1900,"amount_received":1900,
		"currency":"usd","status":"succeeded","metadata":{"tillwright_account":"acct_1","payment":"pay_1"}}}}`,
	`{"id":"evt_2","object":"event","data":{"object":{"id":"pi_1","object":"payment_intent","amount":19,"currency":"jpy","status":"requires_payment_method",
		"last_payment_error":{"code":"card_declined","decline_code":"insufficient_funds","type":"card_error"},"metadata":{"tillwright_account":"acct_1"}}}}`,
	`{"id":"evt_3","object":"event","data":{"object":{"id":"seti_1","object":"setup_intent","status":"requires_action","next_action":{"redirect_to_url":{"url":"x"}},
		"metadata":{"tillwright_account":"acct_1"}}}}`,
	`{"id":"evt_4","object":"event","data":{"object":{"id":"re_1","object":"refund","status":"failed","failure_reason":"lost","metadata":{"tillwright_account":"acct_1"}}}}`,
	`{"id":"evt_5","object":"event","data":{"object":{"id":"pi_1","object":"payment_intent","status":"a new one","metadata":{"tillwright_account":"acct_1"}}}}`,
	`{"id":"","object":"event","data":{"object":{"object":"refund","status":"pending","metadata":{"tillwright_account":"acct_1"}}}}`,
	`{"id":"evt_6","object":"event","data":{"object":{"object":"refund","status":"pending","metadata":{"tillwright_account":"acct_1"}}}}`,
	`{"id":"evt_7","object":"event","data":{"object":{"object":"refund","metadata":{"tillwright_account":"acct_1"}}},"data":null}`,
	`{"id":"evt_8","object":"event","data":{"object":{"object":"refund","metadata":{"tillwright_account":"acct_1"}},"object":null}}`,
	`{"id":"evt_9","object":"event","data":{"object":{"object":"payment_intent","amount":9223372036854775807,"currency":"jpy","status":"processing","metadata":{"tillwright_account":"acct_1"}}}}`,
	`{"id":"evt_10","object":"event","data":{"object":{"object":"payment_intent","id":{"id":1},"last_payment_error":[],"metadata":{"tillwright_account":"acct_1"}}}}`,
	`{"id":"evt_11","object":"event","data":{"object":{"object":"invoice","metadata":{"tillwright_account":"acct_1"}}}}`,
	`{}`, `null`, `[]`, ``, `{"data":{"object":{"metadata":{"tillwright_account":1}}}}`, `{"id":"\u0000","data":{"object":{"object":"refund","metadata":{"tillwright_account":"acct_1"}}}}`,
}

// FuzzParseWebhook: what Stripe signed is read without a panic. It is an event of the account with an id and an object, or refused by an
// error that is known. The same body with any other signature tells nothing.
func FuzzParseWebhook(f *testing.F) {
	for _, body := range notifications {
		f.Add([]byte(body), "t=1,v1=00")
		f.Add([]byte(body), "")
	}
	for _, header := range []string{"t=99999999999999999999,v1=00", "v1=", "t=-1,v1=zz", "t=1", ",,,", "t=1,t=2,v1=,v0=", "\x00"} {
		f.Add([]byte(notifications[0]), header)
	}
	b, fake, stranger := notified("whsec_ours"), &stripefake.Fake{WebhookSecret: "whsec_ours"}, &stripefake.Fake{WebhookSecret: "whsec_theirs"}
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		for _, wrong := range []http.Header{{"Stripe-Signature": {header}}, stranger.Sign(body, time.Now()), fake.Sign(append([]byte(" "), body...), time.Now())} {
			event, err := b.ParseWebhook(t.Context(), wrong, body)
			require.Empty(t, event)
			if err != nil {
				require.ErrorIs(t, err, payments.ErrForged)
			}
		}
		event, err := b.ParseWebhook(t.Context(), fake.Sign(body, time.Now()), body)
		switch {
		case err != nil:
			require.True(t, errors.Is(err, payments.ErrForged) || errors.Is(err, payments.ErrUnusable) || errors.Is(err, payments.ErrUnknownStatus), "%s", err)
		case event.Kind == payments.EventCharge:
			require.NotEmpty(t, event.Charge.Ref)
		case event.Kind == payments.EventRefund:
			require.NotEmpty(t, event.Refund.Ref)
		default:
			require.Empty(t, event.Kind)
			return
		}
		if err == nil {
			require.NotEmpty(t, event.ID)
			require.Equal(t, account, event.Account)
		}
	})
}
