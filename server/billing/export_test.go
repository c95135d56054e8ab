package billing

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store"
)

// Patient gives the worker as much time as a busy machine takes for what a test has it do.
func (b *Billing) Patient() *Billing {
	b.workTime, b.turnTime = 10*time.Minute, 5*time.Minute
	return b
}

// AdvanceClockWithin is AdvanceClock with another time for the work.
func (b *Billing) AdvanceClockWithin(ctx context.Context, account string, in store.AdvanceClock, d time.Duration) (*TestClock, error) {
	return b.advanceClock(ctx, account, in, time.Now().Add(d))
}

// Within gives each kind of work another time.
func (b *Billing) Within(turn time.Duration) { b.turnTime = turn }
