package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
)

// payload is the body of a delivery.
type payload struct {
	ID         string          `json:"id"`
	CreatedAt  string          `json:"created_at"`
	Type       string          `json:"type"`
	APIVersion string          `json:"api_version"`
	Data       json.RawMessage `json:"data"`
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(into), string(text))
}

// inlined is an object that stands in the place of its id.
func inlined(t *testing.T, r wire.Reference) map[string]any {
	t.Helper()
	object, ok := r.(map[string]any)
	require.True(t, ok, "%v", r)
	return object
}

func TestEventTypes_ListsTheWholeCatalogueWithExamples(t *testing.T) {
	t.Parallel()
	types := EventTypes()
	require.Len(t, types.Data, len(outbox.EventTypes()))
	for i, want := range outbox.EventTypes() {
		got := types.Data[i]
		require.Equal(t, want.Type, got.Type)
		require.Equal(t, "event_type", got.Object)
		require.NotEmpty(t, got.Description)
		var p payload
		decode(t, got.Example, &p)
		require.Equal(t, want.Type, p.Type)
		require.Equal(t, "v1", p.APIVersion)
		require.True(t, strings.HasPrefix(p.ID, "whev_"))
		var data struct {
			Object string `json:"object"`
		}
		require.NoError(t, json.Unmarshal(p.Data, &data))
		require.Equal(t, objectOf(want.Type), data.Object, want.Type)
	}
}

// objectOf is the resource that an event is about.
func objectOf(kind string) string {
	resource, _, _ := strings.Cut(kind, ".")
	switch resource {
	case "lead":
		return "customer"
	case "refund":
		return "order"
	}
	return resource
}

func TestEvent_RendersEveryTypeThatIsEmitted(t *testing.T) {
	t.Parallel()
	for _, kind := range outbox.EventTypes() {
		data := EventExample(kind.Type)
		switch objectOf(kind.Type) {
		case "customer":
			var c leadCustomer
			decode(t, data, &c)
			require.Equal(t, c.ID, c.Lead.Customer)
			require.Equal(t, "lead", c.Lead.Object)
		case "product":
			var p api.Product
			decode(t, data, &p)
			require.Equal(t, p.ID, inlined(t, p.PriceVariants[0])["product"])
		case "checkout":
			var c api.Checkout
			decode(t, data, &c)
			require.EqualValues(t, 1900, inlined(t, c.LineItems[0])["total_amount"])
		case "order":
			var o refundedOrder // the other events of an order have no refund
			decode(t, data, &o)
			require.Equal(t, strings.HasPrefix(kind.Type, "refund."), o.Refund.ID != "")
			require.EqualValues(t, 1900, inlined(t, o.LineItems[0])["total_amount"])
			require.Equal(t, "ada@example.com", inlined(t, o.Customer)["email"])
		case "invoice":
			var i api.Invoice
			decode(t, data, &i)
			require.Equal(t, "Field Guide to Sourdough", inlined(t, i.Lines[0])["description"])
			require.Equal(t, "ada@example.com", inlined(t, i.Customer)["email"])
		}
	}
}

func TestEvent_DoesNotCarryWhatPaysACheckout(t *testing.T) {
	t.Parallel()
	d := sampleCheckout()
	d.Checkout.ClientSecret, d.Checkout.URL = "chk_secret", "https://shop.example/checkout/chk_secret"
	data, err := Event(outbox.EventCheckoutCreated, d)
	require.NoError(t, err)
	require.NotContains(t, string(data), "chk_secret")
}

func TestEvent_UnknownValueIsAnError(t *testing.T) {
	t.Parallel()
	_, err := Event(outbox.EventOrderPaid, &order.Order{})
	require.Error(t, err)
}
