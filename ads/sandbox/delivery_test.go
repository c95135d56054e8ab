package sandbox

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

const cent = 10_000

// always is a window that everything is in.
var always = window{0, 1 << 62}

// zones have days of 23, 24 and 25 hours in the time of the histories.
var zones = []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"}

// history is a random life of one budget: pauses, edits and time that passes.
type history struct {
	market
	segments []advert.SandboxSegment
	now      core.Time
}

func newHistory(t *testing.T, r *rand.Rand, lifetime bool) *history {
	t.Helper()
	zone, err := time.LoadLocation(zones[r.IntN(len(zones))])
	require.NoError(t, err)
	h := &history{market: market{zone, []int64{cent, 1_000_000}[r.IntN(2)], 1_000_000}}
	begin := time.Date(2026, time.March, 20+r.IntN(15), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e9), zone)
	h.now = core.TimeOf(begin)
	var end *core.Time
	if lifetime {
		end = new(core.Time)
		*end = h.now.Add(time.Duration(1+r.IntN(20)) * 24 * time.Hour)
	}
	owner := fmt.Sprint("owner", r.Uint64())
	for range 1 + r.IntN(12) {
		s := advert.SandboxSegment{OwnerID: owner, FromAt: h.now, EndAt: end, Lifetime: lifetime}
		s.Budget = advert.Amount(r.Int64N(500)) * advert.AmountUnit / advert.Amount(1+r.IntN(3))
		for ad := range r.IntN(5) { // none: paused
			slot := advert.SandboxSlot{Ad: fmt.Sprint(owner, "/", ad), FromAt: int64(h.now)}
			if r.IntN(3) == 0 {
				slot.FromAt += r.Int64N(int64(48 * time.Hour / time.Microsecond))
			}
			s.Ads.V = append(s.Ads.V, slot)
		}
		h.now = h.now.Add(jump(r))
		s.ToAt = ref(h.now)
		h.segments = append(h.segments, s)
	}
	h.segments[len(h.segments)-1].ToAt = nil
	return h
}

// jump is anything between no time at all and days.
func jump(r *rand.Rand) time.Duration {
	longest := []time.Duration{time.Microsecond, time.Second, time.Hour, 24 * time.Hour, 100 * time.Hour}[r.IntN(5)]
	return time.Duration(r.Int64N(int64(longest) + 1)).Truncate(time.Microsecond)
}

func ref[T any](v T) *T { return &v }

// spent returns what was spent until a moment, by ad and by day.
func (h *history) spent(w window, now core.Time) (byAd map[string]int64, byDay map[int]int64, total int64) {
	byAd, byDay = map[string]int64{}, map[int]int64{}
	h.spend(h.segments, w, now, func(s spending) {
		byAd[s.ad] += s.micros
		byDay[s.day] += s.micros
		total += s.micros
	})
	return byAd, byDay, total
}

// moments returns moments from before the beginning to long after the last change, ascending.
func (h *history) moments(r *rand.Rand) []core.Time {
	at := h.segments[0].FromAt.Add(-time.Hour)
	var all []core.Time
	for at < h.now.Add(200*time.Hour) {
		all = append(all, at)
		at = at.Add(jump(r) + time.Microsecond)
	}
	return all
}

// eachHistory runs a test over random histories of both types of budget.
func eachHistory(t *testing.T, test func(t *testing.T, r *rand.Rand, h *history)) {
	t.Helper()
	t.Parallel()
	r := random(t)
	for i := range 300 {
		test(t, r, newHistory(t, r, i%2 == 0))
		if t.Failed() {
			return
		}
	}
}

// random returns a source of chance and prints its seed, which TILLWRIGHT_TEST_SEED repeats.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if given := os.Getenv("TILLWRIGHT_TEST_SEED"); given != "" {
		var err error
		seed, err = strconv.ParseUint(given, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("TILLWRIGHT_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

func TestDelivery_NeverSpendsMoreThanADaysBudget(t *testing.T) {
	eachHistory(t, func(t *testing.T, _ *rand.Rand, h *history) {
		if h.segments[0].Lifetime {
			return
		}
		_, byDay, _ := h.spent(always, h.now.Add(200*time.Hour))
		for day, micros := range byDay {
			assert.LessOrEqual(t, micros, h.allowance(day), day)
		}
	})
}

// allowance returns what may be spent on a day: each budget for the part of the day that it stood, rounded up. Its
// arithmetic is its own.
func (h *history) allowance(day int) int64 {
	begin := time.Date(day/10000, time.Month(day/100%100), day%100, 0, 0, 0, 0, h.zone)
	end := time.Date(day/10000, time.Month(day/100%100), day%100+1, 0, 0, 0, 0, h.zone)
	var allowance float64
	for _, s := range h.segments {
		from, to := s.FromAt.Time(), end
		if s.ToAt != nil {
			to = s.ToAt.Time()
		}
		if from.Before(begin) {
			from = begin
		}
		if to.After(end) {
			to = end
		}
		if from.Before(to) {
			allowance += float64(s.Budget) * float64(to.Sub(from)) / float64(end.Sub(begin))
		}
	}
	return int64(allowance) + 1
}

func TestDelivery_NeverPassesALifetimeBudget(t *testing.T) {
	eachHistory(t, func(t *testing.T, r *rand.Rand, h *history) {
		if !h.segments[0].Lifetime {
			return
		}
		for _, now := range h.moments(r) {
			_, _, total := h.spent(always, now)
			var largest advert.Amount // of those that have stood until now
			for _, s := range h.segments {
				if s.FromAt <= now {
					largest = max(largest, s.Budget)
				}
			}
			assert.LessOrEqual(t, total, int64(largest))
		}
	})
}

func TestDelivery_SpendsALifetimeBudgetToTheEnd(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	start := core.TimeOf(time.Date(2026, time.March, 5, 13, 37, 0, 0, zone))
	end := start.Add(10 * 24 * time.Hour)
	h := history{market: market{zone, cent, 1_000_000}, segments: []advert.SandboxSegment{{
		OwnerID: "o", FromAt: start, Budget: 100_010_000, Lifetime: true, EndAt: &end,
		Ads: core.JSONOf([]advert.SandboxSlot{{Ad: "a", FromAt: int64(start)}, {Ad: "b", FromAt: int64(start)}}),
	}}}
	_, byDay, before := h.spent(always, end-1)
	assert.Less(t, before, int64(100_010_000))
	_, _, total := h.spent(always, end)
	assert.Equal(t, int64(100_010_000), total)
	assert.Len(t, byDay, 11)
	for day, micros := range byDay {
		assert.Positive(t, micros, day)
	}
}

func TestDelivery_OnlyAdds(t *testing.T) {
	eachHistory(t, func(t *testing.T, r *rand.Rand, h *history) {
		var before map[string]int64
		for _, now := range h.moments(r) {
			byAd, _, _ := h.spent(always, now)
			for ad, micros := range before {
				assert.GreaterOrEqual(t, byAd[ad], micros, ad)
			}
			before = byAd
		}
	})
}

func TestDelivery_IsTheSumOfItsAdsAndOfItsDays(t *testing.T) {
	eachHistory(t, func(t *testing.T, r *rand.Rand, h *history) {
		now := h.now.Add(jump(r))
		byAd, byDay, total := h.spent(always, now)
		var ads, days int64
		for micros := range maps.Values(byAd) {
			ads += micros
		}
		for day, micros := range byDay {
			days += micros
			_, alone, _ := h.spent(h.windowOf(day), now)
			assert.Equal(t, map[int]int64{day: micros}, alone)
		}
		assert.Equal(t, total, ads)
		assert.Equal(t, total, days)
		assert.Zero(t, total%h.quantum)
		if h.segments[0].Lifetime {
			assert.Equal(t, total, h.spend(h.segments, window{}, now, func(spending) { t.Error("outside of the window") }))
		}
	})
}

// windowOf returns one day.
func (h *history) windowOf(day int) window {
	year, month, date := day/10000, time.Month(day/100%100), day%100
	return window{h.midnight(year, month, date), h.midnight(year, month, date+1)}
}

func TestDelivery_AddsNothingWhilePaused(t *testing.T) {
	paused := 0
	eachHistory(t, func(t *testing.T, r *rand.Rand, h *history) {
		for _, s := range h.segments {
			if len(s.Ads.V) > 0 || s.ToAt == nil {
				continue
			}
			paused++
			before, _, _ := h.spent(always, s.FromAt)
			within, _, _ := h.spent(always, s.FromAt+core.Time(r.Int64N(1+int64(*s.ToAt-s.FromAt))))
			after, _, _ := h.spent(always, *s.ToAt)
			assert.Equal(t, before, within)
			assert.Equal(t, before, after)
		}
	})
	assert.Greater(t, paused, 100)
}

func TestDelivery_APauseDoesNotChangeWhatWasSpent(t *testing.T) {
	eachHistory(t, func(t *testing.T, r *rand.Rand, h *history) {
		at := h.segments[len(h.segments)-1].FromAt.Add(jump(r))
		before, _, _ := h.spent(always, at)
		h.segments[len(h.segments)-1].ToAt = &at
		after, _, _ := h.spent(always, at.Add(1000*time.Hour))
		assert.Equal(t, before, after)
	})
}

func TestShare_GrowsForEveryAdAndIsExact(t *testing.T) {
	t.Parallel()
	ads := []string{"a", "b", "c", "d", "e"}
	before := map[string]int64{}
	for quanta := range int64(200) {
		parts, sum := map[string]int64{}, int64(0)
		share(quanta, ads, func(ad string, n int64) { parts[ad], sum = n, sum+n })
		require.Equal(t, quanta, sum)
		for ad, n := range before {
			require.GreaterOrEqual(t, parts[ad], n)
		}
		before = parts
	}
	weights := slices.Sorted(maps.Values(before))
	assert.Greater(t, weights[4], weights[0], "they are worth different amounts")
}

func TestDelivery_CountsAnEditedBudgetForTheHoursThatItStood(t *testing.T) {
	t.Parallel()
	day := core.TimeOf(time.Date(2026, time.May, 4, 0, 0, 0, 0, time.UTC))
	ads := core.JSONOf([]advert.SandboxSlot{{Ad: "a", FromAt: int64(day)}})
	noon := day.Add(12 * time.Hour)
	h := history{market: market{time.UTC, cent, 1_000_000}, segments: []advert.SandboxSegment{
		{OwnerID: "o", FromAt: day, ToAt: &noon, Budget: 100 * advert.AmountUnit, Ads: ads},
		{OwnerID: "o", FromAt: noon, Budget: 10 * advert.AmountUnit, Ads: ads},
	}}
	_, _, morning := h.spent(always, noon)
	_, _, total := h.spent(always, day.Add(24*time.Hour))
	assert.GreaterOrEqual(t, morning, int64(40*advert.AmountUnit))
	assert.LessOrEqual(t, morning, int64(50*advert.AmountUnit))
	assert.GreaterOrEqual(t, total-morning, int64(4*advert.AmountUnit)-cent)
	assert.LessOrEqual(t, total-morning, int64(5*advert.AmountUnit))
}
