package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// wrote waits until the requests that were sent before are written down: one for this id is.
func (w *world) wrote(id string) {
	w.t.Helper()
	_, err := w.api.SDK().Products.Get(w.t.Context(), id)
	require.NoError(w.t, err)
	require.Eventually(w.t, func() bool {
		_, page := w.owner.Get("/app/developers/requests?what=/v1/products/" + id)
		return strings.Contains(page, "GET /v1/products/"+id)
	}, harness.Patience, 50*time.Millisecond)
}

// What a program asked for is found by its status, operation, path, token and id. A refusal can be read again, without what was sent.
func TestRequests_AreFoundAndExplained(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		p, err := w.api.SDK().Products.Create(t.Context(), &sdk.ProductCreate{Name: "Guide"})
		require.NoError(t, err)
		refused := w.api.Do(t, http.MethodPost, "/v1/products?token=hush-hush", map[string]any{"name": "", "description": "typed text"})
		require.Equal(t, http.StatusBadRequest, refused.Status)
		id := refused.Header.Get("X-Request-Id")
		w.wrote(p.ID)
		sees(t, w.owner, "/app/developers/requests", "POST /v1/products", "GET /v1/products/"+p.ID)
		for query, finds := range map[string]bool{
			"class=4": true, "class=2": false, "class=5": false, "what=createProduct": true, "what=/v1/products": true, "what=getProduct": false, "id=" + id: true,
			"id=req_01k0000000000000000000000a": false, "class=4&what=createProduct&id=" + id: true, "key=key_01k0000000000000000000000a": false,
		} {
			page := sees(t, w.owner, "/app/developers/requests?"+query)
			assert.Equal(t, finds, strings.Contains(page, "/app/developers/requests/"+id), query)
		}
		page := sees(t, w.owner, "/app/developers/requests/"+id, "createProduct", "400", "What was wrong", "invalid_request_error")
		assert.NotContains(t, page, "hush-hush")
		assert.NotContains(t, page, "typed text")

		other := newMemberElsewhere(t, w)
		status, _ := other.Get("/app/developers/requests/" + id)
		assert.Equal(t, http.StatusNotFound, status)
		assert.NotContains(t, sees(t, other, "/app/developers/requests"), id)
	})
}

// What a person does on the dashboard is no request of a program, and neither is one without a token that works.
func TestRequests_AreThoseOfPrograms(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		p, err := w.api.SDK().Products.Create(t.Context(), &sdk.ProductCreate{Name: "Guide"})
		require.NoError(t, err)
		sees(t, w.owner, "/app/discounts")
		w.wrote(p.ID)
		page := sees(t, w.owner, "/app/developers/requests")
		assert.NotContains(t, page, "/v1/discounts")
		assert.NotContains(t, page, "/v1/account")
	})
}
