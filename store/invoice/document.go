package invoice

import (
	"context"

	"github.com/tillwright/tillwright/store/signed"
)

// PDF returns a signed URL of the invoice as PDF, or CodeMissing. A draft has a PDF too, which says that it is one.
func (s *Store) PDF(ctx context.Context, account, ref string) (*signed.URL, error) {
	i, err := s.Get(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return s.rooms.Signed.Sign(signed.File{Kind: signed.FileKindInvoice, Account: account, ID: i.ID, LinkVersion: i.LinkVersion})
}

// GetDetail returns an invoice with its lines and its customer. The customer is nil if they were deleted.
func (s *Store) GetDetail(ctx context.Context, i *Invoice) (*Detail, error) {
	customers, err := s.rooms.Customer.ByID(ctx, i.AccountID, []string{i.CustomerID})
	if err != nil {
		return nil, err
	}
	items, err := s.Lines(ctx, i.AccountID, i.ID)
	return &Detail{Invoice: i, Items: items, Customer: customers[i.CustomerID]}, err
}
