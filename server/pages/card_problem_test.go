package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
)

// All that is wrong is said at once, also beside a code that there is not.
func TestCheckoutPage_SaysAllThatIsWrongWithACard(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.ours(w.checkout(catalog.PriceVariant{Amount: 1000}))
	for code, problems := range map[string]int{"": 3, "NONE": 4} {
		form := url.Values{
			"do": {"pay"}, "shown": {"2000"}, "email": {"ada@example.com"}, "card_number": {"4242424242424241"}, "card_expiry": {"soon"}, "card_cvc": {"abc"}, "discount_code": {code},
		}
		page := w.post(c, http.StatusUnprocessableEntity, form)
		assert.Equal(t, problems, strings.Count(page, `<li><a href="#`), code)
		for _, said := range []string{"The card number is incorrect.", "Write the month and the year", "The security code (CVC) is incorrect."} {
			assert.Contains(t, page, said, code)
		}
	}
}

// What is wrong with a card leads to its field on the portal and on an invoice, and stands beside it, as on a checkout.
func TestPages_LeadToTheFieldOfACardThatIsWrong(t *testing.T) {
	t.Parallel()
	g := newShop(t).guest("ada@example.org")
	sub, i := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa"), g.shop.billed()
	shows := func(page, field, name string) {
		t.Helper()
		assert.Contains(t, page, `<li><a href="#`+field+`">`+name+": ", "in the summary")
		assert.Regexp(t, `<input id="`+field+`"[^>]* aria-invalid="true" aria-describedby="`+field+`-problem">`, page)
		assert.Regexp(t, `id="`+field+`-problem">(<svg[^\x00]*?</svg>)[A-Z]`, page)
	}
	for field, c := range map[string]struct{ value, name string }{
		"card_number": {"4242424242424241", "Card number"}, "card_expiry": {"13 / 40", "Expiry"}, "card_cvc": {"1", "CVC"},
	} {
		form := typed(g.see("", http.StatusOK), "4242424242424242")
		form.Set(field, c.value)
		shows(g.does("/cards", form, http.StatusUnprocessableEntity), field, c.name)
		shows(g.does("/subscriptions/"+sub.ID+"/card", form, http.StatusUnprocessableEntity), field, c.name)
		response, err := http.PostForm(i.HostedURL+"/pay", form)
		require.NoError(t, err)
		shows(g.read(response, http.StatusUnprocessableEntity), field, c.name)
	}
	wrong := typed(g.see("", http.StatusOK), "4242424242424241")
	wrong.Set("card_expiry", "01/20")
	wrong.Set("card_cvc", "1")
	response, err := http.PostForm(i.HostedURL+"/pay", wrong)
	require.NoError(t, err)
	for _, page := range []string{
		g.read(response, http.StatusUnprocessableEntity), g.does("/cards", wrong, http.StatusUnprocessableEntity), g.does("/subscriptions/"+sub.ID+"/card", wrong, http.StatusUnprocessableEntity),
	} {
		shows(page, "card_number", "Card number")
		shows(page, "card_expiry", "Expiry")
		shows(page, "card_cvc", "CVC")
		assert.Contains(t, page, "The card number is incorrect.")
		assert.Contains(t, page, "The card has expired.")
		assert.Contains(t, page, "The security code (CVC) is incorrect.")
	}
	response, err = http.PostForm(i.HostedURL+"/pay", url.Values{})
	require.NoError(t, err)
	for _, page := range []string{
		g.read(response, http.StatusUnprocessableEntity),
		g.does("/cards", url.Values{"once": {"a"}}, http.StatusUnprocessableEntity),
		g.does("/subscriptions/"+sub.ID+"/card", url.Values{"once": {"b"}}, http.StatusUnprocessableEntity),
	} {
		shows(page, "card_number", "Card number")
		shows(page, "card_expiry", "Expiry")
		shows(page, "card_cvc", "CVC")
	}
	assert.Contains(t, g.does("/cards", url.Values{"once": {"a"}}, http.StatusUnprocessableEntity), "<details open>", "it leads to a field that is seen")
	shows(g.types(i, "4000000000000002", http.StatusOK), "card_number", "Card number")
	for field, page := range map[string]string{
		"the form": g.does("/cards", url.Values{}, http.StatusUnprocessableEntity), "the card": g.does("/cards/"+g.cards()[0].ID+"/remove", nil, http.StatusUnprocessableEntity),
	} {
		assert.NotContains(t, page, `href="#card_number"`, "it is about "+field)
	}
}
