package pages

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// A letter that cannot be written is an error in the log, and the server goes on.
func TestSurvive_APanicIsAnError(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, survive(t.Context(), func(context.Context) error { panic("a letter that nobody can write") }), "a letter that nobody can write")
	require.NoError(t, survive(t.Context(), func(context.Context) error { return nil }))
}
