package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestGrantDownload_OpensWhatTheProductDelivers(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		file := newFile(t, c, &sdk.FileCreate{Name: "Guide.pdf", Size: 5})
		body := sellable("Guide")
		body.Deliverables = []sdk.Deliverable{{Type: "file", Ref: &file.ID, DownloadLimit: new(int64(3))}}
		body.Status = new(sdk.ProductStatusActive)
		_, err := c.Products.Create(background, body)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "deliverables") // active, and nobody could get it yet
		sendBytes(t, owner, file.Upload.URL, "hello")
		ok[*sdk.File](t)(c.Files.Complete(background, file.ID))
		guide := ok[*sdk.Product](t)(c.Products.Create(background, body))
		_, err = c.Files.Delete(background, file.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")

		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com"}))
		g := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.ID}))
		d := g.Deliverables[0]
		assert.Equal(t, file.ID, *d.File, "the grant")
		assert.EqualValues(t, 1, *d.Version, "the grant")
		assert.EqualValues(t, 5, *d.Size, "the grant")
		assert.Zero(t, *d.DownloadsCount, "the grant")
		assert.EqualValues(t, 3, *d.DownloadLimit, "the grant")
		if u := ok[*sdk.SignedURL](t)(c.Grants.Download(background, g.ID, &sdk.GetGrantDownloadParams{File: file.ID})); u.URL == "" {
			t.Error("there is no link")
		}
		g = ok[*sdk.Grant](t)(c.Grants.Update(background, g.ID, &sdk.GrantUpdate{DownloadLimit: sdk.Set(int64(7))}))
		assert.EqualValues(t, 7, *g.Deliverables[0].DownloadLimit, "the changed grant")
		assert.EqualValues(t, 7, *g.DownloadLimit, "the changed grant")
		other := newFile(t, c, &sdk.FileCreate{Name: "Other.pdf", Size: 5})
		_, err = c.Grants.Download(background, g.ID, &sdk.GetGrantDownloadParams{File: other.ID})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "file")
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, g.ID))
		_, err = c.Grants.Download(background, g.ID, &sdk.GetGrantDownloadParams{File: file.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		ok[*sdk.Product](t)(c.Products.Archive(background, guide.ID))
		ok[*sdk.Deleted](t)(c.Files.Delete(background, file.ID))
	})
}
