package ads

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// strictly is a network that takes no event that comes with a bad one. It counts how often each was taken.
type strictly struct {
	bad   map[int]bool
	taken map[int]int
	calls int
	fail  map[int]error // call -> what becomes of it
}

func (s *strictly) send(events []int) ([]error, error) {
	s.calls++
	if err := s.fail[s.calls]; err != nil {
		return nil, err
	}
	for _, e := range events {
		if s.bad[e] {
			return nil, fmt.Errorf("wrapped: %w", &Rejected{Message: "one of them is bad"})
		}
	}
	for _, e := range events {
		s.taken[e]++
	}
	return make([]error, len(events)), nil
}

func upTo(n int) []int {
	events := make([]int, n)
	for i := range events {
		events[i] = i
	}
	return events
}

// As long as there are few bad ones all of them are found, and each good one is taken exactly once.
func TestIsolate_FindsTheBadOnes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := strictly{bad: map[int]bool{}, taken: map[int]int{}}
		n := r.IntN(1000) + 1
		for range r.IntN(4) {
			s.bad[r.IntN(n)] = true
		}
		results, err := Isolate(upTo(n), s.send)
		require.NoError(t, err)
		for i, result := range results {
			var refused *Rejected
			require.Equal(t, s.bad[i], errors.As(result, &refused), "%d of %d: %v", i, n, result)
			require.Equal(t, s.bad[i], s.taken[i] == 0)
			require.LessOrEqual(t, s.taken[i], 1)
		}
		require.LessOrEqual(t, s.calls, mostHalves)
	}
}

// A network that refuses everything is not asked a thousand times, and what was not come to may be sent again.
func TestIsolate_GivesUpWhenTooManyAreBad(t *testing.T) {
	t.Parallel()
	s := strictly{bad: map[int]bool{}, taken: map[int]int{}}
	for i := range 1000 {
		s.bad[i] = true
	}
	results, err := Isolate(upTo(1000), s.send)
	require.NoError(t, err)
	assert.Equal(t, mostHalves, s.calls)
	var refused *Rejected
	require.ErrorAs(t, results[0], &refused)
	require.ErrorIs(t, results[999], ErrUnavailable)
	require.NotErrorAs(t, results[999], &refused)
}

func TestIsolate_AFaultIsAboutWhatWasNotComeTo(t *testing.T) {
	t.Parallel()
	limited := &RateLimited{After: time.Minute}
	s := strictly{bad: map[int]bool{3: true}, taken: map[int]int{}, fail: map[int]error{1: limited}}
	results, err := Isolate(upTo(4), s.send)
	assert.Nil(t, results)
	require.ErrorIs(t, err, limited)

	s = strictly{bad: map[int]bool{3: true}, taken: map[int]int{}, fail: map[int]error{3: limited}}
	results, err = Isolate(upTo(4), s.send)
	require.NoError(t, err)
	assert.Equal(t, []error{nil, nil, limited, limited}, results)

	results, err = Isolate(nil, s.send)
	require.NoError(t, err)
	assert.Empty(t, results)
}

func TestConversionValue_HasTheDecimalsOfItsCurrency(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]struct {
		value    advert.Amount
		currency string
	}{"2000": {2_000_000_000, "jpy"}, "20.50": {20_500_000, "usd"}, "1.234": {1_234_000, "kwd"}, "0.00": {0, "eur"}, "5000": {5_000_000_000, "xof"}} {
		assert.Equal(t, want, ConversionValue(in.value, in.currency))
	}
}

// Every network that is told of conversions has a word for each kind, and limits.
func TestConversions_AreWholeWhereThereAreAny(t *testing.T) {
	t.Parallel()
	told := 0
	for _, p := range advert.Platforms {
		r := CapsOf(p).Conversions
		if r.Words == nil {
			assert.Zero(t, r.PerCall, p)
			continue
		}
		told++
		for _, kind := range advert.ConversionKinds {
			assert.NotEmpty(t, r.Words[kind], "%s %s", p, kind)
		}
		assert.Positive(t, r.PerCall)
		assert.Positive(t, r.MaxAge)
		assert.Positive(t, r.Dedupe)
		assert.NotEmpty(t, r.ClickID)
		assert.NotEmpty(t, r.Phone)
		now := time.Now()
		e := advert.ConversionEvent{Kind: advert.ConversionLead, At: core.TimeOf(now.Add(-r.MaxAge))}
		assert.Nil(t, r.Refusal(e, now.Truncate(time.Microsecond)))
		e.At -= 1_000_000
		assert.NotNil(t, r.Refusal(e, now))
	}
	assert.GreaterOrEqual(t, told, 3, "Meta's two platforms and Pinterest")
}
