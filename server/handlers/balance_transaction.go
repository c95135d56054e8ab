package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListCustomerBalanceTransactions implements GET /customers/{id}/balance_transactions.
func (h *Handlers) ListCustomerBalanceTransactions(ctx context.Context, r api.ListCustomerBalanceTransactionsRequestObject) (api.ListCustomerBalanceTransactionsResponseObject, error) {
	changes, more, err := h.store.Customer.ListTransactions(ctx, account(ctx), r.ID, view.ListBalanceTransactions(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/customers/"+r.ID+"/balance_transactions", changes, more, view.BalanceTransaction, r.Params.Expand)
	return api.ListCustomerBalanceTransactions200JSONResponse(out), err
}

// CreateCustomerBalanceTransaction implements POST /customers/{id}/balance_transactions.
func (h *Handlers) CreateCustomerBalanceTransaction(ctx context.Context, r api.CreateCustomerBalanceTransactionRequestObject) (api.CreateCustomerBalanceTransactionResponseObject, error) {
	t, err := h.store.Customer.CreateTransaction(ctx, account(ctx), r.ID, view.NewBalanceTransaction(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, t, view.BalanceTransaction, r.Params.Expand)
	return api.CreateCustomerBalanceTransaction201JSONResponse(out), err
}
