package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness"
)

// TestProduction_HasNoTestHelpers asks for each of them.
func TestProduction_HasNoTestHelpers(t *testing.T) {
	t.Parallel()
	s := production(t)
	c := s.client(s.binary.Serve(t, ""))
	nowhere := c.Do(t, http.MethodPost, "/v1/nowhere", nil).Fault(t, http.StatusNotFound, "resource_missing")
	asked := 0
	for _, op := range harness.Operations() {
		if strings.HasPrefix(op.Path, "/v1/test_helpers/") {
			asked++
			refused := c.Do(t, op.Method, op.Path, op.Example()).Fault(t, http.StatusNotFound, "resource_missing")
			assert.Equal(t, nowhere.Message, refused.Message, "%s is there", op.ID)
		}
	}
	assert.Positive(t, asked)
	c.Do(t, http.MethodGet, "/dev/parts", nil).Fault(t, http.StatusNotFound, "resource_missing")
}
