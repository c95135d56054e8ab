package transfer_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
)

// granted has somebody have a product that delivers a file, which each buyer may download twice.
func (w *world) granted(f *grant.File) *grant.Grant {
	w.t.Helper()
	p, err := w.Catalog.CreateProduct(w.t.Context(), w.account, catalog.NewProduct{Product: catalog.Product{
		Name: "Guide", Deliverables: []catalog.Deliverable{{Type: catalog.DeliverableTypeFile, Ref: &f.ID, DownloadLimit: new(int64(2))}},
	}})
	require.NoError(w.t, err)
	c, err := w.Customer.Create(w.t.Context(), w.account, customer.Customer{Email: new(f.ID + "@example.com")})
	require.NoError(w.t, err)
	g, err := w.CreateGrant(w.t.Context(), w.account, store.NewGrant{Customer: c.ID, Product: p.ID})
	require.NoError(w.t, err)
	return g
}

func (w *world) buyersLink(g *grant.Grant, f *grant.File) string {
	w.t.Helper()
	u, err := w.GetGrantDownload(w.t.Context(), w.account, g.ID, f.ID, time.Hour)
	require.NoError(w.t, err)
	return u.URL
}

func TestDownload_OfABuyerIsCountedAndLimited(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		f := w.whole("Guide.txt", []byte("hello"))
		g := w.granted(f)
		link := w.buyersLink(g, f)
		get := func(headers ...string) int { return w.ask(http.MethodGet, link, nil, headers...).StatusCode }
		require.Equal(t, http.StatusOK, w.ask(http.MethodHead, link, nil).StatusCode)
		require.Equal(t, http.StatusPartialContent, get("Range", "bytes=2-"), "without a beginning it counts")
		require.Equal(t, http.StatusPartialContent, get("Range", "bytes=2-"), "then it does not")
		require.Equal(t, http.StatusOK, get("Range", "bytes=2-", "If-Range", `"other"`), "it is sent whole, and counts")
		for name, headers := range map[string][]string{
			"whole": nil, "from the first byte": {"Range", "bytes=0-"}, "the last five": {"Range", "bytes=-5"}, "two parts": {"Range", "bytes=3-3,0-4"},
			"whole, as another one is there": {"Range", "bytes=2-", "If-Range", `"other"`}, "no range": {"Range", "bytes= 0-"},
		} {
			require.Equal(t, http.StatusForbidden, get(headers...), name)
		}
		require.Equal(t, http.StatusPartialContent, get("Range", "bytes=2-", "If-Range", `"`+*f.SHA256+`"`), "what began goes on")
		still, err := w.Grant.GetFile(t.Context(), w.account, f.ID)
		require.NoError(t, err)
		require.EqualValues(t, 2, still.DownloadsCount)
		g, err = w.Grant.UpdateGrant(t.Context(), w.account, g.ID, func(g *grant.Grant) { g.DownloadLimit = new(int64(3)) })
		require.NoError(t, err)
		require.EqualValues(t, 2, *g.Deliverables[0].DownloadsCount)
		require.Equal(t, http.StatusOK, get())
		require.Equal(t, http.StatusOK, w.ask(http.MethodGet, w.link(f), nil).StatusCode, "the seller's own")
	})
}

func TestDownload_OfABuyerWhoHasLostIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		f := w.whole("Guide.txt", []byte("hello"))
		g := w.granted(f)
		link := w.buyersLink(g, f)
		_, err := w.Grant.RevokeGrant(t.Context(), w.account, g.ID)
		require.NoError(t, err)
		require.Equal(t, http.StatusGone, w.ask(http.MethodGet, link, nil).StatusCode)
		require.Equal(t, http.StatusGone, w.ask(http.MethodGet, link, nil, "Range", "bytes=2-").StatusCode)
	})
}
