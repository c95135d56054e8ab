package checkout

import (
	"strings"
	"unicode"
)

// MarkTyped returns a mark of what somebody typed into a field of a checkout's form, by which their browser is known again. It opens nothing, and says
// nothing to who does not know the value.
func (s *Store) MarkTyped(c *Checkout, field, value string) []byte {
	return s.db.Options.Sealer.Sign(typedText(c, field, value))
}

// IsTyped reports whether a mark is of a value in a field of the checkout's form. This server made the mark, or another one with its secret key.
// It makes no difference how the value is written: a checkout stores it in its own way. Nothing is read.
func (s *Store) IsTyped(c *Checkout, field, value string, mark []byte) bool {
	return s.db.Options.Sealer.Signed(typedText(c, field, value), mark)
}

func typedText(c *Checkout, field, value string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, value)
	return "checkout.typed:" + c.ID + "\n" + field + "\n" + plain
}
