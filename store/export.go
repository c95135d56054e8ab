package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// ExportCustomers returns a signed URL of a file with all customers that the filters let through.
func (s *Store) ExportCustomers(ctx context.Context, account string, in ListCustomers) (*SignedURL, error) {
	in.Page = core.Page{Limit: 1}
	_, _, err := s.ListCustomers(ctx, account, in)
	return s.export(File{Kind: FileKindCustomers, Account: account, Customers: &in}, err)
}

// ExportOrders returns a signed URL of a file with all orders that the filters let through. It is CodeMissing if something that
// a filter names does not exist.
func (s *Store) ExportOrders(ctx context.Context, account string, in ListOrders) (*SignedURL, error) {
	in.Page = core.Page{Limit: 1}
	_, _, err := s.ListOrders(ctx, account, in)
	return s.export(File{Kind: FileKindOrders, Account: account, Orders: &in}, err)
}

// ExportSubscriptions returns a signed URL of a file with all subscriptions that the filters let through. It is CodeMissing if
// something that a filter names does not exist.
func (s *Store) ExportSubscriptions(ctx context.Context, account string, in ListSubscriptions) (*SignedURL, error) {
	in.Page = core.Page{Limit: 1}
	_, _, err := s.ListSubscriptions(ctx, account, in)
	return s.export(File{Kind: FileKindSubscriptions, Account: account, Subscriptions: &in}, err)
}

// export returns the signed URL of a file, or the error with which the list that the file is to hold was refused, unless that was
// only because a page would take too much: a file has time.
func (s *Store) export(f File, refused error) (*SignedURL, error) {
	if refused != nil && !db.IsBound(refused) {
		return nil, refused
	}
	return s.SignFile(f)
}
