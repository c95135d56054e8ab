package store

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseAdAmount_ReadsWholeUnits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]AdAmount{
		"20": 20_000_000, "20.5": 20_500_000, "20.50": 20_500_000, "0.01": 10_000, "33.51": 33_510_000,
		"2000": 2_000_000_000, "9223372036854.77": 9_223_372_036_854_770_000,
	} {
		got, err := ParseAdAmount(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseAdAmount_SaysWhatItRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"": ErrAdAmountSyntax, "abc": ErrAdAmountSyntax, "NaN": ErrAdAmountSyntax, "Inf": ErrAdAmountSyntax,
		"-Inf": ErrAdAmountSyntax, "+20": ErrAdAmountSyntax, "--5": ErrAdAmountSyntax, "1e3": ErrAdAmountSyntax,
		"1E-2": ErrAdAmountSyntax, ".5": ErrAdAmountSyntax, "5.": ErrAdAmountSyntax, "007": ErrAdAmountSyntax,
		"1.2.3": ErrAdAmountSyntax, "1,000": ErrAdAmountSyntax, " 5": ErrAdAmountSyntax, "0x10": ErrAdAmountSyntax,
		"٢٠": ErrAdAmountSyntax, "20 USD": ErrAdAmountSyntax, "1_000": ErrAdAmountSyntax,
		"0": ErrAdAmountNotPositive, "0.00": ErrAdAmountNotPositive, "-0": ErrAdAmountNotPositive, "-20": ErrAdAmountNotPositive,
		"20.001": ErrAdAmountDecimals, "20.000": ErrAdAmountDecimals, "0.001": ErrAdAmountDecimals,
		"9223372036854.78": ErrAdAmountTooLarge, "9223372036855": ErrAdAmountTooLarge, strings.Repeat("9", 400): ErrAdAmountTooLarge,
	} {
		got, err := ParseAdAmount(text)
		require.ErrorIs(t, err, want, text)
		assert.Zero(t, got, text)
	}
}

func TestParseAdSpend_ReadsWhatNetworksReport(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]AdAmount{
		"0": 0, "0.00": 0, "33.51": 33_510_000, "0.004137": 4_137, "1.23456789": 1_234_567, "12": 12_000_000,
	} {
		got, err := ParseAdSpend(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]error{
		"": ErrAdAmountSyntax, "-1": ErrAdAmountSyntax, "NaN": ErrAdAmountSyntax, "9223372036855": ErrAdAmountTooLarge,
	} {
		_, err := ParseAdSpend(text)
		require.ErrorIs(t, err, want, text)
	}
}

func TestAdAmount_IsWrittenExactly(t *testing.T) {
	t.Parallel()
	for amount, want := range map[AdAmount]string{
		0: "0.00", 20_000_000: "20.00", 20_500_000: "20.50", 10_000: "0.01", 4_137: "0.004137", 20_100_100: "20.1001",
		-20_500_000: "-20.50", math.MaxInt64: "9223372036854.775807", math.MinInt64: "-9223372036854.775808",
	} {
		assert.Equal(t, want, amount.String())
	}
}

func TestAdAmount_FormatsWithItsCurrency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount         AdAmount
		currency, want string
	}{
		{20 * AdUnit, "usd", "20.00 USD"}, {2000 * AdUnit, "jpy", "2000 JPY"}, {2000 * AdUnit, "krw", "2000 KRW"},
		{2000 * AdUnit, "clp", "2000 CLP"}, {2000 * AdUnit, "vnd", "2000 VND"}, {2000 * AdUnit, "pyg", "2000 PYG"},
		{2000 * AdUnit, "huf", "2000.00 HUF"}, {20 * AdUnit, "kwd", "20.00 KWD"}, {12_500_000, "jpy", "12.50 JPY"},
	} {
		assert.Equal(t, c.want, c.amount.Format(c.currency))
	}
}

func TestAdAmount_AddsUpToTheLargest(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 3*AdUnit, AdUnit.Add(2*AdUnit))
	assert.Equal(t, AdAmount(math.MaxInt64), AdAmount(math.MaxInt64).Add(1))
	assert.Equal(t, AdAmount(math.MaxInt64), AdUnit.Add(math.MaxInt64))
}

func TestAdAmount_ReadsWhatItWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spend := AdAmount(rapid.Int64Range(0, math.MaxInt64).Draw(t, "micros"))
		got, err := ParseAdSpend(spend.String())
		require.NoError(t, err)
		require.Equal(t, spend, got)

		budget := AdAmount(rapid.Int64Range(1, math.MaxInt64/10_000).Draw(t, "hundredths") * 10_000)
		got, err = ParseAdAmount(budget.String())
		require.NoError(t, err)
		require.Equal(t, budget, got)
	})
}

// FuzzParseAdAmount: what is accepted is above 0, has no third decimal, and reads back from what it writes.
func FuzzParseAdAmount(f *testing.F) {
	for _, seed := range []string{"20", "20.50", "-1", "1e3", "NaN", "0.001", "9223372036854.77", "9223372036854.78", "00", "1.", ".1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := ParseAdAmount(text)
		if err != nil {
			require.Zero(t, amount)
			return
		}
		require.Positive(t, amount)
		require.Zero(t, amount%10_000)
		again, err := ParseAdAmount(amount.String())
		require.NoError(t, err)
		require.Equal(t, amount, again)
		spend, err := ParseAdSpend(text)
		require.NoError(t, err)
		require.Equal(t, amount, spend)
	})
}
