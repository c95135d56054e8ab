package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

func TestLinks_AreMadeAndSwitchedOff(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/links", "There is none yet.", "New link")
		sees(t, w.owner, "/app/links/new", "Publish a product first.")
		p, err := w.api.SDK().Products.Create(t.Context(), &sdk.ProductCreate{
			Name: "Handbook <i>", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(2000)), Currency: new("eur")}},
		})
		require.NoError(t, err)
		variant := p.PriceVariants[0].ID
		form := url.Values{"name": {"Letter"}, "price_variants": {variant}, "max_uses": {"2"}, "once": {between(t, sees(t, w.owner, "/app/links/new", "Handbook &lt;i&gt;, EUR\u00a020.00"), `name="once" value="`, `"`)}}
		for field, wrong := range map[string]string{"price_variants": "", "max_uses": "two", "success_url": "javascript:alert(1)"} {
			bad := url.Values{"name": {"Letter"}, "price_variants": {variant}}
			bad[field] = []string{wrong}
			if wrong == "" {
				bad.Del(field)
			}
			status, page := w.owner.Post("/app/links/new", bad)
			require.Equal(t, http.StatusUnprocessableEntity, status, field)
			require.Contains(t, page, `href="#`+field+`"`)
			require.Contains(t, page, `value="Letter"`)
		}
		address := sends(t, w.owner, "/app/links/new", form)
		require.Equal(t, address, sends(t, w.owner, "/app/links/new", form), "a double click")
		sees(t, w.owner, address, "The link is ready.", "Letter</h1>", "Active", "/buy/", "Handbook &lt;i&gt;")
		sees(t, w.owner, "/app/links?q=letter", "0 of 2", "Letter")
		sends(t, w.owner, address+"/active", url.Values{"active": {"no"}})
		sees(t, w.owner, address, "The link is off.", "Off</span>")
		l, err := w.api.SDK().CheckoutLinks.Get(t.Context(), strings.TrimPrefix(address, "/app/links/"))
		require.NoError(t, err)
		require.False(t, l.Active)
		sends(t, w.owner, address+"/active", url.Values{"active": {"yes"}})
		sees(t, w.owner, address, "The link is on.")
	})
}
