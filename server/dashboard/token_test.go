package dashboard_test

import (
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

func TestTokens_AreShownOnceAndWork(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		page := sees(t, w.owner, "/app/developers/tokens/new", "Create token", "products:write")
		once := between(t, page, `name="once" value="`, `"`)
		form := url.Values{"name": {"CI <b>"}, "expires_at": {"30"}, "scopes": {"products:read", "webhooks:write"}, "once": {once}}
		require.Equal(t, "/app/developers/tokens", sends(t, w.owner, "/app/developers/tokens/new", form))
		require.Equal(t, "/app/developers/tokens", sends(t, w.owner, "/app/developers/tokens/new", form), "a double click")
		page = sees(t, w.owner, "/app/developers/tokens", "CI &lt;b&gt;", "It is not shown again", w.owner.Email)
		require.Equal(t, 1, strings.Count(page, "Revoke CI"), "one token for one form")
		token := between(t, page, `class="key" value="`, `"`)
		letter := w.told(t, w.owner.Email, "A new token for your account")
		require.Contains(t, letter.Text, "Account: Test\nToken: CI <b>\n")
		require.NotContains(t, letter.Text, token)
		require.NotContains(t, sees(t, w.owner, "/app/developers/tokens"), token, "it is shown once")

		program := w.From(t, "127.0.0.1").As(token).SDK()
		_, err := program.Products.List(t.Context(), nil)
		require.NoError(t, err)
		_, err = program.Orders.List(t.Context(), nil)
		require.Equal(t, sdk.CodeForbidden, sdk.CodeOf(err))
		keys, err := w.api.SDK().APIKeys.List(t.Context(), &sdk.ListAPIKeysParams{Q: new("CI")})
		require.NoError(t, err)
		require.Equal(t, w.owner.ID, *keys.Data[0].CreatedBy)
		assert.WithinDuration(t, time.Now().Add(30*24*time.Hour), keys.Data[0].ExpiresAt.Time(), time.Hour)
		lines, err := w.api.SDK().Activity.List(t.Context(), &sdk.ListActivityParams{Operation: new("createAPIKey")})
		require.NoError(t, err)
		require.Len(t, lines.Data, 1)
		require.Equal(t, []string{"person", w.owner.ID, w.owner.Email}, []string{string(lines.Data[0].Actor.Type), *lines.Data[0].Actor.ID, *lines.Data[0].Actor.Name})

		revoke := "/app/developers/tokens/" + keys.Data[0].ID + "/revoke"
		sees(t, w.owner, revoke, "Revoke token", "stop working at once")
		require.Equal(t, "/app/developers/tokens", sends(t, w.owner, revoke, nil))
		_, err = program.Products.List(t.Context(), nil)
		require.Equal(t, sdk.CodeAuthentication, sdk.CodeOf(err))
		status, _ := w.owner.Get(revoke)
		require.Equal(t, http.StatusNotFound, status)
	})
}

// A role gives away no more than it has: neither by a choice that its form does not offer, nor by making none.
func TestTokens_CanDoNoMoreThanTheirMaker(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		developer := w.Member(t, w.api.Account, person.RoleDeveloper)
		require.NotContains(t, sees(t, developer, "/app/developers/tokens/new"), "products:write")
		status, page := developer.Post("/app/developers/tokens/new", url.Values{"name": {"more"}, "scopes": {"products:write"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "You lack the scope")
		sends(t, developer, "/app/developers/tokens/new", url.Values{"name": {"all"}})
		program := w.From(t, "127.0.0.1").As(between(t, sees(t, developer, "/app/developers/tokens"), `class="key" value="`, `"`)).SDK()
		_, err := program.Products.Create(t.Context(), &sdk.ProductCreate{Name: "Guide"})
		require.Equal(t, sdk.CodeForbidden, sdk.CodeOf(err))

		keys, err := w.api.SDK().APIKeys.List(t.Context(), &sdk.ListAPIKeysParams{Q: new("test")})
		require.NoError(t, err)
		status, page = developer.Post("/app/developers/tokens/"+keys.Data[0].ID+"/revoke", nil)
		require.Equal(t, http.StatusForbidden, status, "a key that can do more than they")
		require.Contains(t, page, "Not allowed")

		support := w.Member(t, w.api.Account, person.RoleSupport)
		for _, form := range []string{"/app/developers/tokens/new", "/app/developers/tokens/" + keys.Data[0].ID + "/revoke"} {
			status, _ = support.Get(form)
			require.Equal(t, http.StatusForbidden, status, form)
			status, _ = support.Post(form, url.Values{"name": {"x"}})
			require.Equal(t, http.StatusForbidden, status, form)
		}
		require.NotContains(t, sees(t, support, "/app/developers/tokens"), "New token")
	})
}
