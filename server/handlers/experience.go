package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListExperiences implements GET /experiences.
func (h *Handlers) ListExperiences(ctx context.Context, r api.ListExperiencesRequestObject) (api.ListExperiencesResponseObject, error) {
	rows, more, err := h.store.Content.ListExperiences(ctx, account(ctx), view.ListExperiences(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/experiences", rows, more, view.Experience, r.Params.Expand)
	return api.ListExperiences200JSONResponse(out), err
}

// ExportExperiences implements GET /experiences/export.
func (h *Handlers) ExportExperiences(ctx context.Context, r api.ExportExperiencesRequestObject) (api.ExportExperiencesResponseObject, error) {
	u, err := h.export(ctx, "experiences", r.Params)
	return api.ExportExperiences200JSONResponse(u), err
}

// CreateExperience implements POST /experiences.
func (h *Handlers) CreateExperience(ctx context.Context, r api.CreateExperienceRequestObject) (api.CreateExperienceResponseObject, error) {
	e, err := h.store.Content.CreateExperience(ctx, account(ctx), view.NewExperience(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, e, view.Experience, r.Params.Expand)
	return api.CreateExperience201JSONResponse(out), err
}

// GetExperience implements GET /experiences/{id}.
func (h *Handlers) GetExperience(ctx context.Context, r api.GetExperienceRequestObject) (api.GetExperienceResponseObject, error) {
	e, err := h.store.Content.GetExperience(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, e, view.Experience, r.Params.Expand)
	return api.GetExperience200JSONResponse(out), err
}

// UpdateExperience implements PATCH /experiences/{id}.
func (h *Handlers) UpdateExperience(ctx context.Context, r api.UpdateExperienceRequestObject) (api.UpdateExperienceResponseObject, error) {
	e, err := h.store.Content.UpdateExperience(ctx, account(ctx), r.ID, view.ExperienceChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, e, view.Experience, r.Params.Expand)
	return api.UpdateExperience200JSONResponse(out), err
}

// DeleteExperience implements DELETE /experiences/{id}.
func (h *Handlers) DeleteExperience(ctx context.Context, r api.DeleteExperienceRequestObject) (api.DeleteExperienceResponseObject, error) {
	e, err := h.store.Content.DeleteExperience(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteExperience200JSONResponse(view.Deleted("experience", e.ID)), nil
}

// PublishExperience implements POST /experiences/{id}/publish.
func (h *Handlers) PublishExperience(ctx context.Context, r api.PublishExperienceRequestObject) (api.PublishExperienceResponseObject, error) {
	e, err := h.store.Content.PublishExperience(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.PublishExperience200JSONResponse(view.Experience(e)), nil
}

// UnpublishExperience implements POST /experiences/{id}/unpublish.
func (h *Handlers) UnpublishExperience(ctx context.Context, r api.UnpublishExperienceRequestObject) (api.UnpublishExperienceResponseObject, error) {
	e, err := h.store.Content.UnpublishExperience(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.UnpublishExperience200JSONResponse(view.Experience(e)), nil
}

// ArchiveExperience implements POST /experiences/{id}/archive.
func (h *Handlers) ArchiveExperience(ctx context.Context, r api.ArchiveExperienceRequestObject) (api.ArchiveExperienceResponseObject, error) {
	e, err := h.store.Content.ArchiveExperience(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.ArchiveExperience200JSONResponse(view.Experience(e)), nil
}

// UnarchiveExperience implements POST /experiences/{id}/unarchive.
func (h *Handlers) UnarchiveExperience(ctx context.Context, r api.UnarchiveExperienceRequestObject) (api.UnarchiveExperienceResponseObject, error) {
	e, err := h.store.Content.UnarchiveExperience(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.UnarchiveExperience200JSONResponse(view.Experience(e)), nil
}

// DuplicateExperience implements POST /experiences/{id}/duplicate.
func (h *Handlers) DuplicateExperience(ctx context.Context, r api.DuplicateExperienceRequestObject) (api.DuplicateExperienceResponseObject, error) {
	e, err := h.store.Content.DuplicateExperience(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DuplicateExperience201JSONResponse(view.Experience(e)), nil
}

// GetExperienceAccess implements GET /experiences/{id}/access.
func (h *Handlers) GetExperienceAccess(ctx context.Context, r api.GetExperienceAccessRequestObject) (api.GetExperienceAccessResponseObject, error) {
	a, err := h.store.GetExperienceAccess(ctx, account(ctx), r.ID, r.Params.Customer)
	if err != nil {
		return nil, err
	}
	return api.GetExperienceAccess200JSONResponse(view.Access(a)), nil
}

// AttachExperience implements POST /experiences/{id}/attach.
func (h *Handlers) AttachExperience(ctx context.Context, r api.AttachExperienceRequestObject) (api.AttachExperienceResponseObject, error) {
	e, err := h.store.AttachExperience(ctx, account(ctx), r.ID, r.Body.Product)
	if err != nil {
		return nil, err
	}
	return api.AttachExperience200JSONResponse(view.Experience(e)), nil
}

// DetachExperience implements POST /experiences/{id}/detach.
func (h *Handlers) DetachExperience(ctx context.Context, r api.DetachExperienceRequestObject) (api.DetachExperienceResponseObject, error) {
	e, err := h.store.DetachExperience(ctx, account(ctx), r.ID, r.Body.Product)
	if err != nil {
		return nil, err
	}
	return api.DetachExperience200JSONResponse(view.Experience(e)), nil
}
