package contract

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oapi-codegen/nullable"

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
		if made.Slug != "handbook" || *made.ExternalID != "sku/4711" || made.Status != sdk.ProductStatusDraft || made.Type != sdk.ProductTypeDigital {
			t.Errorf("the product is %+v", made)
		}
		changed := ok[*sdk.Product](t)(c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: "sku/4711", Headline: nullable.NewNullNullable[string](), Status: new(sdk.ProductStatusArchived)}))
		if changed.ID != made.ID || changed.Name != "Handbook" || changed.Headline != nil || changed.Status != sdk.ProductStatusArchived {
			t.Errorf("the product is %+v", changed)
		}
		again := ok[*sdk.Product](t)(c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: "sku/4711", Name: new("Handbook")}))
		if again.Status != sdk.ProductStatusArchived || again.UpdatedAt != changed.UpdatedAt {
			t.Errorf("a product that stays as it is became %+v", again)
		}
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
		if created != 20 || failed != 0 {
			t.Errorf("%d are new and %d failed", created, failed)
		}
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
			if outcomes = append(outcomes, outcome); r.Index != int64(i) || (r.ID == nil) != (r.Error != nil) {
				t.Errorf("result %d is %+v", i, r)
			}
		}
		expected := []string{
			"created", "updated", "failed validation_failed headline", "failed validation_failed slug", "failed resource_missing deliverables.0.ref",
			"unchanged", "failed validation_failed status", "failed validation_failed external_id",
		}
		if !slices.Equal(outcomes, expected) {
			t.Errorf("the outcomes are %q", outcomes)
		}
		if done.Created != 1 || done.Updated != 1 || done.Unchanged != 1 || done.Failed != 5 || *done.Results[1].ID != there.ID {
			t.Errorf("the answer is %+v", done)
		}
		z := ok[*sdk.Product](t)(c.Products.Get(background, "last"))
		if z.ID != *done.Results[0].ID || len(z.Deliverables) != 1 || *z.Deliverables[0].Ref != "https://example.com/a" || z.Status != sdk.ProductStatusDraft {
			t.Errorf("of a refused change something is left: %+v", z)
		}
		if products := ok[*sdk.ProductList](t)(c.Products.List(background, nil)); len(products.Data) != 2 {
			t.Errorf("there are %d products", len(products.Data))
		}
		replayed := ok[*sdk.BulkUpsert](t)(c.Products.BulkUpsert(background, body, sdk.WithIdempotencyKey("import")))
		if *replayed.Results[0].ID != z.ID || replayed.Created != 1 {
			t.Errorf("the replay is %+v", replayed)
		}
		body.Items[7].Name = new("Somebody's")
		_, err := c.Products.BulkUpsert(background, body, sdk.WithIdempotencyKey("import"))
		if e := new(sdk.Error); !errors.As(err, &e) || e.Code != "idempotency_key_reused" {
			t.Errorf("another body under the key is answered with %v", err)
		}
	})
}

func TestBulkUpsertProducts_TakesSoManyItemsAMinute(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		body := &sdk.ProductBulkUpsert{Items: make([]sdk.ProductUpsert, 100)} // none of them is written, and each counts
		var err error
		sent := 0
		for ; err == nil && sent < 300; sent++ {
			_, err = c.Products.BulkUpsert(background, body)
		}
		if refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "items"); sent <= 60 {
			t.Errorf("request %d of 100 items is refused", sent)
		}
		ok[*sdk.Product](t)(c.Products.Upsert(background, &sdk.ProductUpsert{ExternalID: "one", Name: new("One")}))

		body.Items = append(body.Items, sdk.ProductUpsert{})
		_, err = c.Products.BulkUpsert(background, body)
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "items")
	})
}
