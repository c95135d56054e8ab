package sdk

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk/internal/require"
	"github.com/tillwright/tillwright/sdk/signature"
)

const testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

// sign returns the header of a delivery.
func sign(body string) http.Header {
	return http.Header{"X-Service-Hmac-Sha256": {signature.Sign([]byte(body), testSecret)}}
}

// vector is one published example.
type vector struct {
	Name, Secret, Body, Signature string
	Previous                      *struct{ Secret, Signature string }
	Standard                      struct {
		ID        string `json:"webhook_id"`
		Timestamp int64  `json:"webhook_timestamp"`
		Signature string `json:"webhook_signature"`
	}
}

func (v *vector) standardHeader() http.Header {
	return http.Header{
		"Webhook-Id": {v.Standard.ID}, "Webhook-Timestamp": {strconv.FormatInt(v.Standard.Timestamp, 10)}, "Webhook-Signature": {v.Standard.Signature},
	}
}

func vectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile("signature/testdata/vectors.json")
	require.NoError(t, err)
	var all []vector
	require.NoError(t, json.Unmarshal(text, &all))
	require.NotEmpty(t, all)
	return all
}

// verifyAt is VerifyWebhook at another time.
func verifyAt(at int64, body string, header http.Header, secret string) error {
	v := verification{now: func() time.Time { return time.Unix(at, 0) }}
	return v.verify([]byte(body), header, secret)
}

func TestVerifyWebhook_MatchesThePublishedVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		header := http.Header{"X-Service-Hmac-Sha256": {v.Signature}}
		event, err := VerifyWebhook([]byte(v.Body), header, v.Secret)
		if strings.Contains(v.Body, `"type"`) {
			require.NoError(t, err, v.Name)
			require.Equal(t, EventOrderPaid, event.Type)
		} else {
			require.ErrorContains(t, err, "is signed but its body is no event", v.Name)
		}
		require.NoError(t, verifyAt(v.Standard.Timestamp, v.Body, v.standardHeader(), v.Secret), v.Name)
		for _, changed := range []http.Header{header, v.standardHeader()} {
			require.ErrorIs(t, verifyAt(v.Standard.Timestamp, v.Body+" ", changed, v.Secret), ErrBadSignature)
		}
	}
}

func TestVerifyWebhook_TakesBothSecretsDuringARotation(t *testing.T) {
	t.Parallel()
	all := vectors(t)
	v := all[len(all)-1]
	own := http.Header{"X-Service-Hmac-Sha256": {v.Signature}, "X-Service-Hmac-Sha256-Previous": {v.Previous.Signature}}
	exact := WithSignatureHeader("X-Service-Hmac-SHA256")
	for _, secret := range []string{v.Secret, v.Previous.Secret} {
		_, err := VerifyWebhook([]byte(v.Body), own, secret)
		require.NoError(t, err)
		_, err = VerifyWebhook([]byte(v.Body), own, secret, exact)
		require.NoError(t, err, "the previous signature belongs to the header that was named")
		require.NoError(t, verifyAt(v.Standard.Timestamp, v.Body, v.standardHeader(), secret))
	}
	own.Del("X-Service-Hmac-Sha256-Previous")
	_, err := VerifyWebhook([]byte(v.Body), own, v.Previous.Secret)
	require.ErrorIs(t, err, ErrBadSignature, "the overlap is over")
	_, err = VerifyWebhook([]byte(v.Body), http.Header{"X-Other-Hmac-Sha256-Previous": {v.Signature}}, v.Secret, exact)
	require.ErrorIs(t, err, ErrNotSigned)
}

func TestVerifyWebhook_TakesStandardWebhooksWithinFiveMinutes(t *testing.T) {
	t.Parallel()
	v := vectors(t)[0]
	at := v.Standard.Timestamp
	for _, off := range []int64{0, 300, -300} {
		require.NoError(t, verifyAt(at+off, v.Body, v.standardHeader(), v.Secret))
	}
	for _, off := range []int64{301, -301, 1 << 40, -(1 << 62)} {
		err := verifyAt(at+off, v.Body, v.standardHeader(), v.Secret)
		require.ErrorIs(t, err, ErrBadSignature)
		require.ErrorContains(t, err, "webhook-timestamp")
	}
	good := v.Standard.Signature
	for name, c := range map[string]struct {
		change  func(http.Header)
		refused bool
	}{
		"another id":          {func(h http.Header) { h.Set("Webhook-Id", "whev_other") }, true},
		"another time":        {func(h http.Header) { h.Set("Webhook-Timestamp", strconv.FormatInt(at+1, 10)) }, true},
		"no time":             {func(h http.Header) { h.Del("Webhook-Timestamp") }, true},
		"a time in words":     {func(h http.Header) { h.Set("Webhook-Timestamp", "now") }, true},
		"no version":          {func(h http.Header) { h.Set("Webhook-Signature", strings.TrimPrefix(good, "v1,")) }, true},
		"another version":     {func(h http.Header) { h.Set("Webhook-Signature", "v2"+good[2:]) }, true},
		"one of many":         {func(h http.Header) { h.Set("Webhook-Signature", "v1a,x v1,bad "+good) }, false},
		"names as they came":  {func(h http.Header) { h["webhook-id"] = h["Webhook-Id"]; delete(h, "Webhook-Id") }, false},
		"a bad one beside it": {func(h http.Header) { h.Set("X-Service-Hmac-SHA256", "bad") }, false},
	} {
		header := v.standardHeader()
		c.change(header)
		err := verifyAt(at, v.Body, header, v.Secret)
		if c.refused {
			require.ErrorIs(t, err, ErrBadSignature, name)
		} else {
			require.NoError(t, err, name)
		}
	}
	stale := v.standardHeader()
	stale.Set("X-Service-Hmac-SHA256", v.Signature)
	require.NoError(t, verifyAt(at+10_000, v.Body, stale, v.Secret), "the service's own signature has no time")
	_, err := VerifyWebhook([]byte(v.Body), v.standardHeader(), v.Secret, WithSignatureHeader("X-Service-Hmac-SHA256"))
	require.ErrorIs(t, err, ErrNotSigned, "one header was asked for")
	require.ErrorIs(t, verifyAt(at, v.Body, http.Header{"Webhook-Signature": {}}, v.Secret), ErrNotSigned)
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
	for _, secret := range []string{"", signature.Prefix} { // a key that everybody knows
		header := http.Header{"X-Service-Hmac-Sha256": {signature.Sign([]byte(body), secret)}}
		_, err := VerifyWebhook([]byte(body), header, secret)
		require.ErrorContains(t, err, "the secret is empty")
	}
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
	customer, ok := order.Customer.Get()
	require.True(t, ok)
	require.Equal(t, "a@b.example", customer.Email)

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
