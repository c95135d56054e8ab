package payments

import (
	"strings"
	"time"
)

// Card is a card as a buyer types it. It is never stored and never logged.
type Card struct {
	Number   string // digits; spaces between them are ignored
	ExpMonth int
	ExpYear  int
	CVC      string // empty: none was typed
}

// CardFault is something in a card that no bank takes.
type CardFault struct {
	Reason  string // incorrect_number, invalid_expiry, expired_card or incorrect_cvc
	Message string
}

// Faults returns all that is wrong with a card by its form, number first. A code that is missing is no fault.
func (c Card) Faults(now time.Time) (all []CardFault) {
	fault := func(reason, message string) { all = append(all, CardFault{reason, message}) }
	if !luhn(c.Digits()) {
		fault("incorrect_number", "The card number is incorrect.")
	}
	switch {
	case c.ExpMonth < 1 || c.ExpMonth > 12:
		fault("invalid_expiry", "The card's expiry month must be 1 to 12.")
	case c.expired(now):
		fault("expired_card", "The card has expired.")
	}
	if c.CVC != "" && !c.allows(c.CVC) {
		fault("incorrect_cvc", "The card's security code is incorrect.")
	}
	return all
}

// Digits returns the number of a card without spaces.
func (c Card) Digits() string { return strings.ReplaceAll(c.Number, " ", "") }

// expired reports whether the last month in which the card is valid is over.
func (c Card) expired(now time.Time) bool {
	end := time.Date(c.ExpYear, time.Month(c.ExpMonth)+1, 1, 0, 0, 0, 0, time.UTC)
	return !now.Before(end)
}

// allows checks the form of a security code. American Express, whose numbers begin with 34 or 37, has four digits, and all others have three.
func (c Card) allows(cvc string) bool {
	want := 3
	if number := c.Digits(); strings.HasPrefix(number, "34") || strings.HasPrefix(number, "37") {
		want = 4
	}
	return len(cvc) == want && strings.Trim(cvc, "0123456789") == ""
}

// luhn reports whether the last digit of a card number, which is a checksum, matches the others.
func luhn(number string) bool {
	if len(number) < 12 || len(number) > 19 || strings.Trim(number, "0123456789") != "" {
		return false
	}
	sum := 0
	for i := range len(number) {
		digit := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if digit *= 2; digit > 9 {
				digit -= 9
			}
		}
		sum += digit
	}
	return sum%10 == 0
}
