package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/core"
)

// A database that is away, or busy, is no failure of ours: the answer is a 503 with Retry-After. What became of a form is unclear then.
func TestExplain_SaysThatTheServerIsAway(t *testing.T) {
	t.Parallel()
	for method, unclear := range map[string]bool{http.MethodGet: false, http.MethodPost: true} {
		c := echo.New().NewContext(httptest.NewRequest(method, "/app", nil), httptest.NewRecorder())
		err := (*Dashboard)(nil).explain(c, nil, fmt.Errorf("read the account: %w", &sdk.Error{Status: http.StatusServiceUnavailable}))
		away, is := errors.AsType[*core.UnavailableError](err)
		require.True(t, is, method)
		require.Equal(t, unclear, away.Unclear, method)
	}
}
