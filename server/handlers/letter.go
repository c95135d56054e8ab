package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListLetters implements GET /letters.
func (h *Handlers) ListLetters(ctx context.Context, r api.ListLettersRequestObject) (api.ListLettersResponseObject, error) {
	letters, more, err := h.store.ListLetters(ctx, account(ctx), view.ListLetters(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/letters", letters, more, view.Letter, r.Params.Expand)
	return api.ListLetters200JSONResponse(out), err
}

// ExportLetters implements GET /letters/export.
func (h *Handlers) ExportLetters(ctx context.Context, r api.ExportLettersRequestObject) (api.ExportLettersResponseObject, error) {
	u, err := h.export(ctx, "letters", r.Params)
	return api.ExportLetters200JSONResponse(u), err
}

// GetLetter implements GET /letters/{id}.
func (h *Handlers) GetLetter(ctx context.Context, r api.GetLetterRequestObject) (api.GetLetterResponseObject, error) {
	l, err := h.store.GetLetter(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, l, view.Letter, r.Params.Expand)
	return api.GetLetter200JSONResponse(out), err
}

// ResendLetter implements POST /letters/{id}/resend.
func (h *Handlers) ResendLetter(ctx context.Context, r api.ResendLetterRequestObject) (api.ResendLetterResponseObject, error) {
	l, err := h.post.ResendLetter(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, l, view.Letter, r.Params.Expand)
	return api.ResendLetter200JSONResponse(out), err
}
