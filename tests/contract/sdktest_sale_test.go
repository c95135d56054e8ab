package contract

import (
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
	create(*half.Code, line(2, 1_000_000))
	create("", line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000),
		line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000), line(2, 1_000_000))
	_, _ = c.Orders.List(ctx, nil, sdk.Expand("line_items", "payments", "grants", "invoice")) // so that the events have no unknown ids
}
