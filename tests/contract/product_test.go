package contract

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// onEach runs a test of a resource on both engines, with a client of a new account. Its server has the accounts of other tests as well. A test that
// looks at all that is there, or changes what holds for all, is run by onEachAlone.
func onEach(t *testing.T, test func(t *testing.T, c *sdk.Client, s *harness.Server)) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) { test(t, s.SDK(t), s) })
}

// onShared runs a test on the server of each engine that has other tests' accounts too.
func onShared(t *testing.T, test func(t *testing.T, s *harness.Server)) {
	t.Helper()
	for _, engine := range database.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, shared.Server(t, engine))
		})
	}
}

// onEachAlone is onEach with a server that no other test has.
func onEachAlone(t *testing.T, test func(t *testing.T, c *sdk.Client, s *harness.Server)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		test(t, s.SDK(t), s)
	})
}

var background = context.Background()

// accountOf returns the id of a client's account.
func accountOf(t *testing.T, c *sdk.Client) string {
	t.Helper()
	return ok[*sdk.Account](t)(c.Account.Get(background)).ID
}

// ok fails the test at once on an error.
func ok[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// refused checks that a call failed with this status, code and param, and returns the error.
func refused(t *testing.T, err error, status int, code, param string) *sdk.Error {
	t.Helper()
	var e *sdk.Error
	if !errors.As(err, &e) {
		t.Fatalf("%d %s is expected, the error is %v", status, code, err)
	}
	assert.Equal(t, status, e.Status)
	assert.Equal(t, code, e.Code)
	assert.Equal(t, param, e.Param)
	if status == http.StatusUnprocessableEntity && len(e.Errors[param]) == 0 {
		t.Errorf("errors says nothing about %q: %v", param, e.Errors)
	}
	return e
}

// sellable is a body for a product that can be published.
func sellable(name string) *sdk.ProductCreate {
	return &sdk.ProductCreate{Name: name, PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(1900)), Currency: new("usd")}}}
}

func TestCreateProduct_IsADraftWithASlugOfItsName(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Äpfel & Birnen: das Buch"}))
		assert.Equal(t, sdk.ProductStatusDraft, p.Status, "the product")
		assert.Equal(t, "apfel-birnen-das-buch", p.Slug, "the product")
		assert.Equal(t, "product", p.Object, "the product")
		assert.True(t, strings.HasPrefix(p.ID, "prod_"), "the product")
		again := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Äpfel & Birnen: das Buch"}))
		if again.Slug != "apfel-birnen-das-buch-2" {
			t.Errorf("the second slug is %s", again.Slug)
		}
	})
}

func TestCreateProduct_ReportsEveryBadField(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		_, err := c.Products.Create(background, &sdk.ProductCreate{Name: strings.Repeat("n", 256), Headline: new(strings.Repeat("h", 161)), Slug: new("No Slug")})
		e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "headline")
		for _, field := range []string{"headline", "name", "slug"} {
			if len(e.Errors[field]) == 0 {
				t.Errorf("errors says nothing about %s: %v", field, e.Errors)
			}
		}
	})
}

func TestCreateProduct_KeepsExternalIDAndSlugUnique(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "a", Slug: new("taken"), ExternalID: new("e1")}))
		_, err := c.Products.Create(background, &sdk.ProductCreate{Name: "b", ExternalID: new("e1")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "external_id")
		_, err = c.Products.Create(background, &sdk.ProductCreate{Name: "b", Slug: new("taken")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "slug")
		ok[*sdk.Product](t)(s.SDK(t).Products.Create(background, &sdk.ProductCreate{Name: "a", Slug: new("taken"), ExternalID: new("e1")}))
	})
}

func TestPublishProduct_NeedsAPriceVariant(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Guide"}))
		_, err := c.Products.Publish(background, p.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		_, err = c.Products.Update(background, p.ID, &sdk.ProductUpdate{Status: new(sdk.ProductStatusActive)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")

		v := ok[*sdk.PriceVariant](t)(c.PriceVariants.Create(background, &sdk.PriceVariantCreate{Product: p.Slug, Amount: new(int64(1900)), Currency: new("usd")}))
		p = ok[*sdk.Product](t)(c.Products.Publish(background, p.Slug))
		assert.Equal(t, sdk.ProductStatusActive, p.Status, "the published product")
		require.NotNil(t, p.PublishedAt, "the published product")
		assert.Equal(t, v.ID, p.DefaultPriceVariant.ID, "the published product")
		_, err = c.PriceVariants.Delete(background, v.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
	})
}

func TestProductStates_FollowTheirArrows(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		for _, step := range []struct {
			do   func(context.Context, string, ...sdk.Option) (*sdk.Product, error)
			want sdk.ProductStatus
		}{
			{c.Products.Publish, sdk.ProductStatusActive}, {c.Products.Publish, sdk.ProductStatusActive},
			{c.Products.Unpublish, sdk.ProductStatusDraft}, {c.Products.Publish, sdk.ProductStatusActive},
			{c.Products.Archive, sdk.ProductStatusArchived}, {c.Products.Unarchive, sdk.ProductStatusDraft},
		} {
			if p = ok[*sdk.Product](t)(step.do(background, p.ID)); p.Status != step.want {
				t.Fatalf("the status is %s, %s is expected", p.Status, step.want)
			}
		}
		ok[*sdk.Product](t)(c.Products.Archive(background, p.ID))
		_, err := c.Products.Publish(background, p.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}

func TestUpdateProduct_KnowsAbsentNullAndValue(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{
			Name: "Guide", Headline: new("short"), Description: new("long"), ThankYou: new("Thanks"), Metadata: &sdk.Metadata{"a": "1", "b": "2"},
		}))
		p = ok[*sdk.Product](t)(c.Products.Update(background, p.ID, &sdk.ProductUpdate{
			Headline: sdk.Null[string](), SEOTitle: sdk.Set("found"), Metadata: sdk.Set(sdk.MetadataUpdate{"a": nil, "c": new("3")}),
		}))
		require.Nil(t, p.Headline, "the product")
		require.NotNil(t, p.Description, "the product")
		assert.Equal(t, "long", *p.Description, "the product")
		assert.Equal(t, "Thanks", *p.ThankYou, "the product")
		require.NotNil(t, p.SEOTitle, "the product")
		assert.Equal(t, "found", *p.SEOTitle, "the product")
		if fmt.Sprint(p.Metadata) != "map[b:2 c:3]" {
			t.Errorf("the metadata is %v", p.Metadata)
		}
		events := "events WHERE account_id = '" + accountOf(t, c) + "'"
		told := s.Count(t, events)
		same := ok[*sdk.Product](t)(c.Products.Update(background, p.ID, &sdk.ProductUpdate{Name: new("Guide")}))
		assert.Equal(t, p.UpdatedAt, same.UpdatedAt, "a change that changes nothing was stored or told")
		assert.Equal(t, told, s.Count(t, events), "a change that changes nothing was stored or told")
	})
}

func TestUpdateProduct_KeepsItsFormerSlugs(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "First"}))
		ok[*sdk.Product](t)(c.Products.Update(background, "first", &sdk.ProductUpdate{Slug: new("second")}))
		for _, slug := range []string{"first", "second"} {
			found := ok[*sdk.Product](t)(c.Products.Get(background, slug))
			assert.Equal(t, p.ID, found.ID, slug)
			assert.Equal(t, "second", found.Slug, slug)
		}
		taker := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Taker", Slug: new("first")}))
		if found := ok[*sdk.Product](t)(c.Products.Get(background, "first")); found.ID != taker.ID {
			t.Errorf("first finds %+v", found)
		}
	})
}

func TestDeleteProduct_IsRefusedOnceItWasOrdered(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		unsold := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Unsold")))
		deleted := ok[*sdk.Deleted](t)(c.Products.Delete(background, unsold.ID))
		assert.True(t, deleted.Deleted, "the confirmation")
		assert.Equal(t, unsold.ID, deleted.ID, "the confirmation")
		assert.Equal(t, "product", deleted.Object, "the confirmation")
		_, err := c.Products.Get(background, unsold.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")

		sold := buy(t, c, "Sold")
		_, err = c.Products.Delete(background, sold.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
		if p := ok[*sdk.Product](t)(c.Products.Get(background, sold.ID)); p.SalesCount != 1 {
			t.Errorf("%d sales are counted", p.SalesCount)
		}
	})
}

// buy publishes a product and sells it once.
func buy(t *testing.T, c *sdk.Client, name string) *sdk.Product {
	t.Helper()
	p := ok[*sdk.Product](t)(c.Products.Create(background, sellable(name)))
	p = ok[*sdk.Product](t)(c.Products.Publish(background, p.ID))
	cart := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
		CustomerEmail: new("ada@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: p.DefaultPriceVariant.ID}},
	}))
	ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, cart.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}}))
	return p
}

func TestDuplicateProduct_CopiesItsPriceVariants(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		ok[*sdk.Product](t)(c.Products.Publish(background, p.ID))
		twin := ok[*sdk.Product](t)(c.Products.Duplicate(background, p.ID))
		twin = ok[*sdk.Product](t)(c.Products.Get(background, twin.ID, sdk.Expand("price_variants")))
		require.NotEqual(t, p.ID, twin.ID, "the copy")
		require.Equal(t, sdk.ProductStatusDraft, twin.Status, "the copy")
		require.Len(t, twin.PriceVariants, 1, "the copy")
		v := twin.PriceVariants[0]
		assert.NotEqual(t, p.PriceVariants[0].ID, v.ID, "its price variant")
		require.NotNil(t, v.Object, "its price variant")
		assert.EqualValues(t, 1900, v.Object.Amount, "its price variant")
	})
}

func TestListProducts_FiltersAndWalks(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		var ids []string
		for i := range 7 {
			body := &sdk.ProductCreate{Name: fmt.Sprintf("Book %d", i), Metadata: &sdk.Metadata{"odd": fmt.Sprint(i%2 == 1)}}
			if i == 3 {
				body.ExternalID = new("three")
			}
			ids = append([]string{ok[*sdk.Product](t)(c.Products.Create(background, body)).ID}, ids...)
		}
		for name, want := range map[string]struct {
			params sdk.ListProductsParams
			ids    []string
		}{
			"all, newest first": {sdk.ListProductsParams{Limit: new(int64(2))}, ids},
			"by external id":    {sdk.ListProductsParams{ExternalID: new("three")}, ids[3:4]},
			"by slug":           {sdk.ListProductsParams{Slug: new("book-0")}, ids[6:]},
			"by a text":         {sdk.ListProductsParams{Q: new("boOK 6")}, ids[:1]},
			"by metadata":       {sdk.ListProductsParams{Metadata: sdk.MetadataFilter{"odd": "true"}}, []string{ids[1], ids[3], ids[5]}},
			"by status":         {sdk.ListProductsParams{Status: new(sdk.ProductStatusActive)}, nil},
		} {
			var found []string
			for p, err := range sdk.All(background, c.Products.List, &want.params) {
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, p.ID)
			}
			if strings.Join(found, " ") != strings.Join(want.ids, " ") {
				t.Errorf("%s: %v is found, %v is expected", name, found, want.ids)
			}
		}
		back := ok[*sdk.ProductList](t)(c.Products.List(background, &sdk.ListProductsParams{Limit: new(int64(2)), EndingBefore: &ids[4]}))
		require.Len(t, back.Data, 2)
		assert.Equal(t, ids[2], back.Data[0].ID)
		assert.Equal(t, ids[3], back.Data[1].ID)
		assert.True(t, back.HasMore)
	})
}

func TestProductEvents_ShowTheProductAsItWas(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		endpoint := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: hooks.URL}))
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("First name")))
		ok[*sdk.Product](t)(c.Products.Update(background, p.ID, &sdk.ProductUpdate{Name: new("Second name")}))
		for kind, name := range map[string]string{sdk.EventProductCreated: "First name", sdk.EventProductUpdated: "Second name"} {
			d := hooks.Await(t, 1, kind)[0]
			event := ok[*sdk.Event](t)(sdk.VerifyWebhook(d.Body, d.Header, *endpoint.Secret))
			then := ok[*sdk.Product](t)(event.Product())
			assert.Equal(t, p.ID, then.ID, kind)
			assert.Equal(t, name, then.Name, kind)
			assert.NotNil(t, then.PriceVariants[0].Object, kind)
		}
	})
}
