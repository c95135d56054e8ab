package pages

import (
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
)

// stripePolicy returns what the Content-Security-Policy of a page allows besides that of other pages, so that Stripe can take a
// card: what Stripe says its script needs, and our own script. What ours and connects name besides, more of ours needs.
func stripePolicy(script []byte, ours, connects string) string {
	return "; script-src " + ui.HashOf(script) + ours + " https://js.stripe.com https://*.js.stripe.com" +
		"; frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com; connect-src https://api.stripe.com" + connects
}

// stripeForm is the data of the part of a form in which Stripe takes a card.
type stripeForm struct {
	Key     string // publishable
	Problem string // what is wrong with the card that was sent
}

// TestMode reports whether Stripe moves no real money.
func (f stripeForm) TestMode() bool { return strings.HasPrefix(f.Key, "pk_test_") }

// stripeMethod returns the payment method that Stripe made of a card, nil if none was sent. The id of a saved method is ignored
// too: who only has the address of a page may not charge what a customer has saved.
func stripeMethod(ref string) *payments.MethodInput {
	if _, saved := core.ParseID(core.KindPaymentMethod, ref); saved || ref == "" {
		return nil
	}
	return &payments.MethodInput{Ref: ref}
}

// toBank is the parameter of the address of a page that sends its buyer on to their bank. When the bank sends them back, the
// parameter is missing, so that they are not sent there again.
const toBank = "to_bank"

// forward returns the address to which a page sends its buyer at once, empty if nowhere.
func forward(c echo.Context, next string) string {
	if c.QueryParam(toBank) == "" || !strings.HasPrefix(next, "https://") {
		return ""
	}
	return next
}

// back returns the address of a page as seen from the address of its forms, which is one level below. It is relative, because a
// proxy may have put us below a path of its own. If next is given, the page itself sends the buyer on to their bank: a redirect
// of the form to another site would be stopped by the policy of the page.
func back(secret, next string) string {
	address := "../" + url.PathEscape(secret)
	if next != "" {
		address += "?" + toBank + "=1"
	}
	return address
}
