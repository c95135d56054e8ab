package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListBlogPosts implements GET /blog_posts.
func (h *Handlers) ListBlogPosts(ctx context.Context, r api.ListBlogPostsRequestObject) (api.ListBlogPostsResponseObject, error) {
	rows, more, err := h.store.Content.ListBlogPosts(ctx, account(ctx), view.ListBlogPosts(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/blog_posts", rows, more, view.BlogPost, r.Params.Expand)
	return api.ListBlogPosts200JSONResponse(out), err
}

// ExportBlogPosts implements GET /blog_posts/export.
func (h *Handlers) ExportBlogPosts(ctx context.Context, r api.ExportBlogPostsRequestObject) (api.ExportBlogPostsResponseObject, error) {
	u, err := h.export(ctx, "blog_posts", r.Params)
	return api.ExportBlogPosts200JSONResponse(u), err
}

// CreateBlogPost implements POST /blog_posts.
func (h *Handlers) CreateBlogPost(ctx context.Context, r api.CreateBlogPostRequestObject) (api.CreateBlogPostResponseObject, error) {
	b, err := h.store.Content.CreateBlogPost(ctx, account(ctx), view.NewBlogPost(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, b, view.BlogPost, r.Params.Expand)
	return api.CreateBlogPost201JSONResponse(out), err
}

// GetBlogPost implements GET /blog_posts/{id}.
func (h *Handlers) GetBlogPost(ctx context.Context, r api.GetBlogPostRequestObject) (api.GetBlogPostResponseObject, error) {
	b, err := h.store.Content.GetBlogPost(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, b, view.BlogPost, r.Params.Expand)
	return api.GetBlogPost200JSONResponse(out), err
}

// UpdateBlogPost implements PATCH /blog_posts/{id}.
func (h *Handlers) UpdateBlogPost(ctx context.Context, r api.UpdateBlogPostRequestObject) (api.UpdateBlogPostResponseObject, error) {
	b, err := h.store.Content.UpdateBlogPost(ctx, account(ctx), r.ID, view.BlogPostChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, b, view.BlogPost, r.Params.Expand)
	return api.UpdateBlogPost200JSONResponse(out), err
}

// DeleteBlogPost implements DELETE /blog_posts/{id}.
func (h *Handlers) DeleteBlogPost(ctx context.Context, r api.DeleteBlogPostRequestObject) (api.DeleteBlogPostResponseObject, error) {
	b, err := h.store.Content.DeleteBlogPost(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteBlogPost200JSONResponse(view.Deleted("blog_post", b.ID)), nil
}

// PublishBlogPost implements POST /blog_posts/{id}/publish.
func (h *Handlers) PublishBlogPost(ctx context.Context, r api.PublishBlogPostRequestObject) (api.PublishBlogPostResponseObject, error) {
	b, err := h.store.Content.PublishBlogPost(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.PublishBlogPost200JSONResponse(view.BlogPost(b)), nil
}

// UnpublishBlogPost implements POST /blog_posts/{id}/unpublish.
func (h *Handlers) UnpublishBlogPost(ctx context.Context, r api.UnpublishBlogPostRequestObject) (api.UnpublishBlogPostResponseObject, error) {
	b, err := h.store.Content.UnpublishBlogPost(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.UnpublishBlogPost200JSONResponse(view.BlogPost(b)), nil
}

// ArchiveBlogPost implements POST /blog_posts/{id}/archive.
func (h *Handlers) ArchiveBlogPost(ctx context.Context, r api.ArchiveBlogPostRequestObject) (api.ArchiveBlogPostResponseObject, error) {
	b, err := h.store.Content.ArchiveBlogPost(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.ArchiveBlogPost200JSONResponse(view.BlogPost(b)), nil
}

// UnarchiveBlogPost implements POST /blog_posts/{id}/unarchive.
func (h *Handlers) UnarchiveBlogPost(ctx context.Context, r api.UnarchiveBlogPostRequestObject) (api.UnarchiveBlogPostResponseObject, error) {
	b, err := h.store.Content.UnarchiveBlogPost(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.UnarchiveBlogPost200JSONResponse(view.BlogPost(b)), nil
}

// DuplicateBlogPost implements POST /blog_posts/{id}/duplicate.
func (h *Handlers) DuplicateBlogPost(ctx context.Context, r api.DuplicateBlogPostRequestObject) (api.DuplicateBlogPostResponseObject, error) {
	b, err := h.store.Content.DuplicateBlogPost(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DuplicateBlogPost201JSONResponse(view.BlogPost(b)), nil
}

// ListBlogPostVersions implements GET /blog_posts/{id}/versions.
func (h *Handlers) ListBlogPostVersions(ctx context.Context, r api.ListBlogPostVersionsRequestObject) (api.ListBlogPostVersionsResponseObject, error) {
	rows, more, err := h.store.Content.ListBlogPostVersions(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.ListBlogPostVersions200JSONResponse(view.List("/v1/blog_posts/"+r.ID+"/versions", rows, more, view.BlogPostVersionListed)), nil
}

// GetBlogPostVersion implements GET /blog_posts/{id}/versions/{version}.
func (h *Handlers) GetBlogPostVersion(ctx context.Context, r api.GetBlogPostVersionRequestObject) (api.GetBlogPostVersionResponseObject, error) {
	t, err := h.store.Content.BlogPostVersion(ctx, account(ctx), r.ID, r.Version)
	if err != nil {
		return nil, err
	}
	return api.GetBlogPostVersion200JSONResponse(view.BlogPostVersion(t)), nil
}

// GetBlogPostAccess implements GET /blog_posts/{id}/access.
func (h *Handlers) GetBlogPostAccess(ctx context.Context, r api.GetBlogPostAccessRequestObject) (api.GetBlogPostAccessResponseObject, error) {
	a, err := h.store.GetBlogPostAccess(ctx, account(ctx), r.ID, r.Params.Customer)
	if err != nil {
		return nil, err
	}
	return api.GetBlogPostAccess200JSONResponse(view.Access(a)), nil
}
