package billing

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store"
)

// AdvanceClockWithin is AdvanceClock with another time for the work.
func (b *Billing) AdvanceClockWithin(ctx context.Context, account string, in store.AdvanceClock, d time.Duration) (*TestClock, error) {
	return b.advanceClock(ctx, account, in, time.Now().Add(d))
}
