package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListFiles implements GET /files.
func (h *Handlers) ListFiles(ctx context.Context, r api.ListFilesRequestObject) (api.ListFilesResponseObject, error) {
	files, more, err := h.store.Grant.ListFiles(ctx, account(ctx), view.ListFiles(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListFiles200JSONResponse(view.List("/v1/files", files, more, view.File)), nil
}

// ExportFiles implements GET /files/export.
func (h *Handlers) ExportFiles(ctx context.Context, r api.ExportFilesRequestObject) (api.ExportFilesResponseObject, error) {
	u, err := h.export(ctx, "files", r.Params)
	return api.ExportFiles200JSONResponse(u), err
}

// CreateFile implements POST /files.
func (h *Handlers) CreateFile(ctx context.Context, r api.CreateFileRequestObject) (api.CreateFileResponseObject, error) {
	f, err := h.store.Grant.CreateFile(ctx, account(ctx), view.NewFile(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateFile201JSONResponse(view.File(f)), nil
}

// GetFile implements GET /files/{id}.
func (h *Handlers) GetFile(ctx context.Context, r api.GetFileRequestObject) (api.GetFileResponseObject, error) {
	f, err := h.store.Grant.GetFile(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetFile200JSONResponse(view.File(f)), nil
}

// UpdateFile implements PATCH /files/{id}.
func (h *Handlers) UpdateFile(ctx context.Context, r api.UpdateFileRequestObject) (api.UpdateFileResponseObject, error) {
	f, err := h.store.Grant.UpdateFile(ctx, account(ctx), r.ID, view.FileChange(r.Body))
	if err != nil {
		return nil, err
	}
	return api.UpdateFile200JSONResponse(view.File(f)), nil
}

// DeleteFile implements DELETE /files/{id}.
func (h *Handlers) DeleteFile(ctx context.Context, r api.DeleteFileRequestObject) (api.DeleteFileResponseObject, error) {
	f, err := h.store.Grant.DeleteFile(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteFile200JSONResponse(view.Deleted("file", f.ID)), nil
}

// CompleteFile implements POST /files/{id}/complete.
func (h *Handlers) CompleteFile(ctx context.Context, r api.CompleteFileRequestObject) (api.CompleteFileResponseObject, error) {
	f, err := h.transfer.Complete(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.CompleteFile200JSONResponse(view.File(f)), nil
}

// ListFileVersions implements GET /files/{id}/versions.
func (h *Handlers) ListFileVersions(ctx context.Context, r api.ListFileVersionsRequestObject) (api.ListFileVersionsResponseObject, error) {
	versions, more, err := h.store.Grant.ListFileVersions(ctx, account(ctx), r.ID, view.Page(r.Params.Limit, r.Params.StartingAfter, r.Params.EndingBefore))
	if err != nil {
		return nil, err
	}
	list, err := showList(ctx, h, "/v1/files/"+r.ID+"/versions", versions, more, view.FileVersion, r.Params.Expand)
	if err != nil {
		return nil, err
	}
	return api.ListFileVersions200JSONResponse(list), nil
}

// CreateFileVersion implements POST /files/{id}/versions.
func (h *Handlers) CreateFileVersion(ctx context.Context, r api.CreateFileVersionRequestObject) (api.CreateFileVersionResponseObject, error) {
	v, err := h.store.Grant.CreateFileVersion(ctx, account(ctx), r.ID, view.NewFileVersion(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, v, view.FileVersion, r.Params.Expand)
	if err != nil {
		return nil, err
	}
	return api.CreateFileVersion201JSONResponse(out), nil
}

// GetFileDownload implements GET /files/{id}/download.
func (h *Handlers) GetFileDownload(ctx context.Context, r api.GetFileDownloadRequestObject) (api.GetFileDownloadResponseObject, error) {
	var version int64
	if r.Params.Version != nil {
		version = *r.Params.Version
	}
	u, err := h.store.GetFileDownload(ctx, account(ctx), r.ID, version, view.ExpiresIn(r.Params.ExpiresIn))
	if err != nil {
		return nil, err
	}
	return api.GetFileDownload200JSONResponse(view.SignedURL(u)), nil
}
