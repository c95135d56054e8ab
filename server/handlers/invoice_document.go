package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// GetInvoicePDF implements GET /invoices/{id}/pdf.
func (h *Handlers) GetInvoicePDF(ctx context.Context, r api.GetInvoicePDFRequestObject) (api.GetInvoicePDFResponseObject, error) {
	u, err := h.store.Invoice.PDF(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetInvoicePDF200JSONResponse(view.SignedURL(u)), nil
}

// SendInvoice implements POST /invoices/{id}/send.
func (h *Handlers) SendInvoice(ctx context.Context, r api.SendInvoiceRequestObject) (api.SendInvoiceResponseObject, error) {
	i, err := h.post.SendInvoice(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.SendInvoice200JSONResponse(view.Invoice(i)), nil
}

// RevokeInvoiceLinks implements POST /invoices/{id}/revoke_links.
func (h *Handlers) RevokeInvoiceLinks(ctx context.Context, r api.RevokeInvoiceLinksRequestObject) (api.RevokeInvoiceLinksResponseObject, error) {
	i, err := h.store.Invoice.RevokeLinks(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.RevokeInvoiceLinks200JSONResponse(view.Invoice(i)), nil
}
