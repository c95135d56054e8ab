package ads

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// MoneyUnit says how a network writes an amount of money.
type MoneyUnit string

// The units. 20.50 USD is 2050, 20500000, 20.5 and "20.50".
const (
	MoneyMinor   MoneyUnit = "minor"   // integer of the network's smallest unit, which is not always ISO 4217's
	MoneyMicros  MoneyUnit = "micros"  // integer of millionths
	MoneyWhole   MoneyUnit = "whole"   // number of whole units
	MoneyDecimal MoneyUnit = "decimal" // text of whole units
)

// Wire returns an amount as the network writes it, as the text of a JSON number. Only with MoneyDecimal does the caller
// have to put it in quotes. It refuses a currency that the network does not support, because a guessed unit could spend a
// hundred times as much. It also refuses an amount that it would have to round. Wire and Amount are the only places where
// money changes its unit.
func (c Caps) Wire(amount advert.Amount, currency string) (string, error) {
	if err := c.carries(amount, currency); err != nil {
		return "", err
	}
	switch c.Money {
	case MoneyMinor:
		return strconv.FormatInt(int64(amount)/c.micros(currency), 10), nil
	case MoneyMicros:
		return strconv.FormatInt(int64(amount), 10), nil
	case MoneyWhole:
		return strings.TrimRight(strings.TrimRight(amount.String(), "0"), "."), nil
	default:
		return amount.String(), nil
	}
}

// Amount reads an amount that the network wrote, which may be 0. Decimals beyond a micro are cut off.
func (c Caps) Amount(wire, currency string) (advert.Amount, error) {
	if _, ok := c.Decimals(currency); !ok {
		return 0, c.unknownCurrency(currency)
	}
	if c.Money == MoneyWhole || c.Money == MoneyDecimal {
		return advert.ParseSpend(wire)
	}
	units, err := strconv.ParseInt(wire, 10, 64)
	switch {
	case err != nil || units < 0:
		return 0, fmt.Errorf("read amount of %s: %w", c.Platform, advert.ErrAmountSyntax)
	case c.Money == MoneyMicros:
		return advert.Amount(units), nil
	case units > math.MaxInt64/c.micros(currency):
		return 0, advert.ErrAmountTooLarge
	}
	return advert.Amount(units * c.micros(currency)), nil
}

// micros returns how many micros the smallest amount in a supported currency has: a whole unit, or a hundredth of one.
func (c Caps) micros(currency string) int64 {
	if c.currencies[currency] == 0 {
		return int64(advert.AmountUnit)
	}
	return int64(advert.AmountUnit) / 100
}

// carries returns why the network cannot be sent an amount, or nil if it can. The text of the error can follow a field's
// name.
func (c Caps) carries(amount advert.Amount, currency string) error {
	decimals, ok := c.Decimals(currency)
	switch {
	case !ok:
		return c.unknownCurrency(currency)
	case amount <= 0:
		return advert.ErrAmountNotPositive
	case int64(amount)%c.micros(currency) == 0:
		return nil
	case decimals == 0:
		return fmt.Errorf("must be a whole number: %s has no decimals in %s", c.Platform, strings.ToUpper(currency))
	default:
		return advert.ErrAmountDecimals
	}
}

func (c Caps) unknownCurrency(currency string) error {
	return fmt.Errorf("is in a currency that %s does not support: %.20q", c.Platform, currency)
}

// metaCurrencies are those of the network's own table, which differs from ISO 4217. The forint and the Taiwan dollar have
// no decimals there, and the dinars have two instead of three.
var metaCurrencies = currencyTable(
	"clp cop crc huf isk idr jpy krw pyg twd vnd",
	`aed ars aud bdt bhd bob brl cad chf cny czk dkk dzd egp eur gbp gtq hkd hnl ils inr jod kes kwd lkr mop mxn myr ngn
	nio nok nzd pen php pkr pln qar ron sar sek sgd thb try uah usd uyu zar`,
)

var pinterestCurrencies = currencyTable(
	"clp jpy krw", "ars aud brl cad chf cop czk dkk eur gbp hkd huf ils inr mxn nok nzd pln ron sek sgd try usd",
)

// commonCurrencies returns a table for a network that publishes none. It has the currencies that products can be sold in,
// except those with three decimals, which networks treat in different ways.
func commonCurrencies() map[string]int {
	decimals := map[string]int{}
	for _, code := range core.Currencies() {
		if known, _ := core.LookupCurrency(code); known.Exponent <= 2 {
			decimals[code] = known.Exponent
		}
	}
	return decimals
}

// currencyTable makes a table of currencies whose amounts are whole and of those whose amounts have two decimals.
func currencyTable(whole, hundredths string) map[string]int {
	table := map[string]int{}
	for _, code := range strings.Fields(whole) {
		table[code] = 0
	}
	for _, code := range strings.Fields(hundredths) {
		table[code] = 2
	}
	return table
}
