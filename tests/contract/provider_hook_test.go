package contract

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// A notification of Stripe finds its account by itself, and settles what the buyer did at their bank.
func TestProviderHook_SettlesAPayment(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		fake := stripefake.New(t)
		s := harness.Boot(t, url, harness.Stripe(fake))
		c := s.SDK(t)
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{
			PaymentsProvider: new(sdk.PaymentsProviderStripe), StripeSecretKey: sdk.Set(fake.Key), StripeWebhookSecret: sdk.Set(fake.WebhookSecret),
		}))
		open := checkout(t, c, "grace@example.com", onSale(t, c, 1900))
		waiting := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, open.ID, by("pm_card_slow")))
		if waiting.Status != sdk.CheckoutStatusProcessing {
			t.Fatalf("the checkout is %s", waiting.Status)
		}
		fake.Settle(s.Strings(t, `SELECT provider_ref FROM payments`)[0], true)
		events := fake.Events()
		for range 2 {
			for _, e := range events {
				if status, err := fake.Deliver(s.URL+"/hooks/stripe", e); status != http.StatusOK || err != nil {
					t.Errorf("the answer to %s is %d, %v", e.Type, status, err)
				}
			}
		}
		if paid := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, open.ID)); paid.Status != sdk.CheckoutStatusCompleted {
			t.Errorf("the checkout is %s", paid.Status)
		}
	})
}

func TestProviderHook_RefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		fake := stripefake.New(t)
		s := harness.Boot(t, url, harness.Stripe(fake))
		body := []byte(`{"id": "evt_1", "data": {"object": {"object": "payment_intent", "metadata": {"tillwright_account": "acct_nobody"}}}}`)
		for _, test := range []struct {
			method, path string
			body         []byte
			status       int
		}{
			{http.MethodPost, "/hooks/stripe", body, http.StatusBadRequest},
			{http.MethodPost, "/hooks/stripe", []byte("no JSON"), http.StatusBadRequest},
			{http.MethodPost, "/hooks/test", body, http.StatusNotFound},
			{http.MethodPost, "/hooks/nobody", body, http.StatusNotFound},
			{http.MethodGet, "/hooks/stripe", nil, http.StatusMethodNotAllowed},
			{http.MethodPost, "/hooks/stripe", bytes.Repeat([]byte(" "), 1<<20+1), http.StatusRequestEntityTooLarge},
			{http.MethodPost, "/hooks/stripe", []byte(`{"id": "evt_2", "data": {"object": {"object": "payout"}}}`), http.StatusOK},
		} {
			r, err := http.NewRequest(test.method, s.URL+test.path, bytes.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = fake.Sign(test.body, time.Now())
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != test.status {
				t.Errorf("%s %s answers %d, not %d", test.method, test.path, answer.StatusCode, test.status)
			}
			if limit := answer.Header.Get("RateLimit-Policy"); test.method == http.MethodPost && limit != `"default";q=6000;w=60` {
				t.Errorf("%s is counted by %s", test.path, limit)
			}
		}
	})
}
