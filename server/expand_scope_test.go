package server

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

func TestExpand_NeedsTheScopesOfItsNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	list := func(query string, scopes ...string) *answer {
		_, token, err := f.store.Tenant.CreateAPIKey(t.Context(), f.account, tenant.Granted{}, tenant.NewAPIKey{Scopes: scopes})
		require.NoError(t, err)
		return f.send("GET", "/v1/widgets?"+query, "", "Authorization", "Bearer "+token)
	}
	assert.Equal(t, 200, list("expand=parts,owner").StatusCode, "a key without scopes may do everything")
	assert.Equal(t, 200, list("expand=parts,owner", "products:read", "customers:read").StatusCode)
	assert.Equal(t, 200, list("expand=parts", "products:read").StatusCode)
	assert.Equal(t, 200, list("", "products:read").StatusCode)

	calls := f.calls.of("listWidgets")
	a := list("expand=parts,owner", "products:read")
	require.Equal(t, 403, a.StatusCode, a.body)
	problem := a.problem(t)
	assert.Equal(t, core.CodeForbidden, problem.Code)
	assert.Equal(t, "customers:read", problem.Param)
	assert.Equal(t, calls, f.calls.of("listWidgets"), "the handler is not reached")
	assert.Equal(t, 403, list("expand=parts&expand=owner", "products:read").StatusCode, "however it is written")
	assert.Equal(t, 400, list("expand=owner,nobody", "products:read").StatusCode)
}
