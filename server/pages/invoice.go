package pages

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

// payTime is how long a payment may take that has begun. It goes on when the buyer closes the page.
const payTime = 55 * time.Second

// documentPage is the data of document.html: what an invoice or a receipt says, and what its reader can do about it.
type documentPage struct {
	*invoicepdf.Document
	State   string // of an invoice: pay, stripe, closed, disabled, action, elsewhere, processing, or empty
	Due     int64  // what is to be paid, in minor units
	When    string // by when, or for how long it is overdue, else empty
	Error   string // why it was not paid just now
	Wrong   string // the field of a typed card that this is about, empty for none
	Here    string // relative path from the page to what is below it
	Ask     string // what ask returns, which ends the addresses of forms
	PDF     string // relative path from the page to the PDF, in the language of the page
	Next    string // where the buyer has to go, if elsewhere
	Cancels string // id of the payment under way that the buyer can cancel, else empty
	Forward string // to which the page sends the buyer at once, else empty
	Key     string // publishable key with which Stripe takes a card, if stripe

	CardProblems map[string]string // Error, and what else is wrong with the card that was typed into the page, by the name of its field
}

// frame returns what stands around the page.
func (p documentPage) frame(l *locale.Locale, seller *tenant.Account) ui.Frame {
	frame := ui.Frame{Title: p.Title + " " + p.Number, Shop: shopOf(seller), Forward: p.Forward, Again: again(p.State, p.Forward)}
	if p.Error != "" { // which is the answer to a form, whose address cannot be looked at
		frame.Problems, frame.Again = cardSummary(l, p.CardProblems), 0
	}
	return frame
}

// TakesStripe reports whether Stripe takes a card on the page.
func (p documentPage) TakesStripe() bool { return p.State == "stripe" }

// Stripe returns the data of the part of the form in which Stripe takes a card.
func (p documentPage) Stripe() stripeForm { return stripeForm{Key: p.Key} }

// invoice serves the page of an invoice. If its customer comes back from their bank, it first asks what became of the payment.
func (p *Pages) invoice(c echo.Context, i *invoice.Invoice) error {
	if c.QueryParam("redirect_status") != "" {
		ctx := c.Request().Context()
		p.welcomeBackTo(ctx, i.AccountID, i.ID)
		var err error
		if i, err = p.store.Invoice.Get(ctx, i.AccountID, i.ID); err != nil {
			return p.refuse(c, err)
		}
	}
	return p.showInvoice(c, http.StatusOK, i, "", "")
}

// welcomeBackTo does for the last payment of an invoice what welcomeBack does for that of a checkout.
func (p *Pages) welcomeBackTo(ctx context.Context, account, id string) {
	payment, err := p.store.Payment.LastOfInvoice(ctx, account, id)
	if err == nil && payment != nil {
		_, err = p.billing.LookAtPayment(ctx, account, payment.ID)
	}
	if err != nil && core.OutcomeOf(err) != core.Recorded {
		slog.WarnContext(ctx, "ask about the payment of an invoice", "error", err)
	}
}

// showInvoice answers with the page of an invoice as it stands. Problem says why it was not paid just now, and wrong is the field of a typed card that
// this is about. Both may be empty.
func (p *Pages) showInvoice(c echo.Context, status int, i *invoice.Invoice, problem, wrong string) error {
	l, err := p.speakOf(c, i.AccountID, i.CustomerID)
	if err != nil {
		return err
	}
	document, seller, err := p.invoiceDocument(c.Request().Context(), l, i)
	if err != nil {
		return err
	}
	page := documentPage{Document: document, Here: url.PathEscape(c.Param("token")), Ask: p.ask(c), Due: i.AmountDue(), Error: problem, Wrong: wrong}
	if c.Request().Method == http.MethodPost { // a refused form is answered below the page
		page.Here = "."
	}
	if isDue(i) && i.DueAt != nil {
		now, err := p.store.ClockOf(c.Request().Context(), i.AccountID)
		if err != nil {
			return err
		}
		page.When = whenDue(l, seller, i, now)
	}
	if err := p.offerPayment(c.Request().Context(), l, i, &page); err != nil {
		return err
	}
	if isLate(c, page.State) {
		return p.backTo(c, c.Param("token"))
	}
	if page.State != "pay" { // there is no such field
		page.Wrong = ""
	}
	page.Forward, page.PDF = forward(c, page.Next), p.pdfOf(c, page.Here)
	page.CardProblems = map[string]string{page.Wrong: page.Error}
	if wrong != "" && page.Wrong != "" {
		page.CardProblems = p.cardProblems(c, l, wrong, problem)
	}
	return p.render(c, status, "document.html", page.frame(l, seller), page)
}

// whenDue says by when an invoice is to be paid, or for how many days begun it is overdue. It is empty if nothing is due, or at no time.
func whenDue(l *locale.Locale, seller *tenant.Account, i *invoice.Invoice, now core.Time) string {
	switch {
	case !isDue(i) || i.DueAt == nil:
		return ""
	case now <= *i.DueAt:
		return l.T("invoice.due_by", "day", l.Day(seller.Local(*i.DueAt)))
	}
	const day = 24 * time.Hour
	return l.T("invoice.overdue", "count", int64((now.Time().Sub(i.DueAt.Time())+day-1)/day))
}

// pdfOf returns the relative path to the PDF of a document. It asks for the language that the page was asked for.
func (p *Pages) pdfOf(c echo.Context, here string) string {
	if l := p.asked(c); l != nil {
		return here + "/pdf?" + url.Values{localeField: {l.Tag}}.Encode()
	}
	return here + "/pdf"
}

// offerPayment finds out how the customer can pay what is due, and sets the page's state accordingly. If a payment is under way
// already, no other one is offered; if the last one failed, the page says why. Test cards are typed into the page; a real card
// is taken by Stripe and does not pass through this server.
func (p *Pages) offerPayment(ctx context.Context, l *locale.Locale, i *invoice.Invoice, page *documentPage) error {
	if i.AmountDue() <= 0 || i.Status != invoice.StatusOpen && i.Status != invoice.StatusPastDue {
		return nil
	}
	charge, err := p.store.Payment.LastOfInvoice(ctx, i.AccountID, i.ID)
	if err != nil {
		return err
	}
	if charge != nil {
		if !charge.OffSession && charge.Status == payment.StatusRequiresAction {
			page.Cancels = charge.ID
		}
		switch {
		case charge.Status == payment.StatusRequiresAction && p.authenticates(charge):
			page.State = "action"
			return nil
		case charge.Status == payment.StatusRequiresAction && charge.NextActionURL != nil:
			page.State, page.Next = "elsewhere", *charge.NextActionURL
			return nil
		case !charge.Status.IsFinal():
			page.State = "processing"
			return nil
		case charge.Failure.V != nil && page.Error == "":
			page.Error, page.Wrong = declined(l, charge.Failure.V), failedCard(charge.Failure.V)
		}
	}
	seller, err := p.store.Tenant.GetAccount(ctx, i.AccountID)
	if err != nil {
		return err
	}
	page.Key = seller.CardKey()
	switch {
	case seller.DisabledAt != nil:
		page.State = "disabled"
	case seller.PaymentsProvider == tenant.PaymentsProviderTest && p.authenticator != nil:
		page.State = "pay"
	case page.Key != "":
		page.State = "stripe"
	default:
		page.State = "closed"
	}
	return nil
}

// authenticates reports whether the buyer approves the payment on our own page, which is so with the test provider.
func (p *Pages) authenticates(payment *payment.Payment) bool {
	return p.authenticator != nil && payment.Provider == string(tenant.PaymentsProviderTest)
}

// payInvoice takes the form with which an invoice is paid: with a card that was typed into the page, or given to Stripe.
func (p *Pages) payInvoice(c echo.Context, i *invoice.Invoice) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), payTime)
	defer cancel()
	method := stripeMethod(c.FormValue("payment_method"))
	if method == nil && c.FormValue("card_number") == "" {
		l, err := p.speakOf(c, i.AccountID, i.CustomerID)
		if err != nil {
			return err
		}
		return p.showInvoice(c, http.StatusUnprocessableEntity, i, l.T("error.no_card"), "card_number")
	}
	if method == nil {
		method = typedCard(c)
	}
	_, err := p.billing.PayInvoice(ctx, i.AccountID, i.ID, billing.PayInvoice{Method: method, OnSession: true, From: buyer(c)})
	return p.paid(c, i, err)
}

// paid answers a form after a payment was tried with the result err. It sends the buyer back to the page, and on to their bank
// if the payment needs that. If what they typed was refused, the page says why.
func (p *Pages) paid(c echo.Context, i *invoice.Invoice, err error) error {
	ctx, account, id := c.Request().Context(), i.AccountID, i.ID
	switch core.OutcomeOf(err) {
	case core.Recorded:
		err = nil // the page says it
	case core.Unknown:
		slog.WarnContext(ctx, "take the payment of an invoice", "error", err)
		err = nil // the page says that it is being processed
	}
	if isOver(err) {
		return p.backTo(c, c.Param("token"))
	}
	if err != nil { // the page says why in its own language
		if _, err := p.speakOf(c, account, i.CustomerID); err != nil {
			return err
		}
	}
	if problem, ok := p.whyNot(c, err); ok {
		wrong := refusedCard(err)
		i, err := p.store.Invoice.Get(ctx, account, id)
		if err != nil {
			return p.refuse(c, err)
		}
		return p.showInvoice(c, http.StatusUnprocessableEntity, i, problem, wrong)
	}
	if err != nil {
		return p.refuse(c, err)
	}
	payment, err := p.store.Payment.LastOfInvoice(ctx, account, id)
	if err != nil {
		return err
	}
	if payment != nil && payment.NextActionURL != nil && !p.authenticates(payment) {
		return p.backTo(c, c.Param("token"), toBank, "1")
	}
	return p.backTo(c, c.Param("token"))
}

// authenticateInvoice serves the button with which a buyer approves a charge of the test provider, which then goes on.
func (p *Pages) authenticateInvoice(c echo.Context, i *invoice.Invoice) error {
	account, id := i.AccountID, i.ID
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), payTime)
	defer cancel()
	charge, err := p.store.Payment.LastOfInvoice(ctx, account, id)
	if err == nil && charge != nil && charge.ProviderRef != nil && charge.Status == payment.StatusRequiresAction && p.authenticates(charge) {
		if _, err = p.authenticator.Authenticate(ctx, account, *charge.ProviderRef); err == nil {
			_, err = p.billing.ResumePayment(ctx, account, charge.ID)
		}
	}
	return p.paid(c, i, err)
}

// cancelInvoicePayment does for an invoice what cancelPayment does for a checkout. The form names the payment that its page has shown.
func (p *Pages) cancelInvoicePayment(c echo.Context, i *invoice.Invoice) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), payTime)
	defer cancel()
	if err := p.billing.LeaveInvoicePayment(ctx, i.AccountID, i.ID, c.FormValue("payment")); err != nil {
		slog.WarnContext(ctx, "cancel the payment of an invoice", "error", err) // the page says how the invoice stands now
	}
	return p.backTo(c, c.Param("token"))
}

// typedCard reads the card of a form as people type it. A month or year that is not a number becomes zero, which no card has.
func typedCard(c echo.Context) *payments.MethodInput {
	month, year := expiry(c.FormValue("card_expiry"))
	return &payments.MethodInput{Card: &payments.Card{
		Number:   strings.NewReplacer(" ", "", "-", "").Replace(c.FormValue("card_number")),
		ExpMonth: month, ExpYear: year, CVC: strings.TrimSpace(c.FormValue("card_cvc")),
	}}
}

// expiryForm matches a card's expiry as people write it, such as 12/34, 1234, 12 / 2034.
var expiryForm = regexp.MustCompile(`^\s*(0?[1-9]|1[0-2])\s*[/.-]?\s*(\d{4}|\d{2})\s*$`)

// expiry reads when a card expires. What cannot be read is 0, which every bank refuses.
func expiry(typed string) (month, year int) {
	found := expiryForm.FindStringSubmatch(typed)
	if found == nil {
		return 0, 0
	}
	month, _ = strconv.Atoi(found[1])
	if year, _ = strconv.Atoi(found[2]); len(found[2]) == 2 {
		year += 2000
	}
	return month, year
}

// receipt serves the page of an order's receipt.
func (p *Pages) receipt(c echo.Context, o *order.Order) error {
	l, err := p.speakOf(c, o.AccountID, o.CustomerID)
	if err != nil {
		return err
	}
	document, seller, err := p.receiptDocument(c.Request().Context(), l, o)
	if err != nil {
		return err
	}
	page := documentPage{Document: document, Here: url.PathEscape(c.Param("token"))}
	page.PDF = p.pdfOf(c, page.Here)
	return p.render(c, http.StatusOK, "document.html", page.frame(l, seller), page)
}
