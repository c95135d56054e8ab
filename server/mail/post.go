package mail

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"sync"
	"time"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/portal"
	"github.com/tillwright/tillwright/store/tenant"
)

// Post writes the letters that accounts send to their customers.
type Post struct {
	store  *store.Store
	mailer Mailer
	turn   time.Duration // of each kind of letters that somebody waits for

	busy sync.RWMutex // shared by the worker while it sends letters, taken by SendLettersOf
}

// NewPost returns a Post that sends its letters with m, which is nil if the server sends no mail.
func NewPost(s *store.Store, m Mailer) *Post { return &Post{store: s, mailer: m, turn: awaitedTurn} }

// ResendOrderReceipt has the buyer of an order sent its receipt once more. CodeInvalid on base says that the server sends no mail; the other errors are
// those of store.ResendOrderReceipt.
func (p *Post) ResendOrderReceipt(ctx context.Context, account, ref string) (*order.Order, error) {
	if p.Sends() {
		return p.store.ResendOrderReceipt(ctx, account, ref)
	}
	if _, err := p.store.Order.Get(ctx, account, ref); err != nil {
		return nil, err
	}
	return nil, errNoMail
}

// RenewReceipt does what ResendOrderReceipt does, asked for by somebody with an address of the receipt that has ended. From is their network address.
func (p *Post) RenewReceipt(ctx context.Context, o *order.Order, from string) error {
	if !p.Sends() {
		return errNoMail
	}
	return p.store.RenewReceipt(ctx, o, from)
}

// SendInvoice has the customer sent an invoice. CodeInvalid on base says that the server sends no mail; the other errors are those of store.SendInvoice.
func (p *Post) SendInvoice(ctx context.Context, account, ref string) (*invoice.Invoice, error) {
	if p.Sends() {
		return p.store.SendInvoice(ctx, account, ref)
	}
	if _, err := p.store.Invoice.Get(ctx, account, ref); err != nil {
		return nil, err
	}
	return nil, errNoMail
}

// RenewInvoice does what SendInvoice does, asked for by somebody with an address of the invoice that has ended. From is their network address.
func (p *Post) RenewInvoice(ctx context.Context, i *invoice.Invoice, from string) error {
	if !p.Sends() {
		return errNoMail
	}
	return p.store.RenewInvoice(ctx, i, from)
}

// receipt returns what the letter with a receipt says.
func (p *Post) receipt(ctx context.Context, l *locale.Locale, told *store.LetterContent) (content, error) {
	seller, o := told.Seller, told.Order
	c := content{
		subject: l.T("mail.receipt.subject", "seller", nameOf(seller), "number", orderNumber(o)),
		opening: []string{l.T("mail.receipt.opening", "number", orderNumber(o), "seller", nameOf(seller))},
		sums:    sumsOf(l, seller, o, told.Lines),
		actions: []action{{l.T("mail.receipt.see"), o.ReceiptURL, l.T("mail.receipt.button")}, pdfOf(l, o.ReceiptURL)},
	}
	var hasFiles bool
	if c.items, hasFiles = itemsOf(l, told.Deliveries); hasFiles {
		c.closing = append(c.closing, l.T("mail.files_end"))
	}
	if o.WithdrawalWaivedAt != nil {
		c.closing = append(c.closing, l.T("document.waived", "day", l.Day(seller.Local(*o.WithdrawalWaivedAt))))
	}
	whose, err := p.whose(ctx, l, o)
	if whose != nil {
		c.actions = append(c.actions, *whose)
	}
	c.actions = append(c.actions, action{l.T("mail.purchases"), p.store.Portal.URL(seller.Handle), l.T("portal.title")})
	return c, err
}

// pdfOf leads to the PDF of a document, whose page is at an address. It opens as the page does.
func pdfOf(l *locale.Locale, page string) action {
	return action{l.T("mail.pdf.here"), page + "/pdf", l.T("mail.pdf.button")}
}

// whose returns the part of a receipt's letter that asks its reader to confirm their address. It is nil if the
// address is confirmed already.
func (p *Post) whose(ctx context.Context, l *locale.Locale, o *order.Order) (*action, error) {
	if o.CustomerVerified || o.CheckoutID == nil {
		return nil, nil
	}
	c, err := p.store.Checkout.Get(ctx, o.AccountID, *o.CheckoutID)
	if err != nil || c.CustomerEmail == nil {
		return nil, err
	}
	link, err := p.store.Checkout.VerificationURL(c)
	return &action{l.T("mail.confirm.mine"), link, l.T("mail.confirm.button")}, err
}

// Sends reports whether the server sends mail.
func (p *Post) Sends() bool { return p.mailer != nil }

// AskVerification has a letter sent to the address of a checkout, whose reader is asked to confirm that the checkout is theirs. The letter repeats
// nothing that a buyer has typed. From is the network address of whoever wants it. CodeInvalid on base says that the server sends no mail; the other
// errors are those of store.Checkout.AskVerification.
func (p *Post) AskVerification(ctx context.Context, account, ref, from string) (*checkout.Checkout, error) {
	if !p.Sends() {
		return nil, errNoMail
	}
	return p.store.Checkout.AskVerification(ctx, account, ref, from)
}

// sendVerification sends the letter that asks the reader whether a checkout is theirs.
func (p *Post) sendVerification(ctx context.Context, c *checkout.Checkout) error {
	seller, err := p.store.Tenant.GetAccount(ctx, c.AccountID)
	if err != nil {
		return err
	}
	link, err := p.store.Checkout.VerificationURL(c)
	if err != nil {
		return err
	}
	l := speaks(c.Locale, seller)
	return p.send(ctx, l, seller, *c.CustomerEmail, verification(l, seller, c, link))
}

// verification asks the reader whether a checkout is theirs.
func verification(l *locale.Locale, seller *tenant.Account, c *checkout.Checkout, link string) content {
	return content{
		subject: l.T("mail.confirm.subject", "seller", nameOf(seller)),
		opening: []string{l.T("mail.confirm.opening", "seller", nameOf(seller), "amount", l.Money(c.TotalAmount, c.Currency))},
		actions: []action{{l.T("mail.confirm.here"), link, l.T("mail.confirm.button")}},
		closing: []string{l.T("mail.confirm.ignore")},
	}
}

// sendLeadConfirmation sends a letter to a lead, whose reader is asked to agree to letters of the seller. It repeats nothing that somebody
// has typed.
func (p *Post) sendLeadConfirmation(ctx context.Context, l *lead.Lead) error {
	seller, err := p.store.Tenant.GetAccount(ctx, l.AccountID)
	if err != nil {
		return err
	}
	link, err := p.store.Lead.ConfirmationURL(l)
	if err != nil {
		return err
	}
	spoken := speaks(l.Locale, seller)
	return p.send(ctx, spoken, seller, l.Email, leadConfirmation(spoken, seller, link))
}

// leadConfirmation asks the reader whether a seller may write to them.
func leadConfirmation(l *locale.Locale, seller *tenant.Account, link string) content {
	return content{
		subject: l.T("mail.lead.subject", "seller", nameOf(seller)),
		opening: []string{l.T("mail.lead.opening", "seller", nameOf(seller))},
		actions: []action{{l.T("mail.confirm.here"), link, l.T("mail.confirm.button")}},
		closing: []string{l.T("mail.lead.ignore")},
	}
}

// sendPortalLink sends a customer the link with which they open the portal once.
func (p *Post) sendPortalLink(ctx context.Context, l *portal.Link) error {
	seller, err := p.store.Tenant.GetAccount(ctx, l.AccountID)
	if err != nil {
		return err
	}
	spoken := speaks(l.Locale, seller)
	return p.send(ctx, spoken, seller, l.Recipient, portalLink(spoken, seller, l.URL))
}

// portalLink leads the reader to what they bought.
func portalLink(l *locale.Locale, seller *tenant.Account, link string) content {
	return content{
		subject: l.T("mail.portal.subject", "seller", nameOf(seller)),
		opening: []string{l.T("mail.portal.opening", "seller", nameOf(seller))},
		actions: []action{{l.T("mail.portal.here"), link, l.T("mail.portal.button")}},
		closing: []string{l.T("mail.portal.ignore")},
	}
}

// recovery leads somebody to where they choose another password.
func recovery(link string) content {
	return content{
		subject: "Choose another password",
		opening: []string{"Somebody asked for another password for the dashboard, with your e-mail address."},
		actions: []action{{"If it was you, choose one here within 30 minutes. The link works once, and signs you out everywhere else:", link, "Choose a password"}},
		closing: []string{"If it was not, do nothing: your password stays as it is."},
	}
}

// invoiceSent leads the reader to an invoice, and says what is to be paid of it.
func invoiceSent(l *locale.Locale, told *store.LetterContent) content {
	seller, i := told.Seller, told.Invoice
	title := l.T("mail.invoice.title", "number", *i.Number, "seller", nameOf(seller))
	c := content{
		subject: title,
		opening: []string{title},
		facts:   []string{l.T("mail.total", "amount", l.Money(i.TotalAmount, i.Currency))},
		actions: []action{{l.T("mail.invoice.see"), i.HostedURL, l.T("mail.invoice.button")}, pdfOf(l, i.HostedURL)},
	}
	if due := i.AmountDue(); due > 0 {
		c.facts = append(c.facts, l.T("mail.due", "amount", l.Money(due, i.Currency)))
		if i.DueAt != nil {
			c.facts = append(c.facts, l.T("mail.due_date", "day", date(l, seller, *i.DueAt)))
		}
		c.actions[0] = action{l.T("mail.invoice.pay"), i.HostedURL, l.T("mail.invoice.pay_button")}
	}
	return c
}

var errNoMail = core.Invalid("base", "This server sends no mail: whoever runs it has to set TILLWRIGHT_SMTP_URL. Send the customer the address of the page yourself.")

// send sends a letter that is no row of the letters to customers, and was counted already.
func (p *Post) send(ctx context.Context, l *locale.Locale, seller *tenant.Account, to string, c content) error {
	logo, err := p.logo(ctx, seller)
	if err != nil {
		return err
	}
	c.spoken = l
	letter, err := c.letter(seller, logo)
	if err != nil {
		return err
	}
	if err := p.mailer.Send(ctx, letter.from(seller, to)); err != nil {
		return errors.New(unnamed(err, to))
	}
	return nil
}

// unnamed returns what a mail server said of a letter, without the address to which it goes: logs have none. Some servers say it in other capitals, or
// its domain as the DNS has it.
func unnamed(err error, to string) string {
	said := err.Error()
	for _, address := range []string{to, core.EmailKey(to)} {
		address = string([]rune(address)) // an expression of what is no text cannot be compiled
		said = regexp.MustCompile("(?i)"+regexp.QuoteMeta(address)).ReplaceAllLiteralString(said, "(the address)")
	}
	return said
}

// logo returns the logo of a seller, nil if there is none.
func (p *Post) logo(ctx context.Context, seller *tenant.Account) ([]byte, error) {
	if seller.LogoURL == nil {
		return nil, nil
	}
	return p.store.Pictures.LetterLogo(ctx, seller.ID)
}

// from addresses a letter: from the seller's name, answers to the seller.
func (l Letter) from(seller *tenant.Account, to string) Letter {
	l.To, l.From, l.ReplyTo = to, nameOf(seller), seller.Email
	if seller.SupportEmail != nil {
		l.ReplyTo = *seller.SupportEmail
	}
	return l
}

// nameOf returns the seller's name, on one line: what stands on a line of its own is ours.
func nameOf(a *tenant.Account) string { return oneLine(cmp.Or(core.Deref(a.BusinessName), a.Name)) }
