package contract

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestPurchase_DeliversForFewStatements counts the statements of a purchase. A tip gives nothing; a grant and a licence key are a row each.
func TestPurchase_DeliversForFewStatements(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		var statements atomic.Int64
		c := boot(t, url, harness.Traced(func(ctx context.Context, _ string, _ []any) {
			if caller.RequestID(ctx) != "" {
				statements.Add(1)
			}
		})).SDK(t)
		buy := func(price string) int64 {
			before := statements.Load()
			made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: new(unique() + "@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: price}}}))
			ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("pm_card_visa")))
			return statements.Load() - before
		}
		tip := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{
			Name: "Tip", Type: new(sdk.ProductType("tip")), Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(1900)), Currency: new("usd")}},
		})).PriceVariants[0].ID
		for _, sold := range []struct {
			what, price string
			most        int64 // statements more than a tip
		}{
			{"nothing", onSale(t, c, 1900).ID, 1},
			{"a link", delivering(t, c).PriceVariants[0].ID, 1},
			{"a licence key", licensed(t, c, nil, nil).PriceVariants[0].ID, 2},
		} {
			buy(tip)
			buy(sold.price) // a first sale writes rows that the next ones change
			base, costs := buy(tip), buy(sold.price)
			if base == 0 || costs > base+sold.most {
				t.Errorf("a purchase that delivers %s has %d statements, a tip %d", sold.what, costs, base)
			}
		}
	})
}
