package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
)

// stripePolicy is what a page may do beyond the others while Stripe takes a card on it: what Stripe says that its
// script needs, and our own script.
func stripePolicy(script []byte) string {
	return "; script-src " + hashOf(script) + " https://js.stripe.com https://*.js.stripe.com" +
		"; frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com; connect-src https://api.stripe.com"
}

// hashOf is how a policy allows a script or a style that is part of the page.
func hashOf(text []byte) string {
	hash := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}

// stripeForm is the part of a form in which Stripe takes a card.
type stripeForm struct {
	Key     string // publishable
	Problem string // what is wrong with the card that was sent
}

// TestMode tells whether no money moves.
func (f stripeForm) TestMode() bool { return strings.HasPrefix(f.Key, "pk_test_") }

// stripeMethod is what Stripe made of a card, nil if nothing was sent. What customers have saved is not for those who
// only have the address of a page.
func stripeMethod(ref string) *payments.MethodInput {
	if _, saved := core.ParseID(core.KindPaymentMethod, ref); saved || ref == "" {
		return nil
	}
	return &payments.MethodInput{Ref: ref}
}

// toBank is the parameter of a page that sends its buyer on to the bank. Without it a buyer who comes back would be
// sent there again.
const toBank = "to_bank"

// forward is where a page sends its buyer at once, empty if nowhere.
func forward(c echo.Context, next string) string {
	if c.QueryParam(toBank) == "" || !strings.HasPrefix(next, "https://") {
		return ""
	}
	return next
}

// back leads from below a page, where forms are sent to, to the page. It is relative: a proxy may have put us below a
// path of its own. A policy of forms would stop one that leads to a bank, so that the page leads there.
func back(secret, next string) string {
	address := "../" + url.PathEscape(secret)
	if next != "" {
		address += "?" + toBank + "=1"
	}
	return address
}
