package pages_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
)

func TestPortal_ShowsPostsToThoseWhoMayReadThem(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		guide := g.sell(catalog.Product{Name: "Guide"}, 1900)
		bought := g.writes(content.BlogPost{Title: "Inside <b>", Body: "The *secret* <script>alert(1)</script>", Access: content.BlogPostAccessProduct, ProductID: &guide.ID})
		g.writes(content.BlogPost{Title: "Regulars", Body: "a", Access: content.BlogPostAccessCustomers})
		missing := g.see("/posts/nothing", http.StatusNotFound)
		assert.NotContains(t, g.see("", http.StatusOK), "To read")
		assert.Equal(t, missing, g.see("/posts/"+bought.Slug, http.StatusNotFound), "it is not told from what does not exist")

		given, err := g.CreateGrant(t.Context(), g.account, store.NewGrant{Customer: g.customer.ID, Product: guide.ID})
		require.NoError(t, err)
		home := g.see("", http.StatusOK)
		assert.Contains(t, home, "Inside &lt;b&gt;")
		assert.Contains(t, home, "/posts/"+bought.Slug)
		page := g.see("/posts/"+bought.Slug, http.StatusOK)
		assert.Contains(t, page, "The <em>secret</em> &lt;script&gt;")
		assert.NotContains(t, page, "<script")

		_, err = g.Grant.RevokeGrant(t.Context(), g.account, given.ID)
		require.NoError(t, err)
		assert.NotContains(t, g.see("", http.StatusOK), "Inside")
		assert.Equal(t, missing, g.see("/posts/"+bought.Slug, http.StatusNotFound))
	})
}
