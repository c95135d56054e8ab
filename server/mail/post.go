package mail

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// Post writes the letters of a store's accounts.
type Post struct {
	store  *store.Store
	mailer Mailer
}

// NewPost returns a Post that gives its letters to m; nil if the server sends no mail.
func NewPost(s *store.Store, m Mailer) *Post { return &Post{store: s, mailer: m} }

// SendReceipt sends the buyer of an order the address of its receipt. Without an address of theirs, or a mail server, it
// is CodeInvalid, beyond the limits of letters CodeRateLimit. It leaves the transaction of its request. An error that is no
// *core.Error leaves it unknown whether the letter arrives.
func (p *Post) SendReceipt(ctx context.Context, account, ref string) (*store.Order, error) {
	o, err := p.store.GetOrder(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return o, p.sendReceipt(ctx, o, p.store.CountLetter)
}

// RenewReceipt does what SendReceipt does for whoever has an address of the receipt that has ended, from their network address.
func (p *Post) RenewReceipt(ctx context.Context, o *store.Order, from string) error {
	return p.sendReceipt(ctx, o, p.countPage(from))
}

// counter counts a letter about an object, or refuses it.
type counter func(ctx context.Context, account, id string) error

// countPage counts what somebody asks for on a page.
func (p *Post) countPage(from string) counter {
	return func(ctx context.Context, account, id string) error {
		return p.store.CountPageLetter(ctx, account, id, from)
	}
}

func (p *Post) sendReceipt(ctx context.Context, o *store.Order, count counter) error {
	seller, err := p.store.GetAccount(ctx, o.AccountID)
	if err != nil {
		return err
	}
	whose, err := p.whose(ctx, o)
	if err != nil {
		return err
	}
	return p.send(ctx, seller, o.ID, o.CustomerEmail, count, Letter{
		Subject: fmt.Sprintf("Your receipt from %s: order %d", nameOf(seller), o.Number),
		Text: fmt.Sprintf("Thank you for your order %d from %s.\n\nTotal: %s\n\nYour receipt, also as PDF:\n%s\n",
			o.Number, nameOf(seller), core.FormatAmount(o.TotalAmount, o.Currency), o.ReceiptURL) + whose,
	})
}

// whose asks the reader of a receipt whether the order is theirs, if only a typed address says so.
func (p *Post) whose(ctx context.Context, o *store.Order) (string, error) {
	if o.CustomerVerified || o.CheckoutID == nil {
		return "", nil
	}
	c, err := p.store.GetCheckout(ctx, o.AccountID, *o.CheckoutID)
	if err != nil || c.CustomerEmail == nil {
		return "", err
	}
	link, err := p.store.VerificationURL(c)
	return "\nIf it was you who bought it, have it on your account: confirm your e-mail address here.\n" + link + "\n", err
}

// Sends reports whether there is something to send letters with.
func (p *Post) Sends() bool { return p.mailer != nil }

// SendVerification asks the reader of the mail to a checkout's address whether the checkout is theirs: see
// store.BeginVerification for who is not asked. It says nothing that a buyer has typed. From is the network address of who wants it.
// For the rest see SendReceipt.
func (p *Post) SendVerification(ctx context.Context, account, ref, from string) (*store.Checkout, error) {
	if !p.Sends() {
		return nil, errNoMail
	}
	c, err := p.store.BeginVerification(ctx, account, ref, from)
	if err != nil {
		return nil, err
	}
	seller, err := p.store.GetAccount(ctx, account)
	if err != nil {
		return nil, err
	}
	link, err := p.store.VerificationURL(c)
	if err != nil {
		return nil, err
	}
	return c, p.send(ctx, seller, c.ID, c.CustomerEmail, nil, Letter{
		Subject: "Confirm your e-mail address for " + nameOf(seller),
		Text: fmt.Sprintf("Somebody entered this e-mail address in an order at %s, for %s.\n\nIf it was you, confirm it here within seven days:\n%s\n\nIf it was not, do nothing: you are not charged for it.\n",
			nameOf(seller), core.FormatAmount(c.TotalAmount, c.Currency), link),
	})
}

// SendInvoice sends the customer the address of an invoice, where it can be read, kept and paid. A draft and one that is
// void are CodeInvalid on status; for the rest see SendReceipt.
func (p *Post) SendInvoice(ctx context.Context, account, ref string) (*store.Invoice, error) {
	i, err := p.store.GetInvoice(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	if i.Status == store.InvoiceStatusDraft || i.Status == store.InvoiceStatusVoid {
		return nil, core.Invalid("status", fmt.Sprintf("The invoice is %s. Only an invoice that was issued and is not void can be sent.", i.Status))
	}
	return i, p.sendInvoice(ctx, i, p.store.CountLetter)
}

// RenewInvoice does what SendInvoice does for whoever has an address of the invoice that has ended.
func (p *Post) RenewInvoice(ctx context.Context, i *store.Invoice, from string) error {
	return p.sendInvoice(ctx, i, p.countPage(from))
}

func (p *Post) sendInvoice(ctx context.Context, i *store.Invoice, count counter) error {
	seller, err := p.store.GetAccount(ctx, i.AccountID)
	if err != nil {
		return err
	}
	return p.send(ctx, seller, i.ID, i.CustomerEmail, count, Letter{
		Subject: fmt.Sprintf("Invoice %s from %s", *i.Number, nameOf(seller)),
		Text:    invoiceText(seller, i),
	})
}

func invoiceText(seller *store.Account, i *store.Invoice) string {
	text := fmt.Sprintf("Invoice %s from %s\n\nTotal: %s\n", *i.Number, nameOf(seller), core.FormatAmount(i.TotalAmount, i.Currency))
	if due := i.AmountDue(); due > 0 {
		text += "Amount due: " + core.FormatAmount(due, i.Currency) + "\n"
		if i.DueAt != nil {
			text += "Due date: " + i.DueAt.Time().Format("2 January 2006") + "\n"
		}
		return text + "\nRead it, keep it as PDF, and pay it here:\n" + i.HostedURL + "\n"
	}
	return text + "\nRead it, and keep it as PDF, here:\n" + i.HostedURL + "\n"
}

var errNoMail = core.Invalid("base", "This server sends no mail: whoever runs it has to set TILLWRIGHT_SMTP_URL. Send the customer the address of the page yourself.")

// send checks that there is somebody to send to, and something to send with, and that not too much was sent. Without a
// counter the letter was counted already.
func (p *Post) send(ctx context.Context, seller *store.Account, about string, to *string, count counter, l Letter) error {
	if to == nil {
		return core.Invalid("customer_email", "There is no address to send it to.")
	}
	if p.mailer == nil {
		return errNoMail
	}
	l.To, l.From, l.ReplyTo = *to, nameOf(seller), seller.Email
	if seller.SupportEmail != nil {
		l.ReplyTo = *seller.SupportEmail
	}
	if count != nil {
		if err := count(ctx, seller.ID, about); err != nil {
			return err
		}
	}
	if err := p.store.Leave(ctx); err != nil {
		return err
	}
	return p.mailer.Send(ctx, l)
}

func nameOf(a *store.Account) string {
	if a.BusinessName != nil {
		return *a.BusinessName
	}
	return a.Name
}
