package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// TestAimClock_IsTheSameForARequestThatIsSentAgain ends the first one on the way.
func TestAimClock_IsTheSameForARequestThatIsSentAgain(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.db.Options.TestClock = true
		request := func(key string, answer *core.Answer, end error) core.Time {
			t.Helper()
			var target core.Time
			_, _, err := s.db.Request(t.Context(), s.key(key, "a day"), func(ctx context.Context) (*core.Answer, error) {
				var err error
				if target, err = s.AimClock(ctx, s.account, AdvanceClock{By: core.Day}); err != nil {
					return nil, err
				}
				_, err = s.MoveClock(db.Detached(ctx), s.account, target.Add(-core.Day/2))
				require.NoError(t, err)
				return answer, end
			})
			require.ErrorIs(t, err, end)
			return target
		}
		stopped := &core.Error{Message: "stopped on the way", Outcome: core.Unknown}
		first := request("one", nil, stopped)
		assert.Equal(t, first, request("one", &core.Answer{Status: 200}, nil))
		second := request("two", &core.Answer{Status: 200}, nil)
		assert.InDelta(t, int64(first.Add(core.Day/2)), int64(second), float64(time.Minute.Microseconds()), "another one begins where the clock is")
	})
}
