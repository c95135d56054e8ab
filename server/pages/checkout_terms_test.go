package pages_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
)

func TestCheckoutPage_ShowsTheLegalPagesThatItsBoxAccepts(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	assert.NotContains(t, w.page(c.URL, http.StatusOK), `name="terms"`)
	page, err := w.Content.CreateLegalPage(t.Context(), w.account, content.LegalPage{
		Kind: "terms", Title: "Rules & <rites>", Body: "Be **kind**.", Status: content.LegalPageStatusPublished, RequiresAcceptance: true,
	})
	require.NoError(t, err)

	assert.Contains(t, w.page(w.link(catalog.PriceVariant{Amount: 1900}, nil).URL, http.StatusOK), "I accept Rules")
	shown := w.post(c, http.StatusUnprocessableEntity, card("4242424242424242", "3800"))
	assert.Contains(t, shown, "<details><summary><bdi>Rules &amp; &lt;rites&gt;</bdi></summary>\n<p>Be <strong>kind</strong>.</p>")
	assert.Contains(t, shown, "I accept Rules &amp; &lt;rites&gt; of Ada")
	assert.Contains(t, shown, `id="terms-problem"`)

	form := card("4000000000000002", "3800")
	form.Set("terms", "true")
	form.Set("terms_shown", page.ID+".1")
	assert.Contains(t, shown, `name="terms_shown" value="`+page.ID+`.1"`)
	again := func() string { // in the same browser
		response, err := w.browser.Get(c.URL)
		require.NoError(t, err)
		return w.read(response, http.StatusOK)
	}
	const ticked = `name="terms" type="checkbox" value="true" checked`
	assert.Contains(t, w.post(c, http.StatusOK, form), ticked, "as it was sent with the attempt of which the page tells")
	assert.Contains(t, again(), ticked)
	_, err = w.Content.UpdateLegalPage(t.Context(), w.account, page.ID, func(l *content.LegalPage) { l.Body = "Be quick." })
	require.NoError(t, err)
	assert.NotContains(t, again(), ticked, "nobody has accepted the new text")
	form.Set("card_number", "4242424242424242")
	stale := w.post(c, http.StatusUnprocessableEntity, form)
	assert.Contains(t, stale, "The terms have changed.", "they ticked the text of before")
	assert.NotContains(t, stale, ticked)
	assert.Contains(t, stale, "<p>Be quick.</p>")
	form.Set("terms_shown", page.ID+".2")
	form.Set("shown", "1900") // the total of before
	assert.Contains(t, w.post(c, http.StatusOK, form), ticked, "the total has changed, and the text has not")
	count := url.Values{"do": {"count"}, "country": {"US"}, "terms_shown": {page.ID + ".2"}} // our script sends no ticks
	w.post(c, http.StatusOK, count)
	assert.Contains(t, again(), ticked)
	form.Set("terms_shown", page.ID+".1")
	assert.NotContains(t, w.post(c, http.StatusOK, form), ticked, "the text has changed too")
	form.Set("shown", "3800")
	form.Del("terms_shown") // as a page has it that was drawn before the server was upgraded
	unsaid := w.post(c, http.StatusUnprocessableEntity, form)
	assert.Contains(t, unsaid, "The terms have changed.")
	assert.NotContains(t, unsaid, ticked, "nobody knows which text they were shown")
	form.Set("terms_shown", page.ID+".2 page_gone.1") // one that nobody has to accept any more
	assert.Contains(t, w.post(c, http.StatusOK, form), "<h1>Thank you for your order</h1>")
	orders, _, err := w.Order.List(t.Context(), w.account, order.List{Page: core.Page{Limit: 1}})
	require.NoError(t, err)
	require.Len(t, orders[0].LegalAcceptances.V, 1)
	assert.Equal(t, page.ID, orders[0].LegalAcceptances.V[0].LegalPage)
	assert.EqualValues(t, 2, orders[0].LegalAcceptances.V[0].Version)
}
