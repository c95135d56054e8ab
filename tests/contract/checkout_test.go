package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// onSale makes an active product with one price variant in US dollars and returns the variant.
func onSale(t *testing.T, c *sdk.Client, amount int64) *sdk.PriceVariant {
	t.Helper()
	return variantOnSale(t, c, sdk.ProductPriceVariant{Amount: &amount, Currency: new("usd")})
}

func variantOnSale(t *testing.T, c *sdk.Client, v sdk.ProductPriceVariant) *sdk.PriceVariant {
	t.Helper()
	p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{
		Name: "Guide", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{v},
	}, sdk.Expand("price_variants")))
	return p.PriceVariants[0].Object
}

func lines(variants ...*sdk.PriceVariant) []sdk.CheckoutLine {
	list := make([]sdk.CheckoutLine, len(variants))
	for i, v := range variants {
		list[i] = sdk.CheckoutLine{PriceVariant: v.ID}
	}
	return list
}

func checkout(t *testing.T, c *sdk.Client, email string, variants ...*sdk.PriceVariant) *sdk.Checkout {
	t.Helper()
	return ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: &email, CustomerEmailVerified: new(true), LineItems: lines(variants...)}))
}

// by is a confirmation with a test method or a test card's number.
func by(method string) *sdk.CheckoutConfirm {
	if strings.HasPrefix(method, "pm_") {
		return &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: method}}
	}
	return &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Card: &sdk.Card{Number: method, ExpMonth: 12, ExpYear: 2030, CVC: "123"}}}
}

// buy makes an order.
func purchase(t *testing.T, c *sdk.Client, email string, variants ...*sdk.PriceVariant) *sdk.Order {
	t.Helper()
	paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, checkout(t, c, email, variants...).ID, by("pm_card_visa"), sdk.Expand("order")))
	if paid.Order.Object == nil {
		t.Fatalf("the paid checkout has no order: %+v", paid)
	}
	return paid.Order.Object
}

func TestCreateCheckout_AddsUp(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide, atlas := onSale(t, c, 1900), onSale(t, c, 333)
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			LineItems: []sdk.CheckoutLine{{PriceVariant: guide.ID, Quantity: new(int64(2))}, {PriceVariant: atlas.ID, Quantity: new(int64(3))}},
		}, sdk.Expand("line_items.product", "line_items.price_variant")))
		assert.EqualValues(t, 4799, made.SubtotalAmount, "the amounts")
		assert.EqualValues(t, 4799, made.TotalAmount, "the amounts")
		assert.EqualValues(t, 4799, made.NetAmount, "the amounts")
		assert.Zero(t, *made.TaxAmount, "the amounts")
		assert.EqualValues(t, 4799, made.AmountDueNow, "the amounts")
		assert.EqualValues(t, "open", made.Status, "the checkout")
		assert.EqualValues(t, "unpaid", made.PaymentStatus, "the checkout")
		assert.True(t, made.PaymentMethodRequired, "the checkout")
		assert.Equal(t, "usd", made.Currency, "the checkout")
		line := made.LineItems[1].Object
		assert.EqualValues(t, 3, line.Quantity, "the second line")
		assert.EqualValues(t, 333, line.UnitAmount, "the second line")
		assert.EqualValues(t, 999, line.TotalAmount, "the second line")
		assert.Equal(t, "Guide", line.Product.Object.Name, "the second line")
		assert.Equal(t, atlas.ID, line.PriceVariant.Object.ID, "the second line")
		assert.True(t, strings.HasSuffix(made.URL, "/checkout/"+made.ClientSecret), made.URL)
		assert.Equal(t, 24*time.Hour, made.ExpiresAt.Time().Sub(made.CreatedAt.Time()), "it stays open")
	})
}

func TestCreateCheckout_RefusesWhatIsNotOnSale(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		price := func(v sdk.ProductPriceVariant) *sdk.PriceVariant {
			v.Amount, v.Currency = new(int64(1900)), new("usd")
			return variantOnSale(t, c, v)
		}
		draft := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Draft"), sdk.Expand("price_variants"))).PriceVariants[0].Object
		archived := price(sdk.ProductPriceVariant{})
		ok[*sdk.PriceVariant](t)(c.PriceVariants.Create(background, &sdk.PriceVariantCreate{Product: archived.Product.ID, Amount: new(int64(100)), Currency: new("usd")}))
		ok[*sdk.PriceVariant](t)(c.PriceVariants.Update(background, archived.ID, &sdk.PriceVariantUpdate{Status: new(sdk.PriceVariantStatus("archived"))}))
		for name, line := range map[string]sdk.CheckoutLine{
			"product is a draft":   {PriceVariant: draft.ID},
			"variant is archived":  {PriceVariant: archived.ID},
			"out of stock":         {PriceVariant: price(sdk.ProductPriceVariant{Stock: new(int64(1))}).ID, Quantity: new(int64(2))},
			"less than allowed":    {PriceVariant: price(sdk.ProductPriceVariant{QuantityMin: new(int64(2))}).ID},
			"more than allowed":    {PriceVariant: price(sdk.ProductPriceVariant{QuantityMax: new(int64(2))}).ID, Quantity: new(int64(3))},
			"nothing to choose":    {PriceVariant: price(sdk.ProductPriceVariant{}).ID, CustomAmount: new(int64(1))},
			"more than can be due": {PriceVariant: variantOnSale(t, c, sdk.ProductPriceVariant{Amount: new(int64(1e12)), Currency: new("usd")}).ID, Quantity: new(int64(2))},
		} {
			_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{line}})
			if e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "line_items"); t.Failed() {
				t.Fatalf("%s: %v", name, e)
			}
		}
		_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: onSale(t, c, 100).ID}, {PriceVariant: randomID("price")}}})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "line_items.1.price_variant")
	})
}

func TestCreateCheckout_BuyerNamesTheAmount(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		tip := variantOnSale(t, c, sdk.ProductPriceVariant{
			AmountType: new(sdk.PriceVariantAmountType("custom")), Currency: new("usd"),
			MinAmount: new(int64(100)), SuggestedAmount: new(int64(500)), MaxAmount: new(int64(1000)),
		})
		with := func(amount *int64) (*sdk.Checkout, error) {
			return c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: tip.ID, CustomAmount: amount}}})
		}
		for _, amount := range []int64{99, 1001} {
			_, err := with(&amount)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "line_items")
		}
		if made := ok[*sdk.Checkout](t)(with(new(int64(700)))); made.TotalAmount != 700 {
			t.Errorf("700 was offered, %d is due", made.TotalAmount)
		}
		if made := ok[*sdk.Checkout](t)(with(nil)); made.TotalAmount != 500 {
			t.Errorf("500 was suggested, %d is due", made.TotalAmount)
		}
	})
}

func TestCreateCheckout_WhatTheBuyerLikesIsNothingOrChargeable(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		tip := variantOnSale(t, c, sdk.ProductPriceVariant{AmountType: new(sdk.PriceVariantAmountType("custom")), Currency: new("usd"), MinAmount: new(int64(0))})
		with := func(amount *int64) (*sdk.Checkout, error) {
			return c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: tip.ID, CustomAmount: amount}}})
		}
		for _, amount := range []*int64{nil, new(int64(1)), new(int64(49))} {
			_, err := with(amount)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "line_items")
		}
		if made := ok[*sdk.Checkout](t)(with(new(int64(0)))); made.PaymentMethodRequired {
			t.Error("nothing is due and a payment method is required")
		}
		if made := ok[*sdk.Checkout](t)(with(new(int64(50)))); made.TotalAmount != 50 {
			t.Errorf("50 was offered, %d is due", made.TotalAmount)
		}
	})
}

func TestCreateCheckout_TakesTheCurrencyThatIsAskedFor(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		both := variantOnSale(t, c, sdk.ProductPriceVariant{Amount: new(int64(1900)), Currency: new("usd"), CurrencyAmounts: &sdk.CurrencyAmounts{"eur": 1700}})
		in := func(currency *string, variants ...*sdk.PriceVariant) (*sdk.Checkout, error) {
			return c.Checkouts.Create(background, &sdk.CheckoutCreate{Currency: currency, LineItems: lines(variants...)})
		}
		euros := ok[*sdk.Checkout](t)(in(new("eur"), both))
		assert.Equal(t, "eur", euros.Currency)
		assert.EqualValues(t, 1700, euros.TotalAmount)
		_, err := in(new("gbp"), both)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "currency")
		euroOnly := variantOnSale(t, c, sdk.ProductPriceVariant{Amount: new(int64(900)), Currency: new("eur")})
		_, err = in(nil, both, euroOnly)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "line_items")
		mixed := ok[*sdk.Checkout](t)(in(nil, euroOnly, both))
		assert.Equal(t, "eur", mixed.Currency)
		assert.EqualValues(t, 2600, mixed.TotalAmount)
		dollars := ok[*sdk.Checkout](t)(c.Checkouts.Update(background, euros.ID, &sdk.CheckoutUpdate{Currency: new("usd")}))
		assert.Equal(t, "usd", dollars.Currency)
		assert.EqualValues(t, 1900, dollars.TotalAmount)
	})
}

func TestCreateCheckout_ForACustomer(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com", Name: new("Ada")}))
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{Customer: new("cust_" + strings.TrimPrefix(ada.ID, "cus_")), LineItems: lines(guide)}))
		assert.Equal(t, ada.ID, made.Customer.ID, "the checkout")
		assert.Equal(t, "ada@example.com", *made.CustomerEmail, "the checkout")
		assert.Equal(t, "Ada", *made.CustomerName, "the checkout")
		_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{Customer: &ada.ID, CustomerEmail: new("x@example.com"), CustomerEmailVerified: new(true), LineItems: lines(guide)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "customer_email")
		_, err = c.Checkouts.Create(background, &sdk.CheckoutCreate{Customer: new(randomID("cus")), LineItems: lines(guide)})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "customer")
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("pm_card_visa")))
		if paid.Customer.ID != ada.ID {
			t.Errorf("%s bought it", paid.Customer.ID)
		}
	})
}

func TestConfirmCheckout_FindsItsCustomer(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		from := func(email, externalID string) *sdk.Customer {
			made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: &email, CustomerEmailVerified: new(true), ExternalCustomerID: &externalID, LineItems: lines(guide)}))
			return ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("pm_card_visa"), sdk.Expand("customer"))).Customer.Object
		}
		lead := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		ada := from("ADA@example.com", "e1")
		assert.Equal(t, lead.ID, ada.ID, "the buyer with the lead's address")
		assert.Equal(t, "e1", *ada.ExternalID, "the buyer with the lead's address")
		assert.EqualValues(t, "customer", ada.Type, "the buyer with the lead's address")
		assert.EqualValues(t, 1, ada.OrdersCount, "the buyer with the lead's address")
		again := from("elsewhere@example.com", "e1")
		assert.Equal(t, lead.ID, again.ID, "the buyer with the lead's external id")
		assert.Equal(t, "ada@example.com", again.Email, "the buyer with the lead's external id")
		assert.EqualValues(t, 3800, again.TotalSpent["usd"], "the buyer with the lead's external id")
		grace := from("grace@example.com", "e2")
		assert.NotEqual(t, lead.ID, grace.ID, "the new buyer")
		assert.Equal(t, "e2", *grace.ExternalID, "the new buyer")
		assert.EqualValues(t, 1, grace.OrdersCount, "the new buyer")
	})
}

func TestUpdateCheckout_ReplacesLinesWhileItIsOpen(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := checkout(t, c, "ada@example.com", onSale(t, c, 1900))
		changed := ok[*sdk.Checkout](t)(c.Checkouts.Update(background, made.ID, &sdk.CheckoutUpdate{
			LineItems: lines(onSale(t, c, 500), onSale(t, c, 600)), CustomerName: sdk.Set("Ada"), SuccessURL: sdk.Set("https://shop.example/thanks"),
			Metadata: sdk.Set(sdk.MetadataUpdate{"a": new("1")}),
		}))
		assert.EqualValues(t, 1100, changed.TotalAmount, "the checkout")
		require.Len(t, changed.LineItems, 2, "the checkout")
		assert.Equal(t, "Ada", *changed.CustomerName, "the checkout")
		assert.Equal(t, "ada@example.com", *changed.CustomerEmail, "the checkout")
		_, err := c.Checkouts.Update(background, made.ID, &sdk.CheckoutUpdate{ExpiresAt: new(sdk.Time("2020-01-01T00:00:00Z"))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "expires_at")
		expired := ok[*sdk.Checkout](t)(c.Checkouts.Expire(background, made.ID))
		again := ok[*sdk.Checkout](t)(c.Checkouts.Expire(background, made.ID))
		assert.EqualValues(t, "expired", expired.Status, "expired twice")
		assert.Equal(t, expired.UpdatedAt, again.UpdatedAt, "expired twice")
		_, err = c.Checkouts.Update(background, made.ID, &sdk.CheckoutUpdate{CustomerName: sdk.Set("Grace")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		_, err = c.Checkouts.Confirm(background, made.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}

func TestConfirmCheckout_DeclineThenPayWithCards(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := checkout(t, c, "ada@example.com", onSale(t, c, 1900))
		_, err := c.Checkouts.Confirm(background, made.ID, by("4000000000000002"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		declined := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, made.ID))
		assert.EqualValues(t, "open", declined.Status, "after the decline the checkout")
		require.NotNil(t, declined.LastPaymentError, "after the decline the checkout")
		assert.Equal(t, "generic_decline", *declined.LastPaymentError.DeclineCode, "after the decline the checkout")
		_, err = c.Checkouts.Confirm(background, made.ID, by("4242424242424241"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("4242424242424242"), sdk.Expand("order", "customer")))
		assert.EqualValues(t, "completed", paid.Status, "the paid checkout")
		assert.EqualValues(t, "paid", paid.PaymentStatus, "the paid checkout")
		require.NotNil(t, paid.CompletedAt, "the paid checkout")
		assert.Nil(t, paid.LastPaymentError, "the paid checkout")
		assert.EqualValues(t, "paid", paid.Order.Object.Status)
		assert.EqualValues(t, "customer", paid.Customer.Object.Type)
		again := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("4242424242424242")))
		if again.Order.ID != paid.Order.ID {
			t.Errorf("a second confirmation made %s", again.Order.ID)
		}
	})
}

func TestConfirmCheckout_WaitsForTheBuyer(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := checkout(t, c, "ada@example.com", onSale(t, c, 1900))
		waiting := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("4000002500003155")))
		assert.EqualValues(t, "processing", waiting.Status, "the checkout")
		require.NotNil(t, waiting.NextAction, "the checkout")
		assert.Equal(t, waiting.URL, waiting.NextAction.URL, "the checkout")
		_, err := c.Checkouts.Confirm(background, made.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		left := ok[*sdk.Checkout](t)(c.Checkouts.Expire(background, made.ID))
		assert.EqualValues(t, "expired", left.Status, "the checkout")
		assert.EqualValues(t, "unpaid", left.PaymentStatus, "the checkout")
		assert.Nil(t, left.NextAction, "the checkout")
	})
}

func TestConfirmCheckout_NeedsAnAddressAndAMethod(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines(onSale(t, c, 1900))}))
		_, err := c.Checkouts.Confirm(background, made.ID, &sdk.CheckoutConfirm{})
		e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "customer_email")
		if len(e.Errors["payment_method"]) == 0 {
			t.Errorf("errors are %v", e.Errors)
		}
		free := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			CustomerEmail: new("ada@example.com"),
			LineItems:     lines(variantOnSale(t, c, sdk.ProductPriceVariant{AmountType: new(sdk.PriceVariantAmountType("free")), Currency: new("usd")})),
		}))
		done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, free.ID, nil, sdk.Expand("order")))
		assert.EqualValues(t, "no_payment_required", done.PaymentStatus, "the free checkout")
		assert.EqualValues(t, "paid", done.Order.Object.Status, "the free checkout")
		assert.Empty(t, done.Order.Object.Payments, "the free checkout")
	})
}

func TestListCheckouts_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide, other := onSale(t, c, 1900), onSale(t, c, 100)
		paid := purchase(t, c, "ada@example.com", guide)
		open := checkout(t, c, "Grace@example.com", other)
		expired := checkout(t, c, "x@example.com", other)
		ok[*sdk.Checkout](t)(c.Checkouts.Expire(background, expired.ID))
		for _, filter := range []struct {
			params sdk.ListCheckoutsParams
			want   string
		}{
			{sdk.ListCheckoutsParams{Status: new(sdk.CheckoutStatus("open"))}, open.ID},
			{sdk.ListCheckoutsParams{Status: new(sdk.CheckoutStatus("expired"))}, expired.ID},
			{sdk.ListCheckoutsParams{PaymentStatus: new(sdk.CheckoutPaymentStatus("paid"))}, paid.Checkout.ID},
			{sdk.ListCheckoutsParams{Customer: &paid.Customer.ID}, paid.Checkout.ID},
			{sdk.ListCheckoutsParams{CustomerEmail: new("grace@EXAMPLE.com")}, open.ID},
			{sdk.ListCheckoutsParams{Product: &guide.Product.ID}, paid.Checkout.ID},
			{sdk.ListCheckoutsParams{Q: new("grace")}, open.ID},
		} {
			list := ok[*sdk.CheckoutList](t)(c.Checkouts.List(background, &filter.params))
			require.Len(t, list.Data, 1)
			assert.Equal(t, filter.want, list.Data[0].ID)
		}
		_, err := c.Checkouts.List(background, &sdk.ListCheckoutsParams{Product: new(randomID("prod"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "product")
		_, err = c.Checkouts.List(background, &sdk.ListCheckoutsParams{Customer: new("nobody")})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "customer")
	})
}

func TestPublicCheckout_IsTheBuyersOwn(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		guide := onSale(t, c, 1900)
		ok[*sdk.Product](t)(c.Products.Update(background, guide.Product.ID, &sdk.ProductUpdate{
			CustomFields: []sdk.CustomField{{Key: "size", Label: "Size", Type: "select", Required: true, Options: []string{"s", "m"}}},
		}))
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines(guide), Metadata: &sdk.Metadata{"internal": "yes"}}))
		buyer := s.From(t, "127.0.0.1").SDK()
		seen := ok[*sdk.PublicCheckout](t)(buyer.PublicCheckouts.Get(background, made.ClientSecret))
		assert.Equal(t, made.ID, seen.ID, "the buyer")
		assert.Equal(t, "Guide", seen.LineItems[0].ProductName, "the buyer")
		assert.Len(t, seen.CustomFields, 1, "the buyer")
		ok[*sdk.PublicCheckout](t)(buyer.PublicCheckouts.Update(background, made.ClientSecret, &sdk.PublicCheckoutUpdate{CustomerEmail: sdk.Set("ada@example.com")}))
		_, err := buyer.PublicCheckouts.Confirm(background, made.ClientSecret, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "custom_field_data.size")
		_, err = buyer.PublicCheckouts.Update(background, made.ClientSecret, &sdk.PublicCheckoutUpdate{CustomFieldData: &sdk.CustomFieldData{"size": "xl"}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "custom_field_data.size")
		ok[*sdk.PublicCheckout](t)(buyer.PublicCheckouts.Update(background, made.ClientSecret, &sdk.PublicCheckoutUpdate{CustomFieldData: &sdk.CustomFieldData{"size": "m"}}))
		paid := ok[*sdk.PublicCheckout](t)(buyer.PublicCheckouts.Confirm(background, made.ClientSecret, by("4242424242424242")))
		assert.EqualValues(t, "completed", paid.Status, "the buyer")
		assert.EqualValues(t, "paid", paid.PaymentStatus, "the buyer")
		_, err = buyer.PublicCheckouts.Get(background, made.ID+"_secret_"+strings.Repeat("a", 52))
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestConfirmCheckout_SixteenBuyersOfFourPieces(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		few := variantOnSale(t, c, sdk.ProductPriceVariant{Amount: new(int64(1900)), Currency: new("usd"), Stock: new(int64(4))})
		made := make([]*sdk.Checkout, 16)
		for i := range made {
			made[i] = checkout(t, c, fmt.Sprintf("buyer%d@example.com", i), few)
		}
		sold := confirmAtOnce(t, c, made, "line_items")
		left := ok[*sdk.PriceVariant](t)(c.PriceVariants.Get(background, few.ID))
		assert.Equal(t, 4, sold)
		assert.EqualValues(t, 4, left.SoldCount)
	})
}

// confirmAtOnce pays all the checkouts at the same time and returns how many were sold. The others are refused for field.
func confirmAtOnce(t *testing.T, c *sdk.Client, made []*sdk.Checkout, field string) int {
	t.Helper()
	errs := make(chan error)
	for _, m := range made {
		go func() {
			_, err := c.Checkouts.Confirm(background, m.ID, by("pm_card_visa"))
			errs <- err
		}()
	}
	sold := 0
	for range made {
		if err := <-errs; err == nil {
			sold++
		} else {
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, field)
		}
	}
	return sold
}
