package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store"
)

// ProductNews renders news about a product.
func ProductNews(n *store.ProductNews) api.ProductNews {
	return api.ProductNews{
		ID:         n.ID,
		Object:     "product_news",
		Product:    wire.RefTo(n.ProductID),
		Subject:    n.Subject,
		Body:       n.Body,
		Audience:   api.ProductNewsAudience(n.Audience),
		Status:     api.ProductNewsStatus(n.Status),
		SendAt:     atOrNull(n.SendAt),
		SentAt:     atOrNull(n.SentAt),
		Recipients: n.Recipients,
		Sent:       n.Sent,
		Failed:     n.Failed,
		Skipped:    n.Skipped,
		CreatedAt:  at(n.CreatedAt),
		UpdatedAt:  at(n.UpdatedAt),
	}
}

// ListProductNews reads the query of a list.
func ListProductNews(q api.ListProductNewsParams) store.ListProductNews {
	return store.ListProductNews{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, nil, nil),
		Product:    value(q.Product),
		Status:     store.NewsStatus(value(q.Status)),
	}
}

// NewProductNews reads the body of a create.
func NewProductNews(b *api.ProductNewsCreate) store.NewProductNews {
	return store.NewProductNews{Product: b.Product, Subject: b.Subject, Body: b.Body, Audience: store.NewsAudience(b.Audience), SendAt: stored(b.SendAt)}
}
