package store

import (
	"context"

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
