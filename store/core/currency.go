package core

import (
	"fmt"
	"maps"
	"slices"
)

// Currency describes a currency that prices may be in.
type Currency struct {
	Exponent int   // digits of the minor unit: 2 for cents, 0 for yen, 3 for fils
	Minimum  int64 // least amount that can be charged, in the minor unit
}

// LookupCurrency returns a currency by its lower-case ISO 4217 code, and whether it is supported.
func LookupCurrency(code string) (Currency, bool) {
	c, ok := currencies[code]
	return c, ok
}

// CurrencyOf returns a supported currency by its lower-case ISO 4217 code, and the zero value for any other.
func CurrencyOf(code string) Currency { return currencies[code] }

// Step returns what amounts that are charged are multiples of, in the minor unit. Those with three decimals are charged in tens, because card
// networks take no others.
func (c Currency) Step() int64 {
	if c.Exponent == 3 {
		return 10
	}
	return 1
}

// Refuses returns the reason why an amount cannot be charged in the currency, whose code is code, or "" if it can: see
// Step.
func (c Currency) Refuses(code string, amount int64) string {
	switch {
	case amount < c.Minimum:
		return fmt.Sprintf("The least amount in %s is %d, in its minor unit. Send amount_type free to give it away.", code, c.Minimum)
	case amount%c.Step() != 0:
		return fmt.Sprintf("An amount in %s, in its minor unit, is divisible by %d.", code, c.Step())
	}
	return ""
}

// Currencies lists the codes of the supported currencies, in order.
func Currencies() []string { return slices.Sorted(maps.Keys(currencies)) }

// currencies lists the supported currencies, and is never changed. Each minimum is the least amount that card networks charge,
// rounded up where providers differ.
var currencies = map[string]Currency{
	"aed": {2, 200}, "aud": {2, 70}, "bgn": {2, 100}, "bhd": {3, 200}, "brl": {2, 50}, "cad": {2, 70}, "chf": {2, 50}, "clp": {0, 500},
	"cop": {2, 200000}, "czk": {2, 1500}, "dkk": {2, 250}, "eur": {2, 50}, "gbp": {2, 40}, "hkd": {2, 400},
	"huf": {2, 17500}, "idr": {2, 1000000}, "ils": {2, 200}, "inr": {2, 5000}, "isk": {0, 75}, "jod": {3, 360}, "jpy": {0, 50},
	"krw": {0, 700}, "kwd": {3, 160}, "mxn": {2, 1000}, "myr": {2, 200}, "ngn": {2, 80000}, "nok": {2, 300}, "nzd": {2, 80},
	"omr": {3, 200},
	"pen": {2, 200}, "php": {2, 3000}, "pln": {2, 200}, "ron": {2, 200}, "sar": {2, 200}, "sek": {2, 300},
	"sgd": {2, 50}, "thb": {2, 1000}, "tnd": {3, 1600}, "try": {2, 2000}, "twd": {2, 1600}, "uah": {2, 2100}, "usd": {2, 50},
	"uyu": {2, 2000}, "vnd": {0, 13000}, "zar": {2, 900},
}
