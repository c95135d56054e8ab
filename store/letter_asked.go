package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
)

// A letter that somebody asks for is a row like any other. Each time that it is asked for is a cause of its own, and is counted then.

// askedOnPage begins the period of a letter that the reader of a document asked for. That of one that the seller asked for is an id alone.
const askedOnPage = "page."

// isAsked reports whether somebody asked for the letter. It is sent even if its kind is switched off, and was counted already.
func (l *Letter) isAsked() bool {
	return l.Resends > 0 || l.Kind == tenant.LetterInvoice || l.Kind == tenant.LetterReceipt && l.Period != ""
}

// ResendOrderReceipt has the buyer of an order sent its receipt once more. An order without an address is CodeInvalid on customer_email, and one whose
// customer was deleted on customer. One letter too many is CodeRateLimit, as Mailbox.CountLetter says.
func (s *Store) ResendOrderReceipt(ctx context.Context, account, ref string) (*order.Order, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*order.Order, error) {
		o, err := s.Order.Lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		return o, s.writeAsked(ctx, u, o.CustomerEmail, receiptLetter(o), s.Mailbox.CountLetter)
	})
}

// RenewReceipt does what ResendOrderReceipt does, asked for by somebody at a network address who has an address of the receipt that has ended. It is
// counted as Mailbox.CountPageLetter says.
func (s *Store) RenewReceipt(ctx context.Context, o *order.Order, from string) error {
	return s.writeRenewal(ctx, o.CustomerEmail, receiptLetter(o), from)
}

// SendInvoice has the customer sent the address of an invoice, where it can be read, kept and paid. A draft and a void invoice are CodeInvalid on
// status; the other errors are those of ResendOrderReceipt.
func (s *Store) SendInvoice(ctx context.Context, account, ref string) (*invoice.Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*invoice.Invoice, error) {
		i, err := s.Invoice.Lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if i.Status == invoice.StatusDraft || i.Status == invoice.StatusVoid {
			return nil, core.Invalid("status", fmt.Sprintf("The invoice is %s. Only an invoice that was issued and is not void can be sent.", i.Status))
		}
		return i, s.writeAsked(ctx, u, i.CustomerEmail, invoiceLetter(i), s.Mailbox.CountLetter)
	})
}

// RenewInvoice does for an invoice what RenewReceipt does for a receipt.
func (s *Store) RenewInvoice(ctx context.Context, i *invoice.Invoice, from string) error {
	return s.writeRenewal(ctx, i.CustomerEmail, invoiceLetter(i), from)
}

func receiptLetter(o *order.Order) Letter {
	return Letter{AccountID: o.AccountID, Kind: tenant.LetterReceipt, CustomerID: o.CustomerID, ObjectID: o.ID, Period: core.NewULID()}
}

func invoiceLetter(i *invoice.Invoice) Letter {
	return Letter{AccountID: i.AccountID, Kind: tenant.LetterInvoice, CustomerID: i.CustomerID, ObjectID: i.ID, Period: core.NewULID()}
}

// writeRenewal writes a letter with a new address of a document, for somebody at a network address.
func (s *Store) writeRenewal(ctx context.Context, to *string, l Letter, from string) error {
	l.Period = askedOnPage + l.Period
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		return nil, s.writeAsked(ctx, u, to, l, func(ctx context.Context, account, id string) error {
			return s.Mailbox.CountPageLetter(ctx, account, id, from)
		})
	})
	return err
}

// writeAsked counts a letter that somebody asked for, and writes it if it is not one too many.
func (s *Store) writeAsked(ctx context.Context, u *db.Unit, to *string, l Letter, count func(ctx context.Context, account, id string) error) error {
	if to == nil {
		return core.Invalid("customer_email", "There is no address to send it to.")
	}
	_, err := s.Customer.Named(ctx, u, l.AccountID, l.CustomerID, "customer")
	if gone, ok := errors.AsType[*core.Error](err); ok && gone.Code == core.CodeMissing {
		return core.Invalid("customer", "The customer was deleted, and is sent no letters any more.")
	}
	if err != nil {
		return err
	}
	if err := count(ctx, l.AccountID, l.ObjectID); err != nil {
		return err
	}
	return s.writeLetter(ctx, u, l)
}
