package pages_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// It is what the buyer gets now. What was taken off the list is not counted, there is one licence key at most, and a tip gives nothing.
func TestCheckoutPage_SaysWhatIsIncluded(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		link := catalog.Deliverable{Type: catalog.DeliverableTypeLink, Ref: new("https://chat.example"), Name: new("Chat")}
		key := catalog.Deliverable{Type: catalog.DeliverableTypeLicenseKey}
		book, cover := w.uploads("book.pdf", "%PDF-1"), w.uploads("map.pdf", "%PDF-2")
		files := []catalog.Deliverable{{Type: catalog.DeliverableTypeFile, Ref: &book.ID}, {Type: catalog.DeliverableTypeFile, Ref: &cover.ID}}
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		assert.NotContains(t, w.page(c.URL, http.StatusOK), "Includes")
		lines, err := w.Lines.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		change := func(change func(p *catalog.Product)) {
			t.Helper()
			_, err := w.Catalog.UpdateProduct(t.Context(), w.account, *lines[0].ProductID, change)
			require.NoError(t, err)
		}
		delivers := func(all ...catalog.Deliverable) {
			t.Helper()
			change(func(p *catalog.Product) { p.Deliverables = all })
		}
		delivers(files[0], files[1], key, key, link)
		assert.Contains(t, w.page(c.URL, http.StatusOK), "<small>Includes: 2 files, a licence key, online access</small>")
		assert.Contains(t, w.page(c.URL+"?locale=de", http.StatusOK), "<small>Enthalten: 2 Dateien, ein Lizenzschlüssel, Online-Zugang</small>")
		delivers(files[1])
		assert.Contains(t, w.page(c.URL, http.StatusOK), "<small>Includes: 1 file</small>")
		l, err := w.Checkout.CreateLink(t.Context(), w.account, checkout.Link{PriceVariantIDs: core.JSONOf([]string{*lines[0].PriceVariantID}), Active: true})
		require.NoError(t, err)
		assert.Contains(t, w.page(l.URL, http.StatusOK), "<small>Includes: 1 file</small>")
		_, err = w.Catalog.UpdatePriceVariant(t.Context(), w.account, *lines[0].PriceVariantID, func(v *catalog.PriceVariant) { v.License = core.JSONOf(&catalog.License{Enabled: true}) })
		require.NoError(t, err)
		assert.Contains(t, w.page(l.URL, http.StatusOK), "<small>Includes: 1 file, a licence key</small>")
		change(func(p *catalog.Product) { p.Type = catalog.ProductTypeTip })
		assert.NotContains(t, w.page(c.URL, http.StatusOK), "Includes")
		change(func(p *catalog.Product) {
			p.Type, p.ThankYou = catalog.ProductTypeDigital, new("Tell me <b>what</b> you saw.")
		})
		assert.NotContains(t, w.page(c.URL, http.StatusOK), "Tell me")
		paid := w.post(c, http.StatusOK, card("4242424242424242", "3800"))
		assert.NotContains(t, paid, "Includes", "the page has the files themselves")
		assert.Contains(t, paid, "Tell me &lt;b&gt;what&lt;/b&gt; you saw.")
	})
}
