package pages_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
)

func TestPortal_ShowsWhatTheCustomerHas(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		assert.NotContains(t, g.see("", http.StatusOK), "Your products")
		guide, err := g.Catalog.CreateProduct(t.Context(), g.account, catalog.NewProduct{Product: catalog.Product{
			Name: "Guide <b>", Deliverables: []catalog.Deliverable{{Type: catalog.DeliverableTypeLink, Ref: new("https://example.com/chat"), Name: new("Chat")}},
		}})
		require.NoError(t, err)
		given, err := g.CreateGrant(t.Context(), g.account, store.NewGrant{Customer: g.customer.ID, Product: guide.ID})
		require.NoError(t, err)
		page := g.see("", http.StatusOK)
		assert.Contains(t, page, "Guide &lt;b&gt;")
		assert.Contains(t, page, `<a href="https://example.com/chat" rel="noopener">Chat</a>`)
		_, err = g.Grant.RevokeGrant(t.Context(), g.account, given.ID)
		require.NoError(t, err)
		assert.NotContains(t, g.see("", http.StatusOK), "example.com/chat")
	})
}
