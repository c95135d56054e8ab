package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListCustomerBalanceTransactions implements GET /customers/{id}/balance_transactions.
func (h *Handlers) ListCustomerBalanceTransactions(ctx context.Context, r api.ListCustomerBalanceTransactionsRequestObject) (api.ListCustomerBalanceTransactionsResponseObject, error) {
	changes, more, err := h.store.ListBalanceTransactions(ctx, account(ctx), r.ID, view.ListBalanceTransactions(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListCustomerBalanceTransactions200JSONResponse(view.List("/v1/customers/"+r.ID+"/balance_transactions", changes, more, view.BalanceTransaction)), nil
}

// CreateCustomerBalanceTransaction implements POST /customers/{id}/balance_transactions.
func (h *Handlers) CreateCustomerBalanceTransaction(ctx context.Context, r api.CreateCustomerBalanceTransactionRequestObject) (api.CreateCustomerBalanceTransactionResponseObject, error) {
	t, err := h.store.CreateBalanceTransaction(ctx, account(ctx), r.ID, view.NewBalanceTransaction(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateCustomerBalanceTransaction201JSONResponse(view.BalanceTransaction(t)), nil
}
