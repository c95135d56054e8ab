package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListProducts implements GET /products.
func (h *Handlers) ListProducts(ctx context.Context, r api.ListProductsRequestObject) (api.ListProductsResponseObject, error) {
	products, more, err := h.store.Catalog.ListProducts(ctx, account(ctx), view.ListProducts(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/products", products, more, view.Product, r.Params.Expand)
	return api.ListProducts200JSONResponse(out), err
}

// ExportProducts implements GET /products/export.
func (h *Handlers) ExportProducts(ctx context.Context, r api.ExportProductsRequestObject) (api.ExportProductsResponseObject, error) {
	u, err := h.export(ctx, "products", r.Params)
	return api.ExportProducts200JSONResponse(u), err
}

// CreateProduct implements POST /products.
func (h *Handlers) CreateProduct(ctx context.Context, r api.CreateProductRequestObject) (api.CreateProductResponseObject, error) {
	p, err := h.store.Catalog.CreateProduct(ctx, account(ctx), view.NewProduct(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, p, view.Product, r.Params.Expand)
	return api.CreateProduct201JSONResponse(out), err
}

// GetProduct implements GET /products/{id}.
func (h *Handlers) GetProduct(ctx context.Context, r api.GetProductRequestObject) (api.GetProductResponseObject, error) {
	p, err := h.store.Catalog.GetProduct(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, p, view.Product, r.Params.Expand)
	return api.GetProduct200JSONResponse(out), err
}

// UpdateProduct implements PATCH /products/{id}.
func (h *Handlers) UpdateProduct(ctx context.Context, r api.UpdateProductRequestObject) (api.UpdateProductResponseObject, error) {
	p, err := h.store.Catalog.UpdateProduct(ctx, account(ctx), r.ID, view.ProductChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, p, view.Product, r.Params.Expand)
	return api.UpdateProduct200JSONResponse(out), err
}

// DeleteProduct implements DELETE /products/{id}.
func (h *Handlers) DeleteProduct(ctx context.Context, r api.DeleteProductRequestObject) (api.DeleteProductResponseObject, error) {
	p, err := h.store.Catalog.DeleteProduct(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteProduct200JSONResponse(view.Deleted("product", p.ID)), nil
}

// UpsertProduct implements POST /products/by_external_id.
func (h *Handlers) UpsertProduct(ctx context.Context, r api.UpsertProductRequestObject) (api.UpsertProductResponseObject, error) {
	p, isNew, err := h.store.Catalog.UpsertProduct(ctx, account(ctx), view.ProductUpsert(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, p, view.Product, r.Params.Expand)
	if isNew {
		return api.UpsertProduct201JSONResponse(out), err
	}
	return api.UpsertProduct200JSONResponse(out), err
}

// BulkUpsertProducts implements POST /products/bulk_upsert.
func (h *Handlers) BulkUpsertProducts(ctx context.Context, r api.BulkUpsertProductsRequestObject) (api.BulkUpsertProductsResponseObject, error) {
	done, err := h.store.Catalog.UpsertProducts(ctx, account(ctx), view.ProductUpserts(r.Body, refusals(ctx)))
	if err != nil {
		return nil, err
	}
	return api.BulkUpsertProducts200JSONResponse(view.BulkUpsert(done)), nil
}

// PublishProduct implements POST /products/{id}/publish.
func (h *Handlers) PublishProduct(ctx context.Context, r api.PublishProductRequestObject) (api.PublishProductResponseObject, error) {
	p, err := h.store.Catalog.PublishProduct(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.PublishProduct200JSONResponse(view.Product(p)), nil
}

// UnpublishProduct implements POST /products/{id}/unpublish.
func (h *Handlers) UnpublishProduct(ctx context.Context, r api.UnpublishProductRequestObject) (api.UnpublishProductResponseObject, error) {
	p, err := h.store.Catalog.UnpublishProduct(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.UnpublishProduct200JSONResponse(view.Product(p)), nil
}

// ArchiveProduct implements POST /products/{id}/archive.
func (h *Handlers) ArchiveProduct(ctx context.Context, r api.ArchiveProductRequestObject) (api.ArchiveProductResponseObject, error) {
	p, err := h.store.Catalog.ArchiveProduct(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.ArchiveProduct200JSONResponse(view.Product(p)), nil
}

// UnarchiveProduct implements POST /products/{id}/unarchive.
func (h *Handlers) UnarchiveProduct(ctx context.Context, r api.UnarchiveProductRequestObject) (api.UnarchiveProductResponseObject, error) {
	p, err := h.store.Catalog.UnarchiveProduct(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.UnarchiveProduct200JSONResponse(view.Product(p)), nil
}

// DuplicateProduct implements POST /products/{id}/duplicate.
func (h *Handlers) DuplicateProduct(ctx context.Context, r api.DuplicateProductRequestObject) (api.DuplicateProductResponseObject, error) {
	p, err := h.store.Catalog.DuplicateProduct(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DuplicateProduct201JSONResponse(view.Product(p)), nil
}
