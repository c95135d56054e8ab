package stripe_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/tests/harness/stripemock"
)

// mouth stands before stripe-mock, which has one answer for each call. It puts the state of a payment intent that the
// driver should meet into the answer, and notes what was asked.
type mouth struct {
	http.RoundTripper
	metadata string // of every payment intent
	misspell string // a parameter

	mu    sync.Mutex
	asked []string // method, path and status
}

func (m *mouth) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.misspell != "" && r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = bytes.Replace(body, []byte(m.misspell), []byte("x"+m.misspell), 1)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	answer, err := m.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r.Method+" "+pattern(r.URL.Path)+" "+answer.Status[:3])
	body = bytes.Replace(body, []byte(`"status":"requires_payment_method"`), []byte(`"status":"requires_confirmation"`), 1)
	body = bytes.Replace(body, []byte(`"metadata":{}`), []byte(`"metadata":`+m.metadata), 1)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return answer, nil
}

// pattern is a path without its ids.
func pattern(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "pi_") || strings.HasPrefix(part, "seti_") || strings.HasPrefix(part, "re_") || strings.HasPrefix(part, "pm_") {
			parts[i] = "{id}"
		}
	}
	return strings.Join(parts, "/")
}

// TestShape_EveryCallIsAsStripeSpecifiesIt asks the server with which Stripe checks its own libraries. That refuses a
// parameter that there is not, or whose type is another, and every version of the API but its own.
func TestShape_EveryCallIsAsStripeSpecifiesIt(t *testing.T) {
	t.Parallel()
	base := stripemock.Start(t)
	m := &mouth{RoundTripper: stripemock.Client().Transport, metadata: "{}"}
	p := stripe.New(stripe.Options{Client: &http.Client{Transport: m}, BaseURL: base, Credentials: func(context.Context, string) (payments.Credentials, error) {
		return payments.Credentials{SecretKey: "sk_test_123"}, nil
	}})
	ctx := t.Context()

	customer, err := p.CreateCustomer(ctx, payments.CustomerInput{Token: "pay_1", Account: account, Customer: "cus_1", Email: "ada@example.com", Name: "Ada"})
	require.NoError(t, err)
	method, err := p.AttachMethod(ctx, payments.AttachInput{Token: "pay_1", Account: account, CustomerRef: customer, MethodRef: "pm_card_visa"})
	require.NoError(t, err)
	in := input("pay_1", method.Ref)
	in.CustomerRef = customer
	ref, err := p.PrepareCharge(ctx, in)
	require.NoError(t, err)
	_, err = p.ConfirmCharge(ctx, account, ref, page)
	require.NoError(t, err)

	in.Token, in.OffSession = "pay_2", true
	ref, err = p.PrepareCharge(ctx, in)
	require.NoError(t, err)
	m.metadata = `{"tillwright_off_session": "true"}`
	_, err = p.ConfirmCharge(ctx, account, ref, page)
	require.NoError(t, err)
	_, err = p.CancelCharge(ctx, account, ref)
	require.NoError(t, err)
	refund, err := p.Refund(ctx, back("re_1", ref, 500))
	require.NoError(t, err)
	_, _, err = p.GetRefund(ctx, account, ref, "re_1")
	require.NoError(t, err)
	_, err = p.CancelRefund(ctx, account, refund.Ref)
	require.NoError(t, err)

	in.Token, in.OffSession, in.Amount = "pay_3", false, 0
	ref, err = p.PrepareCharge(ctx, in)
	require.NoError(t, err)
	m.metadata = "{}"
	_, err = p.ConfirmCharge(ctx, account, ref, page)
	require.NoError(t, err)
	_, err = p.CancelCharge(ctx, account, ref)
	require.NoError(t, err)

	require.NoError(t, p.DetachMethod(ctx, account, method.Ref))

	assert.Equal(t, []string{
		"POST /v1/customers 200", "POST /v1/payment_methods/{id}/attach 200",
		"POST /v1/payment_intents 200", "GET /v1/payment_intents/{id} 200", "POST /v1/payment_intents/{id}/confirm 200",
		"POST /v1/payment_intents 200", "GET /v1/payment_intents/{id} 200", "POST /v1/payment_intents/{id}/confirm 200",
		"GET /v1/payment_intents/{id} 200", "POST /v1/payment_intents/{id}/cancel 200",
		"POST /v1/refunds 200", "GET /v1/refunds 200", "POST /v1/refunds/{id}/cancel 200",
		"POST /v1/setup_intents 200", "GET /v1/setup_intents/{id} 200", "POST /v1/setup_intents/{id}/confirm 200",
		"GET /v1/setup_intents/{id} 200", "POST /v1/setup_intents/{id}/cancel 200",
		"POST /v1/payment_methods/{id}/detach 200",
	}, m.asked)

	for _, name := range []string{"payment_method_types", "setup_future_usage", "customer", "metadata"} {
		m.misspell = url.QueryEscape(name)
		in.Token, in.Amount = "pay_4", 1900
		_, err = p.PrepareCharge(ctx, in)
		assert.Error(t, err, "%s was misspelt, and nothing noticed", name)
	}
	m.misspell = "usage"
	in.Token, in.Amount = "pay_5", 0
	_, err = p.PrepareCharge(ctx, in)
	assert.Error(t, err, "usage was misspelt, and nothing noticed")
}
