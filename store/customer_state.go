package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/subscription"
)

// CustomerState is a customer with what they have and what they owe: the newest hundred of each.
type CustomerState struct {
	Customer            *customer.Customer
	ActiveSubscriptions []subscription.Subscription // trialing, active or past due
	OpenInvoices        []invoice.Invoice           // open or past due
	Grants              []grant.Grant               // active or suspended
}

// GetCustomerState returns a customer with what they have and owe, or CodeMissing.
func (s *Store) GetCustomerState(ctx context.Context, account, ref string) (*CustomerState, error) {
	c, err := s.Customer.Named(ctx, s.db, account, ref, "")
	if err != nil {
		return nil, err
	}
	state := &CustomerState{Customer: c}
	state.ActiveSubscriptions, err = db.Select[subscription.Subscription](ctx, s.db, subscription.Columns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND `+customer.ActiveSubscription+` ORDER BY account_id DESC, customer_id DESC, id DESC LIMIT 100`, account, c.ID)
	if err != nil {
		return nil, fmt.Errorf("read a customer's subscriptions: %w", err)
	}
	state.OpenInvoices, err = db.Select[invoice.Invoice](ctx, s.db, invoice.Columns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND status IN ('open', 'past_due') ORDER BY account_id DESC, customer_id DESC, id DESC LIMIT 100`, account, c.ID)
	if err != nil {
		return nil, fmt.Errorf("read a customer's invoices: %w", err)
	}
	state.Grants, err = s.Grant.CurrentGrants(ctx, account, c.ID)
	return state, err
}
