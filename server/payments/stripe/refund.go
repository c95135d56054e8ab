package stripe

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// reasons maps our reasons to Stripe's, as far as Stripe has them. It is never changed.
var reasons = map[string]stripego.RefundReason{
	"duplicate":  stripego.RefundReasonDuplicate,
	"fraudulent": stripego.RefundReasonFraudulent,
	string(store.RefundReasonCustomerRequest): stripego.RefundReasonRequestedByCustomer,
}

// Refund implements payments.Provider.
func (p *Provider) Refund(ctx context.Context, in payments.RefundInput) (payments.Refund, error) {
	amount, decline := amountOf(in.Amount, in.Currency)
	if decline != nil {
		return payments.Refund{Status: payments.RefundFailed, FailureReason: decline.Code}, nil
	}
	c, err := p.client(ctx, in.Account)
	if err != nil {
		return payments.Refund{}, err
	}
	params := &stripego.RefundCreateParams{PaymentIntent: &in.ChargeRef, Amount: &amount, Metadata: map[string]string{}}
	maps.Copy(params.Metadata, in.Metadata)
	params.Metadata[keyAccount], params.Metadata[keyToken] = in.Account, in.Token
	if reason, has := reasons[in.Reason]; has {
		params.Reason = new(string(reason))
	}
	params.SetIdempotencyKey(in.Token)
	made, err := c.V1Refunds.Create(ctx, params)
	if err == nil {
		return refundOf(made)
	}
	if e, refused := refusal(err); refused {
		return payments.Refund{Status: payments.RefundFailed, FailureReason: cmp.Or(string(e.Code), string(e.Type))}, nil
	}
	return payments.Refund{}, explain("create a refund", err)
}

// GetRefund implements payments.Provider.
func (p *Provider) GetRefund(ctx context.Context, account, chargeRef, token string) (payments.Refund, bool, error) {
	c, err := p.client(ctx, account)
	if err != nil {
		return payments.Refund{}, false, err
	}
	params := &stripego.RefundListParams{PaymentIntent: &chargeRef}
	params.Limit = new(int64(100))
	for made, err := range c.V1Refunds.List(ctx, params).All(ctx) {
		if err != nil {
			return payments.Refund{}, false, explain("list the refunds of a payment intent", err)
		}
		if made.Metadata[keyToken] == token {
			refund, err := refundOf(made)
			return refund, err == nil, err
		}
	}
	return payments.Refund{}, false, nil
}

// CancelRefund implements payments.Provider. Stripe cancels only those that wait for the buyer.
func (p *Provider) CancelRefund(ctx context.Context, account, ref string) (payments.Refund, error) {
	c, err := p.client(ctx, account)
	if err != nil {
		return payments.Refund{}, err
	}
	refund, err := c.V1Refunds.Cancel(ctx, ref, nil)
	if _, refused := refusal(err); refused {
		refund, err = c.V1Refunds.Retrieve(ctx, ref, nil)
	}
	if err != nil {
		return payments.Refund{}, explain("cancel a refund", err)
	}
	return refundOf(refund)
}

// refundOf translates the state of a refund into ours.
func refundOf(made *stripego.Refund) (payments.Refund, error) {
	refund := payments.Refund{Ref: made.ID}
	switch made.Status {
	case stripego.RefundStatusPending, stripego.RefundStatusRequiresAction:
		refund.Status = payments.RefundPending
	case stripego.RefundStatusSucceeded:
		refund.Status = payments.RefundSucceeded
	case stripego.RefundStatusFailed:
		refund.Status, refund.FailureReason = payments.RefundFailed, cmp.Or(string(made.FailureReason), "unknown")
	case stripego.RefundStatusCanceled:
		refund.Status = payments.RefundCanceled
	default:
		return refund, fmt.Errorf("stripe: refund %s is %q: %w", made.ID, made.Status, payments.ErrUnknownStatus)
	}
	return refund, nil
}
