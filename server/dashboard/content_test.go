package dashboard_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/person"
)

// hostile is a text that would run, were it not made harmless.
const hostile = "# Autumn\n\nNew **books**. <img src=x onerror=alert(1)> [away](javascript:alert(1)) </textarea></script>"

// harmless checks that a page with the hostile text in an editor and a preview has nothing that runs.
func harmless(t *testing.T, page string) {
	t.Helper()
	for _, piece := range []string{"<img src=x", "</script>", `href="javascript:`} {
		require.NotContains(t, page, piece)
	}
	require.Equal(t, strings.Count(page, "<textarea"), strings.Count(page, "</textarea>"))
	require.Equal(t, 1, strings.Count(page, "<h1"))
	require.Contains(t, page, "<strong>books</strong>")
}

func TestPosts_AreWrittenSeenBeforeAndPublished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/content", "There is none yet.", "New post")
		form := url.Values{"title": {"News <b>"}, "body": {strings.ReplaceAll(hostile, "\n", "\r\n")}, "access": {"public"}, "tags": {"news, books"}, "seo_title": {"Shared"}}
		preview := maps.Clone(form)
		preview.Set("preview", "yes")
		status, page := w.owner.Post("/app/content/posts/new", preview)
		require.Equal(t, http.StatusOK, status)
		harmless(t, page)
		require.Contains(t, page, `value="News &lt;b&gt;"`)
		sees(t, w.owner, "/app/content", "There is none yet.")

		wrong := maps.Clone(form)
		wrong.Set("title", " ")
		wrong.Set("scheduled_for", "soon")
		status, page = w.owner.Post("/app/content/posts/new", wrong)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		for _, piece := range []string{`href="#title"`, `value="soon"`, `value="news, books"`, "New **books**"} {
			require.Contains(t, page, piece)
		}
		wrong.Set("title", "News")
		wrong.Set("scheduled_for", "2001-01-01T10:00")
		status, page = w.owner.Post("/app/content/posts/new", wrong)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#scheduled_for"`)

		at := sends(t, w.owner, "/app/content/posts/new", form)
		harmless(t, sees(t, w.owner, at, "The post was made.", "Draft", "Preview"))
		form.Set("scheduled_for", time.Now().AddDate(0, 0, 3).Format("2006-01-02T15:04"))
		form.Set("slug", "autumn")
		sends(t, w.owner, at, form)
		sees(t, w.owner, at, "The post was saved.", "Scheduled", "Publish now", `value="autumn"`)
		form.Set("scheduled_for", "")
		form.Set("slug", " ")
		status, page = w.owner.Post(at, form)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#slug"`, "what was emptied is not kept without a word")
		form.Del("slug")
		sends(t, w.owner, at, form)
		sees(t, w.owner, at, "Draft", `value="autumn"`)
		sends(t, w.owner, at+"/publish", nil)
		sees(t, w.owner, at, "The post is published.", "Take back", "/autumn")
		form.Set("scheduled_for", time.Now().AddDate(0, 0, 3).Format("2006-01-02T15:04"))
		status, page = w.owner.Post(at, form)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "It is published already.")
		sees(t, w.owner, "/app/content?status=published&access=public&tag=books", "News &lt;b&gt;", "news, books")
		sees(t, w.owner, "/app/content?status=draft", "Nothing matches.")

		form.Set("scheduled_for", "")
		form.Set("access", "product")
		status, page = w.owner.Post(at, form)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#product"`)
		p, err := w.api.SDK().Products.Create(t.Context(), &sdk.ProductCreate{Name: "Handbook", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(1000)), Currency: new("eur")}}})
		require.NoError(t, err)
		form.Set("product", p.ID)
		sends(t, w.owner, at, form)
		sees(t, w.owner, "/app/content", "Who has a product")

		reader := w.Member(t, w.api.Account, person.RoleReadOnly)
		page = sees(t, reader, at, "<strong>books</strong>")
		require.NotContains(t, page, "<textarea")
		require.NotContains(t, page, "/delete")
		require.NotContains(t, page, "/unpublish")
		status, _ = reader.Get(at + "/delete")
		require.Equal(t, http.StatusForbidden, status)

		sends(t, w.owner, at+"/archive", nil)
		sees(t, w.owner, at, "Bring back")
		status, _ = w.owner.Post(at+"/explode", nil)
		require.Equal(t, http.StatusNotFound, status)
		sees(t, w.owner, at+"/delete", "Delete News &lt;b&gt;", "gone for good")
		require.Equal(t, "/app/content", sends(t, w.owner, at+"/delete", nil))
		sees(t, w.owner, "/app/content", "The post was deleted.", "There is none yet.")
	})
}

func TestPosts_WithoutATextAreNotPublished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		at := sends(t, w.owner, "/app/content/posts/new", url.Values{"title": {"Empty"}, "access": {"public"}, "cover_url": {"https://example.com/post.jpg"}})
		sees(t, w.owner, at, "The picture is being fetched.")
		sends(t, w.owner, at, url.Values{"title": {"Empty"}, "access": {"public"}})
		sees(t, w.owner, at, `value="https://example.com/post.jpg"`) // what was not sent stays
		sends(t, w.owner, at+"/publish", nil)
		sees(t, w.owner, at, "A post needs a body before it is published.", "There is no text yet.", "Draft")
	})
}

func TestLegalPages_KeepTheirVersions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/content/legal", "There is none yet.", "New legal page")
		form := url.Values{"kind": {"terms"}, "title": {"Terms <b>"}, "body": {hostile}, "requires_acceptance": {"yes"}}
		preview := maps.Clone(form)
		preview.Set("preview", "yes")
		status, page := w.owner.Post("/app/content/legal/new", preview)
		require.Equal(t, http.StatusOK, status)
		harmless(t, page)
		require.Contains(t, page, "checked")
		form.Set("title", "")
		status, page = w.owner.Post("/app/content/legal/new", form)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#title"`)
		require.Contains(t, page, "New **books**")
		form.Set("title", "Terms <b>")
		at := sends(t, w.owner, "/app/content/legal/new", form)
		harmless(t, sees(t, w.owner, at, "It was never published.", "Draft"))
		sends(t, w.owner, at+"/publish", nil)
		sees(t, w.owner, at, "The page is published.", "Version 1", "its next version, at once")

		form.Set("body", "Other **books**.")
		form.Set("locale", "x")
		status, page = w.owner.Post(at, form)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#locale"`)
		require.Contains(t, page, "Other **books**.")
		form.Del("locale")
		form.Del("requires_acceptance")
		sends(t, w.owner, at, form)
		sees(t, w.owner, at, "Version 2", "Other <strong>books</strong>", "The page was saved.")
		require.NotContains(t, sees(t, w.owner, at+"/versions/1", "never changed", "New <strong>books</strong>"), "Other")
		status, _ = w.owner.Get(at + "/versions/9")
		require.Equal(t, http.StatusNotFound, status)
		form.Set("locale", "pt-BR")
		sends(t, w.owner, at, form)
		form.Del("locale")
		sends(t, w.owner, at, form)
		sees(t, w.owner, at, `value="pt-BR"`) // what was not sent stays
		form.Set("locale", "")
		sends(t, w.owner, at, form)
		sees(t, w.owner, at, `value="en"`) // as the shop's
		sees(t, w.owner, "/app/content/legal?kind=terms&status=published", "Terms &lt;b&gt;")
		sees(t, w.owner, "/app/content/legal?kind=imprint", "Nothing matches.")

		other := sends(t, w.owner, "/app/content/legal/new", form)
		sends(t, w.owner, other+"/publish", nil)
		sees(t, w.owner, other, "is published already", "Draft")
		require.Equal(t, "/app/content/legal", sends(t, w.owner, other+"/delete", nil))
		reader := w.Member(t, w.api.Account, person.RoleSupport)
		require.NotContains(t, sees(t, reader, at, "Versions", "Other <strong>books</strong>"), "<textarea")
	})
}

func TestContent_OfOthersIsNotThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		other := newStranger(w)
		post := sends(t, other.owner, "/app/content/posts/new", url.Values{"title": {"Theirs"}, "body": {"Theirs"}, "access": {"public"}})
		legal := sends(t, other.owner, "/app/content/legal/new", url.Values{"kind": {"terms"}, "title": {"Theirs"}, "body": {"Theirs"}})
		sends(t, other.owner, legal+"/publish", nil)
		for _, address := range []string{post, post + "/delete", legal, legal + "/delete", legal + "/versions/1"} {
			status, page := w.owner.Get(address)
			assert.Equal(t, http.StatusNotFound, status, address)
			assert.NotContains(t, page, "Theirs")
		}
		for _, address := range []string{post, post + "/delete", post + "/publish", legal, legal + "/delete", legal + "/unpublish"} {
			status, _ := w.owner.Post(address, url.Values{"title": {"Mine"}, "access": {"public"}, "kind": {"terms"}})
			assert.Equal(t, http.StatusNotFound, status, address)
		}
		sees(t, other.owner, post, "Theirs", "Draft")
		sees(t, other.owner, legal, "Theirs", "Published")
	})
}
