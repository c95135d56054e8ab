package server

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadOperations(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("testdata/widgets.yaml")
	require.NoError(t, err)
	table, err := ReadOperations(document)
	require.NoError(t, err)
	assert.Len(t, table.All(), 13)
	assert.Nil(t, table.Find("GET", "/nothing"))

	create := table.Find("POST", "/widgets")
	assert.Equal(t, "createWidget", create.ID)
	assert.Equal(t, "products:write", create.Scope)
	assert.True(t, create.Write())
	assert.True(t, create.Idempotent)
	assert.EqualValues(t, 2000, create.MaxBody)

	update := table.Find("PATCH", "/widgets/:id")
	assert.Equal(t, "ask", update.Approval)
	assert.True(t, update.Locked)
	assert.EqualValues(t, 1<<20, update.MaxBody)
	assert.Equal(t, "/v1/widgets/:id", update.Pattern)
	assert.Equal(t, "/widgets/{id}", update.Path)

	list := table.Find("GET", "/widgets")
	assert.False(t, list.Write())
	assert.Equal(t, []string{"parts", "owner"}, list.Expand)

	public := table.Find("GET", "/public/tickets/:client_secret")
	assert.True(t, public.Public)
	assert.Equal(t, "/public/tickets/:client_secret", public.Pattern)
	assert.True(t, table.Find("POST", "/widgets/:id/publish").ExternalEffect)
	assert.True(t, table.Find("POST", "/test_helpers/widgets").Development)
	assert.False(t, create.Development)
	assert.Equal(t, "hook", table.Find("POST", "/hooks").Unwrap)
}
