package pages_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func (w *shop) open(method, url string, headers ...string) *http.Response {
	w.t.Helper()
	request, err := http.NewRequest(method, url, nil)
	require.NoError(w.t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	require.NoError(w.t, err)
	require.NoError(w.t, response.Body.Close())
	return response
}

func TestCheckoutLink_MakesACheckoutForWhoeverOpensIt(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		variant := w.checkout(store.PriceVariant{Amount: 1900})
		lines, err := w.CheckoutLines(t.Context(), w.account, variant.ID)
		require.NoError(t, err)
		link, err := w.CreateCheckoutLink(t.Context(), w.account, store.CheckoutLink{
			PriceVariantIDs: store.JSONOf([]string{*lines[0].PriceVariantID}), Active: true, MaxUses: new(int64(2)),
		})
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, w.open(http.MethodHead, link.URL).StatusCode)
		assert.Equal(t, http.StatusServiceUnavailable, w.open(http.MethodGet, link.URL, "Sec-Purpose", "prefetch").StatusCode)
		first := w.open(http.MethodGet, link.URL+"?utm_source=letter", "Referer", "https://ada.example/")
		require.Equal(t, http.StatusSeeOther, first.StatusCode)
		assert.Contains(t, w.page(link.URL, http.StatusOK), "This checkout is open")
		assert.Contains(t, w.page(link.URL, http.StatusNotFound), "There is nothing here", "it is used up")

		link, err = w.GetCheckoutLink(t.Context(), w.account, link.ID)
		require.NoError(t, err)
		assert.EqualValues(t, 2, link.Uses)
		made, _, err := w.ListCheckouts(t.Context(), w.account, store.ListCheckouts{Page: store.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, made, 3)
		source := made[1].Source.V
		assert.Equal(t, link.ID, *source.CheckoutLink)
		assert.Equal(t, "letter", *source.UTMSource)
		assert.Equal(t, "https://ada.example/", *source.Referrer)

		_, err = w.UpdateCheckoutLink(t.Context(), w.account, link.ID, func(l *store.CheckoutLink) { l.MaxUses = nil })
		require.NoError(t, err)
		_, err = w.ArchiveProduct(t.Context(), w.account, *lines[0].ProductID)
		require.NoError(t, err)
		assert.Contains(t, w.page(link.URL, http.StatusConflict), "not for sale")
		_, err = w.DeleteCheckoutLink(t.Context(), w.account, link.ID)
		require.NoError(t, err)
		w.page(link.URL, http.StatusNotFound)
	})
}

// Of many who open a link at once that may be used five times, five get a checkout.
func TestCheckoutLink_IsNeverUsedTooOften(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		lines, err := w.CheckoutLines(t.Context(), w.account, w.checkout(store.PriceVariant{Amount: 1900}).ID)
		require.NoError(t, err)
		link, err := w.CreateCheckoutLink(t.Context(), w.account, store.CheckoutLink{
			PriceVariantIDs: store.JSONOf([]string{*lines[0].PriceVariantID}), Active: true, MaxUses: new(int64(5)),
		})
		require.NoError(t, err)
		var made atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if w.open(http.MethodGet, link.URL).StatusCode == http.StatusSeeOther {
					made.Add(1)
				}
			})
		}
		all.Wait()
		assert.EqualValues(t, 5, made.Load())
	})
}
