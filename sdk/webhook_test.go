package sdk

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/webhooks/signature"
)

const testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

// sign returns the header of a delivery.
func sign(body string) http.Header {
	return http.Header{"X-Service-Hmac-Sha256": {signature.Sign([]byte(body), testSecret)}}
}

func TestVerifyWebhook_MatchesThePublishedVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../webhooks/signature/testdata/vectors.json")
	require.NoError(t, err)
	var vectors []struct{ Name, Secret, Body, Signature string }
	require.NoError(t, json.Unmarshal(text, &vectors))
	require.NotEmpty(t, vectors)
	for i, v := range vectors {
		header := http.Header{"X-Service-Hmac-Sha256": {v.Signature}}
		event, err := VerifyWebhook([]byte(v.Body), header, v.Secret)
		require.NotErrorIs(t, err, ErrBadSignature, v.Name)
		if i == 0 {
			require.NoError(t, err)
			require.Equal(t, EventOrderPaid, event.Type)
		} else {
			require.ErrorContains(t, err, "is signed but its body is no event")
		}
		_, err = VerifyWebhook([]byte(v.Body+" "), header, v.Secret)
		require.ErrorIs(t, err, ErrBadSignature)
	}
}

func TestVerifyWebhook_RefusesWhatIsNotSigned(t *testing.T) {
	t.Parallel()
	body := `{"id":"whev_1","type":"order.paid","data":{}}`
	good := sign(body).Get("X-Service-Hmac-SHA256")
	for name, c := range map[string]struct {
		header http.Header
		secret string
		want   error
	}{
		"no header":              {http.Header{}, testSecret, ErrNotSigned},
		"another header":         {http.Header{"X-Signature": {good}}, testSecret, ErrNotSigned},
		"header without service": {http.Header{"Hmac-Sha256": {good}}, testSecret, ErrNotSigned},
		"header without X-":      {http.Header{"Acme-Hmac-Sha256": {good}}, testSecret, ErrNotSigned},
		"header without a value": {http.Header{"X-Service-Hmac-Sha256": {}}, testSecret, ErrNotSigned},
		"empty signature":        {http.Header{"X-Service-Hmac-Sha256": {""}}, testSecret, ErrBadSignature},
		"not Base64":             {http.Header{"X-Service-Hmac-Sha256": {"%%%"}}, testSecret, ErrBadSignature},
		"another secret":         {sign(body), "whsec_other", ErrBadSignature},
	} {
		_, err := VerifyWebhook([]byte(body), c.header, c.secret)
		require.ErrorIs(t, err, c.want, name)
	}
	_, err := VerifyWebhook([]byte(body), sign(body), "")
	require.ErrorContains(t, err, "the secret is empty")
}

func TestVerifyWebhook_AcceptsAnyServiceNameUnlessOneIsGiven(t *testing.T) {
	t.Parallel()
	body := `{"id":"whev_1","type":"order.paid","data":{}}`
	good := sign(body).Get("X-Service-Hmac-SHA256")
	acme := WithSignatureHeader("X-Acme-Hmac-SHA256")
	for _, name := range []string{"X-Acme-Hmac-Sha256", "x-acme-hmac-sha256", "X-ACME-HMAC-SHA256"} {
		_, err := VerifyWebhook([]byte(body), http.Header{name: {good}}, testSecret)
		require.NoError(t, err)
		_, err = VerifyWebhook([]byte(body), http.Header{name: {good}}, testSecret, acme)
		require.NoError(t, err)
	}
	_, err := VerifyWebhook([]byte(body), sign(body), testSecret, acme)
	require.ErrorIs(t, err, ErrNotSigned)
	_, err = VerifyWebhook([]byte(body), http.Header{"X-Proxy-Hmac-Sha256": {"its own"}, "X-Acme-Hmac-Sha256": {good}}, testSecret)
	require.NoError(t, err, "a proxy's header beside ours")
}

func TestEvent_GivesItsResource(t *testing.T) {
	t.Parallel()
	body := `{"id":"whev_1","created_at":"2026-11-21T00:00:00.000Z","type":"order.paid","api_version":"v1","test":true,
		"data":{"id":"order_1","object":"order","total_amount":1900,"customer":{"id":"cus_1","email":"a@b.example"}}}`
	event, err := VerifyWebhook([]byte(body), sign(body), testSecret)
	require.NoError(t, err)
	require.Equal(t, "whev_1 v1 true", event.ID+" "+event.APIVersion+map[bool]string{true: " true"}[event.Test])
	require.Equal(t, 2026, event.CreatedAt.Time().Year())
	order, err := event.Order()
	require.NoError(t, err)
	require.Equal(t, int64(1900), order.TotalAmount)
	require.Equal(t, "a@b.example", order.Customer.Object.Email)

	_, err = event.Product()
	require.EqualError(t, err, `sdk: order.paid carries the object "order", not "product"`)
	_, err = event.Checkout()
	require.Error(t, err)
}

func TestEvent_RefusesDataThatDoesNotFit(t *testing.T) {
	t.Parallel()
	for _, data := range []string{`7`, `{"object":"order","total_amount":"much"}`, ``} {
		_, err := (&Event{Type: EventOrderPaid, Data: json.RawMessage(data)}).Order()
		require.Error(t, err, data)
	}
}
