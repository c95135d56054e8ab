package sdktest_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/sdktest"
)

const secret = "whsec_c2hvcCBzZWNyZXQ="

// shop is the program that is tested. It ships what is paid.
type shop struct {
	client  *sdk.Client
	shipped []int64 // numbers of orders
}

// ServeHTTP takes webhooks.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	event, err := sdk.VerifyWebhook(body, r.Header, secret)
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if event.Type == sdk.EventOrderPaid {
		if order, err := event.Order(); err == nil {
			s.shipped = append(s.shipped, order.Number)
		}
	}
}

// testShop is a test: in your program its name begins with Test.
func testShop(t *testing.T) {
	ctx := context.Background()
	server := sdktest.New(t)
	s := &shop{client: server.Client()}
	server.Webhooks(s, secret)

	product, err := s.client.Products.Create(ctx, &sdk.ProductCreate{
		Name: "Field guide", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(1900))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := s.client.Checkouts.Create(ctx, &sdk.CheckoutCreate{
		CustomerEmail: new("ada@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: product.PriceVariants[0].ID}},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Once, the answer is lost after the card was charged. The client repeats the call, and the card is charged once.
	server.Fail(sdktest.Fault{Operation: "confirmCheckout", Drop: true, AfterChange: true})
	_, err = s.client.Checkouts.Confirm(ctx, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.shipped) != 1 || s.shipped[0] != 1 {
		t.Errorf("shipped %v, order 1 was paid", s.shipped)
	}
}

func Example() {
	_ = testShop
}
