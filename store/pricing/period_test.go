package pricing_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tillwright/tillwright/store/pricing"
)

// at reads a moment in UTC.
func at(t require.TestingT, text string) time.Time {
	moment, err := time.Parse("2006-01-02 15:04:05", text)
	require.NoError(t, err)
	return moment
}

func TestNext_KeepsTheAnchorDay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		interval pricing.Interval
		anchor   int
		starts   []string // each follows from the one before
	}{
		"the last of the month": {
			pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: 1}, 31,
			[]string{"2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31"},
		},
		"in a leap year": {
			pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: 1}, 31, []string{"2028-01-31", "2028-02-29", "2028-03-31"},
		},
		"the 30th": {
			pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: 1}, 30, []string{"2026-12-30", "2027-01-30", "2027-02-28", "2027-03-30"},
		},
		"every quarter, over the year's end": {
			pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: 3}, 31, []string{"2026-08-31", "2026-11-30", "2027-02-28", "2027-05-31"},
		},
		"three years in months": {
			pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: 36}, 29, []string{"2024-02-29", "2027-02-28", "2030-02-28", "2033-02-28", "2036-02-29"},
		},
		"a year from a leap day": {
			pricing.Interval{Unit: pricing.IntervalUnitYear, Count: 1}, 29,
			[]string{"2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"},
		},
		"ten years over a year that is no leap year": {
			pricing.Interval{Unit: pricing.IntervalUnitYear, Count: 10}, 29, []string{"2080-02-29", "2090-02-28", "2100-02-28", "2110-02-28"},
		},
		"weeks have no anchor":     {pricing.Interval{Unit: pricing.IntervalUnitWeek, Count: 2}, 31, []string{"2027-01-31", "2027-02-14", "2027-02-28", "2027-03-14"}},
		"days over a leap day":     {pricing.Interval{Unit: pricing.IntervalUnitDay, Count: 1}, 1, []string{"2028-02-28", "2028-02-29", "2028-03-01"}},
		"days over a year's end":   {pricing.Interval{Unit: pricing.IntervalUnitDay, Count: 30}, 0, []string{"2026-12-15", "2027-01-14"}},
		"an earlier anchor than 1": {pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: 1}, 1, []string{"2027-01-31", "2027-02-01"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const clock = " 23:59:58"
			for i, start := range test.starts[:len(test.starts)-1] {
				next, err := test.interval.Next(at(t, start+clock), test.anchor)
				require.NoError(t, err)
				assert.Equal(t, at(t, test.starts[i+1]+clock), next)
			}
		})
	}
}

// A place that changes its clocks does not move a renewal: the time of day is UTC's.
func TestNext_KnowsNoSummerTime(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("CEST", 2*3600)
	next, err := pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: 1}.Next(time.Date(2027, 4, 1, 1, 30, 0, 7, berlin), 31)
	require.NoError(t, err)
	assert.Equal(t, time.Date(2027, 4, 30, 23, 30, 0, 7, time.UTC), next) // in UTC it was 31 March
}

func TestNext_RefusesAnIntervalThatDoesNotExist(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		interval pricing.Interval
		anchor   int
	}{
		"no unit":             {pricing.Interval{Count: 1}, 1},
		"an unknown unit":     {pricing.Interval{Unit: "hour", Count: 1}, 1},
		"no count":            {pricing.Interval{Unit: pricing.IntervalUnitDay}, 1},
		"a negative count":    {pricing.Interval{Unit: pricing.IntervalUnitDay, Count: -1}, 1},
		"an endless interval": {pricing.Interval{Unit: pricing.IntervalUnitYear, Count: math.MaxInt64}, 1},
		"no anchor":           {pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: 1}, 0},
		"the 32nd":            {pricing.Interval{Unit: pricing.IntervalUnitYear, Count: 1}, 32},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.interval.Next(at(t, "2027-01-01 00:00:00"), test.anchor)
			assert.ErrorIs(t, err, pricing.ErrRange)
		})
	}
}

// Renewals go forward, one a month, always on the anchor day or on the last day of a month that lacks it.
func TestNext_WalksEveryMonth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		anchor := rapid.IntRange(1, 31).Draw(t, "anchor")
		count := rapid.IntRange(1, 36).Draw(t, "count")
		first := time.Date(rapid.IntRange(1999, 2101).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")), 1, 0, 0, 0, 0, time.UTC)
		start := first.AddDate(0, 0, min(anchor, days(first))-1).Add(time.Duration(rapid.Int64Range(0, 86_399).Draw(t, "clock")) * time.Second)
		for n := range 24 {
			next, err := pricing.Interval{Unit: pricing.IntervalUnitMonth, Count: int64(count)}.Next(start, anchor)
			require.NoError(t, err)
			month := first.AddDate(0, (n+1)*count, 0)
			assert.Equal(t, month.Year(), next.Year())
			assert.Equal(t, month.Month(), next.Month())
			assert.Equal(t, min(anchor, days(month)), next.Day())
			assert.Equal(t, start.Format(time.TimeOnly), next.Format(time.TimeOnly))
			start = next
		}
	})
}

// days is how many days the month has that a moment is in.
func days(moment time.Time) int {
	first := moment.AddDate(0, 0, 1-moment.Day())
	return int(first.AddDate(0, 1, 0).Sub(first).Hours() / 24)
}

func TestUnused_WorkedExamples(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		start, end, at string
		amount, want   int64
	}{
		"half of a month of 30 days":         {"2026-11-01 00:00:00", "2026-12-01 00:00:00", "2026-11-16 00:00:00", 3000, 1500},
		"10 of 31 days: 967.74":              {"2026-10-01 00:00:00", "2026-11-01 00:00:00", "2026-10-22 00:00:00", 3000, 968},
		"10 of 28 days: 1071.43":             {"2027-02-01 00:00:00", "2027-03-01 00:00:00", "2027-02-19 00:00:00", 3000, 1071},
		"10 of 29 days: 1034.48":             {"2028-02-01 00:00:00", "2028-03-01 00:00:00", "2028-02-20 00:00:00", 3000, 1034},
		"100 days of a year: 3287.67":        {"2027-01-01 00:00:00", "2028-01-01 00:00:00", "2027-09-23 00:00:00", 12000, 3288},
		"100 days of a leap year: 3278.69":   {"2028-01-01 00:00:00", "2029-01-01 00:00:00", "2028-09-23 00:00:00", 12000, 3279},
		"a half rounds up":                   {"2026-11-01 00:00:00", "2026-11-01 00:00:02", "2026-11-01 00:00:01", 1, 1},
		"a second before the end":            {"2026-11-01 00:00:00", "2026-12-01 00:00:00", "2026-11-30 23:59:59", 2_592_000, 1},
		"at the start all of it":             {"2026-11-01 12:00:00", "2026-12-01 12:00:00", "2026-11-01 12:00:00", 4999, 4999},
		"before the start all of it":         {"2026-11-01 12:00:00", "2026-12-01 12:00:00", "2026-10-01 12:00:00", 4999, 4999},
		"at the end nothing":                 {"2026-11-01 12:00:00", "2026-12-01 12:00:00", "2026-12-01 12:00:00", 4999, 0},
		"after the end nothing":              {"2026-11-01 12:00:00", "2026-12-01 12:00:00", "2027-12-01 12:00:00", 4999, 0},
		"nothing costs nothing":              {"2026-11-01 00:00:00", "2026-12-01 00:00:00", "2026-11-16 00:00:00", 0, 0},
		"the largest amount does not wrap":   {"2026-11-01 00:00:00", "2026-12-01 00:00:00", "2026-11-01 00:00:00", math.MaxInt64, math.MaxInt64},
		"half the largest amount rounds up":  {"2026-11-01 00:00:00", "2026-12-01 00:00:00", "2026-11-16 00:00:00", math.MaxInt64, math.MaxInt64/2 + 1},
		"three decimals: 1.000 of a dinar":   {"2026-11-01 00:00:00", "2026-12-01 00:00:00", "2026-11-21 00:00:00", 1000, 333},
		"no decimals: 1000 yen of two weeks": {"2026-11-01 00:00:00", "2026-11-15 00:00:00", "2026-11-02 00:00:00", 1000, 929},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pricing.Period{Start: at(t, test.start), End: at(t, test.end)}.Unused(test.amount, at(t, test.at))
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

// A month that becomes a year in its middle: half the month comes back, the year costs all of it.
func TestUnused_MonthBecomesYear(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-16 00:00:00")
	month := pricing.Period{Start: at(t, "2026-11-01 00:00:00"), End: at(t, "2026-12-01 00:00:00")}
	end, err := pricing.Interval{Unit: pricing.IntervalUnitYear, Count: 1}.Next(now, now.Day())
	require.NoError(t, err)
	credit, err := month.Unused(1999, now)
	require.NoError(t, err)
	debit, err := pricing.Period{Start: now, End: end}.Unused(19900, now)
	require.NoError(t, err)
	assert.EqualValues(t, 1000, credit) // 999.5
	assert.EqualValues(t, 19900, debit)
}

func TestProrate_RefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	for _, test := range [][3]int64{{100, 2, 1}, {100, -1, 1}, {100, 0, 0}, {-1, 1, 1}, {100, 0, -1}} {
		_, err := pricing.Prorate(test[0], test[1], test[2])
		assert.ErrorIs(t, err, pricing.ErrRange, "%v", test)
	}
	now := at(t, "2026-11-01 00:00:00")
	_, err := pricing.Period{Start: now, End: now}.Unused(100, now)
	assert.ErrorIs(t, err, pricing.ErrRange)
}

// The parts before and after any moment are the whole, but for the one unit that two halves may round up to.
func TestProrate_PartsMakeTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(0, math.MaxInt64).Draw(t, "amount")
		period := rapid.Int64Range(1, 400*86_400).Draw(t, "period")
		remaining := rapid.Int64Range(0, period).Draw(t, "remaining")
		after, err := pricing.Prorate(amount, remaining, period)
		require.NoError(t, err)
		before, err := pricing.Prorate(amount, period-remaining, period)
		require.NoError(t, err)
		assert.Equal(t, round(amount, remaining, period), after)
		assert.LessOrEqual(t, after, amount)
		assert.LessOrEqual(t, uint64(before)+uint64(after)-uint64(amount), uint64(1))
	})
}
