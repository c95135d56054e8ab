package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/core"
)

// GetPublicLeadForm implements GET /public/lead_forms/{account}.
func (h *Handlers) GetPublicLeadForm(ctx context.Context, r api.GetPublicLeadFormRequestObject) (api.GetPublicLeadFormResponseObject, error) {
	form, err := h.store.Lead.NewForm(ctx, r.Account)
	if err != nil {
		return nil, err
	}
	return api.GetPublicLeadForm200JSONResponse(view.LeadForm(form)), nil
}

// CreatePublicLead implements POST /public/leads.
func (h *Handlers) CreatePublicLead(ctx context.Context, r api.CreatePublicLeadRequestObject) (api.CreatePublicLeadResponseObject, error) {
	lead, err := h.store.Lead.Capture(ctx, view.CapturedLead(r.Body, caller.Address(ctx)))
	if err != nil {
		return nil, err
	}
	if lead != nil {
		caller.Of(ctx).Made = caller.Object{Kind: string(core.KindLead), ID: lead.ID}
	}
	return api.CreatePublicLead200JSONResponse{Object: "lead_receipt", Status: api.LeadReceiptStatusReceived}, nil
}
