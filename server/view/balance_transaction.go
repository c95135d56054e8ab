package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/customer"
)

// BalanceTransaction renders a change of a customer's balance.
func BalanceTransaction(t *customer.BalanceTransaction) api.BalanceTransaction {
	return api.BalanceTransaction{
		ID:          t.ID,
		Object:      "balance_transaction",
		Customer:    wire.RefTo(t.CustomerID),
		Amount:      t.Amount,
		Currency:    t.Currency,
		Reason:      api.BalanceTransactionReason(t.Reason),
		Source:      t.SourceID,
		Description: t.Description,
		CreatedAt:   at(t.CreatedAt),
		UpdatedAt:   at(t.UpdatedAt),
	}
}

// ListBalanceTransactions reads the query of a list.
func ListBalanceTransactions(q api.ListCustomerBalanceTransactionsParams) customer.ListBalanceTransactions {
	return customer.ListBalanceTransactions{
		Page:     Page(q.Limit, q.StartingAfter, q.EndingBefore),
		Currency: value(q.Currency),
		Reason:   customer.BalanceReason(value(q.Reason)),
	}
}

// NewBalanceTransaction reads the body of a create.
func NewBalanceTransaction(b *api.BalanceTransactionCreate) customer.NewBalanceTransaction {
	return customer.NewBalanceTransaction{Amount: b.Amount, Currency: b.Currency, Description: b.Description}
}
