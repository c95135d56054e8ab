package pages

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
)

// checkoutPage is the data of checkout.html, for the page of a checkout and that of a checkout link.
type checkoutPage struct {
	l             *locale.Locale
	variants      map[string]*catalog.PriceVariant // of the lines, by id
	Checkout      *checkout.Checkout
	Seller        *tenant.Account
	Items         []shownLine
	Shown         string // what Checkout.Shown returns
	CallToAction  string // what the seller has the button say before the amount, empty for nothing
	CustomFields  []catalog.CustomField
	TermsRequired bool   // the buyer has to tick that they accept them
	Terms         []term // legal pages that are accepted with that
	TermsShown    string // which texts of them the page shows
	AsksWaiver    bool   // the buyer has to tick that they give up their right to withdraw
	AsksNews      bool   // the buyer may tick that the seller sends them news
	Base          string // relative path from the page to where its forms are sent
	Ask           string // what ask returns, which ends the addresses on the page
	State         string // open, action, elsewhere, processing, paid or expired
	SuccessURL    string
	Forward       string            // to which the page sends the buyer at once, else empty
	TakesCards    bool              // the buyer can type a test card here
	StripeKey     string            // publishable key with which Stripe takes a card here, else empty
	Carried       map[string]string // hidden fields of the form
	Asks          bool              // for the country, because the tax depends on it
	Country       string            // the one that is chosen, empty for none
	Form          map[string]string // what was typed, now or before, without the card
	Problems      map[string]string // what is wrong with what was typed, by field
	AdNetworks    string            // which the buyer is asked about whether they may be told; "": they are not asked
	Portal        string            // where the buyer finds all that they bought, empty if the server sends no mail with a way in
	AsksLetter    bool              // the buyer can have a letter sent, to confirm their address
	ForTrial      bool              // because they have a trial then, and not because of a discount
	LetterSent    bool              // the buyer has just asked for one
	Order         *order.Order      // once it is paid
	Deliveries    []grant.Delivery  // what the buyer has by it
	Share         *share            // what other sites show of the page, nil for nothing
}

// TakesStripe reports whether Stripe takes a card on the page.
func (p checkoutPage) TakesStripe() bool {
	return p.StripeKey != "" && p.State == string(checkout.StatusOpen) && p.needsCard()
}

// TakesTestCard reports whether the buyer types a test card into the page.
func (p checkoutPage) TakesTestCard() bool { return p.TakesCards && p.needsCard() }

// needsCard reports whether the buyer has to give a card: because they pay now, or because what costs nothing today is renewed
// for money.
func (p checkoutPage) needsCard() bool {
	return p.Checkout.PaymentMethodRequired || p.recurs()
}

// recurs reports whether something that is bought is renewed for money.
func (p checkoutPage) recurs() bool {
	return slices.ContainsFunc(p.Items, func(item shownLine) bool { return item.Renewal != "" && item.UnitAmount > 0 })
}

// Stripe returns the data of the part of the form in which Stripe takes a card.
func (p checkoutPage) Stripe() stripeForm { return stripeForm{p.StripeKey, p.Problems["card_number"]} }

// CanPay reports whether the buyer can complete the checkout on the page.
func (p checkoutPage) CanPay() bool {
	return p.TakesCards || p.StripeKey != "" || !p.Checkout.PaymentMethodRequired
}

// checkout serves the page to which a seller sends a buyer. If the buyer comes back from their bank, it first asks what became
// of the payment.
func (p *Pages) checkout(c echo.Context) error {
	ctx := c.Request().Context()
	account, id, err := p.store.Checkout.OfSecret(ctx, c.Param("client_secret"))
	if err != nil {
		return p.refuse(c, err)
	}
	if c.QueryParam("redirect_status") != "" {
		p.welcomeBack(ctx, account, id)
	}
	return p.showCheckout(c, http.StatusOK, account, id, nil, nil)
}

// showCheckout answers with the page of a checkout as it stands now. Form is what the buyer typed, so that it is there again. Problems is what is
// wrong with it, by the name of the field; the empty name is for problems of the whole form. Both may be nil.
func (p *Pages) showCheckout(c echo.Context, status int, account, id string, form, problems map[string]string) error {
	ctx := c.Request().Context()
	checkout, err := p.store.Checkout.Get(ctx, account, id)
	if err != nil {
		return p.refuse(c, err)
	}
	theirs := checkout.Locale
	if theirs == nil { // the terms are those of the language in which the page is read
		checkout.Locale = p.buyers(c)
	}
	offer, err := p.store.Checkout.GetOffer(ctx, checkout)
	if err != nil {
		return p.refuse(c, err)
	}
	asks, country, err := guessCountry(c, checkout, offer, form)
	if err != nil {
		return err
	}
	page, err := p.pageOf(ctx, p.speak(c, theirs, offer.Seller.Locale), checkout, offer)
	if err != nil {
		return err
	}
	if isLate(c, page.State) {
		return p.backTo(c, checkout.ClientSecret)
	}
	page.Asks, page.Country = asks, country
	page.Form, page.Problems, page.Base, page.Ask = form, problems, url.PathEscape(checkout.ClientSecret)+"/", p.ask(c)
	dropOldTick(form, offer)
	before := p.typedBefore(c, checkout, page.TermsShown)
	if form["do"] != "" && form["do"] != doCount {
		maps.DeleteFunc(before, func(name, _ string) bool { return slices.Contains(ticks, name) }) // the form has those of now
	}
	if page.Pays() && before != nil && form["do"] != doCount { // our script keeps the fields of its page
		page.keep(before)
	}
	page.sayRequired()
	page.askWaiver(offer)
	page.keepChoices()
	if form["do"] == doPay || form["do"] == doEnter {
		page.sayMissing(p.cardFaults(c, page.l))
	}
	page.sayStock()
	page.sayState(c.QueryParam(told))
	page.keepTicks(before, page.Problems != nil || c.QueryParam(told) != "")
	if strings.HasSuffix(c.Path(), "/pay") || strings.HasSuffix(c.Path(), "/verify") { // a refused form is answered below the page
		page.Base = ""
	}
	page.linkFiles()
	if p.post.Sends() && checkout.CustomerEmail != nil {
		page.Portal = page.Base + "../../portal" + atShop(page.Ask, page.Seller)
	}
	if err := p.offerLetter(c, checkout, page); err != nil {
		return err
	}
	if err := p.askAds(ctx, page, sentOrAsked(c)); err != nil {
		return err
	}
	switch page.State {
	case "elsewhere":
		page.Forward = forward(c, checkout.NextAction.V.URL)
	case "paid":
		page.Forward = toShop(c, page.SuccessURL)
	}
	return p.render(c, status, "checkout.html", page.frame(), page)
}

// pageOf gathers what the page of a checkout shows in a language, of the checkout and of its seller.
func (p *Pages) pageOf(ctx context.Context, l *locale.Locale, checkout *checkout.Checkout, offer *checkout.Offer) (*checkoutPage, error) {
	variants, err := p.variantsOf(ctx, checkout.AccountID, offer.Items)
	if err != nil {
		return nil, err
	}
	page := &checkoutPage{
		l: l, Checkout: checkout, Seller: offer.Seller, Items: shownLines(l, offer, variants), CustomFields: askedOnce(offer.CustomFields),
		TermsRequired: offer.TermsRequired(), State: p.state(checkout), SuccessURL: successURL(checkout),
		TakesCards: offer.Seller.PaymentsProvider == tenant.PaymentsProviderTest && p.authenticator != nil,
		StripeKey:  offer.Seller.CardKey(),
	}
	page.AsksNews = p.asksNews(offer.Seller, checkout)
	if page.Shown, err = checkout.Shown(offer.Items); err != nil {
		return nil, err
	}
	page.variants = variants
	page.letChoose(variants)
	page.letCount(variants)
	if err := p.sayNext(ctx, page, variants); err != nil {
		return nil, err
	}
	if page.Only() != nil && l.Tag != "de" { // German law has the button say no more than that it buys
		page.CallToAction = text(page.Items[0].CallToAction)
	}
	if err := p.showBought(ctx, page); err != nil {
		return nil, err
	}
	return page, p.askTerms(ctx, page, offer)
}

// offerLetter decides whether the page offers to send a letter by which the buyer can confirm their address. It does if that is of use to them. After
// a purchase, the letter puts it on their account. Before one, the letter helps if the discount or a trial depends on who they are. It does not if no
// mail is sent, or the address is confirmed already.
func (p *Pages) offerLetter(c echo.Context, bought *checkout.Checkout, page *checkoutPage) error {
	isBought := bought.Status == checkout.StatusCompleted
	if !p.post.Sends() || bought.CustomerEmail == nil || !isBought && bought.Status != checkout.StatusOpen {
		return nil
	}
	isVerified, err := p.store.Checkout.IsVerified(c.Request().Context(), bought)
	if err != nil || isVerified {
		return err
	}
	page.LetterSent = c.QueryParam(letterSent) != ""
	page.AsksLetter = isBought || page.LetterSent || page.Problems["letter"] != ""
	if isBought {
		return nil
	}
	isPersonal, err := p.store.Checkout.IsPersonalDiscount(c.Request().Context(), bought)
	if err == nil && !isPersonal {
		page.ForTrial, err = p.store.Checkout.HasPersonalTrial(c.Request().Context(), bought)
	}
	page.AsksLetter = page.AsksLetter || isPersonal || page.ForTrial
	return err
}

// askedOnce drops questions that several products ask under the same key, so that the buyer answers once. The one that is kept
// is required if any of them is; the answer still has to satisfy them all.
func askedOnce(fields []catalog.CustomField) []catalog.CustomField {
	var once []catalog.CustomField
	for _, field := range fields {
		i := slices.IndexFunc(once, func(f catalog.CustomField) bool { return f.Key == field.Key })
		if i < 0 {
			once = append(once, field)
		} else {
			once[i].Required = once[i].Required || field.Required
		}
	}
	return once
}

// variantsOf returns the price variants of lines, by id. Those that were deleted are left out.
func (p *Pages) variantsOf(ctx context.Context, account string, items []lineitem.Item) (map[string]*catalog.PriceVariant, error) {
	var ids []string
	for _, item := range items {
		if item.Kind == lineitem.KindPrice {
			ids = append(ids, *item.PriceVariantID)
		}
	}
	return p.store.Catalog.PriceVariantsByID(ctx, account, ids)
}

// paidEvery returns how often a recurring price is paid, such as "every year" or "every month, 5 times".
func paidEvery(l *locale.Locale, v *catalog.PriceVariant) string {
	return l.Times(l.Every(*v.Interval, *v.IntervalCount), v.BillingCycles)
}

// welcomeBack asks the provider what became of a checkout's payment, once its buyer comes back from their bank, however often they do. A failure is
// only logged: the reconciler asks again, and until then the page says that the payment is being processed.
func (p *Pages) welcomeBack(ctx context.Context, account, id string) {
	payment, err := p.store.Payment.OfCheckout(ctx, account, id)
	if err == nil {
		_, err = p.billing.LookAtPayment(ctx, account, payment.ID)
	}
	if err != nil && !isMissing(err) && core.OutcomeOf(err) != core.Recorded {
		slog.WarnContext(ctx, "ask about a payment", "error", err)
	}
}

// authenticate serves the button with which a buyer approves a charge of the test provider, which then goes on. Without that
// provider it is 404. Whatever comes of it, the buyer is sent back to the page, which says how the checkout stands.
func (p *Pages) authenticate(c echo.Context) error {
	if p.authenticator == nil {
		return echo.ErrNotFound
	}
	ctx := c.Request().Context()
	account, id, err := p.store.Checkout.OfSecret(ctx, c.Param("client_secret"))
	if err != nil {
		return p.refuse(c, err)
	}
	checkout, err := p.store.Checkout.Get(ctx, account, id)
	if err != nil {
		return p.refuse(c, err)
	}
	payment, err := p.store.Payment.OfCheckout(ctx, account, id)
	if err == nil && payment.ProviderRef != nil && p.state(checkout) == "action" {
		if _, err = p.authenticator.Authenticate(ctx, account, *payment.ProviderRef); err == nil {
			_, err = p.billing.ResumePayment(ctx, account, payment.ID)
		}
	}
	if err != nil && !isMissing(err) && core.OutcomeOf(err) != core.Recorded {
		return err
	}
	// The page says what came of it, or what was done in another window. The address is relative, because a proxy may have put
	// us below a path of its own.
	return p.backTo(c, c.Param("client_secret"))
}

// cancelPayment serves the button with which a buyer gives up a payment that waits for them, to pay in another way or not at
// all. What the payment holds is free again. The work goes on when the buyer closes the page.
func (p *Pages) cancelPayment(c echo.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), payTime)
	defer cancel()
	account, id, err := p.store.Checkout.OfSecret(ctx, c.Param("client_secret"))
	if err != nil {
		return p.refuse(c, err)
	}
	if err := p.billing.LeavePayment(ctx, account, id); err != nil {
		slog.WarnContext(ctx, "cancel a payment", "error", err) // the page says how the checkout stands now
	}
	return p.backTo(c, c.Param("client_secret"))
}

// state returns which form of the page a checkout is shown in. It is "paid", "elsewhere" if the buyer has to go to their bank's page, or "action"
// if they approve the charge on ours. Otherwise it is the checkout's own status.
func (p *Pages) state(c *checkout.Checkout) string {
	next := c.NextAction.V
	switch {
	case c.Status == checkout.StatusCompleted:
		return "paid"
	case c.Status == checkout.StatusProcessing && next != nil && next.URL != c.URL:
		return "elsewhere"
	case c.Status == checkout.StatusProcessing && next != nil && p.authenticator != nil:
		return "action"
	default:
		return string(c.Status)
	}
}

// successURL returns the address to which the seller wants the buyer to go after paying, empty if there is none.
func successURL(c *checkout.Checkout) string {
	if c.SuccessURL == nil {
		return ""
	}
	return strings.ReplaceAll(*c.SuccessURL, "{CHECKOUT_ID}", c.ID)
}
