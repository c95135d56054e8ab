package contract

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// readyFile makes a file that has bytes.
func readyFile(t *testing.T, owner *harness.Client, name, bytes string) *sdk.File {
	t.Helper()
	c := owner.SDK()
	file := newFile(t, c, &sdk.FileCreate{Name: name, Size: int64(len(bytes))})
	sendBytes(t, owner, file.Upload.URL, bytes)
	return ok[*sdk.File](t)(c.Files.Complete(background, file.ID))
}

// newVersion gives a file other bytes.
func newVersion(t *testing.T, owner *harness.Client, file, bytes string) {
	t.Helper()
	c := owner.SDK()
	v := ok[*sdk.FileVersion](t)(c.Files.CreateVersion(background, file, &sdk.FileVersionCreate{Size: int64(len(bytes))}))
	sendBytes(t, owner, v.Upload.URL, bytes)
	ok[*sdk.File](t)(c.Files.Complete(background, file))
}

func TestExperience_NamesFilesOfTheAccount(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		ready, pending := readyFile(t, owner, "Sheet.pdf", "hello"), newFile(t, c, &sdk.FileCreate{Name: "Later.pdf", Size: 5})
		strangers := readyFile(t, s.Account(t), "Theirs.pdf", "hello")
		create := func(kind sdk.ExperienceType, content sdk.ExperienceContent) (*sdk.Experience, error) {
			return c.Experiences.Create(background, &sdk.ExperienceCreate{Name: "Sheets", Type: kind, Content: &content})
		}
		for _, wrong := range []string{"file_01k0000000000000000000000a", strangers.ID, "Sheet.pdf"} {
			_, err := create(sdk.ExperienceTypeDownload, sdk.ExperienceContent{Files: []string{ready.ID, wrong}})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "content.files.1")
			_, err = create(sdk.ExperienceTypeCourse, sdk.ExperienceContent{Modules: []sdk.ExperienceModule{{Title: "a", Lessons: []sdk.ExperienceLesson{{Title: "b", File: &wrong}}}}})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "content.modules.0.lessons.0.file")
		}
		draft := ok[*sdk.Experience](t)(create(sdk.ExperienceTypeDownload, sdk.ExperienceContent{Files: []string{ready.ID, pending.ID}}))
		same(t, draft.Content.Files, []string{ready.ID, pending.ID})
		_, err := c.Experiences.Publish(background, draft.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "content.files.1") // nobody could download it yet
		empty := ok[*sdk.Experience](t)(create(sdk.ExperienceTypeDownload, sdk.ExperienceContent{}))
		_, err = c.Experiences.Publish(background, empty.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "content.files")

		_, err = c.Files.Delete(background, pending.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
		ok[*sdk.Experience](t)(c.Experiences.Archive(background, draft.ID))
		ok[*sdk.Deleted](t)(c.Files.Delete(background, pending.ID)) // an archived one keeps no file
		_, err = c.Experiences.Unarchive(background, draft.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "content.files.1")
		ok[*sdk.Experience](t)(c.Experiences.Update(background, draft.ID, &sdk.ExperienceUpdate{Content: &sdk.ExperienceContent{Files: []string{ready.ID}}}))
		ok[*sdk.Experience](t)(c.Experiences.Unarchive(background, draft.ID))
		_, err = c.Files.Delete(background, ready.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
		ok[*sdk.Deleted](t)(c.Experiences.Delete(background, draft.ID))
		ok[*sdk.Deleted](t)(c.Files.Delete(background, ready.ID))
	})
}

func TestExperience_SaysWhoDeliversItAndWhoHasIt(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		c := s.Account(t).SDK()
		club := experience(t, c, &sdk.ExperienceCreate{
			Name: "Club", Type: sdk.ExperienceTypeLink, Content: &sdk.ExperienceContent{URL: new("https://example.com")}, Status: new(sdk.ExperienceStatusPublished),
		})
		reach := func(customers int64, products ...string) {
			t.Helper()
			got := ok[*sdk.Experience](t)(c.Experiences.Get(background, club.ID))
			var ids []string
			for _, p := range got.Products {
				ids = append(ids, p.ID)
			}
			require.NotNil(t, got.AccessCount)
			assert.Equal(t, customers, *got.AccessCount)
			assert.True(t, slices.Equal(ids, products))
		}
		reach(0)
		first, second := delivering(t, c), ok[*sdk.Product](t)(c.Products.Create(background, sellable("Second")))
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com"}))
		bob := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com"}))
		give := func(customer *sdk.Customer, product *sdk.Product) *sdk.Grant {
			return ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: customer.ID, Product: product.ID}))
		}
		give(ada, first)
		ok[*sdk.Experience](t)(c.Experiences.Attach(background, club.ID, &sdk.ExperienceProduct{Product: first.ID}))
		reach(1, first.ID)
		attached := ok[*sdk.Experience](t)(c.Experiences.Attach(background, club.ID, &sdk.ExperienceProduct{Product: second.ID}))
		require.Len(t, attached.Products, 2, "the attached experience")
		assert.EqualValues(t, 1, *attached.AccessCount, "the attached experience")
		give(ada, second) // who has it twice counts once
		bobs := give(bob, second)
		reach(2, second.ID, first.ID)
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, bobs.ID))
		reach(1, second.ID, first.ID)
		ok[*sdk.Experience](t)(c.Experiences.Detach(background, club.ID, &sdk.ExperienceProduct{Product: first.ID}))
		reach(1, second.ID)

		experience(t, c, &sdk.ExperienceCreate{Name: "Unsold", Type: sdk.ExperienceTypeLink})
		page := ok[*sdk.List[sdk.Experience]](t)(c.Experiences.List(background, &sdk.ListExperiencesParams{Expand: []string{"products"}}))
		require.Empty(t, page.Data[0].Products, "the list")
		assert.Equal(t, "second", page.Data[1].Products[0].Object.Slug, "the list")
		assert.Nil(t, page.Data[1].AccessCount, "the list")
	})
}

func TestGrantDownload_OpensTheFilesOfItsExperiences(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		sheet, talk := readyFile(t, owner, "Sheet.pdf", "hello"), readyFile(t, owner, "Talk.mp3", "other")
		course := experience(t, c, &sdk.ExperienceCreate{Name: "Course", Type: sdk.ExperienceTypeCourse, Status: new(sdk.ExperienceStatusPublished), Content: &sdk.ExperienceContent{
			Modules: []sdk.ExperienceModule{{Title: "a", Lessons: []sdk.ExperienceLesson{{Title: "b", File: &sheet.ID}}}},
		}})
		guide := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		ok[*sdk.Experience](t)(c.Experiences.Attach(background, course.ID, &sdk.ExperienceProduct{Product: guide.ID}))
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com"}))
		g := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: ada.ID, Product: guide.ID}))
		if link := ok[*sdk.SignedURL](t)(c.Grants.Download(background, g.ID, &sdk.GetGrantDownloadParams{File: sheet.ID})); link.URL == "" {
			t.Error("there is no link")
		}
		_, err := c.Grants.Download(background, g.ID, &sdk.GetGrantDownloadParams{File: talk.ID})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "file")
		ok[*sdk.Experience](t)(c.Experiences.Unpublish(background, course.ID)) // the product is a draft
		_, err = c.Grants.Download(background, g.ID, &sdk.GetGrantDownloadParams{File: sheet.ID})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "file")
	})
}

func TestDeliveryUpdates_NewBuyersKeepListAndVersions(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		book := readyFile(t, owner, "Book.pdf", "first")
		body := sellable("Book")
		body.DeliveryUpdates, body.Deliverables = new(sdk.DeliveryUpdatesNewBuyers), []sdk.Deliverable{{Type: "file", Ref: &book.ID}}
		product := ok[*sdk.Product](t)(c.Products.Create(background, body))
		buy := func() *sdk.Grant {
			buyer := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com"}))
			return ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: buyer.ID, Product: product.ID}))
		}
		gets := func(g *sdk.Grant, version int64, bytes string) {
			t.Helper()
			d := ok[*sdk.Grant](t)(c.Grants.Get(background, g.ID)).Deliverables
			assert.Equal(t, version, *d[0].Version)
			assert.Equal(t, int64(len(bytes)), *d[0].Size)
		}
		early := buy()
		newVersion(t, owner, book.ID, "second one")
		late := buy()
		newVersion(t, owner, book.ID, "the third")
		gets(early, 1, "first")
		gets(late, 2, "second one")
		ok[*sdk.Product](t)(c.Products.Update(background, product.ID, &sdk.ProductUpdate{DeliveryUpdates: new(sdk.DeliveryUpdatesAllBuyers)}))
		gets(early, 3, "the third")
		gets(late, 3, "the third")
	})
}
