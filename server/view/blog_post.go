package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
)

// BlogPost renders a post.
func BlogPost(b *content.BlogPost) api.BlogPost {
	body, html := bodyOf(b.Text)
	return api.BlogPost{
		ID:             b.ID,
		Object:         "blog_post",
		Title:          b.Title,
		Slug:           b.Slug,
		Excerpt:        b.Excerpt,
		Body:           body,
		BodyHTML:       html,
		CoverURL:       b.CoverURL,
		AuthorName:     b.AuthorName,
		Tags:           list(b.Tags.V),
		Status:         api.BlogPostStatus(b.Status),
		ScheduledFor:   atOrNull(b.ScheduledFor),
		PublishedAt:    atOrNull(b.PublishedAt),
		Access:         api.BlogPostAccess(b.Access),
		Product:        ref(b.ProductID),
		SEOTitle:       b.SEOTitle,
		SEODescription: b.SEODescription,
		ReadingMinutes: b.ReadingMinutes,
		Version:        b.Version,
		URL:            b.URL,
		Metadata:       api.Metadata(b.Metadata.Text()),
		CreatedAt:      at(b.CreatedAt),
		UpdatedAt:      at(b.UpdatedAt),
	}
}

// bodyOf returns the body of a text and its HTML, nil for a text that was not read.
func bodyOf(t *content.Text) (body, html *string) {
	if t == nil {
		return nil, nil
	}
	return &t.Body, &t.HTML
}

// BlogPostVersion renders a published text of a post.
func BlogPostVersion(t *content.Text) api.BlogPostVersion {
	return api.BlogPostVersion{
		Object: "blog_post_version", Version: t.Version, Title: t.Title, Body: &t.Body, BodyHTML: &t.HTML, CreatedAt: at(t.CreatedAt),
	}
}

// BlogPostVersionListed renders a published text of a post without its body.
func BlogPostVersionListed(v *content.TextVersion) api.BlogPostVersion {
	return api.BlogPostVersion{Object: "blog_post_version", Version: v.Version, Title: v.Title, Body: nil, BodyHTML: nil, CreatedAt: at(v.CreatedAt)}
}

// ListBlogPosts reads the query of a list.
func ListBlogPosts(q api.ListBlogPostsParams) content.ListBlogPosts {
	return content.ListBlogPosts{
		Page:       SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:     content.BlogPostStatus(value(q.Status)),
		Access:     content.BlogPostAccess(value(q.Access)),
		Tag:        value(q.Tag),
	}
}

// NewBlogPost reads the body of a create.
func NewBlogPost(b *api.BlogPostCreate) content.BlogPost {
	return content.BlogPost{
		Title:          b.Title,
		Slug:           value(b.Slug),
		Excerpt:        b.Excerpt,
		Body:           value(b.Body),
		CoverURL:       b.CoverURL,
		AuthorName:     b.AuthorName,
		Tags:           core.JSONOf(b.Tags),
		Status:         content.BlogPostStatus(value(b.Status)),
		ScheduledFor:   stored(b.ScheduledFor),
		Access:         content.BlogPostAccess(value(b.Access)),
		ProductID:      b.Product,
		SEOTitle:       b.SEOTitle,
		SEODescription: b.SEODescription,
		Metadata:       metadata(b.Metadata),
	}
}

// BlogPostChange reads the body of a PATCH.
func BlogPostChange(b *api.BlogPostUpdate) func(*content.BlogPost) {
	return func(p *content.BlogPost) {
		set(&p.Title, b.Title)
		set(&p.Slug, b.Slug)
		setOrClear(&p.Excerpt, b.Excerpt)
		set(&p.Body, b.Body)
		setOrClear(&p.CoverURL, b.CoverURL)
		setOrClear(&p.AuthorName, b.AuthorName)
		if b.Tags != nil {
			p.Tags.V = b.Tags
		}
		setAs(&p.Status, b.Status)
		if b.ScheduledFor.IsSpecified() {
			p.ScheduledFor = stored(sent(b.ScheduledFor))
		}
		setAs(&p.Access, b.Access)
		setOrClear(&p.ProductID, b.Product)
		setOrClear(&p.SEOTitle, b.SEOTitle)
		setOrClear(&p.SEODescription, b.SEODescription)
		setMetadata(&p.Metadata, b.Metadata)
	}
}
