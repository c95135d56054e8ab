package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/offer"
)

// onSale makes an active product and returns its price variant.
func (s *shop) onSale(t *testing.T, v catalog.PriceVariant) *catalog.PriceVariant {
	t.Helper()
	p, err := s.Catalog.CreateProduct(t.Context(), s.account, catalog.NewProduct{
		Product: catalog.Product{Name: "Guide", Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{v},
	})
	require.NoError(t, err)
	made, err := s.Catalog.GetPriceVariant(t.Context(), s.account, p.PriceVariantIDs.V[0])
	require.NoError(t, err)
	return made
}

// checkout opens one of a piece of each.
func (s *shop) checkout(t *testing.T, variants ...*catalog.PriceVariant) *checkout.Checkout {
	t.Helper()
	c, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{CustomerEmail: ref("grace@example.com"), EmailVerified: true}, Lines: pieceOf(variants...)})
	require.NoError(t, err)
	return c
}

func pieceOf(variants ...*catalog.PriceVariant) []offer.NewLine {
	lines := make([]offer.NewLine, len(variants))
	for i, v := range variants {
		lines[i] = offer.NewLine{PriceVariant: v.ID, Quantity: 1}
	}
	return lines
}

// byCard is how the tests pay.
var byCard = checkout.Confirm{Provider: "test", MethodRef: "pm_card_visa"}

func TestUpdateCheckout_TheSameLinesChangeNothing(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide, tip := s.onSale(t, fixedPrice(1900)), s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeCustom, SuggestedAmount: ref(int64(500))})
		before := s.checkout(t, guide, tip)
		stored, err := s.Lines.OfCheckout(t.Context(), s.account, before.ID)
		require.NoError(t, err)
		again, err := s.Checkout.Update(t.Context(), s.account, before.ID, func(d *checkout.Draft) { d.Lines = pieceOf(guide, tip) })
		require.NoError(t, err)
		require.Equal(t, before.LineItemIDs, again.LineItemIDs)
		require.Equal(t, before.UpdatedAt, again.UpdatedAt)
		after, err := s.Lines.OfCheckout(t.Context(), s.account, before.ID)
		require.NoError(t, err)
		require.Equal(t, stored, after)
	})
}

// A caller that looks at what comes with a refusal must not take it for the checkout.
func TestUpdateCheckout_NothingComesWithARefusal(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		before, err := s.Checkout.Get(t.Context(), s.account, s.checkout(t, s.onSale(t, fixedPrice(1000))).ID)
		require.NoError(t, err)
		tooMuch := s.discount(t, func(d *discount.Discount) { d.PercentBps = ref(int64(9800)) })
		refused, err := s.Checkout.Update(t.Context(), s.account, before.ID, func(d *checkout.Draft) { d.DiscountID = &tooMuch.ID })
		dbtest.RequireInvalid(t, err, "discount")
		require.ErrorContains(t, err, "leaves 20 to pay")
		require.Nil(t, refused)
		after, err := s.Checkout.Get(t.Context(), s.account, before.ID)
		require.NoError(t, err)
		require.Equal(t, before, after)
	})
}

func TestUpdateCheckout_OnlyLinesThatChangeAreNew(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide, map1, map2 := s.onSale(t, fixedPrice(1900)), s.onSale(t, fixedPrice(500)), s.onSale(t, fixedPrice(600))
		before := s.checkout(t, guide, map1)
		old, err := s.Lines.OfCheckout(t.Context(), s.account, before.ID)
		require.NoError(t, err)
		changed, err := s.Checkout.Update(t.Context(), s.account, before.ID, func(d *checkout.Draft) { d.Lines = pieceOf(guide, map2) })
		require.NoError(t, err)
		require.Equal(t, int64(2500), changed.TotalAmount)
		lines, err := s.Lines.OfCheckout(t.Context(), s.account, before.ID)
		require.NoError(t, err)
		require.Equal(t, old[0], lines[0])
		require.NotEqual(t, old[1].ID, lines[1].ID)
		require.Equal(t, changed.UpdatedAt, lines[1].CreatedAt, "it was made by the change")
		require.Greater(t, lines[1].CreatedAt, before.CreatedAt)
		require.Equal(t, changed.LineItemIDs.V, []string{lines[0].ID, lines[1].ID})

		fewer, err := s.Checkout.Update(t.Context(), s.account, before.ID, func(d *checkout.Draft) { d.Lines = pieceOf(guide) })
		require.NoError(t, err)
		require.Equal(t, []string{old[0].ID}, fewer.LineItemIDs.V)
	})
}

func TestUpdateCheckout_TheSameLinesTakeTheNewPrice(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900))
		before := s.checkout(t, guide)
		_, err := s.Catalog.UpdatePriceVariant(t.Context(), s.account, guide.ID, func(v *catalog.PriceVariant) { v.Amount = 2000 })
		require.NoError(t, err)
		after, err := s.Checkout.Update(t.Context(), s.account, before.ID, func(d *checkout.Draft) { d.Lines = pieceOf(guide) })
		require.NoError(t, err)
		require.Equal(t, int64(2000), after.TotalAmount)
		require.NotEqual(t, before.LineItemIDs, after.LineItemIDs)
	})
}

func TestCheckout_IsInACurrencyThatEveryLineIsSoldIn(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		free := s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree, Currency: "usd"})
		tip := s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeCustom, Currency: "usd", SuggestedAmount: ref(int64(500))})
		for _, v := range []*catalog.PriceVariant{s.onSale(t, fixedPrice(1900)), tip, free} {
			for _, currency := range []string{"zzz", "eur"} {
				_, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{Currency: currency}, Lines: pieceOf(v)})
				dbtest.RequireInvalid(t, err, "currency")
				made := s.checkout(t, v)
				_, err = s.Checkout.Update(t.Context(), s.account, made.ID, func(d *checkout.Draft) { d.Currency = currency })
				dbtest.RequireInvalid(t, err, "currency")
			}
		}
		euros := s.onSale(t, catalog.PriceVariant{Amount: 1900, Currency: "eur"})
		_, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{}, Lines: pieceOf(euros, free)})
		dbtest.RequireInvalid(t, err, "line_items")
	})
}

func TestCheckout_NeedsALine(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{}})
		dbtest.RequireInvalid(t, err, "line_items")
	})
}

// Variants and products are read by two statements, between which a product may be deleted with its variants.
func TestCreateCheckout_AProductThatGoesMeanwhileIsMissing(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900))
		made := s.checkout(t, guide)
		letGo := `ALTER TABLE price_variants DROP CONSTRAINT price_variants_account_id_product_id_fkey`
		if s.Engine() == core.SQLite {
			letGo = `PRAGMA foreign_keys = OFF`
		}
		for _, statement := range []string{letGo, `DELETE FROM products`} {
			_, err := s.db.Write.DB.ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		_, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{}, Lines: pieceOf(guide)})
		dbtest.RequireCode(t, err, core.CodeMissing)
		_, err = s.BeginConfirm(t.Context(), s.account, made.ID, byCard)
		dbtest.RequireInvalid(t, err, "line_items")
	})
}

func TestCheckout_CountsThePiecesOfAllLines(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for _, v := range []catalog.PriceVariant{
			{Amount: 500, Currency: "usd", QuantityMax: ref(int64(1))},
			{Amount: 500, Currency: "usd", Stock: ref(int64(1))},
		} {
			one := s.onSale(t, v)
			_, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{}, Lines: pieceOf(one, one)})
			dbtest.RequireInvalid(t, err, "line_items")
			s.checkout(t, one)
		}
		pack := s.onSale(t, catalog.PriceVariant{Amount: 500, Currency: "usd", QuantityMin: 2})
		s.checkout(t, pack, pack)
	})
}

func TestBeginConfirm_AsksEveryProductsQuestions(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		needy := s.onSale(t, fixedPrice(500))
		idle := s.onSale(t, fixedPrice(500))
		for v, field := range map[*catalog.PriceVariant]catalog.CustomField{
			needy: {Key: "size", Label: "Size", Type: "text", Required: true},
			idle:  {Key: "size", Label: "Any size", Type: "checkbox"},
		} {
			_, err := s.Catalog.UpdateProduct(t.Context(), s.account, v.ProductID, func(p *catalog.Product) { p.CustomFields.V = []catalog.CustomField{field} })
			require.NoError(t, err)
		}
		c := s.checkout(t, needy, idle)
		_, err := s.BeginConfirm(t.Context(), s.account, c.ID, byCard)
		dbtest.RequireInvalid(t, err, "custom_field_data.size")
		_, err = s.Checkout.Update(t.Context(), s.account, c.ID, func(d *checkout.Draft) { d.CustomFieldData.V = map[string]string{"size": "XL"} })
		dbtest.RequireInvalid(t, err, "custom_field_data.size")
		_, err = s.Checkout.Update(t.Context(), s.account, c.ID, func(d *checkout.Draft) { d.CustomFieldData.V = map[string]string{"size": "true"} })
		require.NoError(t, err)
		_, err = s.BeginConfirm(t.Context(), s.account, c.ID, byCard)
		require.NoError(t, err)
	})
}
