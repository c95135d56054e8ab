package dashboard_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness/markup"
)

func TestExperiences_AreFilledOpenedByProductsAndPublished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/content/experiences", "There is none yet.", "New experience")
		status, page := w.owner.Post("/app/content/experiences/new", url.Values{"name": {" "}, "type": {"event"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#name"`)
		require.Contains(t, page, `value="event" selected`)
		at := sends(t, w.owner, "/app/content/experiences/new", url.Values{"name": {"Meet </script>"}, "type": {"event"}})
		sees(t, w.owner, at, "The experience was made.", "Begins", "Time zone of the event", "None yet: nobody gets in by buying.")
		sends(t, w.owner, at+"/publish", nil)
		sees(t, w.owner, at, "needs it before it is published", "Draft")

		form := url.Values{"name": {"Meet"}, "description": {hostile}, "access": {"purchase"}, "content.starts_at": {"2031-05-01T18:00"}, "content.ends_at": {"2031-05-01T17:00"}, "content.timezone": {"Europe/Berlin"}, "content.location": {"<b>Hall"}}
		status, page = w.owner.Post(at, form)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		harmless(t, page)
		for _, piece := range []string{`href="#content.ends_at"`, `value="2031-05-01T17:00"`, `value="&lt;b&gt;Hall"`} {
			require.Contains(t, page, piece)
		}
		form.Set("preview", "yes")
		status, page = w.owner.Post(at, form)
		require.Equal(t, http.StatusOK, status)
		harmless(t, page)
		form.Del("preview")
		form.Set("content.ends_at", "2031-05-01T20:00")
		sends(t, w.owner, at, form)
		harmless(t, sees(t, w.owner, at, "The experience was saved.", `value="2031-05-01T20:00"`))
		sends(t, w.owner, at+"/publish", nil)
		sees(t, w.owner, at, "The experience is published.")

		p, err := w.api.SDK().Products.Create(t.Context(), &sdk.ProductCreate{Name: "Ticket"})
		require.NoError(t, err)
		sends(t, w.owner, at+"/products", url.Values{"product": {p.ID}})
		sees(t, w.owner, at, "The product opens it.", "/app/products/"+p.ID, "Take from Ticket")
		p, err = w.api.SDK().Products.Get(t.Context(), p.ID)
		require.NoError(t, err)
		require.Len(t, p.Deliverables, 1)
		reader := w.Member(t, w.api.Account, person.RoleDeveloper)
		page = sees(t, reader, at, "Ticket", "<strong>books</strong>")
		require.NotContains(t, page, "<textarea")
		require.NotContains(t, page, "Take from")
		require.NotContains(t, page, "/delete")
		sends(t, w.owner, at+"/products", url.Values{"take": {p.ID}})
		sees(t, w.owner, at, "opens it no more", "None yet: nobody gets in by buying.")

		sees(t, w.owner, "/app/content/experiences?type=event&status=published", "Meet")
		sees(t, w.owner, "/app/content/experiences?type=course", "Nothing matches.")
		sees(t, w.owner, at+"/delete", "Delete Meet")
		require.Equal(t, "/app/content/experiences", sends(t, w.owner, at+"/delete", nil))
		status, _ = w.owner.Get(at)
		require.Equal(t, http.StatusNotFound, status)
	})
}

// What a program wrote comes back from the editor as it was, whatever its lines look like.
func TestExperiences_OfACourseKeepWhatIsInThem(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		api := w.api.SDK()
		course := []sdk.ExperienceModule{
			{Title: "Basics", Lessons: []sdk.ExperienceLesson{
				{Title: "First", Body: new("# Not a module\n\n## Not a lesson\n\\# One backslash\n###  A heading\n#\n\n    code"), VideoURL: new("https://example.com/film")},
				{Title: "Second", Body: new("Video: not one\nFile: not one")}, {Title: "Third"},
			}},
			{Title: "Empty"},
		}
		e, err := api.Experiences.Create(t.Context(), &sdk.ExperienceCreate{Name: "Go", Type: sdk.ExperienceTypeCourse, Content: &sdk.ExperienceContent{Modules: course}})
		require.NoError(t, err)
		at := "/app/content/experiences/" + e.ID
		_, form := markup.Form(t, sees(t, w.owner, at, "Basics"), "Save")
		sends(t, w.owner, at, form)
		e, err = api.Experiences.Get(t.Context(), e.ID)
		require.NoError(t, err)
		require.Equal(t, course, e.Content.Modules)

		for text, said := range map[string]string{"Hello": "Begin with a module", "# A\nHello": "Begin a lesson", "## A": "Begin with a module"} {
			form.Set("content.modules", text)
			status, page := w.owner.Post(at, form)
			require.Equal(t, http.StatusUnprocessableEntity, status)
			require.Contains(t, page, said)
			require.Contains(t, page, text)
		}
	})
}

func TestExperiences_OfOthersAreNotThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		other := newStranger(w)
		at := sends(t, other.owner, "/app/content/experiences/new", url.Values{"name": {"Theirs"}, "type": {"link"}})
		for _, address := range []string{at, at + "/delete"} {
			status, page := w.owner.Get(address)
			assert.Equal(t, http.StatusNotFound, status, address)
			assert.NotContains(t, page, "Theirs")
		}
		for _, address := range []string{at, at + "/delete", at + "/publish", at + "/products"} {
			status, _ := w.owner.Post(address, url.Values{"name": {"Mine"}, "access": {"public"}, "product": {"prod_01k0000000000000000000000a"}})
			assert.Equal(t, http.StatusNotFound, status, address)
		}
		sees(t, other.owner, at, "Theirs", "Draft")
	})
}
