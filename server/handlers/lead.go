package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/lead"
)

// ListLeads implements GET /leads.
func (h *Handlers) ListLeads(ctx context.Context, r api.ListLeadsRequestObject) (api.ListLeadsResponseObject, error) {
	leads, more, err := h.store.Lead.List(ctx, account(ctx), view.ListLeads(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/leads", leads, more, view.Lead, r.Params.Expand)
	return api.ListLeads200JSONResponse(out), err
}

// CreateLead implements POST /leads.
func (h *Handlers) CreateLead(ctx context.Context, r api.CreateLeadRequestObject) (api.CreateLeadResponseObject, error) {
	saved, err := h.store.Lead.Create(ctx, account(ctx), view.NewLead(r.Body), r.Body.Upsert != nil && *r.Body.Upsert)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, saved.Lead, view.Lead, r.Params.Expand)
	if saved.Outcome == lead.OutcomeCreated {
		return api.CreateLead201JSONResponse(out), err
	}
	return api.CreateLead200JSONResponse(out), err
}

// ImportLeads implements POST /leads/import.
func (h *Handlers) ImportLeads(ctx context.Context, r api.ImportLeadsRequestObject) (api.ImportLeadsResponseObject, error) {
	saved, err := h.store.Lead.Import(ctx, account(ctx), view.ImportedLeads(r.Body), r.Body.Upsert == nil || *r.Body.Upsert)
	if err != nil {
		return nil, err
	}
	return api.ImportLeads200JSONResponse(view.LeadImport(saved)), nil
}

// ExportLeads implements GET /leads/export.
func (h *Handlers) ExportLeads(ctx context.Context, r api.ExportLeadsRequestObject) (api.ExportLeadsResponseObject, error) {
	u, err := h.export(ctx, "leads", r.Params)
	return api.ExportLeads200JSONResponse(u), err
}

// GetLead implements GET /leads/{id}.
func (h *Handlers) GetLead(ctx context.Context, r api.GetLeadRequestObject) (api.GetLeadResponseObject, error) {
	l, err := h.store.Lead.Get(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, l, view.Lead, r.Params.Expand)
	return api.GetLead200JSONResponse(out), err
}

// UpdateLead implements PATCH /leads/{id}.
func (h *Handlers) UpdateLead(ctx context.Context, r api.UpdateLeadRequestObject) (api.UpdateLeadResponseObject, error) {
	l, err := h.store.Lead.Update(ctx, account(ctx), r.ID, view.LeadChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, l, view.Lead, r.Params.Expand)
	return api.UpdateLead200JSONResponse(out), err
}

// DeleteLead implements DELETE /leads/{id}.
func (h *Handlers) DeleteLead(ctx context.Context, r api.DeleteLeadRequestObject) (api.DeleteLeadResponseObject, error) {
	l, err := h.store.Lead.Delete(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteLead200JSONResponse(view.Deleted("lead", l.ID)), nil
}
