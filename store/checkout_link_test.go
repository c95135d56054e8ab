package store

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/checkout"
)

// TestFollowCheckoutLink_OpensAsManyAsTheGuideSays holds the figures of its sentence.
func TestFollowCheckoutLink_OpensAsManyAsTheGuideSays(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../server/reference/guide/limits.md")
	require.NoError(t, err)
	assert.Contains(t, strings.Join(strings.Fields(string(file)), " "),
		fmt.Sprintf("Whoever begins to buy gets a checkout: %d an hour from one address and %d from one network at most", checkout.OpenedByAddress, checkout.OpenedByNetwork))
}
