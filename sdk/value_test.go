package sdk

import (
	"encoding/json"
	"testing"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

func TestExpandable_ReadsEveryForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Expandable[Customer]{
		`"cus_1"`: {ID: "cus_1"},
		`null`:    {},
		`{"id":"cus_1","object":"customer","email":"a@b.example"}`: {ID: "cus_1",
			Object: &Customer{ID: "cus_1", Object: "customer", Email: "a@b.example"}},
		`{"id":"cus_1","object":"customer","deleted":true}`: {ID: "cus_1",
			Deleted: &Deleted{ID: "cus_1", Object: "customer", Deleted: true}},
	} {
		order := Order{Customer: Expandable[Customer]{ID: "before", Object: &Customer{}}}
		require.NoError(t, json.Unmarshal([]byte(`{"customer":`+text+`}`), &order))
		require.Equal(t, want, order.Customer, text)
	}
	var order Order
	require.Error(t, json.Unmarshal([]byte(`{"customer":7}`), &order))
	require.NoError(t, json.Unmarshal([]byte(`{"line_items":["li_1",{"id":"li_2","product":{"id":"prod_1","name":"Guide"}}]}`), &order))
	require.Equal(t, "li_1", order.LineItems[0].ID)
	require.Nil(t, order.LineItems[0].Object)
	require.Equal(t, "Guide", order.LineItems[1].Object.Product.Object.Name)
}

func TestUpdate_TellsAbsentNullAndValueApart(t *testing.T) {
	t.Parallel()
	for want, update := range map[string]any{
		`{}`:                              ProductUpdate{},
		`{"headline":null}`:               ProductUpdate{Headline: Null[string]()},
		`{"headline":"New","images":[]}`:  ProductUpdate{Headline: Set("New"), Images: []string{}},
		`{"metadata":{"a":null,"b":"x"}}`: ProductUpdate{Metadata: Set(MetadataUpdate{"a": nil, "b": new("x")})},
		`{"stock":0}`:                     PriceVariantUpdate{Stock: Set(int64(0))},
	} {
		text, err := json.Marshal(update)
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
	}
}

func TestPaymentMethod_IsATokenOrACard(t *testing.T) {
	t.Parallel()
	for want, method := range map[string]PaymentMethod{
		`{"payment_method":"pm_card_visa"}`: {Token: "pm_card_visa"},
		`{"payment_method":{"type":"card","card":{"number":"4242424242424242","exp_month":12,"exp_year":2030,"cvc":"123"}}}`: {
			Card: &Card{Number: "4242424242424242", ExpMonth: 12, ExpYear: 2030, CVC: "123"}},
	} {
		text, err := json.Marshal(CheckoutConfirm{PaymentMethod: &method})
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
	}
}
