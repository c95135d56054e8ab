package server

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store/tenant"
)

// A request that comes in the last second of a minute may be counted in the next one. Its quota is full again after a minute at most.
func TestLimitHeaders_WaitAMinuteAtMost(t *testing.T) {
	t.Parallel()
	for now, says := range map[int64]string{119: `"default";r=599;t=60`, 120: `"default";r=599;t=60`, 150: `"default";r=599;t=30`, 180: `"default";r=599;t=1`} {
		h := http.Header{}
		limitHeaders(h, &tenant.Grant{Limit: 600, Used: 1, Now: now, WindowEnd: 180})
		assert.Equal(t, says, h.Get(headerLimit))
	}
}
