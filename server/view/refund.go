package view

import (
	"cmp"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store"
)

// Refund renders a refund.
func Refund(r *store.Refund) api.Refund {
	var payment *string
	if r.PaymentID != "" {
		payment = &r.PaymentID
	}
	return api.Refund{
		ID:               r.ID,
		Object:           "refund",
		Order:            wire.RefTo(r.OrderID),
		Payment:          ref(payment),
		Customer:         wire.RefTo(r.CustomerID),
		Subscription:     ref(r.SubscriptionID),
		Amount:           r.Amount,
		BalanceAmount:    r.BalanceAmount,
		TaxAmount:        r.TaxAmount,
		Currency:         r.Currency,
		Status:           api.RefundStatus(r.Status),
		Reason:           api.RefundReason(r.Reason),
		Comment:          r.Comment,
		RevokeAccess:     r.RevokeAccess,
		FailureReason:    r.FailureReason,
		Provider:         r.Provider,
		ProviderRefundID: r.ProviderRef,
		SucceededAt:      atOrNull(r.SucceededAt),
		Metadata:         api.Metadata(r.Metadata.Text()),
		CreatedAt:        at(r.CreatedAt),
		UpdatedAt:        at(r.UpdatedAt),
	}
}

// ListRefunds reads the query of a list.
func ListRefunds(q api.ListRefundsParams) store.ListRefunds {
	return store.ListRefunds{
		Page:         SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter:   Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Order:        value(q.Order),
		Customer:     value(q.Customer),
		Subscription: value(q.Subscription),
		Status:       store.RefundStatus(value(q.Status)),
		Reason:       store.RefundReason(value(q.Reason)),
	}
}

// NewRefund reads the body of a create.
func NewRefund(b *api.RefundCreate) store.NewRefund {
	return store.NewRefund{
		Order:        b.Order,
		Amount:       b.Amount,
		Reason:       cmp.Or(store.RefundReason(value(b.Reason)), store.RefundReasonCustomerRequest),
		Comment:      b.Comment,
		RevokeAccess: b.RevokeAccess,
		Metadata:     metadata(b.Metadata),
	}
}

// RefundChange reads the body of a PATCH.
func RefundChange(b *api.RefundUpdate) func(*store.Refund) {
	return func(r *store.Refund) {
		setOrClear(&r.Comment, b.Comment)
		setMetadata(&r.Metadata, b.Metadata)
	}
}
