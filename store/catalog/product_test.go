package catalog

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/outbox"
)

func TestCreateProduct_FillsInAndEmits(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Crème brûlée, vol. 2"}})
		require.NoError(t, err)
		require.Equal(t, "creme-brulee-vol-2", p.Slug)
		require.Equal(t, ProductStatusDraft, p.Status)
		require.Equal(t, ProductTypeDigital, p.Type)
		require.Equal(t, []string{outbox.EventProductCreated}, s.eventTypes(t, p.ID))

		byID, err := s.GetProduct(t.Context(), s.account, p.ID)
		require.NoError(t, err)
		require.Equal(t, core.JSONText(p), core.JSONText(byID))
		bySlug, err := s.GetProduct(t.Context(), s.account, p.Slug)
		require.NoError(t, err)
		require.Equal(t, p.ID, bySlug.ID)
		_, err = s.GetProduct(t.Context(), core.NewID(core.KindAccount), p.ID)
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}

func TestCreateProduct_ActiveNeedsPriceVariant(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		in := NewProduct{Product: Product{Name: "Book", Status: ProductStatusActive}}
		_, err := s.CreateProduct(t.Context(), s.account, in)
		dbtest.RequireInvalid(t, err, "status")

		in.PriceVariants = []PriceVariant{{Position: 1, Amount: 900, Currency: "usd"}, fixedPrice(500)}
		p, err := s.CreateProduct(t.Context(), s.account, in)
		require.NoError(t, err)
		require.NotNil(t, p.PublishedAt)
		require.Len(t, p.PriceVariantIDs.V, 2)
		require.Equal(t, p.PriceVariantIDs.V[0], *p.DefaultPriceVariantID)
		require.Equal(t, int64(500), *p.PriceMinAmount)
		require.Equal(t, int64(900), *p.PriceMaxAmount)
		first, err := s.GetPriceVariant(t.Context(), s.account, *p.DefaultPriceVariantID)
		require.NoError(t, err)
		require.Equal(t, int64(500), first.Amount)
	})
}

func TestCreateProduct_RefusesInlinePriceWithItsField(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book"},
			PriceVariants: []PriceVariant{fixedPrice(500), fixedPrice(49)}})
		dbtest.RequireInvalid(t, err, "price_variants.1.amount")
		require.Zero(t, s.count(t, `SELECT count(*) FROM products`))
		require.Zero(t, s.count(t, `SELECT count(*) FROM slugs`))
	})
}

func TestUpdateProduct_NoChangeEmitsNothing(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book", Metadata: core.NewMetadata(map[string]string{"a": "1"})}})
		require.NoError(t, err)
		same, err := s.UpdateProduct(t.Context(), s.account, p.ID, func(p *Product) {
			p.Name, p.Metadata = "Book", p.Metadata.Merge(map[string]*string{"b": nil})
		})
		require.NoError(t, err)
		require.Equal(t, p.UpdatedAt, same.UpdatedAt)
		_, err = s.UpdateProduct(t.Context(), s.account, p.Slug, func(p *Product) { p.Headline = ref("300 pages") })
		require.NoError(t, err)
		require.Equal(t, []string{outbox.EventProductCreated, outbox.EventProductUpdated}, s.eventTypes(t, p.ID))
		_, err = s.UpdateProduct(t.Context(), s.account, p.ID, func(p *Product) { p.Name = "" })
		dbtest.RequireInvalid(t, err, "name")
	})
}

func TestProductStatus_FollowsTheArrows(t *testing.T) {
	type action = func(context.Context, string, string) (*Product, error)
	eachShop(t, func(t *testing.T, s *shop) {
		actions := map[string]action{"publish": s.PublishProduct, "unpublish": s.UnpublishProduct, "archive": s.ArchiveProduct, "unarchive": s.UnarchiveProduct}
		after := map[ProductStatus]map[string]ProductStatus{
			ProductStatusDraft:    {"publish": ProductStatusActive, "unpublish": ProductStatusDraft, "archive": ProductStatusArchived, "unarchive": ProductStatusDraft},
			ProductStatusActive:   {"publish": ProductStatusActive, "unpublish": ProductStatusDraft, "archive": ProductStatusArchived},
			ProductStatusArchived: {"archive": ProductStatusArchived, "unarchive": ProductStatusDraft},
		}
		for from, outcomes := range after {
			for name, act := range actions {
				p, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book", Status: from}, PriceVariants: []PriceVariant{fixedPrice(500)}})
				require.NoError(t, err)
				moved, err := act(t.Context(), s.account, p.ID)
				to, ok := outcomes[name]
				if !ok {
					dbtest.RequireInvalid(t, err, "status")
					continue
				}
				require.NoError(t, err, "%s a product that is %s", name, from)
				require.Equal(t, to, moved.Status)
				want := []string{outbox.EventProductCreated}
				if to != from {
					want = append(want, outbox.EventProductUpdated)
				}
				require.Equal(t, want, s.eventTypes(t, p.ID), "%s a product that is %s", name, from)
			}
		}
	})
}

func TestPublishProduct_NeedsActivePriceVariant(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book"}})
		require.NoError(t, err)
		_, err = s.PublishProduct(t.Context(), s.account, p.ID)
		dbtest.RequireInvalid(t, err, "status")
		v, err := s.CreatePriceVariant(t.Context(), s.account, p.ID, fixedPrice(500))
		require.NoError(t, err)
		_, err = s.UpdatePriceVariant(t.Context(), s.account, v.ID, func(v *PriceVariant) { v.Status = PriceVariantStatusArchived })
		require.NoError(t, err)
		_, err = s.PublishProduct(t.Context(), s.account, p.ID)
		dbtest.RequireInvalid(t, err, "status")
	})
}

func TestDuplicateProduct_CopiesAsDraft(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p, err := s.CreateProduct(t.Context(), s.account, NewProduct{
			Product:       Product{Name: "Book", Status: ProductStatusActive, ExternalID: ref("sku-1")},
			PriceVariants: []PriceVariant{fixedPrice(500), {AmountType: PriceVariantAmountTypeFree, Currency: "usd"}}})
		require.NoError(t, err)
		sell(t, s, p.PriceVariantIDs.V[0])
		twin, err := s.DuplicateProduct(t.Context(), s.account, p.ID)
		require.NoError(t, err)
		require.Equal(t, "book-2", twin.Slug)
		require.Equal(t, ProductStatusDraft, twin.Status)
		require.Nil(t, twin.ExternalID)
		require.Nil(t, twin.PublishedAt)
		require.Len(t, twin.PriceVariantIDs.V, 2)
		require.NotContains(t, twin.PriceVariantIDs.V, p.PriceVariantIDs.V[0])
		v, err := s.GetPriceVariant(t.Context(), s.account, twin.PriceVariantIDs.V[0])
		require.NoError(t, err)
		require.Zero(t, v.SoldCount)
		require.Equal(t, []string{outbox.EventProductCreated}, s.eventTypes(t, twin.ID))
	})
}

func TestDeleteProduct_OnlyWhenNeverOrdered(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book"}, PriceVariants: []PriceVariant{fixedPrice(500)}})
		require.NoError(t, err)
		_, err = s.DeleteProduct(t.Context(), s.account, p.ID)
		require.NoError(t, err)
		_, err = s.GetProduct(t.Context(), s.account, "book")
		dbtest.RequireCode(t, err, core.CodeMissing)
		_, err = s.GetPriceVariant(t.Context(), s.account, p.PriceVariantIDs.V[0])
		dbtest.RequireCode(t, err, core.CodeMissing)

		p, err = s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book"}, PriceVariants: []PriceVariant{fixedPrice(500)}})
		require.NoError(t, err)
		require.Equal(t, "book", p.Slug)
		sell(t, s, p.PriceVariantIDs.V[0])
		_, err = s.DeleteProduct(t.Context(), s.account, p.ID)
		dbtest.RequireInvalid(t, err, "base")
	})
}

func TestProductExternalID_IsUnique(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		in := NewProduct{Product: Product{Name: "Book", ExternalID: ref("sku-1")}}
		_, err := s.CreateProduct(t.Context(), s.account, in)
		require.NoError(t, err)
		_, err = s.CreateProduct(t.Context(), s.account, in)
		dbtest.RequireInvalid(t, err, "external_id")
	})
}

func TestProductExternalID_OneOfManyAtOnceGetsIt(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var wg sync.WaitGroup
		errs := make([]error, 20)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book", ExternalID: ref("sku-1")}})
			})
		}
		wg.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
				continue
			}
			dbtest.RequireInvalid(t, err, "external_id")
		}
		require.Equal(t, 1, made)
	})
}

func TestListProducts_QFindsAnyCaseOfAnyLetter(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "CAFÉ ÜBER"}})
		require.NoError(t, err)
		for _, q := range []string{"café", "über", "CAFÉ"} {
			found, _, err := s.ListProducts(t.Context(), s.account, ListProducts{Page: core.Page{Limit: 1}, ListFilter: core.ListFilter{Q: q}})
			require.NoError(t, err)
			require.Len(t, found, 1, q)
		}
	})
}

func TestListProducts_Filters(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		month := "month"
		var ids []string
		for i, in := range []NewProduct{
			{Product: Product{Name: "One 100%", Type: ProductTypeCourse, Metadata: core.NewMetadata(map[string]string{"shelf": "a b", `qu"ote`: "1"})}},
			{Product: Product{Name: "Two", Visibility: ProductVisibilityUnlisted, ExternalID: ref("sku-2")}},
			{Product: Product{Name: "Three", Status: ProductStatusActive}, PriceVariants: []PriceVariant{
				{Type: PriceVariantTypeRecurring, Interval: &month, Amount: 500, Currency: "usd"}}},
		} {
			p, err := s.CreateProduct(t.Context(), s.account, in)
			require.NoError(t, err, i)
			ids = append(ids, p.ID)
		}
		for name, test := range map[string]struct {
			in   ListProducts
			want []string
		}{
			"all":           {ListProducts{}, []string{ids[2], ids[1], ids[0]}},
			"status":        {ListProducts{Status: ProductStatusActive}, []string{ids[2]}},
			"type":          {ListProducts{Type: ProductTypeCourse}, []string{ids[0]}},
			"visibility":    {ListProducts{Visibility: ProductVisibilityUnlisted}, []string{ids[1]}},
			"slug":          {ListProducts{Slug: "two"}, []string{ids[1]}},
			"external_id":   {ListProducts{ExternalID: "sku-2"}, []string{ids[1]}},
			"has_recurring": {ListProducts{HasRecurring: ref(true)}, []string{ids[2]}},
			"no recurring":  {ListProducts{HasRecurring: ref(false)}, []string{ids[1], ids[0]}},
			"q":             {ListProducts{ListFilter: core.ListFilter{Q: "THR"}}, []string{ids[2]}},
			"q literal":     {ListProducts{ListFilter: core.ListFilter{Q: "100%"}}, []string{ids[0]}},
			"q wildcard":    {ListProducts{ListFilter: core.ListFilter{Q: "_"}}, []string{}},
			"metadata":      {ListProducts{ListFilter: core.ListFilter{Metadata: map[string]string{"shelf": "a b"}}}, []string{ids[0]}},
			"odd metadata":  {ListProducts{ListFilter: core.ListFilter{Metadata: map[string]string{`qu"ote`: "1"}}}, []string{ids[0]}},
			"no metadata":   {ListProducts{ListFilter: core.ListFilter{Metadata: map[string]string{"shelf": "c"}}}, []string{}},
			"future":        {ListProducts{ListFilter: core.ListFilter{CreatedAfter: ref(s.Now().Add(1e9))}}, []string{}},
			"past":          {ListProducts{ListFilter: core.ListFilter{CreatedBefore: ref(s.Now().Add(1e9))}}, []string{ids[2], ids[1], ids[0]}},
		} {
			test.in.Limit = 20
			found, more, err := s.ListProducts(t.Context(), s.account, test.in)
			require.NoError(t, err, name)
			require.False(t, more, name)
			got := []string{}
			for _, p := range found {
				got = append(got, p.ID)
			}
			require.Equal(t, test.want, got, name)
		}
	})
}

func TestSlug_NumbersAliasesAndClashes(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var first *Product
		for i, want := range []string{"book", "book-2", "book-3", "book-4", "book-5", "book-6"} {
			p, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book"}})
			require.NoError(t, err)
			require.Equal(t, want, p.Slug)
			if i == 0 {
				first = p
			}
		}
		_, err := s.UpdateProduct(t.Context(), s.account, first.ID, func(p *Product) { p.Slug = "book-3" })
		dbtest.RequireInvalid(t, err, "slug")
		_, err = s.UpdateProduct(t.Context(), s.account, first.ID, func(p *Product) { p.Slug = "No Slug" })
		dbtest.RequireInvalid(t, err, "slug")
		_, err = s.UpdateProduct(t.Context(), s.account, first.ID, func(p *Product) { p.Slug = "the-book" })
		require.NoError(t, err)
		for _, ref := range []string{"the-book", "book"} {
			p, err := s.GetProduct(t.Context(), s.account, ref)
			require.NoError(t, err)
			require.Equal(t, first.ID, p.ID)
		}
		other, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Other", Slug: "book"}})
		require.NoError(t, err)
		p, err := s.GetProduct(t.Context(), s.account, "book")
		require.NoError(t, err)
		require.Equal(t, other.ID, p.ID)
		p, err = s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "日本"}})
		require.NoError(t, err)
		require.Equal(t, "product", p.Slug)
	})
}

func TestListProducts_WalkUnderInserts(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		old := map[string]int{}
		for i := range 105 {
			p, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: fmt.Sprint("Product ", i)}})
			require.NoError(t, err)
			old[p.ID] = 0
		}
		at := core.Page{Limit: 10}
		for more := true; more; {
			var rows []Product
			var err error
			rows, more, err = s.ListProducts(t.Context(), s.account, ListProducts{Page: at})
			require.NoError(t, err)
			for _, p := range rows {
				if _, ok := old[p.ID]; ok {
					old[p.ID]++
				}
			}
			at.StartingAfter = rows[len(rows)-1].ID
			_, err = s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Meanwhile"}})
			require.NoError(t, err)
		}
		for id, seen := range old {
			require.Equal(t, 1, seen, id)
		}
		back, more, err := s.ListProducts(t.Context(), s.account, ListProducts{Page: core.Page{Limit: 10, EndingBefore: at.StartingAfter}})
		require.NoError(t, err)
		require.True(t, more)
		require.Len(t, back, 10)
		require.Greater(t, back[0].ID, back[9].ID)
		require.Greater(t, back[9].ID, at.StartingAfter)
	})
}

// sell counts one unit of a price variant as sold.
func sell(t *testing.T, s *shop, variant string) {
	t.Helper()
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE price_variants SET sold_count = sold_count + 1 WHERE account_id = ? AND id = ?`, s.account, variant)
	})
	require.NoError(t, err)
}
