package core

import (
	"math"
	"testing"
)

func TestFormatAmount_PlacesThePointByTheCurrency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount   int64
		currency string
		want     string
	}{
		{0, "usd", "USD\u00a00.00"},
		{5, "usd", "USD\u00a00.05"},
		{100, "usd", "USD\u00a01.00"},
		{190000, "usd", "USD\u00a01,900.00"},
		{1900, "jpy", "JPY\u00a01,900"},
		{0, "jpy", "JPY\u00a00"},
		{1900, "kwd", "KWD\u00a01.900"},
		{-5, "usd", "USD\u00a0-0.05"},
		{-100000, "jpy", "JPY\u00a0-100,000"},
		{math.MaxInt64, "usd", "USD\u00a092,233,720,368,547,758.07"},
		{math.MinInt64, "usd", "USD\u00a0-92,233,720,368,547,758.08"},
	} {
		if got := FormatAmount(c.amount, c.currency); got != c.want {
			t.Errorf("%d %s reads %q, want %q", c.amount, c.currency, got, c.want)
		}
	}
}
