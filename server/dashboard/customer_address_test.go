package dashboard

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/tenant"
)

func TestAddressText_LeavesOutThatACustomerLivesElsewhere(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "Austin, US", addressText(&sdk.Address{City: new("Austin"), State: new(tenant.Elsewhere), Country: new("US")}))
	assert.Equal(t, "Austin, TX, US", addressText(&sdk.Address{City: new("Austin"), State: new("TX"), Country: new("US")}))
}
