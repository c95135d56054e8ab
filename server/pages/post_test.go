package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// writes publishes a post.
func (w *shop) writes(b content.BlogPost) *content.BlogPost {
	w.t.Helper()
	b.Status = content.BlogPostStatusPublished
	if b.Access == "" {
		b.Access = content.BlogPostAccessPublic
	}
	made, err := w.Content.CreateBlogPost(w.t.Context(), w.account, b)
	require.NoError(w.t, err)
	require.NotNil(w.t, made.URL)
	return made
}

func TestPost_IsAtItsAddressWhileItIsPublished(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		w.now = time.Date(2038, 12, 31, 20, 0, 0, 0, time.UTC)
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.Timezone = "Pacific/Auckland" })
		require.NoError(t, err)
		post := w.writes(content.BlogPost{Title: "On <i>ships</i>", Body: "They *sail*. <script>alert(1)</script>", Excerpt: new("A few words"), AuthorName: new("Ada"), SEODescription: new("For engines")})
		page := w.visit(*post.URL)
		for _, shown := range []string{"On &lt;i&gt;ships&lt;/i&gt;", "They <em>sail</em>.", "&lt;script&gt;", "Ada", `content="For engines"`, "1 January 2039", `href="` + *post.URL + `"`} {
			assert.Contains(t, page, shown)
		}
		assert.NotContains(t, page, "<script")

		for said, lang := range map[string]string{"pt-br": "pt-BR", "de_CH": "de-CH", "our own": "en", `x" onload="`: "en"} {
			_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.Locale = said })
			require.NoError(t, err)
			assert.Contains(t, w.visit(*post.URL), `<html lang="`+lang+`" dir="ltr"`, said)
		}

		former := *post.URL
		post, err = w.Content.UpdateBlogPost(t.Context(), w.account, post.ID, func(b *content.BlogPost) { b.Slug = "ships-that-sail" })
		require.NoError(t, err)
		require.NotEqual(t, former, *post.URL)
		response, err := http.DefaultTransport.RoundTrip(w.request(http.MethodGet, former))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusMovedPermanently, response.StatusCode)
		assert.Equal(t, *post.URL, response.Header.Get("Location"))
		assert.Equal(t, "no-cache", response.Header.Get("Cache-Control"))

		missing := w.page(w.server.URL+"/posts/nobody/ships-that-sail", http.StatusNotFound)
		stranger := core.NewID(core.KindAccount)[len("acct_"):]
		assert.Equal(t, missing, w.page(w.server.URL+"/posts/"+stranger+"/ships-that-sail", http.StatusNotFound))
		draft, err := w.Content.UnpublishBlogPost(t.Context(), w.account, post.ID)
		require.NoError(t, err)
		assert.Nil(t, draft.URL)
		assert.Equal(t, missing, w.page(*post.URL, http.StatusNotFound))
	})
}

func TestPost_ShowsWhereItsTextIsWithoutIt(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		product := w.sell(catalog.Product{Name: "The Handbook"}, 1900)
		link, err := w.Checkout.CreateLink(t.Context(), w.account, checkout.Link{PriceVariantIDs: core.JSONOf([]string{product.PriceVariantIDs.V[0]}), Active: true})
		require.NoError(t, err)
		bought := w.writes(content.BlogPost{Title: "Inside", Body: "The secret", Excerpt: new("What is in it"), Access: content.BlogPostAccessProduct, ProductID: &product.ID})
		page := w.visit(*bought.URL)
		for _, shown := range []string{"Inside", "What is in it", "The Handbook", `href="` + link.URL + `"`} {
			assert.Contains(t, page, shown)
		}
		assert.NotContains(t, page, "secret")
		page = w.visit(*w.writes(content.BlogPost{Title: "For you", Body: "The secret", Access: content.BlogPostAccessCustomers}).URL)
		assert.Contains(t, page, "for customers of Ada")
		assert.NotContains(t, page, "secret")
	})
}

func TestSite_ShowsPosts(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		composed := w.publish("")
		assert.NotContains(t, w.visit(composed.URL), "/posts/")
		first := w.writes(content.BlogPost{Title: "First <b>", Body: "a", Excerpt: new("Begin"), Tags: core.JSONOf([]string{"craft"})})
		second := w.writes(content.BlogPost{Title: "Second", Body: "secret", Access: content.BlogPostAccessCustomers})
		_, err := w.Content.CreateBlogPost(t.Context(), w.account, content.BlogPost{Title: "Draft", Body: "c", Access: content.BlogPostAccessPublic})
		require.NoError(t, err)
		page := w.visit(composed.URL)
		assert.Contains(t, page, "First &lt;b&gt;")
		assert.Contains(t, page, "Begin")
		assert.Contains(t, page, "for customers")
		assert.NotContains(t, page, "secret")
		assert.NotContains(t, page, "Draft")
		assert.Less(t, strings.Index(page, *second.URL), strings.Index(page, *first.URL), "the newest first")

		page = w.visit(w.publish(`{"type": "posts", "tag": "craft"}`).URL)
		assert.Contains(t, page, *first.URL)
		assert.NotContains(t, page, *second.URL)
		page = w.visit(w.publish(`{"type": "posts", "limit": 1}, {"type": "posts", "tag": "none"}`).URL)
		assert.Contains(t, page, *second.URL)
		assert.NotContains(t, page, *first.URL)
	})
}
