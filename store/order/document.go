package order

import (
	"context"

	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/signed"
)

// Receipt returns a URL that opens the order's receipt as PDF for a while, or CodeMissing.
func (s *Store) Receipt(ctx context.Context, account, ref string) (*signed.URL, error) {
	o, err := s.Get(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return s.rooms.Signed.Sign(signed.File{Kind: signed.FileKindReceipt, Account: account, ID: o.ID, LinkVersion: o.LinkVersion})
}

// GetDetail returns an order with its lines and its customer, who is nil if they were deleted.
func (s *Store) GetDetail(ctx context.Context, o *Order) (*Detail, error) {
	customers, err := s.rooms.Customer.ByID(ctx, o.AccountID, []string{o.CustomerID})
	if err != nil {
		return nil, err
	}
	items, err := s.Lines(ctx, o.AccountID, []Order{*o})
	return &Detail{Order: o, Items: items[o.ID], Customer: customers[o.CustomerID]}, err
}

// Lines returns the lines of each of the orders, by the order's id and in the order in which it lists them.
func (s *Store) Lines(ctx context.Context, account string, orders []Order) (map[string][]lineitem.Item, error) {
	var ids []string
	for _, o := range orders {
		ids = append(ids, o.LineItemIDs.V...)
	}
	found, err := s.rooms.Lines.ByID(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	lines := make(map[string][]lineitem.Item, len(orders))
	for _, o := range orders {
		for _, id := range o.LineItemIDs.V {
			if item := found[id]; item != nil {
				lines[o.ID] = append(lines[o.ID], *item)
			}
		}
	}
	return lines, nil
}
