package advert

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseAmount_ReadsWholeUnits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Amount{
		"20": 20_000_000, "20.5": 20_500_000, "20.50": 20_500_000, "0.01": 10_000, "33.51": 33_510_000,
		"2000": 2_000_000_000, "9223372036854.77": 9_223_372_036_854_770_000,
	} {
		got, err := ParseAmount(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseAmount_SaysWhatItRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"": ErrAmountSyntax, "abc": ErrAmountSyntax, "NaN": ErrAmountSyntax, "Inf": ErrAmountSyntax,
		"-Inf": ErrAmountSyntax, "+20": ErrAmountSyntax, "--5": ErrAmountSyntax, "1e3": ErrAmountSyntax,
		"1E-2": ErrAmountSyntax, ".5": ErrAmountSyntax, "5.": ErrAmountSyntax, "007": ErrAmountSyntax,
		"1.2.3": ErrAmountSyntax, "1,000": ErrAmountSyntax, " 5": ErrAmountSyntax, "0x10": ErrAmountSyntax,
		"٢٠": ErrAmountSyntax, "20 USD": ErrAmountSyntax, "1_000": ErrAmountSyntax,
		"0": ErrAmountNotPositive, "0.00": ErrAmountNotPositive, "-0": ErrAmountNotPositive, "-20": ErrAmountNotPositive,
		"20.001": ErrAmountDecimals, "20.000": ErrAmountDecimals, "0.001": ErrAmountDecimals,
		"9223372036854.78": ErrAmountTooLarge, "9223372036855": ErrAmountTooLarge, strings.Repeat("9", 400): ErrAmountTooLarge,
	} {
		got, err := ParseAmount(text)
		require.ErrorIs(t, err, want, text)
		assert.Zero(t, got, text)
	}
}

func TestParseSpend_ReadsWhatNetworksReport(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Amount{
		"0": 0, "0.00": 0, "33.51": 33_510_000, "0.004137": 4_137, "1.23456789": 1_234_567, "12": 12_000_000,
	} {
		got, err := ParseSpend(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]error{
		"": ErrAmountSyntax, "-1": ErrAmountSyntax, "NaN": ErrAmountSyntax, "9223372036855": ErrAmountTooLarge,
	} {
		_, err := ParseSpend(text)
		require.ErrorIs(t, err, want, text)
	}
}

func TestAmount_IsWrittenExactly(t *testing.T) {
	t.Parallel()
	for amount, want := range map[Amount]string{
		0: "0.00", 20_000_000: "20.00", 20_500_000: "20.50", 10_000: "0.01", 4_137: "0.004137", 20_100_100: "20.1001",
		-20_500_000: "-20.50", math.MaxInt64: "9223372036854.775807", math.MinInt64: "-9223372036854.775808",
	} {
		assert.Equal(t, want, amount.String())
	}
}

func TestAmount_FormatsWithItsCurrency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount         Amount
		currency, want string
	}{
		{20 * AmountUnit, "usd", "20.00 USD"}, {2000 * AmountUnit, "jpy", "2000 JPY"}, {2000 * AmountUnit, "krw", "2000 KRW"},
		{2000 * AmountUnit, "clp", "2000 CLP"}, {2000 * AmountUnit, "vnd", "2000 VND"}, {2000 * AmountUnit, "pyg", "2000 PYG"},
		{2000 * AmountUnit, "huf", "2000.00 HUF"}, {20 * AmountUnit, "kwd", "20.00 KWD"}, {12_500_000, "jpy", "12.50 JPY"},
	} {
		assert.Equal(t, c.want, c.amount.Format(c.currency))
	}
}

func TestAmount_AddsUpToTheLargest(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 3*AmountUnit, AmountUnit.Add(2*AmountUnit))
	assert.Equal(t, Amount(math.MaxInt64), Amount(math.MaxInt64).Add(1))
	assert.Equal(t, Amount(math.MaxInt64), AmountUnit.Add(math.MaxInt64))
}

func TestAmount_ReadsWhatItWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spend := Amount(rapid.Int64Range(0, math.MaxInt64).Draw(t, "micros"))
		got, err := ParseSpend(spend.String())
		require.NoError(t, err)
		require.Equal(t, spend, got)

		budget := Amount(rapid.Int64Range(1, math.MaxInt64/10_000).Draw(t, "hundredths") * 10_000)
		got, err = ParseAmount(budget.String())
		require.NoError(t, err)
		require.Equal(t, budget, got)
	})
}

// FuzzParseAmount: what is accepted is above 0, has no third decimal, and reads back from what it writes.
func FuzzParseAmount(f *testing.F) {
	for _, seed := range []string{"20", "20.50", "-1", "1e3", "NaN", "0.001", "9223372036854.77", "9223372036854.78", "00", "1.", ".1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := ParseAmount(text)
		if err != nil {
			require.Zero(t, amount)
			return
		}
		require.Positive(t, amount)
		require.Zero(t, amount%10_000)
		again, err := ParseAmount(amount.String())
		require.NoError(t, err)
		require.Equal(t, amount, again)
		spend, err := ParseSpend(text)
		require.NoError(t, err)
		require.Equal(t, amount, spend)
	})
}
