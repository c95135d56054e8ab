package pages

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// checkoutPage is what the page of a checkout shows.
type checkoutPage struct {
	Checkout     *store.Checkout
	Seller       *store.Account
	Items        []store.LineItem
	Renewals     map[string]string // of the recurring lines, by their id: how often they are paid
	CustomFields []store.CustomField
	Base         string // what leads from the address of the page to that of the checkout's actions
	State        string // open, action, elsewhere, processing, paid or expired
	SuccessURL   string
	Forward      string            // where the buyer goes at once
	TakesCards   bool              // the buyer can type a test card here
	StripeKey    string            // with which Stripe takes a card here, else empty
	Carried      map[string]string // what the form hands on unseen
	Form         map[string]string // what was typed, but for the card
	Problems     map[string]string // what is wrong with it, by field
	AsksLetter   bool              // the buyer can have a letter sent, to confirm their address
	LetterSent   bool              // and has
}

// TakesStripe tells whether Stripe takes a card on the page.
func (p checkoutPage) TakesStripe() bool {
	return p.StripeKey != "" && p.State == string(store.CheckoutStatusOpen) && p.needsCard()
}

// TakesTestCard tells whether the buyer types a test card into the page.
func (p checkoutPage) TakesTestCard() bool { return p.TakesCards && p.needsCard() }

// needsCard tells whether the buyer pays, now or when what costs nothing today is renewed.
func (p checkoutPage) needsCard() bool {
	renewed := func(item store.LineItem) bool { return p.Renewals[item.ID] != "" && item.UnitAmount > 0 }
	return p.Checkout.PaymentMethodRequired || slices.ContainsFunc(p.Items, renewed)
}

// Stripe is the part of the form in which Stripe takes a card.
func (p checkoutPage) Stripe() stripeForm { return stripeForm{p.StripeKey, p.Problems["card_number"]} }

// CanPay tells whether the buyer can complete the checkout on the page.
func (p checkoutPage) CanPay() bool {
	return p.TakesCards || p.StripeKey != "" || !p.Checkout.PaymentMethodRequired
}

// checkout serves the page to which a seller sends a buyer.
func (p *Pages) checkout(c echo.Context) error {
	ctx := c.Request().Context()
	account, id, err := p.store.CheckoutOfSecret(ctx, c.Param("client_secret"))
	if err != nil {
		return p.refuse(c, err)
	}
	if c.QueryParam("redirect_status") != "" {
		p.welcomeBack(ctx, account, id)
	}
	return p.showCheckout(c, http.StatusOK, account, id, nil, nil)
}

// showCheckout answers with the page of a checkout as it stands, what was typed into its form, and what is wrong with that.
func (p *Pages) showCheckout(c echo.Context, status int, account, id string, form, problems map[string]string) error {
	ctx := c.Request().Context()
	checkout, err := p.store.GetCheckout(ctx, account, id)
	if err != nil {
		return p.refuse(c, err)
	}
	offer, err := p.store.GetCheckoutOffer(ctx, checkout)
	if err != nil {
		return p.refuse(c, err)
	}
	page, err := p.pageOf(ctx, checkout, offer)
	if err != nil {
		return err
	}
	page.Form, page.Problems, page.Base = form, problems, url.PathEscape(checkout.ClientSecret)+"/"
	if strings.HasSuffix(c.Path(), "/pay") || strings.HasSuffix(c.Path(), "/verify") { // the answer to a form that was refused
		page.Base = ""
	}
	if err := p.offerLetter(c, checkout, page); err != nil {
		return err
	}
	if page.State == "elsewhere" {
		page.Forward = forward(c, checkout.NextAction.V.URL)
	}
	return p.render(c, status, "checkout.html", page)
}

// pageOf is the page of a checkout as it stands, and who sells.
func (p *Pages) pageOf(ctx context.Context, checkout *store.Checkout, offer *store.CheckoutOffer) (*checkoutPage, error) {
	renewals, err := p.renewals(ctx, checkout.AccountID, offer.Items)
	return &checkoutPage{
		Checkout: checkout, Seller: offer.Seller, Items: offer.Items, Renewals: renewals, CustomFields: askedOnce(offer.CustomFields),
		State: p.state(checkout), SuccessURL: successURL(checkout),
		TakesCards: offer.Seller.PaymentsProvider == store.PaymentsProviderTest && p.authenticator != nil,
		StripeKey:  offer.Seller.CardKey(),
	}, err
}

// offerLetter finds out whether the buyer gets something from confirming their address: what they have bought is on their account
// then, and a discount that depends on who they are can be used.
func (p *Pages) offerLetter(c echo.Context, checkout *store.Checkout, page *checkoutPage) error {
	isBought := checkout.Status == store.CheckoutStatusCompleted
	if !p.post.Sends() || checkout.CustomerEmail == nil || !isBought && checkout.Status != store.CheckoutStatusOpen {
		return nil
	}
	isVerified, err := p.store.IsVerified(c.Request().Context(), checkout)
	if err != nil || isVerified {
		return err
	}
	page.LetterSent = c.QueryParam(letterSent) != ""
	page.AsksLetter = isBought || page.LetterSent || page.Problems["letter"] != ""
	if !page.AsksLetter && checkout.DiscountID != nil {
		page.AsksLetter, err = p.store.IsPersonalDiscount(c.Request().Context(), checkout)
	}
	return err
}

// askedOnce leaves out what another product asks under the same key: it is answered once, and the answer has to satisfy both.
func askedOnce(fields []store.CustomField) []store.CustomField {
	var once []store.CustomField
	for _, field := range fields {
		i := slices.IndexFunc(once, func(f store.CustomField) bool { return f.Key == field.Key })
		if i < 0 {
			once = append(once, field)
		} else {
			once[i].Required = once[i].Required || field.Required
		}
	}
	return once
}

// renewals says how often lines are paid, of those that are paid more than once.
func (p *Pages) renewals(ctx context.Context, account string, items []store.LineItem) (map[string]string, error) {
	ids := map[string]string{}
	for _, item := range items {
		if item.Kind == store.LineItemKindPrice {
			ids[item.ID] = *item.PriceVariantID
		}
	}
	variants, err := p.store.PriceVariantsByID(ctx, account, slices.Collect(maps.Values(ids)))
	if err != nil {
		return nil, err
	}
	renewals := map[string]string{}
	for item, id := range ids {
		if v := variants[id]; v != nil && v.Type == store.PriceVariantTypeRecurring {
			renewals[item] = paidEvery(v)
		}
	}
	return renewals, nil
}

// every is how often something recurs: every month, every 3 weeks.
func every(interval string, count int64) string {
	if count == 1 {
		return "every " + interval
	}
	return "every " + strconv.FormatInt(count, 10) + " " + interval + "s"
}

// paidEvery is how often a recurring price is paid: every year, 5 times.
func paidEvery(v *store.PriceVariant) string {
	text := every(*v.Interval, *v.IntervalCount)
	if v.BillingCycles != nil {
		text += ", " + strconv.FormatInt(*v.BillingCycles, 10) + " times"
	}
	return text
}

// welcomeBack asks what became of a payment for which the buyer was with their bank. What it does not learn is found out
// without them, and until then the page says that the payment is being processed.
func (p *Pages) welcomeBack(ctx context.Context, account, id string) {
	payment, err := p.store.CheckoutPayment(ctx, account, id)
	if err == nil {
		_, err = p.billing.ResumePayment(ctx, account, payment.ID)
	}
	if err != nil && !isMissing(err) && core.OutcomeOf(err) != core.Recorded {
		slog.WarnContext(ctx, "ask about a payment", "error", err)
	}
}

// authenticate is the buyer's consent: the charge that waited for it goes on.
func (p *Pages) authenticate(c echo.Context) error {
	if p.authenticator == nil {
		return echo.ErrNotFound
	}
	ctx := c.Request().Context()
	account, id, err := p.store.CheckoutOfSecret(ctx, c.Param("client_secret"))
	if err != nil {
		return p.refuse(c, err)
	}
	checkout, err := p.store.GetCheckout(ctx, account, id)
	if err != nil {
		return p.refuse(c, err)
	}
	payment, err := p.store.CheckoutPayment(ctx, account, id)
	if err == nil && payment.ProviderRef != nil && p.state(checkout) == "action" {
		if _, err = p.authenticator.Authenticate(ctx, account, *payment.ProviderRef); err == nil {
			_, err = p.billing.ResumePayment(ctx, account, payment.ID)
		}
	}
	if err != nil && !isMissing(err) && core.OutcomeOf(err) != core.Recorded {
		return err
	}
	// Whatever came of it, or was done in another window, the page says. Addresses are relative: a proxy may have put
	// us below a path of its own.
	return c.Redirect(http.StatusSeeOther, "../"+url.PathEscape(c.Param("client_secret")))
}

// cancelPayment gives up a payment that waits for the buyer, who wants to pay otherwise or not at all. What it holds is free.
func (p *Pages) cancelPayment(c echo.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), payTime)
	defer cancel()
	account, id, err := p.store.CheckoutOfSecret(ctx, c.Param("client_secret"))
	if err != nil {
		return p.refuse(c, err)
	}
	if err := p.billing.CancelCheckoutPayment(ctx, account, id); err != nil {
		slog.WarnContext(ctx, "cancel a payment", "error", err) // the page says how it stands
	}
	return c.Redirect(http.StatusSeeOther, "../"+url.PathEscape(c.Param("client_secret")))
}

func (p *Pages) state(c *store.Checkout) string {
	next := c.NextAction.V
	switch {
	case c.Status == store.CheckoutStatusCompleted:
		return "paid"
	case c.Status == store.CheckoutStatusProcessing && next != nil && next.URL != c.URL:
		return "elsewhere"
	case c.Status == store.CheckoutStatusProcessing && next != nil && p.authenticator != nil:
		return "action"
	default:
		return string(c.Status)
	}
}

// successURL is where the seller wants the buyer after paying.
func successURL(c *store.Checkout) string {
	if c.SuccessURL == nil {
		return ""
	}
	return strings.ReplaceAll(*c.SuccessURL, "{CHECKOUT_ID}", c.ID)
}
