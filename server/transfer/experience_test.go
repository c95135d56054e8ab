package transfer_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// renew gives a file other bytes.
func (w *world) renew(f *grant.File, bytes io.Reader, size int64) {
	w.t.Helper()
	v, err := w.Grant.CreateFileVersion(w.t.Context(), w.account, f.ID, grant.NewVersion{Size: size})
	require.NoError(w.t, err)
	require.Equal(w.t, http.StatusOK, w.send(v.UploadURL, bytes).StatusCode)
	_, err = w.files.Complete(w.t.Context(), w.account, f.ID)
	require.NoError(w.t, err)
}

// got returns what a link answers.
func (w *world) got(link string) (int, string) {
	w.t.Helper()
	response := w.ask(http.MethodGet, link, nil)
	body, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	return response.StatusCode, string(body)
}

func TestDownload_OfAnExperience(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sheet, guide := w.whole("Sheet.txt", []byte("hello")), w.whole("Guide.txt", []byte("guide"))
		g := w.granted(guide)
		e, err := w.Content.CreateExperience(t.Context(), w.account, content.Experience{
			Name: "Sheets", Type: content.ExperienceTypeDownload, Content: core.JSONOf(content.ExperienceContent{Files: []string{sheet.ID}}), Status: content.ExperienceStatusPublished,
		})
		require.NoError(t, err)
		_, err = w.GetGrantDownload(t.Context(), w.account, g.ID, sheet.ID, time.Hour)
		require.ErrorContains(t, err, "file")
		_, err = w.AttachExperience(t.Context(), w.account, e.ID, g.ProductID)
		require.NoError(t, err)
		link := w.buyersLink(g, sheet)
		status, body := w.got(link)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "hello", body)
		_, err = w.Grant.UpdateGrant(t.Context(), w.account, g.ID, func(g *grant.Grant) { g.DownloadLimit = new(int64(1)) })
		require.NoError(t, err)
		status, _ = w.got(link)
		require.Equal(t, http.StatusForbidden, status, "the grant's limit counts for it")
		_, err = w.DetachExperience(t.Context(), w.account, e.ID, g.ProductID)
		require.NoError(t, err)
		status, _ = w.got(link)
		require.Equal(t, http.StatusGone, status)
	})
}

func TestDownload_OfTheVersionThatWasBought(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		f := w.whole("Guide.txt", []byte("first"))
		g := w.granted(f)
		w.renew(f, bytes.NewReader([]byte("second one")), 10)
		status, body := w.got(w.buyersLink(g, f))
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "second one", body, "updates are for all buyers")
		_, err := w.Catalog.UpdateProduct(t.Context(), w.account, g.ProductID, func(p *catalog.Product) { p.DeliveryUpdates = catalog.DeliveryUpdatesNewBuyers })
		require.NoError(t, err)
		status, body = w.got(w.buyersLink(g, f))
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "first", body, "updates are for new buyers")
	})
}
