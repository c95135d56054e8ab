package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oapi-codegen/nullable"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// bulkItems is what 100 items of a bulk write are, with ids that begin with a text.
func bulkItems(prefix string) (items []sdk.ProductUpsert) {
	for i := range 100 {
		items = append(items, sdk.ProductUpsert{ExternalID: fmt.Sprintf("%s-%03d", prefix, i), Name: new(fmt.Sprintf("Item %d", i))})
	}
	return items
}

func TestUpsertProduct_MakesOneAndThenChangesIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		_, err := c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: "sku/4711", Headline: nullable.NewNullableWithValue("New")})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "name")
		_, err = c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: "sku/4711", Name: new("Handbook"), Deliverables: []sdk.Deliverable{{Type: "file", Ref: new("none")}}})
		refused(t, err, http.StatusNotFound, "resource_missing", "deliverables.0.ref")
		made := ok[*sdk.Product](t)(c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: "sku/4711", Name: new("Handbook"), Headline: nullable.NewNullableWithValue("New")}))
		assert.Equal(t, "handbook", made.Slug, "the product")
		assert.Equal(t, "sku/4711", *made.ExternalID, "the product")
		assert.Equal(t, sdk.ProductStatusDraft, made.Status, "the product")
		assert.Equal(t, sdk.ProductTypeDigital, made.Type, "the product")
		changed := ok[*sdk.Product](t)(c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: "sku/4711", Headline: nullable.NewNullNullable[string](), Status: new(sdk.ProductStatusArchived)}))
		assert.Equal(t, made.ID, changed.ID, "the product")
		assert.Equal(t, "Handbook", changed.Name, "the product")
		require.Nil(t, changed.Headline, "the product")
		assert.Equal(t, sdk.ProductStatusArchived, changed.Status, "the product")
		again := ok[*sdk.Product](t)(c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: "sku/4711", Name: new("Handbook")}))
		assert.Equal(t, sdk.ProductStatusArchived, again.Status, "a product that stays")
		assert.Equal(t, changed.UpdatedAt, again.UpdatedAt, "a product that stays")
		events := ok[*sdk.WebhookEventList](t)(c.WebhookEvents.List(background, nil))
		var types []string
		for _, e := range events.Data {
			types = append(types, e.Type)
		}
		if !slices.Equal(types, []string{"product.updated", "product.created"}) {
			t.Errorf("the events are %v", types)
		}
	})
}

func TestUpsertProduct_MakesOneForManyAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		var mu sync.Mutex
		var all sync.WaitGroup
		ids := map[string]int{}
		for i := range 30 {
			all.Go(func() {
				p, err := c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: "one", Name: new(fmt.Sprint("Caller ", i))})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				ids[p.ID]++
			})
		}
		all.Wait()
		if len(ids) != 1 {
			t.Errorf("there are %v", ids)
		}
	})
}

func TestBulkUpsertProducts_ManyAtOnceMakeEachOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		var mu sync.Mutex
		var all sync.WaitGroup
		var created, failed int64
		for i := range 4 {
			all.Go(func() {
				items := bulkItems("same")[:20]
				if i%2 == 1 {
					slices.Reverse(items)
				}
				done, err := c.Products.BulkUpsert(background, &sdk.ProductBulkUpsert{Items: items})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				created, failed = created+done.Created, failed+done.Failed
			})
		}
		all.Wait()
		assert.EqualValues(t, 20, created)
		assert.Zero(t, failed)
	})
}

// Both make the same products at the same time, so each meets some that the other has made meanwhile.
func TestBulkUpsertProducts_BesideSingleWritesMakesEachOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		var all sync.WaitGroup
		items := bulkItems("both")
		for w := range 4 {
			all.Go(func() {
				for i := len(items) - 1 - w; i >= 0; i -= 4 {
					if _, err := c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: items[i].ExternalID, Name: new("Single")}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Go(func() {
			if done := ok[*sdk.BulkUpsert](t)(c.Products.BulkUpsert(background, &sdk.ProductBulkUpsert{Items: items})); done.Failed != 0 {
				t.Errorf("the answer is %+v", done)
			}
		})
		all.Wait()
		events := ok[*sdk.WebhookEventList](t)(c.WebhookEvents.List(background, &sdk.ListWebhookEventsParams{Type: new("product.created"), Limit: new(sdk.Limit(100))}))
		require.Len(t, events.Data, len(items))
		assert.False(t, events.HasMore)
	})
}

func TestBulkUpsertProducts_AnswersForEachItemByItself(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		there := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "There", ExternalID: new("there"), Slug: new("there")}))
		body := &sdk.ProductBulkUpsert{Items: []sdk.ProductUpsert{
			{ExternalID: "z", Name: new("Last"), Slug: new("last"), Deliverables: []sdk.Deliverable{{Type: "link", Ref: new("https://example.com/a")}}},
			{ExternalID: "there", Name: new("There again")},
			{ExternalID: "long", Name: new("Long"), Headline: nullable.NewNullableWithValue(strings.Repeat("h", 161))},
			{ExternalID: "slug", Name: new("Slug"), Slug: new("there")},
			{ExternalID: "gone", Name: new("Gone"), Deliverables: []sdk.Deliverable{{Type: "file", Ref: new("file_01k0000000000000000000000a")}}},
			{ExternalID: "there", Name: new("There again")},
			// The deliverables are stored before the status is refused.
			{ExternalID: "z", Deliverables: []sdk.Deliverable{{Type: "link", Ref: new("https://example.com/b")}}, Status: new(sdk.ProductStatusActive)},
			{ExternalID: "", Name: new("Nobody's")},
		}}
		done := ok[*sdk.BulkUpsert](t)(c.Products.BulkUpsert(background, body, sdk.WithIdempotencyKey("import")))
		var outcomes []string
		for i, r := range done.Results {
			outcome := string(r.Status)
			if r.Error != nil {
				outcome += " " + r.Error.Code + " " + *r.Error.Param
			}
			outcomes = append(outcomes, outcome)
			assert.Equal(t, int64(i), r.Index)
			assert.Equal(t, r.Error != nil, r.ID == nil)
		}
		expected := []string{
			"created", "updated", "failed validation_failed headline", "failed validation_failed slug", "failed resource_missing deliverables.0.ref",
			"unchanged", "failed validation_failed status", "failed validation_failed external_id",
		}
		if !slices.Equal(outcomes, expected) {
			t.Errorf("the outcomes are %q", outcomes)
		}
		assert.EqualValues(t, 1, done.Created, "the answer")
		assert.EqualValues(t, 1, done.Updated, "the answer")
		assert.EqualValues(t, 1, done.Unchanged, "the answer")
		assert.EqualValues(t, 5, done.Failed, "the answer")
		assert.Equal(t, there.ID, *done.Results[1].ID, "the answer")
		z := ok[*sdk.Product](t)(c.Products.Get(background, "last"))
		assert.Equal(t, *done.Results[0].ID, z.ID, "of a refused change something")
		require.Len(t, z.Deliverables, 1, "of a refused change something")
		assert.Equal(t, "https://example.com/a", *z.Deliverables[0].Ref, "of a refused change something")
		assert.Equal(t, sdk.ProductStatusDraft, z.Status, "of a refused change something")
		if products := ok[*sdk.ProductList](t)(c.Products.List(background, nil)); len(products.Data) != 2 {
			t.Errorf("there are %d products", len(products.Data))
		}
		replayed := ok[*sdk.BulkUpsert](t)(c.Products.BulkUpsert(background, body, sdk.WithIdempotencyKey("import")))
		assert.Equal(t, z.ID, *replayed.Results[0].ID, "the replay")
		assert.EqualValues(t, 1, replayed.Created, "the replay")
		body.Items[7].Name = new("Somebody's")
		_, err := c.Products.BulkUpsert(background, body, sdk.WithIdempotencyKey("import"))
		e := new(sdk.Error)
		require.ErrorAs(t, err, &e, "another body under the key")
		assert.Equal(t, "idempotency_key_reused", e.Code, "another body under the key")
		body.Items = []sdk.ProductUpsert{{ExternalID: "there"}, {ExternalID: "there", Slug: new("")}} // without what is refused of it, the second is the first
		ok[*sdk.BulkUpsert](t)(c.Products.BulkUpsert(background, body, sdk.WithIdempotencyKey("order")))
		slices.Reverse(body.Items)
		_, err = c.Products.BulkUpsert(background, body, sdk.WithIdempotencyKey("order"))
		e = new(sdk.Error)
		require.ErrorAs(t, err, &e, "the items in another order under the key")
		assert.Equal(t, "idempotency_key_reused", e.Code, "the items in another order under the key")
	})
}

func TestBulkUpsertProducts_TakesSoManyItemsAMinute(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		s.Clock.Stop()
		body := &sdk.ProductBulkUpsert{Items: make([]sdk.ProductUpsert, 100)} // none of them is written, and each counts
		var err error
		sent := 0
		for ; err == nil && sent < 100; sent++ {
			_, err = c.Products.BulkUpsert(background, body)
		}
		if refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "items"); sent != 61 {
			t.Errorf("request %d of 100 items is refused", sent)
		}
		ok[*sdk.Product](t)(c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: "one", Name: new("One")}))

		body.Items = append(body.Items, sdk.ProductUpsert{})
		_, err = c.Products.BulkUpsert(background, body)
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "items")
	})
}

func TestBulkUpsertProducts_RefusesAnItemWithTooMuchInItAlone(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		tags, metadata := make([]string, 200), map[string]string{}
		for i := range 1001 {
			metadata[fmt.Sprint("key", i)] = ""
		}
		done := s.Account(t).Must(t, http.MethodPost, "/v1/products/bulk_upsert", map[string]any{"items": []any{
			map[string]any{"external_id": "deliverables", "name": "D", "deliverables": tags}, map[string]any{"external_id": "metadata", "name": "M", "metadata": metadata},
			map[string]any{"external_id": "good", "name": "Good"},
		}})
		assert.Equal(t, 1.0, done["created"], "the answer")
		assert.Equal(t, 2.0, done["failed"], "the answer")
	})
}

func TestBulkUpsertProducts_LeavesALineOnlyIfItChangesSomething(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		c := s.Account(t)
		bulk := func(headline string) {
			c.Must(t, http.MethodPost, "/v1/products/bulk_upsert", map[string]any{"items": []any{map[string]any{"external_id": "a", "name": "A", "headline": headline}, map[string]any{"external_id": ""}}})
		}
		for i, headline := range []string{"One", "One", "Two"} {
			bulk(headline)
			if lines := linesOf(t, c, "operation=bulkUpsertProducts"); len(lines) != []int{1, 1, 2}[i] {
				t.Errorf("after write %d: %v", i, lines)
			}
		}
	})
}

// An event of each of these products is about 0.9 MiB.
func TestBulkUpsertProducts_BoundsWhatItEmits(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		variants := make([]sdk.ProductPriceVariant, 36)
		metadata := sdk.Metadata{}
		for k := range 50 {
			metadata[fmt.Sprint("k", k)] = strings.Repeat("m", 480)
		}
		for i := range variants {
			variants[i] = sdk.ProductPriceVariant{Amount: new(int64(1000 + i)), Currency: new("usd"), Metadata: &metadata}
		}
		items, prices := make([]sdk.ProductUpsert, 12), make([]sdk.PriceVariantUpsert, 12)
		for i := range items {
			items[i] = sdk.ProductUpsert{ExternalID: fmt.Sprint(i), Headline: nullable.NewNullableWithValue("New")}
			prices[i] = price(fmt.Sprint(i), ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Large", ExternalID: new(fmt.Sprint(i)), PriceVariants: variants})), 500)
		}
		done := ok[*sdk.BulkUpsert](t)(c.Products.BulkUpsert(background, &sdk.ProductBulkUpsert{Items: items}))
		last := done.Results[11]
		require.GreaterOrEqual(t, done.Updated, int64(9), "the answer")
		require.LessOrEqual(t, done.Updated, int64(11), "the answer")
		require.NotNil(t, last.Error, "the answer")
		require.Equal(t, "request_too_large", last.Error.Code, "the answer")
		rest := ok[*sdk.BulkUpsert](t)(c.Products.BulkUpsert(background, &sdk.ProductBulkUpsert{Items: items}))
		assert.Equal(t, done.Updated, rest.Unchanged, "the same items")
		assert.Zero(t, rest.Failed, "the same items")
		done = ok[*sdk.BulkUpsert](t)(c.PriceVariants.BulkUpsert(background, &sdk.PriceVariantBulkUpsert{Items: prices}))
		last = done.Results[11]
		assert.GreaterOrEqual(t, done.Created, int64(9), "price variants of so large products")
		assert.LessOrEqual(t, done.Created, int64(11), "price variants of so large products")
		require.NotNil(t, last.Error, "price variants of so large products")
		assert.Equal(t, "request_too_large", last.Error.Code, "price variants of so large products")
		for i := range prices { // so little nothing costs
			prices[i].ExternalID, prices[i].Amount = fmt.Sprint("refused ", i), new(int64(1))
		}
		prices[11] = price("small", ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Small"})), 500)
		done = ok[*sdk.BulkUpsert](t)(c.PriceVariants.BulkUpsert(background, &sdk.PriceVariantBulkUpsert{Items: prices}))
		last = done.Results[11]
		assert.Zero(t, done.Created, "what refused items have read is not counted")
		require.NotNil(t, last.Error, "what refused items have read is not counted")
		assert.Equal(t, "request_too_large", last.Error.Code, "what refused items have read is not counted")
		prices = nil
		for k := range metadata {
			metadata[k] = strings.Repeat("\U0001F600", 480)
		}
		for i := range 60 { // whose events are large by what the products say
			p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Large", Description: new(strings.Repeat("\U0001F600", 20000)), Metadata: &metadata}))
			prices = append(prices, price(fmt.Sprint("text ", i), p, 500))
		}
		done = ok[*sdk.BulkUpsert](t)(c.PriceVariants.BulkUpsert(background, &sdk.PriceVariantBulkUpsert{Items: prices}))
		last = done.Results[59]
		assert.GreaterOrEqual(t, done.Created, int64(40), "the first price variants of large products")
		assert.LessOrEqual(t, done.Created, int64(55), "the first price variants of large products")
		require.NotNil(t, last.Error, "the first price variants of large products")
		assert.Equal(t, "request_too_large", last.Error.Code, "the first price variants of large products")
	})
}
