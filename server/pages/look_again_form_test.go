package pages_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// A form that comes too late, from another tab, is answered by the page itself. A browser that looks again at the form's address gets no page there.
func TestAgain_IsNotAtTheAddressOfAForm(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe(publishableKey)
	c, i := w.checkout(catalog.PriceVariant{Amount: 1900}), w.billed()
	w.bank.Spoil(stripefake.Fault{Path: "/confirm", Status: http.StatusInternalServerError})
	w.post(c, http.StatusOK, given("pm_card_visa", "3800"))
	w.bank.Spoil(stripefake.Fault{Path: "/confirm", Status: http.StatusInternalServerError})
	w.sends(i, "pm_card_visa", http.StatusOK)
	for _, form := range []string{c.URL + "/verify", c.URL + "/pay", i.HostedURL + "/pay"} {
		response, err := http.PostForm(form, url.Values{})
		require.NoError(t, err)
		assert.NotEqual(t, form, response.Request.URL.String(), "a browser would look again there")
		page := w.read(response, http.StatusOK)
		assert.Contains(t, page, "is being processed", form)
		assert.Contains(t, page, `<meta http-equiv="refresh" content="3">`, form)
	}
}
