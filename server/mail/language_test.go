package mail

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A letter speaks the language of its reader, with the dates and amounts of that language, as text and as page.
func TestLetters_SpeakTheLanguageOfTheirReader(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		customers, _, err := s.Customer.List(t.Context(), account, customer.List{Page: core.Page{Limit: 1}})
		require.NoError(t, err)
		_, err = s.UpdateCustomer(t.Context(), account, customers[0].ID, func(c *customer.Customer) { c.PreferredLocale = new("de-AT") })
		require.NoError(t, err)
		sent := &box{}
		require.NoError(t, NewPost(s, sent).SendDue(t.Context()))
		require.Len(t, sent.letters, 1)
		letter := sent.letters[0]
		assert.Equal(t, "Sie haben Zugang zu Guide Bcc: evil@example.com von Ada's Shop", letter.Subject)
		assert.Contains(t, letter.Text, "Ada's Shop hat Ihnen Zugang zu Guide")
		assert.Contains(t, letter.HTML, `<html lang="de" dir="ltr">`)
		assert.Contains(t, letter.HTML, "hat Ihnen Zugang zu Guide")
	})
}

// What buyers chose at the checkout counts before what they prefer else.
func TestLetterLocale_IsThatOfTheCheckoutThenThatOfTheCustomer(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, account := given(t, url)
		customer, err := s.Customer.Create(t.Context(), account, customer.Customer{Email: new("ada@example.com"), PreferredLocale: new("de")})
		require.NoError(t, err)
		product, err := s.Catalog.CreateProduct(t.Context(), account, catalog.NewProduct{
			Product: catalog.Product{Name: "Guide", Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{{Type: catalog.PriceVariantTypeOneTime, Amount: 900}},
		})
		require.NoError(t, err)
		checkout := func(spoken *string) *string {
			c, err := s.Checkout.Create(t.Context(), account, checkout.Draft{
				Checkout: &checkout.Checkout{CustomerID: &customer.ID, Locale: spoken}, Lines: []offer.NewLine{{PriceVariant: product.PriceVariantIDs.V[0], Quantity: 1}},
			})
			require.NoError(t, err)
			return &c.ID
		}
		for _, c := range []struct {
			checkout *string
			customer string
			want     *string
		}{
			{checkout(new("fr")), customer.ID, new("fr")}, {checkout(nil), customer.ID, new("de")}, {nil, customer.ID, new("de")}, {nil, "cus_nobody", nil},
		} {
			spoken, err := s.LetterLocale(t.Context(), account, c.checkout, c.customer)
			require.NoError(t, err)
			assert.Equal(t, c.want, spoken)
		}
	})
}

func TestSpeaks_TakesTheReadersThenTheSellers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		theirs  *string
		sellers string
		want    string
	}{{new("ja"), "de", "ja"}, {nil, "de", "de"}, {new("nl"), "fr", "fr"}, {new("en-GB"), "de", "en"}, {nil, "", "en"}} {
		assert.Equal(t, c.want, speaks(c.theirs, &tenant.Account{Locale: c.sellers}).Tag)
	}
	assert.Equal(t, "€23.80", speaks(nil, &tenant.Account{}).Money(2380, "eur"))
}

// Nothing of a letter stays English in another language.
func TestLetters_AreTranslatedAsAWhole(t *testing.T) {
	t.Parallel()
	usual := func(string) string { return "X" }
	_, english := everyLetter(t, locale.English, usual)
	assert.Contains(t, strings.Join(english["receipt"].closing, " "), "your right to withdraw ended")
	for _, l := range locale.All()[1:] {
		_, all := everyLetter(t, l, usual)
		for kind, c := range all {
			isWritten := c.article != "" // its subject, and what its first button says, are the seller's
			assert.True(t, isWritten || english[kind].subject != c.subject, "%s in %s", kind, l.Tag)
			for i, text := range append(append(append([]string{}, c.opening...), c.facts...), c.closing...) {
				assert.NotEqual(t, append(append(append([]string{}, english[kind].opening...), english[kind].facts...), english[kind].closing...)[i], text, "%s in %s", kind, l.Tag)
			}
			for i, a := range c.actions {
				assert.NotEqual(t, english[kind].actions[i].label, a.label, "%s in %s", kind, l.Tag)
				assert.True(t, isWritten && i == 0 || english[kind].actions[i].button != a.button, "%s in %s", kind, l.Tag)
			}
		}
	}
}
