package mail

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// Post writes the letters that accounts send to their customers.
type Post struct {
	store  *store.Store
	mailer Mailer
}

// NewPost returns a Post that sends its letters with m, which is nil if the server sends no mail.
func NewPost(s *store.Store, m Mailer) *Post { return &Post{store: s, mailer: m} }

// SendReceipt sends the buyer of an order the address of its receipt. It is CodeInvalid if the order has no mail address or the
// server sends no mail, and CodeRateLimit if too many letters were sent. It ends the transaction of its request. After an error
// that is no *core.Error, the letter may arrive all the same.
func (p *Post) SendReceipt(ctx context.Context, account, ref string) (*store.Order, error) {
	o, err := p.store.GetOrder(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return o, p.sendReceipt(ctx, o, p.store.CountLetter)
}

// RenewReceipt does what SendReceipt does, asked for by somebody with an address of the receipt that has ended. From is their
// network address.
func (p *Post) RenewReceipt(ctx context.Context, o *store.Order, from string) error {
	return p.sendReceipt(ctx, o, p.countPage(from))
}

// counter counts a letter about an object. It is an error if too many were sent.
type counter func(ctx context.Context, account, id string) error

// countPage returns the counter of letters that somebody asks for on a page, by their network address.
func (p *Post) countPage(from string) counter {
	return func(ctx context.Context, account, id string) error {
		return p.store.CountPageLetter(ctx, account, id, from)
	}
}

// sendReceipt writes the letter with the address of a receipt, and sends it.
func (p *Post) sendReceipt(ctx context.Context, o *store.Order, count counter) error {
	seller, err := p.store.Tenant.GetAccount(ctx, o.AccountID)
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

// whose returns the part of a receipt's letter that asks its reader to confirm their address. It is empty if the address is
// confirmed already.
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

// Sends reports whether the server sends mail.
func (p *Post) Sends() bool { return p.mailer != nil }

// SendVerification sends a letter to the address of a checkout, whose reader is asked to confirm that the checkout is theirs.
// Nobody is asked if store.BeginVerification says so. The letter repeats nothing that a buyer has typed. From is the network
// address of whoever wants it. Its errors are those of SendReceipt.
func (p *Post) SendVerification(ctx context.Context, account, ref, from string) (*store.Checkout, error) {
	if !p.Sends() {
		return nil, errNoMail
	}
	c, err := p.store.BeginVerification(ctx, account, ref, from)
	if err != nil {
		return nil, err
	}
	seller, err := p.store.Tenant.GetAccount(ctx, account)
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

// SendInvoice sends the customer the address of an invoice, where it can be read, kept and paid. A draft and a void invoice are
// CodeInvalid on status; the other errors are those of SendReceipt.
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

// RenewInvoice does what SendInvoice does, asked for by somebody with an address of the invoice that has ended. From is their
// network address.
func (p *Post) RenewInvoice(ctx context.Context, i *store.Invoice, from string) error {
	return p.sendInvoice(ctx, i, p.countPage(from))
}

// sendInvoice writes the letter with the address of an invoice, and sends it.
func (p *Post) sendInvoice(ctx context.Context, i *store.Invoice, count counter) error {
	seller, err := p.store.Tenant.GetAccount(ctx, i.AccountID)
	if err != nil {
		return err
	}
	return p.send(ctx, seller, i.ID, i.CustomerEmail, count, Letter{
		Subject: fmt.Sprintf("Invoice %s from %s", *i.Number, nameOf(seller)),
		Text:    invoiceText(seller, i),
	})
}

func invoiceText(seller *tenant.Account, i *store.Invoice) string {
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

// send sends a letter, after it has checked that there is an address, that the server sends mail, and that not too many were
// sent. Count is nil for a letter that was counted already.
func (p *Post) send(ctx context.Context, seller *tenant.Account, about string, to *string, count counter, l Letter) error {
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

func nameOf(a *tenant.Account) string {
	if a.BusinessName != nil {
		return *a.BusinessName
	}
	return a.Name
}
