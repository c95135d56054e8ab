package webhooks

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/outbox"
)

func slotOf(account, endpoint int) outbox.PendingEndpoint {
	return outbox.PendingEndpoint{AccountID: fmt.Sprint("acct_", account), EndpointID: fmt.Sprint("we_", account, "_", endpoint)}
}

// fill takes all the room that there is for the endpoints of an account, and returns how much it was.
func (s *slots) fill(account int) int {
	before := s.total
	for endpoint := range 1000 {
		s.occupySlots(slotOf(account, endpoint), s.freeSlots(slotOf(account, endpoint)))
	}
	return s.total - before
}

func TestSlots_LimitEndpointsAccountsAndAll(t *testing.T) {
	t.Parallel()
	s := newSlots()
	for account := range 10 {
		for endpoint := range 1000 {
			s.judge(slotOf(account, endpoint), briskAnswer, time.Now())
		}
	}
	require.Equal(t, perEndpoint, s.freeSlots(slotOf(0, 0)))
	s.occupySlots(slotOf(0, 0), perEndpoint)
	require.Zero(t, s.freeSlots(slotOf(0, 0)))
	require.Equal(t, perAccount-perEndpoint, s.fill(0), "one account has its share and no more")
	for account := 1; s.total < maxSlots; account++ {
		require.Positive(t, s.fill(account))
	}
	require.Equal(t, maxSlots, s.total)
	require.Zero(t, s.freeSlots(slotOf(9, 0)))
	s.free(slotOf(1, 0), 1)
	require.Equal(t, 1, s.freeSlots(slotOf(20, 0)))
}

func TestSlots_AFewAccountsDoNotShutOutTheNext(t *testing.T) {
	t.Parallel()
	s := newSlots()
	for account := range 6 {
		for endpoint := range 1000 {
			s.judge(slotOf(account, endpoint), briskAnswer-1, time.Now())
		}
	}
	for account := range 5 {
		require.LessOrEqual(t, s.fill(account), perAccount)
		require.Equal(t, perBrisk, s.freeSlots(slotOf(5, 0)), account)
	}
}

func TestSlots_AnEndpointIsSentOneAtATimeUntilItAnswers(t *testing.T) {
	t.Parallel()
	s, now := newSlots(), time.Now()
	e := slotOf(0, 0)
	require.Equal(t, 1, s.freeSlots(e))
	s.occupySlots(e, 1)
	require.Zero(t, s.freeSlots(e))
	s.judge(e, briskAnswer, now)
	require.Equal(t, perEndpoint-1, s.freeSlots(e))
	s.judge(e, briskAnswer-1, now)
	require.Equal(t, perBrisk-1, s.freeSlots(e))
	s.free(e, 1)
	s.forget(now.Add(rememberFor + time.Second))
	require.Equal(t, 1, s.freeSlots(e), "after a long silence it is new again")
}

func TestSlots_SlowEndpointsLeaveRoomForTheOthers(t *testing.T) {
	t.Parallel()
	s, now := newSlots(), time.Now()
	quick := slotOf(0, 1000)
	s.judge(quick, briskAnswer, now)
	taken := 0
	for account := range 10 { // nobody knows these yet
		taken += s.fill(account)
	}
	require.Equal(t, slowSlots, taken)
	require.Equal(t, slowSlots, s.slow)
	require.Zero(t, s.freeSlots(slotOf(9, 1001)))
	require.Zero(t, s.freeSlots(quick), "its account has all that it may have")
	other := slotOf(20, 0)
	s.judge(other, briskAnswer, now)
	require.Equal(t, perEndpoint, s.freeSlots(other))

	for account := range 10 {
		for endpoint := range 1000 {
			e := slotOf(account, endpoint)
			if n := s.underWay(e); n > 0 {
				s.judge(e, 5*time.Second, now)
				s.free(e, n)
			}
		}
	}
	require.Zero(t, s.total+s.slow+s.proven)
	taken = 0
	for account := range 10 { // some are known to be slow now, others are still new
		for endpoint := range 1000 {
			if e := slotOf(account, endpoint); s.of(e).answered.Equal(now) && !s.of(e).quick {
				s.occupySlots(e, s.freeSlots(e))
				taken = s.proven
			}
		}
		require.LessOrEqual(t, s.inAccount(slotOf(account, 0).AccountID).slow, slowPerAccount)
	}
	require.Equal(t, slowProven, taken)
	require.Equal(t, 1, s.freeSlots(slotOf(30, 0)), "a new endpoint has its turn")
	require.Equal(t, perEndpoint, s.freeSlots(quick), "and a quick one all that it may have, beside the slow ones of its account")
}

func TestSlots_CountWhatChangesItsLane(t *testing.T) {
	t.Parallel()
	s, now := newSlots(), time.Now()
	e := slotOf(0, 0)
	for _, took := range []time.Duration{time.Millisecond, 5 * time.Second, time.Millisecond} {
		s.judge(e, took, now)
		s.occupySlots(e, 3)
		s.judge(e, 5*time.Second, now)
		require.Equal(t, [3]int{3, 3, 3}, [3]int{s.total, s.slow, s.proven})
		s.judge(e, time.Millisecond, now)
		require.Equal(t, [3]int{3, 0, 0}, [3]int{s.total, s.slow, s.proven})
		s.free(e, 3)
	}
	require.Zero(t, s.total+s.slow+s.proven)
	require.Empty(t, s.accounts)
}

func TestSlots_ChatServicesArePaced(t *testing.T) {
	t.Parallel()
	for format, gap := range map[outbox.WebhookFormat]time.Duration{outbox.WebhookFormatSlack: time.Second, outbox.WebhookFormatDiscord: 2 * time.Second} {
		s, now := newSlots(), time.Now()
		e := slotOf(0, 0)
		e.Format = format
		s.judge(e, time.Millisecond, now)
		require.Equal(t, 1, s.freeSlots(e))
		s.occupySlots(e, 1)
		s.pace(e, now)
		require.Zero(t, s.freeSlots(e))
		s.free(e, 1)
		s.stir(e)
		require.Equal(t, now.Add(gap), s.quietUntil(e))
		s.forget(now.Add(rememberFor + 1))
		require.Empty(t, s.endpoints)
	}
	s, now := newSlots(), time.Now()
	s.pace(slotOf(0, 0), now)
	require.False(t, s.quietUntil(slotOf(0, 0)).After(now))
}

func TestSlots_RememberOnlyWhatIsBusy(t *testing.T) {
	t.Parallel()
	s := newSlots()
	now := time.Now()
	e := outbox.PendingEndpoint{AccountID: "acct_1", EndpointID: "we_1"}
	s.occupySlots(e, 2)
	s.free(e, 2)
	s.hush(e, now)
	require.True(t, s.quietUntil(e).After(now))
	s.stir(e)
	require.False(t, s.quietUntil(e).After(now))
	s.hush(e, now)
	s.forget(now.Add(2 * quietFor))
	require.Empty(t, s.accounts)
	require.Empty(t, s.endpoints)
}
