package sdktest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/internal/require"
	"github.com/tillwright/tillwright/sdk/sdktest"
)

// types returns the types of deliveries.
func types(all []sdktest.Delivery) []string {
	var names []string
	for _, d := range all {
		names = append(names, d.Type)
	}
	return names
}

func TestWebhooks_AreThereWhenTheCallReturns(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	client := s.Client()
	var seen *sdk.Product
	s.Webhooks(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		event, err := sdk.VerifyWebhook(body, r.Header, secret)
		require.NoError(t, err)
		told, err := event.Product()
		require.NoError(t, err)
		seen, err = client.Products.Get(background, told.ID) // a handler may ask
		require.NoError(t, err)
		r.Header.Del("X-Service-Hmac-SHA256")
		_, err = sdk.VerifyWebhook(body, r.Header, secret)
		require.NoError(t, err, "it is signed by Standard Webhooks, too")
		w.WriteHeader(http.StatusAccepted)
	}), secret)
	made, err := client.Products.Create(background, &sdk.ProductCreate{Name: "A"})
	require.NoError(t, err)
	require.Equal(t, made.ID, seen.ID)
	require.Equal(t, http.StatusAccepted, s.Deliveries()[0].Status)
	again := s.Redeliver(s.Deliveries()[0].EventID)
	require.Equal(t, string(s.Deliveries()[0].Body), string(again.Body))
	stored, err := client.WebhookEvents.Get(background, again.EventID)
	require.NoError(t, err)
	require.Equal(t, sdk.EventProductCreated, stored.Type)
}

func TestWebhooks_WaitForFlushWhenTheyAreHeld(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	s.Webhooks(http.NotFoundHandler(), secret)
	s.HoldWebhooks()
	product, err := s.Client().Products.Create(background, &sdk.ProductCreate{Name: "A"})
	require.NoError(t, err)
	_, err = s.Client().Products.Update(background, product.ID, &sdk.ProductUpdate{Name: new("B")})
	require.NoError(t, err)
	_, err = s.Client().Products.Update(background, product.ID, &sdk.ProductUpdate{Name: new("B")}) // changes nothing
	require.NoError(t, err)
	require.Empty(t, s.Deliveries())
	require.Equal(t, []string{sdk.EventProductCreated, sdk.EventProductUpdated}, types(s.Flush()))
	require.Empty(t, s.Flush())
}

func TestWebhooks_TellOfAnUpdateWithTheTimeOfIt(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	product, err := s.Client().Products.Create(background, &sdk.ProductCreate{Name: "A"})
	require.NoError(t, err)
	var told string
	s.Webhooks(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Data struct {
				UpdatedAt string `json:"updated_at"`
			} `json:"data"`
		}
		require.NoError(t, json.NewDecoder(r.Body).Decode(&event))
		told = event.Data.UpdatedAt
	}), secret)
	for n := range 30 { // some of them in another millisecond than the one before
		updated, err := s.Client().Products.Update(background, product.ID, &sdk.ProductUpdate{Name: new(fmt.Sprint(n))})
		require.NoError(t, err)
		require.Equal(t, string(updated.UpdatedAt), told)
	}
}

func TestSend_DeliversWhatNothingBringsAbout(t *testing.T) {
	t.Parallel()
	s := sdktest.New(t)
	var took []string
	s.Webhooks(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		event, err := sdk.VerifyWebhook(body, r.Header, secret)
		require.NoError(t, err)
		invoice, err := event.Invoice()
		require.NoError(t, err)
		took = append(took, event.Type+" "+*invoice.Number)
	}), secret)
	d := s.Send(sdk.EventInvoicePastDue, &sdk.Invoice{Object: "invoice", Number: new("INV-7")})
	require.Equal(t, http.StatusOK, d.Status)
	require.Equal(t, []string{"invoice.past_due INV-7"}, took)
}

func TestWebhooks_FailTheTestOfAHandlerThatPanics(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	s := sdktest.New(r)
	s.Webhooks(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh") }), secret)
	_, err := s.Client().Products.Create(background, &sdk.ProductCreate{Name: "A"})
	require.NoError(t, err)
	require.Equal(t, "sdktest: the webhook handler panicked at product.created: oh", r.said)
}
