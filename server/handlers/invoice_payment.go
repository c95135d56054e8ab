package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/view"
)

// PayInvoice implements POST /invoices/{id}/pay.
func (h *Handlers) PayInvoice(ctx context.Context, r api.PayInvoiceRequestObject) (api.PayInvoiceResponseObject, error) {
	in := billing.PayInvoice{OutOfBand: r.Body.OutOfBand != nil && *r.Body.OutOfBand}
	if m := r.Body.PaymentMethod; m != nil {
		in.Method = &payments.MethodInput{Ref: m.Token, Card: (*payments.Card)(m.Card)}
	}
	i, err := h.billing.PayInvoice(ctx, account(ctx), r.ID, in)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, i, view.Invoice, r.Params.Expand)
	return api.PayInvoice200JSONResponse(out), err
}
