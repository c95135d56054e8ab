package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/signed"
)

// GetInvoicePDF returns a signed URL of the invoice as PDF, or CodeMissing. A draft has a PDF too, which says that it is one.
func (s *Store) GetInvoicePDF(ctx context.Context, account, ref string) (*signed.URL, error) {
	i, err := s.GetInvoice(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return s.Signed.Sign(signed.File{Kind: signed.FileKindInvoice, Account: account, ID: i.ID, LinkVersion: i.LinkVersion})
}

// GetInvoiceDetail returns an invoice with its lines and its customer. The customer is nil if they were deleted.
func (s *Store) GetInvoiceDetail(ctx context.Context, i *Invoice) (*InvoiceDetail, error) {
	customers, err := s.Customer.ByID(ctx, i.AccountID, []string{i.CustomerID})
	if err != nil {
		return nil, err
	}
	items, err := s.InvoiceLines(ctx, i.AccountID, i.ID)
	return &InvoiceDetail{Invoice: i, Items: items, Customer: customers[i.CustomerID]}, err
}

// LastInvoicePayment returns the latest attempt to pay an invoice, or nil.
func (s *Store) LastInvoicePayment(ctx context.Context, account, invoice string) (*Payment, error) {
	payment, err := db.Get[Payment](ctx, s.db, paymentColumns.SelectSQL+` WHERE account_id = ? AND invoice_id = ? ORDER BY created_at DESC, id DESC LIMIT 1`, account, invoice)
	if err != nil {
		return nil, fmt.Errorf("read the last payment of an invoice: %w", err)
	}
	return payment, nil
}
