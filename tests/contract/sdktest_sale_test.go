package contract

import (
	"fmt"

	"github.com/tillwright/tillwright/sdk"
)

// changedSale is the part of a sale about what changes between a checkout and its payment: the discount, the stock.
func changedSale(c *sdk.Client) {
	ctx := background
	offer, _ := c.Products.Create(ctx, &sdk.ProductCreate{Name: "Print", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{
		{Amount: new(int64(100_000))}, {Amount: new(int64(700)), Stock: new(int64(2)), QuantityMax: new(int64(2))}, {Amount: new(int64(1_000_000_000_000)), Currency: new("usd")},
	}})
	line := func(variant int, quantity int64) sdk.CheckoutLine {
		return sdk.CheckoutLine{PriceVariant: offer.PriceVariants[variant].ID, Quantity: new(quantity)}
	}
	create := func(code string, lines ...sdk.CheckoutLine) *sdk.Checkout {
		body := &sdk.CheckoutCreate{CustomerEmail: new("emmy@example.com"), LineItems: lines}
		if code != "" {
			body.DiscountCode = &code
		}
		checkout, _ := c.Checkouts.Create(ctx, body, sdk.Expand("line_items"))
		return checkout
	}
	pay := func(checkout *sdk.Checkout, options ...sdk.Option) {
		_, _ = c.Checkouts.Confirm(ctx, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}}, options...)
	}
	percent := func(code string) *sdk.Discount {
		d, _ := c.Discounts.Create(ctx, &sdk.DiscountCreate{Type: sdk.DiscountTypePercent, PercentBps: new(int64(500)), Code: &code, MaxRedemptions: new(int64(1))})
		return d
	}
	rename := &sdk.CheckoutUpdate{CustomerName: sdk.Set("Emmy")}

	percent("ONCE")
	first, second := create("once", line(0, 1)), create("once", line(0, 1))
	pay(first)
	_, _ = c.Checkouts.Update(ctx, second.ID, rename)
	pay(second)
	_, _ = c.Checkouts.Update(ctx, second.ID, &sdk.CheckoutUpdate{BillingAddress: sdk.Set(sdk.Address{Country: new("DE")})})
	_, _ = c.Checkouts.Update(ctx, second.ID, &sdk.CheckoutUpdate{DiscountCode: sdk.Null[string]()})
	pay(second)

	off := percent("OFF")
	disabled := create("off", line(0, 1))
	_, _ = c.Discounts.Disable(ctx, off.ID)
	_, _ = c.Checkouts.Update(ctx, disabled.ID, rename)
	pay(disabled)
	_, _ = c.Discounts.Delete(ctx, off.ID)
	pay(disabled)

	more := percent("MORE")
	changed := create("more", line(0, 1))
	_, _ = c.Discounts.Update(ctx, more.ID, &sdk.DiscountUpdate{PercentBps: sdk.Set(int64(1000))})
	key := sdk.WithIdempotencyKey("changed")
	pay(changed, key)
	pay(changed, key)
	_, _ = c.Checkouts.Get(ctx, changed.ID, sdk.Expand("line_items"))
	pay(changed)

	create("", line(1, 1), line(1, 2))
	few := create("", line(1, 1), line(1, 1))
	_, _ = c.PriceVariants.Update(ctx, offer.PriceVariants[1].ID, &sdk.PriceVariantUpdate{Stock: sdk.Set(int64(1))})
	pay(few)
	create("", line(1, 1), line(1, 1))
	_, _ = c.PriceVariants.Update(ctx, offer.PriceVariants[1].ID, &sdk.PriceVariantUpdate{Stock: sdk.Null[int64]()})
	create("", line(1, 2), line(1, 2))

	half, _ := c.Discounts.Create(ctx, &sdk.DiscountCreate{Type: sdk.DiscountTypePercent, PercentBps: new(int64(5000)), Code: new("HALF")})
	create("", line(2, 2))
	create(*half.Code, line(2, 2)) // the total would fit, and the subtotal does not
	create(*half.Code, line(2, 1_000_000))
	create("", line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000),
		line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000))
	_, _ = c.Orders.List(ctx, nil, sdk.Expand("line_items", "payments", "grants", "invoice")) // so that the events have no unknown ids
}

// askingSale is the part of a sale about questions to the buyer, and about who the buyer is.
func askingSale(c *sdk.Client) {
	ctx := background
	ask := func(fields ...sdk.CustomField) *sdk.Product {
		product, _ := c.Products.Create(ctx, &sdk.ProductCreate{Name: "Shirt", Status: new(sdk.ProductStatusActive), CustomFields: fields, PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(900))}}})
		return product
	}
	size := sdk.CustomField{Key: "size", Label: "Size", Type: sdk.CustomFieldTypeSelect, Required: true, Options: []string{"S", "M"}}
	gift := sdk.CustomField{Key: "gift", Label: "A gift?", Type: sdk.CustomFieldTypeCheckbox}
	ask(size, size)
	ask(sdk.CustomField{Key: "size", Label: "Size", Type: sdk.CustomFieldTypeSelect})
	shirt := ask(size, gift)
	create := func(body *sdk.CheckoutCreate) *sdk.Checkout {
		body.LineItems = []sdk.CheckoutLine{{PriceVariant: shirt.PriceVariants[0].ID}}
		checkout, _ := c.Checkouts.Create(ctx, body)
		return checkout
	}
	pay := func(checkout *sdk.Checkout) {
		_, _ = c.Checkouts.Confirm(ctx, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}}, sdk.Expand("customer"))
	}
	create(&sdk.CheckoutCreate{CustomFieldData: &sdk.CustomFieldData{"colour": "red"}})
	checkout := create(&sdk.CheckoutCreate{CustomerEmail: new("mary@example.com"), Locale: new("de"), BillingAddress: &sdk.Address{Country: new("DE")}})
	pay(checkout)
	for _, answers := range []sdk.CustomFieldData{{"size": "L"}, {"gift": "yes"}, {"colour": "red"}, {"size": ""}} {
		_, _ = c.Checkouts.Update(ctx, checkout.ID, &sdk.CheckoutUpdate{CustomFieldData: &answers})
	}
	pay(checkout)
	_, _ = c.Checkouts.Update(ctx, checkout.ID, &sdk.CheckoutUpdate{CustomFieldData: &sdk.CustomFieldData{"size": "M", "gift": "true"}})
	pay(checkout)

	answers := &sdk.CustomFieldData{"size": "S"}
	known, _ := c.Customers.Create(ctx, &sdk.CustomerCreate{Email: "hedy@example.com", ExternalID: new("e1")})
	pay(create(&sdk.CheckoutCreate{CustomerEmail: new("other@example.com"), CustomerName: new("Hedy"), ExternalCustomerID: new("e1"), BillingAddress: &sdk.Address{Country: new("AT")}, CustomFieldData: answers}))
	pay(create(&sdk.CheckoutCreate{CustomerEmail: new("new@example.com"), ExternalCustomerID: new("e2"), Locale: new("fr"), BillingAddress: &sdk.Address{Country: new("FR")}, CustomFieldData: answers}))
	pay(create(&sdk.CheckoutCreate{CustomerEmail: new("new@example.com"), CustomFieldData: answers}))
	for range sdk.All(ctx, c.Orders.List, &sdk.ListOrdersParams{CustomerEmail: new("Other@example.com")}, sdk.Expand("line_items", "payments", "grants", "invoice")) {
	}
	_, _ = c.Orders.List(ctx, &sdk.ListOrdersParams{Limit: new(int64(4))}, sdk.Expand("line_items", "payments", "grants", "invoice")) // so that the events have no unknown ids
	_, _ = c.Customers.Delete(ctx, known.ID, nil)
	_, _ = c.Grants.List(ctx, &sdk.ListGrantsParams{Limit: new(int64(4))})

	sold := &sdk.PriceVariantUpdate{Amount: new(int64(1000)), Name: sdk.Set("Cotton")}
	_, _ = c.PriceVariants.Update(ctx, shirt.PriceVariants[0].ID, sold)
	full := sdk.MetadataUpdate{}
	for i := range 30 {
		full[fmt.Sprint("a", i)] = new("1")
	}
	_, _ = c.Products.Update(ctx, shirt.ID, &sdk.ProductUpdate{Metadata: sdk.Set(full)})
	more := sdk.MetadataUpdate{}
	for i := range 30 {
		more[fmt.Sprint("b", i)] = new("1")
	}
	_, _ = c.Products.Update(ctx, shirt.ID, &sdk.ProductUpdate{Metadata: sdk.Set(more)})
	choose, _ := c.PriceVariants.Create(ctx, &sdk.PriceVariantCreate{Product: shirt.ID, AmountType: new(sdk.PriceVariantAmountTypeCustom), MinAmount: new(int64(200))})
	_, _ = c.CheckoutLinks.Create(ctx, &sdk.CheckoutLinkCreate{PriceVariants: []string{choose.ID}})
	shut, _ := c.Checkouts.Create(ctx, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: shirt.PriceVariants[0].ID}}, AllowDiscountCodes: new(false)})
	_, _ = c.PublicCheckouts.Update(ctx, shut.ClientSecret, &sdk.PublicCheckoutUpdate{DiscountCode: sdk.Set("HALF")})
}
