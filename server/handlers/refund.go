package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListRefunds implements GET /refunds.
func (h *Handlers) ListRefunds(ctx context.Context, r api.ListRefundsRequestObject) (api.ListRefundsResponseObject, error) {
	refunds, more, err := h.store.ListRefunds(ctx, account(ctx), view.ListRefunds(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/refunds", refunds, more, view.Refund, r.Params.Expand)
	return api.ListRefunds200JSONResponse(out), err
}

// ExportRefunds implements GET /refunds/export.
func (h *Handlers) ExportRefunds(ctx context.Context, r api.ExportRefundsRequestObject) (api.ExportRefundsResponseObject, error) {
	u, err := h.export(ctx, "refunds", r.Params)
	return api.ExportRefunds200JSONResponse(u), err
}

// CreateRefund implements POST /refunds.
func (h *Handlers) CreateRefund(ctx context.Context, r api.CreateRefundRequestObject) (api.CreateRefundResponseObject, error) {
	refund, err := h.billing.CreateRefund(ctx, account(ctx), view.NewRefund(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, refund, view.Refund, r.Params.Expand)
	return api.CreateRefund201JSONResponse(out), err
}

// GetRefund implements GET /refunds/{id}.
func (h *Handlers) GetRefund(ctx context.Context, r api.GetRefundRequestObject) (api.GetRefundResponseObject, error) {
	refund, err := h.store.GetRefund(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, refund, view.Refund, r.Params.Expand)
	return api.GetRefund200JSONResponse(out), err
}

// UpdateRefund implements PATCH /refunds/{id}.
func (h *Handlers) UpdateRefund(ctx context.Context, r api.UpdateRefundRequestObject) (api.UpdateRefundResponseObject, error) {
	refund, err := h.store.UpdateRefund(ctx, account(ctx), r.ID, view.RefundChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, refund, view.Refund, r.Params.Expand)
	return api.UpdateRefund200JSONResponse(out), err
}

// CancelRefund implements POST /refunds/{id}/cancel.
func (h *Handlers) CancelRefund(ctx context.Context, r api.CancelRefundRequestObject) (api.CancelRefundResponseObject, error) {
	refund, err := h.billing.CancelRefund(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, refund, view.Refund, r.Params.Expand)
	return api.CancelRefund200JSONResponse(out), err
}
