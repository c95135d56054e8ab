package ads

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tillwright/tillwright/store/advert"
)

// amount reads a budget as a request has it.
func amount(t require.TestingT, decimal string) advert.Amount {
	a, err := advert.ParseAmount(decimal)
	require.NoError(t, err)
	return a
}

func TestWire_WritesWhatEachNetworkExpects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform                advert.Platform
		decimal, currency, wire string
	}{
		{advert.PlatformFacebook, "2000", "usd", "200000"},
		{advert.PlatformFacebook, "20.50", "usd", "2050"},
		{advert.PlatformFacebook, "2000", "jpy", "2000"},
		{advert.PlatformFacebook, "2000", "twd", "2000"},
		{advert.PlatformFacebook, "2000", "huf", "2000"},
		{advert.PlatformFacebook, "20.50", "bhd", "2050"},
		{advert.PlatformInstagram, "2000", "eur", "200000"},
		{advert.PlatformInstagram, "2000", "krw", "2000"},
		{advert.PlatformPinterest, "2000", "usd", "2000000000"},
		{advert.PlatformPinterest, "2000", "jpy", "2000000000"},
		{advert.PlatformPinterest, "20.50", "huf", "20500000"},
		{advert.PlatformGoogle, "2000", "usd", "2000000000"},
		{advert.PlatformGoogle, "33.51", "usd", "33510000"},
		{advert.PlatformTwitter, "2000", "usd", "2000000000"},
		{advert.PlatformTikTok, "2000", "usd", "2000"},
		{advert.PlatformTikTok, "20.5", "usd", "20.5"},
		{advert.PlatformTikTok, "100", "jpy", "100"},
		{advert.PlatformLinkedIn, "2000", "usd", "2000.00"},
		{advert.PlatformLinkedIn, "20.5", "eur", "20.50"},
	} {
		got, err := CapsOf(c.platform).Wire(amount(t, c.decimal), c.currency)
		require.NoError(t, err)
		assert.Equal(t, c.wire, got, "%s %s on %s", c.decimal, c.currency, c.platform)
	}
}

// TestMoney_ComesBackAsItWent is the identity of whole -> wire -> whole, for what may be sent of each currency.
func TestMoney_ComesBackAsItWent(t *testing.T) {
	t.Parallel()
	for _, platform := range advert.Platforms {
		caps := CapsOf(platform)
		for _, currency := range caps.Currencies() {
			t.Run(string(platform)+"/"+currency, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { comesBack(t, caps, currency) })
			})
		}
	}
}

func comesBack(t *rapid.T, caps Caps, currency string) {
	step := advert.AmountUnit / 100
	if decimals, _ := caps.Decimals(currency); decimals == 0 {
		step = advert.AmountUnit
	}
	want := advert.Amount(rapid.Int64Range(1, int64(math.MaxInt64/step)).Draw(t, "steps")) * step
	wire, err := caps.Wire(want, currency)
	require.NoError(t, err)
	got, err := caps.Amount(wire, currency)
	require.NoError(t, err)
	require.Equal(t, want, got, "wire %s", wire)
}

// TestWire_NeverRounds sends any amount at all: it comes back as it was or is refused.
func TestWire_NeverRounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		caps := CapsOf(rapid.SampledFrom(advert.Platforms).Draw(t, "platform"))
		currency := rapid.SampledFrom(caps.Currencies()).Draw(t, "currency")
		want := advert.Amount(rapid.Int64().Draw(t, "micros"))
		wire, err := caps.Wire(want, currency)
		if err != nil {
			require.Empty(t, wire)
			return
		}
		got, err := caps.Amount(wire, currency)
		require.NoError(t, err)
		require.Equal(t, want, got, "wire %s", wire)
		require.Positive(t, got)
	})
}

// TestMoney_OfCurrenciesWithoutCents names those whose unit is most often mistaken.
func TestMoney_OfCurrenciesWithoutCents(t *testing.T) {
	t.Parallel()
	for _, currency := range []string{"jpy", "krw", "clp", "vnd", "isk", "pyg"} {
		for _, platform := range advert.Platforms {
			caps := CapsOf(platform)
			if !slices.Contains(caps.Currencies(), currency) {
				_, err := caps.Wire(2000*advert.AmountUnit, currency)
				require.ErrorContains(t, err, "does not support", "%s on %s", currency, platform)
				continue
			}
			wire, err := caps.Wire(2000*advert.AmountUnit, currency)
			require.NoError(t, err)
			back, err := caps.Amount(wire, currency)
			require.NoError(t, err)
			assert.Equal(t, 2000*advert.AmountUnit, back)
			_, err = caps.Wire(amount(t, "2000.50"), currency)
			assert.ErrorContains(t, err, "whole number", "%s on %s", currency, platform)
		}
	}
}

// TestMoney_OfCurrenciesWithThreeDecimals: Meta has two for the dinars that it knows; the rest is refused rather than
// guessed.
func TestMoney_OfCurrenciesWithThreeDecimals(t *testing.T) {
	t.Parallel()
	supported := map[advert.Platform][]string{
		advert.PlatformFacebook: {"bhd", "jod", "kwd"}, advert.PlatformInstagram: {"bhd", "jod", "kwd"},
	}
	for _, platform := range advert.Platforms {
		caps := CapsOf(platform)
		for _, currency := range []string{"bhd", "jod", "kwd", "omr", "tnd"} {
			wire, err := caps.Wire(amount(t, "20.50"), currency)
			if !slices.Contains(supported[platform], currency) {
				require.ErrorContains(t, err, "does not support", "%s on %s", currency, platform)
				continue
			}
			require.NoError(t, err)
			assert.Equal(t, "2050", wire, currency)
			back, err := caps.Amount(wire, currency)
			require.NoError(t, err)
			assert.Equal(t, amount(t, "20.50"), back)
		}
	}
}

func TestMoney_HasMetasOwnTable(t *testing.T) {
	t.Parallel()
	whole := strings.Fields("clp cop crc huf isk idr jpy krw pyg twd vnd")
	for _, platform := range []advert.Platform{advert.PlatformFacebook, advert.PlatformInstagram} {
		caps := CapsOf(platform)
		assert.Len(t, caps.Currencies(), 58)
		for _, currency := range caps.Currencies() {
			want := "2000"
			if !slices.Contains(whole, currency) {
				want = "200000"
			}
			wire, err := caps.Wire(2000*advert.AmountUnit, currency)
			require.NoError(t, err)
			assert.Equal(t, want, wire, currency)
		}
		for _, currency := range whole {
			assert.Contains(t, caps.Currencies(), currency)
		}
	}
	assert.Len(t, CapsOf(advert.PlatformPinterest).Currencies(), 26)
}

func TestMoney_RefusesAnUnknownCurrency(t *testing.T) {
	t.Parallel()
	for _, platform := range advert.Platforms {
		caps := CapsOf(platform)
		for _, currency := range []string{"", "xxx", "USD", "usdt", "unk"} {
			_, err := caps.Wire(20*advert.AmountUnit, currency)
			require.ErrorContains(t, err, "does not support", "%q on %s", currency, platform)
			_, err = caps.Amount("2000", currency)
			require.ErrorContains(t, err, "does not support", "%q on %s", currency, platform)
		}
	}
}

func TestWire_RefusesWhatIsNoBudget(t *testing.T) {
	t.Parallel()
	for _, platform := range advert.Platforms {
		for bad, want := range map[advert.Amount]error{
			0: advert.ErrAmountNotPositive, -20 * advert.AmountUnit: advert.ErrAmountNotPositive,
			20_001_000: advert.ErrAmountDecimals, 1: advert.ErrAmountDecimals,
		} {
			_, err := CapsOf(platform).Wire(bad, "usd")
			require.ErrorIs(t, err, want, "%d on %s", bad, platform)
		}
	}
}

func TestAmount_ReadsWhatNetworksReport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform       advert.Platform
		wire, currency string
		want           advert.Amount
	}{
		{advert.PlatformFacebook, "0", "usd", 0},
		{advert.PlatformFacebook, "3351", "usd", 33_510_000},
		{advert.PlatformFacebook, "3351", "jpy", 3351 * advert.AmountUnit},
		{advert.PlatformPinterest, "4137", "usd", 4137},
		{advert.PlatformTikTok, "33.51", "usd", 33_510_000},
		{advert.PlatformLinkedIn, "0.00", "eur", 0},
	} {
		got, err := CapsOf(c.platform).Amount(c.wire, c.currency)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, "%s of %s", c.wire, c.platform)
	}
}

func TestAmount_RefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	for _, platform := range advert.Platforms {
		for _, wire := range []string{"", "-1", "NaN", "1e3", "abc", strings.Repeat("9", 30)} {
			if _, err := CapsOf(platform).Amount(wire, "usd"); err == nil {
				t.Errorf("%s reads %q", platform, wire)
			}
		}
	}
	_, err := CapsOf(advert.PlatformFacebook).Amount("9223372036854775807", "usd")
	require.ErrorIs(t, err, advert.ErrAmountTooLarge)
	_, err = CapsOf(advert.PlatformFacebook).Amount("33.51", "usd")
	require.ErrorIs(t, err, advert.ErrAmountSyntax, "a network that counts cents has no decimals")
}
