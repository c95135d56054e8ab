package pages_test

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/blob/disk"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/tenant"
)

// keepsFiles has the server take and give out files.
func (w *shop) keepsFiles(e *echo.Echo) *transfer.Service {
	bucket, err := disk.Open(w.t.TempDir())
	require.NoError(w.t, err)
	w.t.Cleanup(func() { assert.NoError(w.t, bucket.Close()) })
	w.files = transfer.New(w.t.Context(), w.Grant, bucket, slog.New(slog.DiscardHandler))
	for pattern, handler := range w.files.Routes() {
		if method, path, ok := strings.Cut(pattern, " "); ok {
			e.Add(method, path, handler)
		}
	}
	return w.files
}

// uploads makes a file that is complete.
func (w *shop) uploads(name, bytes string) *grant.File {
	w.t.Helper()
	f, err := w.Grant.CreateFile(w.t.Context(), w.account, grant.NewFile{Name: name, NewVersion: grant.NewVersion{Size: int64(len(bytes))}})
	require.NoError(w.t, err)
	return w.completes(f.ID, f.UploadURL, bytes)
}

// completes uploads the bytes of a file, or of a version of it, and has them taken.
func (w *shop) completes(file, address, bytes string) *grant.File {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPut, address, strings.NewReader(bytes))
	require.NoError(w.t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)
	require.NoError(w.t, response.Body.Close())
	require.Equal(w.t, http.StatusOK, response.StatusCode)
	f, err := w.files.Complete(w.t.Context(), w.account, file)
	require.NoError(w.t, err)
	return f
}

// gets follows the link of a file on the portal.
func (g *guest) gets(below, bytes string) {
	g.t.Helper()
	response, err := http.Get(g.session.URL + below)
	require.NoError(g.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(g.t, err)
	assert.Equal(g.t, http.StatusOK, response.StatusCode)
	assert.Contains(g.t, response.Request.URL.Path, "/files/")
	assert.Equal(g.t, bytes, string(body))
}

// delivers publishes an experience, and gives the guest a product that delivers it.
func (g *guest) delivers(e content.Experience) (*content.Experience, *grant.Grant) {
	g.t.Helper()
	e.Status = content.ExperienceStatusPublished
	made, err := g.Content.CreateExperience(g.t.Context(), g.account, e)
	require.NoError(g.t, err)
	p := g.sell(catalog.Product{Name: "Academy", Deliverables: []catalog.Deliverable{{Type: catalog.DeliverableTypeExperience, Ref: &made.ID}}}, 1900)
	given, err := g.CreateGrant(g.t.Context(), g.account, store.NewGrant{Customer: g.customer.ID, Product: p.ID})
	require.NoError(g.t, err)
	return made, given
}

// course is one in whose every text there is a script.
func course(script, file string) content.Experience {
	return content.Experience{Name: "Course " + script, Type: content.ExperienceTypeCourse, Description: new("*All* " + script), Content: core.JSONOf(content.ExperienceContent{
		Modules: []content.ExperienceModule{{Title: "First " + script, Lessons: []content.ExperienceLesson{{
			Title: "Knots " + script, Body: new("Tie **it** [x](javascript:alert(1)) " + script), VideoURL: new(`https://video.example/a?"><script>`), File: &file,
		}}}},
	})}
}

// A product delivers a file by itself and in an experience, each version to new buyers alone. The link sends the version of the day it was bought.
func TestPortal_ExperienceNamesTheVersionThatItsLinkSends(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sheet := g.uploads("Sheet.txt", "hello")
		e := course("", sheet.ID)
		e.Status = content.ExperienceStatusPublished
		made, err := g.Content.CreateExperience(t.Context(), g.account, e)
		require.NoError(t, err)
		p := g.sell(catalog.Product{Name: "Academy", DeliveryUpdates: catalog.DeliveryUpdatesNewBuyers, Deliverables: []catalog.Deliverable{
			{Type: catalog.DeliverableTypeExperience, Ref: &made.ID}, {Type: catalog.DeliverableTypeFile, Ref: &sheet.ID},
		}}, 1900)
		given, err := g.CreateGrant(t.Context(), g.account, store.NewGrant{Customer: g.customer.ID, Product: p.ID})
		require.NoError(t, err)
		next, err := g.Grant.CreateFileVersion(t.Context(), g.account, sheet.ID, grant.NewVersion{Size: 7})
		require.NoError(t, err)
		g.completes(sheet.ID, next.UploadURL, "goodbye")
		g.gets("/downloads/"+given.ID+"/"+sheet.ID, "hello")
		page := g.see("/experiences/"+made.ID, http.StatusOK)
		assert.Contains(t, page, "5 B · version 1<")
		assert.NotContains(t, page, "newer than")
	})
}

func TestPortal_ShowsExperiencesWhileTheyAreOpen(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sheet := g.uploads("Sheet <b>.txt", "hello")
		e, given := g.delivers(course("<script>alert(1)</script>", sheet.ID))
		below, file := "/experiences/"+e.ID, "/downloads/"+given.ID+"/"+sheet.ID
		missing := g.see("/experiences/exp_x", http.StatusNotFound)
		home := g.see("", http.StatusOK)
		assert.Contains(t, home, below+`">Course &lt;script&gt;`, "it has its own name")
		page := g.see(below, http.StatusOK)
		for _, shown := range []string{"<em>All</em>", "First &lt;script&gt;", "Knots &lt;script&gt;", "Tie <strong>it</strong>", `href="https://video.example/a?%22`, file + `"><svg`, `</svg>Download Sheet &lt;b&gt;.txt</a>`, "5 B"} {
			assert.Contains(t, page, shown)
		}
		assert.NotContains(t, page, "<script")
		assert.NotContains(t, page, "javascript:alert(1)\"")
		assert.NotContains(t, home+page, "/files/", "pages hold no signed addresses")
		g.gets(file, "hello")
		next, err := g.Grant.CreateFileVersion(t.Context(), g.account, sheet.ID, grant.NewVersion{Size: 7})
		require.NoError(t, err)
		g.completes(sheet.ID, next.UploadURL, "goodbye")
		assert.Contains(t, g.see(below, http.StatusOK), "7 B · version 2, newer than the one you downloaded")
		g.gets(file, "goodbye")
		require.NoError(t, g.Grant.Download(t.Context(), g.account, given.ID, sheet.ID, 1, true), "by an older link")
		assert.Contains(t, g.see(below, http.StatusOK), "7 B · version 2<", "the newest counts")

		other, err := g.Customer.Create(t.Context(), g.account, customer.Customer{Email: new("ada@example.com")})
		require.NoError(t, err)
		session, err := g.Portal.CreateSession(t.Context(), g.account, other.ID, nil)
		require.NoError(t, err)
		for _, path := range []string{below, file} {
			assert.Equal(t, missing, g.page(session.URL+path, http.StatusNotFound), "it is not told from what does not exist")
		}
		assert.Equal(t, missing, g.see("/downloads/"+given.ID+"/file_x", http.StatusNotFound))

		_, err = g.Grant.UpdateGrant(t.Context(), g.account, given.ID, func(g *grant.Grant) { g.DownloadLimit = new(int64(1)) })
		require.NoError(t, err)
		assert.Contains(t, g.see(below, http.StatusOK), "0 of 1 downloads left")
		assert.Contains(t, g.see(file, http.StatusForbidden), "as often as it may be")
		_, err = g.Grant.RevokeGrant(t.Context(), g.account, given.ID)
		require.NoError(t, err)
		assert.Equal(t, missing, g.see(below, http.StatusNotFound))
		gone := g.see(file, http.StatusGone)
		assert.Contains(t, gone, "This file is not open to you any more")
		assert.Contains(t, gone, `href="../../../`+g.session.Token+`">Your purchases</a>`, "they have come from there")
		_, err = g.Content.UpdateExperience(t.Context(), g.account, e.ID, func(e *content.Experience) { e.Access = content.ExperienceAccessPublic })
		require.NoError(t, err)
		page = g.see(below, http.StatusOK)
		assert.Contains(t, page, "for buyers")
		assert.NotContains(t, page, "/downloads/")
	})
}

func TestPortal_ShowsAnEventInItsZone(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		begins := time.Date(2027, 2, 3, 17, 0, 0, 0, time.UTC)
		e, _ := g.delivers(content.Experience{Name: "Meeting", Type: content.ExperienceTypeEvent, Content: core.JSONOf(content.ExperienceContent{
			StartsAt: new(core.TimeOf(begins)), EndsAt: new(core.TimeOf(begins.Add(time.Hour))), Timezone: new("Europe/Berlin"), URL: new("https://meet.example/a"), Location: new("Hall <b>"),
		})})
		page := g.see("/experiences/"+e.ID, http.StatusOK)
		for _, shown := range []string{"Wednesday, 3 February 2027, 18:00 to Wednesday, 3 February 2027, 19:00 (Europe/Berlin)", `href="https://meet.example/a"`, "Hall &lt;b&gt;"} {
			assert.Contains(t, page, shown)
		}
	})
}

func TestPortal_LinksTheFilesThatWereBought(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		f := g.uploads("Guide.txt", "hello")
		order := g.bought(func(c *checkout.Checkout) { c.CustomerID = &g.customer.ID })
		grants, err := g.Grant.CurrentGrants(t.Context(), g.account, order.CustomerID)
		require.NoError(t, err)
		require.Len(t, grants, 1)
		_, err = g.Catalog.UpdateProduct(t.Context(), g.account, grants[0].ProductID, func(p *catalog.Product) {
			p.Deliverables = []catalog.Deliverable{{Type: catalog.DeliverableTypeFile, Ref: &f.ID, DownloadLimit: new(int64(2))}}
		})
		require.NoError(t, err)
		file := "/downloads/" + grants[0].ID + "/" + f.ID
		for range 2 {
			page := g.see("", http.StatusOK)
			assert.Contains(t, page, file+`"><svg`)
			assert.Contains(t, page, `</svg>Download Guide.txt</a>`)
			assert.Contains(t, page, "5 B · 2 of 2 downloads left", "to look is not to download")
		}
		g.gets(file, "hello")
		assert.Contains(t, g.see("", http.StatusOK), "1 of 2 downloads left · version 1</small>")
		next, err := g.Grant.CreateFileVersion(t.Context(), g.account, f.ID, grant.NewVersion{Size: 7})
		require.NoError(t, err)
		g.completes(f.ID, next.UploadURL, "goodbye")
		assert.Contains(t, g.see("", http.StatusOK), "7 B · 1 of 2 downloads left · version 2, newer than the one you downloaded</small>")
		g.gets(file, "goodbye")
		assert.Contains(t, g.see("", http.StatusOK), "0 of 2 downloads left · version 2</small>")
		_, err = g.Tenant.UpdateAccount(t.Context(), g.account, func(a *tenant.AccountChange) { a.SupportEmail = new("help@ada.example") })
		require.NoError(t, err)
		usedUp := g.see(file, http.StatusForbidden)
		assert.Contains(t, usedUp, "Ask the seller if you need it again.")
		assert.Contains(t, usedUp, `href="mailto:help@ada.example"`)
		bought, err := g.Checkout.Get(t.Context(), g.account, *order.CheckoutID)
		require.NoError(t, err)
		assert.Equal(t, usedUp, g.page(bought.URL+file, http.StatusForbidden), "the page of the purchase says the same")

		_, err = g.billing.CreateRefund(t.Context(), g.account, store.NewRefund{Order: order.ID, Amount: &order.TotalAmount, Reason: store.RefundReasonCustomerRequest})
		require.NoError(t, err)
		assert.NotContains(t, g.see("", http.StatusOK), file)
		g.see(file, http.StatusGone)
		gone := g.page(bought.URL+file, http.StatusGone)
		assert.Contains(t, gone, "This file is not open to you any more")
		_, door := g.door(bought.URL+file, gone)
		assert.Contains(t, door, `name="email"`)
	})
}
