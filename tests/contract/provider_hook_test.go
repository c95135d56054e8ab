package contract

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

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
				status, err := fake.Deliver(s.URL+"/hooks/stripe", e)
				assert.Equal(t, http.StatusOK, status, "the answer to %s", e.Type)
				assert.NoError(t, err, "the answer to %s", e.Type)
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
			{http.MethodPost, "/hooks/stripe", bytes.Repeat([]byte(" "), 256<<10+1), http.StatusRequestEntityTooLarge},
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

func TestProviderHook_ReadsNothingWithoutASignature(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		fake := stripefake.New(t)
		s := harness.Boot(t, url, harness.Stripe(fake))
		body := []byte(`{"id": "evt_1", "data": {"object": {"object": "payout"}}}`)
		good := fake.Sign(body, time.Now()).Get("Stripe-Signature")
		for _, test := range []struct {
			signature string
			status    int
		}{
			{good, http.StatusOK},
			{"", http.StatusBadRequest},
			{"t=1,v1=00", http.StatusBadRequest},
			{fake.Sign(body, time.Now().Add(-time.Hour)).Get("Stripe-Signature"), http.StatusBadRequest},
		} {
			read := false
			r, err := http.NewRequest(http.MethodPost, s.URL+"/hooks/stripe", io.TeeReader(bytes.NewReader(body), writerFunc(func([]byte) { read = true })))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Stripe-Signature", test.signature)
			r.Header.Set("Expect", "100-continue") // a body is sent once it is read
			r.ContentLength = int64(len(body))
			answer, err := (&http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute, DisableKeepAlives: true}}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			assert.Equal(t, test.status, answer.StatusCode)
			assert.Equal(t, test.status == http.StatusOK, read)
		}
	})
}

// writerFunc is told what is written.
type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

func TestProviderHook_RefusesABodyThatEndsEarly(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		fake := stripefake.New(t)
		s := harness.Boot(t, url, harness.Stripe(fake))
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		body := `{"id": "evt_1"`
		_, err = io.WriteString(conn, "POST /hooks/stripe HTTP/1.1\r\nHost: x\r\nStripe-Signature: "+fake.Sign([]byte(body), time.Now()).Get("Stripe-Signature")+"\r\nContent-Length: 100\r\n\r\n"+body)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("the answer is %d", answer.StatusCode)
		}
	})
}
