package contract

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// purchaseStatements is how many statements a whole purchase of a tip may have: a checkout, its confirmation and a look at the order. BEGIN and COMMIT
// are not among them, nor is what workers do. PostgreSQL is sent several changes in one statement, each of which counts here. A development server
// also reads the account's clock there, before each change.
var purchaseStatements = map[string]int{"sqlite": 50, "postgres": 52}

// counting starts a server, and returns what takes the statements of requests since it was called before.
func counting(t *testing.T, url string) (s *harness.Server, taken func() []string) {
	var mu sync.Mutex
	var statements []string
	s = boot(t, url, harness.Traced(func(ctx context.Context, statement string, _ []any) {
		if caller.RequestID(ctx) != "" {
			mu.Lock()
			defer mu.Unlock()
			statements = append(statements, strings.Join(strings.Fields(statement), " "))
		}
	}))
	return s, func() []string {
		mu.Lock()
		defer mu.Unlock()
		of := statements
		statements = nil
		return of
	}
}

// TestPurchase_DeliversForFewStatements counts the statements of a purchase. A tip gives nothing; a grant and a licence key are a row each.
func TestPurchase_DeliversForFewStatements(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, taken := counting(t, url)
		c := s.SDK(t)
		buy := func(price string) []string {
			taken()
			made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: new(unique() + "@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: price}}}))
			paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("pm_card_visa")))
			ok[*sdk.Order](t)(c.Orders.Get(background, paid.Order.ID))
			return taken()
		}
		tip := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{
			Name: "Tip", Type: new(sdk.ProductType("tip")), Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(1900)), Currency: new("usd")}},
		})).PriceVariants[0].ID
		for _, sold := range []struct {
			what, price string
			most        int // statements more than a tip
		}{
			{"nothing", onSale(t, c, 1900).ID, 1},
			{"a link", delivering(t, c).PriceVariants[0].ID, 1},
			{"a licence key", licensed(t, c, nil, nil).PriceVariants[0].ID, 2},
		} {
			buy(tip)
			buy(sold.price) // a first sale writes rows that the next ones change
			base, costs := buy(tip), buy(sold.price)
			assert.NotEmpty(t, base)
			assert.LessOrEqual(t, len(costs), len(base)+sold.most)
		}
		if all, most := buy(tip), purchaseStatements[s.Database.Engine]; len(all) > most {
			t.Errorf("a purchase has %d statements, %d at most are promised:\n%s", len(all), most, strings.Join(all, "\n"))
		}
	})
}
