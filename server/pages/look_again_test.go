package pages

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/tenant"
)

// What waits for a bank looks again, so that nobody has to load the page anew. A page with a form of ours does not: it would take what is typed.
func TestAgain_IsOnPagesThatWaitForABank(t *testing.T) {
	t.Parallel()
	seller := &tenant.Account{Name: "Ada"}
	states := map[string]int{"processing": lookAgain, "elsewhere": lookAgainLink, "action": 0, "pay": 0, "stripe": 0, "closed": 0, "": 0}
	for state, after := range states {
		page := documentPage{Document: &invoicepdf.Document{}, State: state}
		assert.Equal(t, after, page.frame(locale.English, seller).Again, "an invoice: %s", state)
		buys := checkoutPage{l: locale.English, Checkout: &checkout.Checkout{}, Seller: seller, State: state}
		assert.Equal(t, after, buys.frame().Again, "a checkout: %s", state)
	}
	gone := documentPage{Document: &invoicepdf.Document{}, State: "elsewhere", Forward: "https://bank.example"}
	assert.Zero(t, gone.frame(locale.English, seller).Again, "it sends its reader on")

	refused := documentPage{Document: &invoicepdf.Document{}, State: "processing", Error: "Enter a card."}
	assert.Zero(t, refused.frame(locale.English, seller).Again, "it is the answer to a form")

	card := portalCard{portalPage: portalPage{visit: &visit{Seller: seller, l: locale.English}}}
	assert.Zero(t, card.frame().Again, "a card is typed into it")
	card.Waits = true
	assert.Equal(t, lookAgain, card.frame().Again)
	card.Waits, card.Next = false, "https://bank.example"
	assert.Equal(t, lookAgainLink, card.frame().Again)
	card.Forward = card.Next
	assert.Zero(t, card.frame().Again)
}

// A page that waits for a bank goes on waiting after one of its looks was refused for a while. No form is sent again by itself.
func TestAgain_IsOnAPageThatIsRefusedForAWhile(t *testing.T) {
	t.Parallel()
	p := bare(t)
	for _, c := range []struct{ method, wait, again string }{
		{"GET", "1", "15"}, {"GET", "60", "60"}, {"GET", "", ""}, {"POST", "1", ""},
	} {
		w := httptest.NewRecorder()
		w.Header().Set("Retry-After", c.wait)
		require.NoError(t, p.Refused(echo.New().NewContext(httptest.NewRequest(c.method, "/checkout/x", nil), w), 503, false))
		_, rest, looks := strings.Cut(w.Body.String(), `http-equiv="refresh" content="`)
		assert.Equal(t, c.again != "", looks, c)
		after, _, _ := strings.Cut(rest, `"`)
		assert.Equal(t, c.again, after, c)
	}
}
