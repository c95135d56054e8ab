package store

import "encoding/base64"

// TypedBy returns what a browser keeps into which somebody has typed who buys by a checkout, by which IsTypedBy knows it again. It opens nothing.
func (s *Store) TypedBy(c *Checkout) string {
	return base64.RawURLEncoding.EncodeToString(s.db.Options.Sealer.Sign(contextOfTyped + c.ID))
}

// IsTypedBy reports whether TypedBy returned a text for the checkout, on this server or another one with its secret key. Nothing is read.
func (s *Store) IsTypedBy(c *Checkout, text string) bool {
	signature, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && s.db.Options.Sealer.Signed(contextOfTyped+c.ID, signature)
}

const contextOfTyped = "checkout.typed:"
