package dashboard_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

func TestActivity_SaysWhoChangedWhat(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		began := time.Now().UTC().Format(time.DateOnly)
		p, err := w.api.SDK().Products.Create(t.Context(), &sdk.ProductCreate{Name: "Guide"})
		require.NoError(t, err)
		_, err = w.api.SDK().Products.Update(t.Context(), p.ID, &sdk.ProductUpdate{Name: new("<i>Handbook"), Headline: sdk.Set("New")})
		require.NoError(t, err)
		sends(t, w.owner, "/app/developers/webhooks/new", url.Values{"url": {w.Hooks.URL}, "format": {"raw"}})
		page := sees(t, w.owner, "/app/activity", "Create webhook endpoint", w.owner.Email, "Update product", "Token test", "name: Guide → &lt;i&gt;Handbook", "headline: nothing → New", "/app/products/"+p.ID, "/v1/activity/export")
		require.NotContains(t, page, "whsec_")
		page = sees(t, w.owner, "/app/activity?actor="+w.owner.ID, "Create webhook endpoint")
		require.NotContains(t, page, "Update product")
		page = sees(t, w.owner, "/app/activity?operation=updateProduct&target="+p.ID, "Update product")
		require.NotContains(t, page, "Create webhook endpoint")
		tomorrow := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
		sees(t, w.owner, "/app/activity?from="+began+"&to="+tomorrow, "Update product")
		sees(t, w.owner, "/app/activity?from="+tomorrow, "Nothing matches")
		status, page := w.owner.Get("/app/activity?to=soon")
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "Type a day")
	})
}
