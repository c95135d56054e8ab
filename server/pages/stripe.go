package pages

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
)

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

// backTo sends a buyer back from a form to its page, which is one level above, in the language that the form's address asks for. The address of
// the page says what follows, a name and its value, and hands on what ad networks appended. It is relative, because a proxy may have put us below a path of its own. On to their bank
// the page itself sends a buyer (toBank): its policy would stop a redirect of the form to another site.
func (p *Pages) backTo(c echo.Context, secret string, says ...string) error {
	address := "../" + url.PathEscape(secret) + p.ask(c)
	if len(says) > 0 {
		address = with(address, says[0], says[1])
	}
	carried := clicks(sentOrAsked(c))
	for _, param := range slices.Sorted(maps.Keys(carried)) {
		address = with(address, param, carried[param])
	}
	return c.Redirect(http.StatusSeeOther, address)
}
