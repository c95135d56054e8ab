package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListLegalPages implements GET /legal_pages.
func (h *Handlers) ListLegalPages(ctx context.Context, r api.ListLegalPagesRequestObject) (api.ListLegalPagesResponseObject, error) {
	rows, more, err := h.store.Content.ListLegalPages(ctx, account(ctx), view.ListLegalPages(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListLegalPages200JSONResponse(view.List("/v1/legal_pages", rows, more, view.LegalPage)), nil
}

// ExportLegalPages implements GET /legal_pages/export.
func (h *Handlers) ExportLegalPages(ctx context.Context, r api.ExportLegalPagesRequestObject) (api.ExportLegalPagesResponseObject, error) {
	u, err := h.export(ctx, "legal_pages", r.Params)
	return api.ExportLegalPages200JSONResponse(u), err
}

// CreateLegalPage implements POST /legal_pages.
func (h *Handlers) CreateLegalPage(ctx context.Context, r api.CreateLegalPageRequestObject) (api.CreateLegalPageResponseObject, error) {
	l, err := h.store.Content.CreateLegalPage(ctx, account(ctx), view.NewLegalPage(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateLegalPage201JSONResponse(view.LegalPage(l)), nil
}

// GetLegalPage implements GET /legal_pages/{id}.
func (h *Handlers) GetLegalPage(ctx context.Context, r api.GetLegalPageRequestObject) (api.GetLegalPageResponseObject, error) {
	l, err := h.store.Content.GetLegalPage(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetLegalPage200JSONResponse(view.LegalPage(l)), nil
}

// UpdateLegalPage implements PATCH /legal_pages/{id}.
func (h *Handlers) UpdateLegalPage(ctx context.Context, r api.UpdateLegalPageRequestObject) (api.UpdateLegalPageResponseObject, error) {
	l, err := h.store.Content.UpdateLegalPage(ctx, account(ctx), r.ID, view.LegalPageChange(r.Body))
	if err != nil {
		return nil, err
	}
	return api.UpdateLegalPage200JSONResponse(view.LegalPage(l)), nil
}

// DeleteLegalPage implements DELETE /legal_pages/{id}.
func (h *Handlers) DeleteLegalPage(ctx context.Context, r api.DeleteLegalPageRequestObject) (api.DeleteLegalPageResponseObject, error) {
	l, err := h.store.Content.DeleteLegalPage(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteLegalPage200JSONResponse(view.Deleted("legal_page", l.ID)), nil
}

// PublishLegalPage implements POST /legal_pages/{id}/publish.
func (h *Handlers) PublishLegalPage(ctx context.Context, r api.PublishLegalPageRequestObject) (api.PublishLegalPageResponseObject, error) {
	l, err := h.store.Content.PublishLegalPage(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.PublishLegalPage200JSONResponse(view.LegalPage(l)), nil
}

// UnpublishLegalPage implements POST /legal_pages/{id}/unpublish.
func (h *Handlers) UnpublishLegalPage(ctx context.Context, r api.UnpublishLegalPageRequestObject) (api.UnpublishLegalPageResponseObject, error) {
	l, err := h.store.Content.UnpublishLegalPage(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.UnpublishLegalPage200JSONResponse(view.LegalPage(l)), nil
}

// ArchiveLegalPage implements POST /legal_pages/{id}/archive.
func (h *Handlers) ArchiveLegalPage(ctx context.Context, r api.ArchiveLegalPageRequestObject) (api.ArchiveLegalPageResponseObject, error) {
	l, err := h.store.Content.ArchiveLegalPage(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.ArchiveLegalPage200JSONResponse(view.LegalPage(l)), nil
}

// UnarchiveLegalPage implements POST /legal_pages/{id}/unarchive.
func (h *Handlers) UnarchiveLegalPage(ctx context.Context, r api.UnarchiveLegalPageRequestObject) (api.UnarchiveLegalPageResponseObject, error) {
	l, err := h.store.Content.UnarchiveLegalPage(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.UnarchiveLegalPage200JSONResponse(view.LegalPage(l)), nil
}

// DuplicateLegalPage implements POST /legal_pages/{id}/duplicate.
func (h *Handlers) DuplicateLegalPage(ctx context.Context, r api.DuplicateLegalPageRequestObject) (api.DuplicateLegalPageResponseObject, error) {
	l, err := h.store.Content.DuplicateLegalPage(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DuplicateLegalPage201JSONResponse(view.LegalPage(l)), nil
}

// ListLegalPageVersions implements GET /legal_pages/{id}/versions.
func (h *Handlers) ListLegalPageVersions(ctx context.Context, r api.ListLegalPageVersionsRequestObject) (api.ListLegalPageVersionsResponseObject, error) {
	rows, more, err := h.store.Content.ListLegalPageVersions(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.ListLegalPageVersions200JSONResponse(view.List("/v1/legal_pages/"+r.ID+"/versions", rows, more, view.LegalPageVersionListed)), nil
}

// GetLegalPageVersion implements GET /legal_pages/{id}/versions/{version}.
func (h *Handlers) GetLegalPageVersion(ctx context.Context, r api.GetLegalPageVersionRequestObject) (api.GetLegalPageVersionResponseObject, error) {
	t, err := h.store.Content.LegalPageVersion(ctx, account(ctx), r.ID, r.Version)
	if err != nil {
		return nil, err
	}
	return api.GetLegalPageVersion200JSONResponse(view.LegalPageVersion(t)), nil
}
