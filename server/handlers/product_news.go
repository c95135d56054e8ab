package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListProductNews implements GET /product_news.
func (h *Handlers) ListProductNews(ctx context.Context, r api.ListProductNewsRequestObject) (api.ListProductNewsResponseObject, error) {
	rows, more, err := h.store.ListProductNews(ctx, account(ctx), view.ListProductNews(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/product_news", rows, more, view.ProductNews, r.Params.Expand)
	return api.ListProductNews200JSONResponse(out), err
}

// ExportProductNews implements GET /product_news/export.
func (h *Handlers) ExportProductNews(ctx context.Context, r api.ExportProductNewsRequestObject) (api.ExportProductNewsResponseObject, error) {
	u, err := h.export(ctx, "product_news", r.Params)
	return api.ExportProductNews200JSONResponse(u), err
}

// CreateProductNews implements POST /product_news.
func (h *Handlers) CreateProductNews(ctx context.Context, r api.CreateProductNewsRequestObject) (api.CreateProductNewsResponseObject, error) {
	n, err := h.post.CreateProductNews(ctx, account(ctx), view.NewProductNews(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, n, view.ProductNews, r.Params.Expand)
	return api.CreateProductNews201JSONResponse(out), err
}

// PreviewProductNews implements POST /product_news/preview.
func (h *Handlers) PreviewProductNews(ctx context.Context, r api.PreviewProductNewsRequestObject) (api.PreviewProductNewsResponseObject, error) {
	p, err := h.post.PreviewNews(ctx, account(ctx), view.NewProductNews(r.Body))
	if err != nil {
		return nil, err
	}
	return api.PreviewProductNews200JSONResponse{
		Object: "product_news_preview", Subject: p.Letter.Subject, Text: p.Letter.Text, HTML: p.Letter.HTML, Recipients: p.Readers, HasMore: p.HasMore,
	}, nil
}

// GetProductNews implements GET /product_news/{id}.
func (h *Handlers) GetProductNews(ctx context.Context, r api.GetProductNewsRequestObject) (api.GetProductNewsResponseObject, error) {
	n, err := h.store.GetProductNews(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, n, view.ProductNews, r.Params.Expand)
	return api.GetProductNews200JSONResponse(out), err
}

// CancelProductNews implements POST /product_news/{id}/cancel.
func (h *Handlers) CancelProductNews(ctx context.Context, r api.CancelProductNewsRequestObject) (api.CancelProductNewsResponseObject, error) {
	n, err := h.store.CancelProductNews(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, n, view.ProductNews, r.Params.Expand)
	return api.CancelProductNews200JSONResponse(out), err
}
