package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// TestExternalID_IsFoundOrRefused makes customers of ids that a path may have trouble with.
func TestExternalID_IsFoundOrRefused(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		price := onSale(t, c, 1900)
		for _, id := range []string{
			"a?b=c#d", "a b", " ", "%", "%41", "ä", "日本", "a;b", `a\b`, "a+b", "...", ".x", "x..", "a\tb", "a\nb",
			"\u200b", "\u2028", "a:b", "@", "&", "=", "'", `"`, "<>", "|", "*", "(", "{id}", ":id", "external", "cus_01k0000000000000000000000a", strings.Repeat("ü", 255),
		} {
			made := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com", ExternalID: &id}))
			found, err := c.Customers.GetByExternalID(background, id)
			require.NoError(t, err, id)
			assert.Equal(t, made.ID, found.ID, id)
		}
		named := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com"}))
		for _, id := range []string{".", ".."} {
			_, err := c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com", ExternalID: &id})
			refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "external_id")
			_, err = c.Customers.Update(background, named.ID, &sdk.CustomerUpdate{ExternalID: sdk.Set(id)})
			refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "external_id")
			_, err = c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines(price), ExternalCustomerID: &id})
			refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "external_customer_id")
			open := checkout(t, c, "ada@example.com", price)
			_, err = c.Checkouts.Update(background, open.ID, &sdk.CheckoutUpdate{ExternalCustomerID: sdk.Set(id)})
			refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "external_customer_id")
		}
	})
}
