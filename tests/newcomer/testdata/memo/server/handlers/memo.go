package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListMemos implements GET /memos.
func (h *Handlers) ListMemos(ctx context.Context, r api.ListMemosRequestObject) (api.ListMemosResponseObject, error) {
	memos, more, err := h.store.ListMemos(ctx, account(ctx), view.Page(r.Params.Limit, r.Params.StartingAfter, r.Params.EndingBefore))
	if err != nil {
		return nil, err
	}
	return api.ListMemos200JSONResponse(view.List("/v1/memos", memos, more, view.Memo)), nil
}

// CreateMemo implements POST /memos.
func (h *Handlers) CreateMemo(ctx context.Context, r api.CreateMemoRequestObject) (api.CreateMemoResponseObject, error) {
	m, err := h.store.CreateMemo(ctx, account(ctx), view.NewMemo(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateMemo201JSONResponse(view.Memo(m)), nil
}

// GetMemo implements GET /memos/{id}.
func (h *Handlers) GetMemo(ctx context.Context, r api.GetMemoRequestObject) (api.GetMemoResponseObject, error) {
	m, err := h.store.GetMemo(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetMemo200JSONResponse(view.Memo(m)), nil
}

// UpdateMemo implements PATCH /memos/{id}.
func (h *Handlers) UpdateMemo(ctx context.Context, r api.UpdateMemoRequestObject) (api.UpdateMemoResponseObject, error) {
	m, err := h.store.UpdateMemo(ctx, account(ctx), r.ID, view.MemoChange(r.Body))
	if err != nil {
		return nil, err
	}
	return api.UpdateMemo200JSONResponse(view.Memo(m)), nil
}

// DeleteMemo implements DELETE /memos/{id}.
func (h *Handlers) DeleteMemo(ctx context.Context, r api.DeleteMemoRequestObject) (api.DeleteMemoResponseObject, error) {
	m, err := h.store.DeleteMemo(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteMemo200JSONResponse(view.Deleted("memo", m.ID)), nil
}
