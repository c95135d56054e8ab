package contract

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestBuyersPages_AreDrawnForFewStatements counts the statements of the pages on which people buy. PostgreSQL has one more, which counts the request.
func TestBuyersPages_AreDrawnForFewStatements(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s, taken := counting(t, url)
		c := s.SDK(t)
		price := delivering(t, c).PriceVariants[0].ID
		link := ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{price}}))
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: new("ada@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: price}}}))
		more := map[string]int{core.SQLite: 0, core.PostgreSQL: 1}[s.Database.Engine]
		draws := func(what, address, text string, most int) {
			t.Helper()
			var cost []string
			for range 2 { // the first one fills what the server keeps
				taken()
				resp, err := http.Get(strings.Replace(address, "http://shop.test", s.URL, 1))
				require.NoError(t, err)
				page, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, resp.StatusCode)
				require.Contains(t, string(page), text)
				cost = taken()
			}
			if assert.NotEmpty(t, cost, what); len(cost) > most+more {
				t.Errorf("%s takes %d statements, %d at most are promised:\n%s", what, len(cost), most+more, strings.Join(cost, "\n"))
			}
		}
		draws("a link", link.URL, "Card number", 12)
		draws("a checkout", made.URL, "Card number", 9)
		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("pm_card_visa")))
		draws("what was bought", made.URL, "Thank you for your order", 14)
	})
}
