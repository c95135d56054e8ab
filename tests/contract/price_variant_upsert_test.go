package contract

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/oapi-codegen/nullable"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// price is an item of a bulk write: a price variant of a product in US dollars.
func price(externalID string, product *sdk.Product, amount int64) sdk.PriceVariantUpsert {
	return sdk.PriceVariantUpsert{ExternalID: externalID, Product: &product.ID, Amount: &amount, Currency: new("usd")}
}

func TestPriceVariant_HasAnExternalIDOfItsOwn(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		amount, usd := new(int64(1900)), new("usd")
		inline := func(ids ...string) *sdk.ProductCreate {
			p := &sdk.ProductCreate{Name: "Book"}
			for _, id := range ids {
				p.PriceVariants = append(p.PriceVariants, sdk.ProductPriceVariant{Amount: amount, Currency: usd, ExternalID: &id})
			}
			return p
		}
		book := ok[*sdk.Product](t)(c.Products.Create(background, inline("a", "b"), sdk.Expand("price_variants")))
		if a := book.PriceVariants[0].Object; *a.ExternalID != "a" {
			t.Errorf("the price variant is %+v", a)
		}
		_, err := c.Products.Create(background, inline("c", "a"))
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "price_variants.1.external_id")
		_, err = c.Products.Create(background, inline("c", "c"))
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "price_variants.1.external_id")
		other := ok[*sdk.Product](t)(c.Products.Duplicate(background, book.ID))
		_, err = c.PriceVariants.Create(background, &sdk.PriceVariantCreate{Product: other.ID, Amount: amount, ExternalID: new("a")})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "external_id")
		_, err = c.PriceVariants.Update(background, other.PriceVariants[0].ID, &sdk.PriceVariantUpdate{ExternalID: sdk.Set("a")})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "external_id")
		ok[*sdk.Product](t)(s.SDK(t).Products.Create(background, inline("a"))) // of another account

		archived := ok[*sdk.PriceVariant](t)(c.PriceVariants.Update(background, book.PriceVariants[0].ID, &sdk.PriceVariantUpdate{Status: new(sdk.PriceVariantStatusArchived)}))
		found := ok[*sdk.PriceVariantList](t)(c.PriceVariants.List(background, &sdk.ListPriceVariantsParams{ExternalID: new("a")}))
		require.Len(t, found.Data, 1, "by its id there")
		assert.Equal(t, archived.ID, found.Data[0].ID, "by its id there")
		ok[*sdk.PriceVariant](t)(c.PriceVariants.Update(background, archived.ID, &sdk.PriceVariantUpdate{ExternalID: nullable.NewNullNullable[string]()}))
		ok[*sdk.PriceVariant](t)(c.PriceVariants.Update(background, other.PriceVariants[0].ID, &sdk.PriceVariantUpdate{ExternalID: sdk.Set("a")}))
	})
}

func TestUpsertPriceVariant_MakesOneForManyAtOnceAndThenChangesIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		book := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Book", Slug: new("book")}))
		other := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Other"}))
		_, err := c.PriceVariants.Upsert(background, &sdk.PriceVariantUpsert{ExternalID: "one", Amount: new(int64(1900))})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "product")
		_, err = c.PriceVariants.Upsert(background, &sdk.PriceVariantUpsert{ExternalID: "one", Amount: new(int64(1900)), Product: new("nothing")})
		refused(t, err, http.StatusNotFound, "resource_missing", "product")
		_, err = c.PriceVariants.Upsert(background, &sdk.PriceVariantUpsert{ExternalID: "one", Amount: new(int64(1900)), Product: new("")})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "product")

		var mu sync.Mutex
		var all sync.WaitGroup
		ids := map[string]int{}
		note := func(id string) {
			mu.Lock()
			defer mu.Unlock()
			ids[id]++
		}
		for i := range 15 {
			all.Go(func() {
				item := price("one", []*sdk.Product{book, other}[i%2], int64(1000+i)) // of either product, and then of that one for good
				made, err := c.PriceVariants.Upsert(background, &item)
				if err == nil {
					note(made.ID)
				} else {
					refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "product")
				}
			})
			all.Go(func() {
				item := price("one", book, int64(2000+i))
				item.Product = nil
				if i%5 == 0 {
					item.Product = new("book")
				}
				done := ok[*sdk.BulkUpsert](t)(c.PriceVariants.BulkUpsert(background, &sdk.PriceVariantBulkUpsert{Items: []sdk.PriceVariantUpsert{item}}))
				if done.Failed == 0 {
					note(*done.Results[0].ID)
				} else if r := done.Results[0]; *r.Error.Param != "product" {
					t.Errorf("an item is refused with %+v", r.Error)
				}
			})
		}
		all.Wait()
		if len(ids) != 1 {
			t.Fatalf("there are %v", ids)
		}
		one := ok[*sdk.PriceVariantList](t)(c.PriceVariants.List(background, nil)).Data[0]
		var answer sdk.Response
		archived := ok[*sdk.PriceVariant](t)(c.PriceVariants.Upsert(background, &sdk.PriceVariantUpsert{
			ExternalID: "one", Name: sdk.Set("Paperback"), Stock: sdk.Set(int64(10)), Status: new(sdk.PriceVariantStatusArchived),
		}, sdk.WithResponse(&answer)))
		assert.Equal(t, one.ID, archived.ID, "the price variant")
		assert.Equal(t, http.StatusOK, answer.Status, "the price variant")
		assert.Equal(t, "Paperback", *archived.Name, "the price variant")
		assert.Equal(t, one.Amount, archived.Amount, "the price variant")
		assert.EqualValues(t, "archived", archived.Status, "the price variant")
		again := ok[*sdk.PriceVariant](t)(c.PriceVariants.Upsert(background, &sdk.PriceVariantUpsert{ExternalID: "one", Name: sdk.Set("Paperback")}))
		cleared := ok[*sdk.PriceVariant](t)(c.PriceVariants.Upsert(background, &sdk.PriceVariantUpsert{ExternalID: "one", Name: nullable.NewNullNullable[string]()}))
		assert.Equal(t, archived.UpdatedAt, again.UpdatedAt, "the price variant")
		require.Nil(t, cleared.Name, "the price variant")
		assert.EqualValues(t, 10, *cleared.Stock, "the price variant")
		assert.EqualValues(t, "archived", cleared.Status, "the price variant")
		lines := ok[*sdk.ActivityList](t)(c.Activity.List(background, &sdk.ListActivityParams{Operation: new("upsertPriceVariant"), Limit: new(int64(2))}))
		last := lines.Data[0]
		assert.Equal(t, `"Paperback"`, string(last.Changes["name"].Before), "the line")
		require.Len(t, last.Changes, 1, "the line")
		assert.Equal(t, one.ID, *last.Target.ID, "the line")
	})
}

func TestBulkUpsertPriceVariants_AnswersForEachItemAndTellsOfEachProductOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sold := onSale(t, c, 1900)
		ok[*sdk.PriceVariant](t)(c.PriceVariants.Update(background, sold.ID, &sdk.PriceVariantUpdate{ExternalID: sdk.Set("sold")}))
		purchase(t, c, "ada@example.com", sold)
		book := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Book"}))
		full := make([]sdk.ProductPriceVariant, 99)
		for i := range full {
			full[i] = sdk.ProductPriceVariant{Amount: new(int64(1000)), Currency: new("usd")}
		}
		large := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Large", PriceVariants: full}))
		archive := sdk.PriceVariantUpsert{ExternalID: "sold", Status: new(sdk.PriceVariantStatusArchived)}
		second := price("two", book, 2000)
		second.Position = new(int64(1))
		body := &sdk.PriceVariantBulkUpsert{Items: []sdk.PriceVariantUpsert{
			second, price("one", book, 1000), price("one", book, 1100), price("one", book, 1100),
			price("cheap", book, 1), price("one", large, 1100), price("sold", book, 1), {ExternalID: "sold", Amount: new(int64(2900))}, archive,
			{ExternalID: "sold", Stock: sdk.Set(int64(5))}, {ExternalID: "none"}, {ExternalID: "none", Product: new("none")},
			price("100", large, 1000), price("101", large, 1000), {ExternalID: ""},
		}}
		before := len(ok[*sdk.WebhookEventList](t)(c.WebhookEvents.List(background, &sdk.ListWebhookEventsParams{Type: new("product.updated")})).Data)
		done := ok[*sdk.BulkUpsert](t)(c.PriceVariants.BulkUpsert(background, body, sdk.WithIdempotencyKey("prices")))
		var outcomes []string
		for _, r := range done.Results {
			outcome := string(r.Status)
			if r.Error != nil {
				outcome += " " + *r.Error.Param
			}
			outcomes = append(outcomes, outcome)
		}
		expected := []string{
			"created", "created", "updated", "unchanged", "failed amount", "failed product", "failed product", "failed amount", "failed status",
			"updated", "failed product", "failed product", "created", "failed product", "failed external_id",
		}
		if !slices.Equal(outcomes, expected) {
			t.Errorf("the outcomes are %q", outcomes)
		}
		if replayed := ok[*sdk.BulkUpsert](t)(c.PriceVariants.BulkUpsert(background, body, sdk.WithIdempotencyKey("prices"))); fmt.Sprint(replayed.Created, replayed.Updated) != "3 2" {
			t.Errorf("the replay is %+v", replayed)
		}
		events := ok[*sdk.WebhookEventList](t)(c.WebhookEvents.List(background, &sdk.ListWebhookEventsParams{Type: new("product.updated")}))
		if len(events.Data)-before != 3 {
			t.Errorf("of three products there are %d events", len(events.Data)-before)
		}
		book = ok[*sdk.Product](t)(c.Products.Get(background, book.ID, sdk.Expand("price_variants")))
		require.Len(t, book.PriceVariants, 2, "the product")
		assert.Equal(t, "one", *book.PriceVariants[0].Object.ExternalID, "the product")
		assert.EqualValues(t, 1100, book.PriceRange.MinAmount, "the product")
		assert.EqualValues(t, 2000, book.PriceRange.MaxAmount, "the product")
	})
}
