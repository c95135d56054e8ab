package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListInvoices implements GET /invoices.
func (h *Handlers) ListInvoices(ctx context.Context, r api.ListInvoicesRequestObject) (api.ListInvoicesResponseObject, error) {
	invoices, more, err := h.store.Invoice.List(ctx, account(ctx), view.ListInvoices(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/invoices", invoices, more, view.Invoice, r.Params.Expand)
	return api.ListInvoices200JSONResponse(out), err
}

// ExportInvoices implements GET /invoices/export.
func (h *Handlers) ExportInvoices(ctx context.Context, r api.ExportInvoicesRequestObject) (api.ExportInvoicesResponseObject, error) {
	u, err := h.export(ctx, "invoices", r.Params)
	return api.ExportInvoices200JSONResponse(u), err
}

// CreateInvoice implements POST /invoices.
func (h *Handlers) CreateInvoice(ctx context.Context, r api.CreateInvoiceRequestObject) (api.CreateInvoiceResponseObject, error) {
	i, err := h.store.Invoice.Create(ctx, account(ctx), view.NewInvoice(r.Body))
	if err == nil && r.Body.Finalize != nil && *r.Body.Finalize {
		i, err = h.store.FinalizeInvoice(ctx, account(ctx), i.ID)
	}
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, i, view.Invoice, r.Params.Expand)
	return api.CreateInvoice201JSONResponse(out), err
}

// GetInvoice implements GET /invoices/{id}.
func (h *Handlers) GetInvoice(ctx context.Context, r api.GetInvoiceRequestObject) (api.GetInvoiceResponseObject, error) {
	i, err := h.store.Invoice.Get(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, i, view.Invoice, r.Params.Expand)
	return api.GetInvoice200JSONResponse(out), err
}

// UpdateInvoice implements PATCH /invoices/{id}.
func (h *Handlers) UpdateInvoice(ctx context.Context, r api.UpdateInvoiceRequestObject) (api.UpdateInvoiceResponseObject, error) {
	i, err := h.store.UpdateInvoice(ctx, account(ctx), r.ID, view.InvoiceChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, i, view.Invoice, r.Params.Expand)
	return api.UpdateInvoice200JSONResponse(out), err
}

// DeleteInvoice implements DELETE /invoices/{id}.
func (h *Handlers) DeleteInvoice(ctx context.Context, r api.DeleteInvoiceRequestObject) (api.DeleteInvoiceResponseObject, error) {
	i, err := h.store.Invoice.Delete(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteInvoice200JSONResponse(view.Deleted("invoice", i.ID)), nil
}

// FinalizeInvoice implements POST /invoices/{id}/finalize.
func (h *Handlers) FinalizeInvoice(ctx context.Context, r api.FinalizeInvoiceRequestObject) (api.FinalizeInvoiceResponseObject, error) {
	i, err := h.store.FinalizeInvoice(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, i, view.Invoice, r.Params.Expand)
	return api.FinalizeInvoice200JSONResponse(out), err
}

// VoidInvoice implements POST /invoices/{id}/void.
func (h *Handlers) VoidInvoice(ctx context.Context, r api.VoidInvoiceRequestObject) (api.VoidInvoiceResponseObject, error) {
	i, err := h.store.VoidInvoice(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, i, view.Invoice, r.Params.Expand)
	return api.VoidInvoice200JSONResponse(out), err
}

// MarkInvoiceUncollectible implements POST /invoices/{id}/mark_uncollectible.
func (h *Handlers) MarkInvoiceUncollectible(ctx context.Context, r api.MarkInvoiceUncollectibleRequestObject) (api.MarkInvoiceUncollectibleResponseObject, error) {
	i, err := h.store.MarkInvoiceUncollectible(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, i, view.Invoice, r.Params.Expand)
	return api.MarkInvoiceUncollectible200JSONResponse(out), err
}

// ListInvoiceLines implements GET /invoices/{id}/lines.
func (h *Handlers) ListInvoiceLines(ctx context.Context, r api.ListInvoiceLinesRequestObject) (api.ListInvoiceLinesResponseObject, error) {
	page := view.Page(r.Params.Limit, r.Params.StartingAfter, r.Params.EndingBefore)
	lines, more, err := h.store.Invoice.ListLines(ctx, account(ctx), r.ID, page)
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/invoices/"+r.ID+"/lines", lines, more, view.LineItem, r.Params.Expand)
	return api.ListInvoiceLines200JSONResponse(out), err
}
