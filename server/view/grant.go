package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// Grant renders a grant.
func Grant(g *grant.Grant) api.Grant {
	return api.Grant{
		ID:            g.ID,
		Object:        "grant",
		Customer:      wire.RefTo(g.CustomerID),
		Product:       wire.RefTo(g.ProductID),
		PriceVariant:  ref(g.PriceVariantID),
		Quantity:      g.Quantity,
		Source:        grantSource(g),
		Status:        api.GrantStatus(g.StatusNow()),
		Reason:        (*api.GrantReason)(g.Reason),
		ExpiresAt:     atOrNull(g.ExpiresAt),
		DownloadLimit: g.DownloadLimit,
		SuspendedAt:   atOrNull(g.SuspendedAt),
		RevokedAt:     atOrNull(g.RevokedAt),
		Deliverables:  mapped(g.Deliverables, grantDeliverable),
		CreatedAt:     at(g.CreatedAt),
		UpdatedAt:     at(g.UpdatedAt),
	}
}

// ListGrants reads the query of a list.
func ListGrants(q api.ListGrantsParams) store.ListGrants {
	return store.ListGrants{
		ListGrants: grant.ListGrants{
			Page:       SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
			ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, nil, nil),
			Customer:   value(q.Customer),
			Product:    value(q.Product),
			Status:     grant.Status(value(q.Status)),
		},
		SourceOrType: value(q.Source),
	}
}

// NewGrant reads the body of a create.
func NewGrant(b *api.GrantCreate) store.NewGrant {
	return store.NewGrant{Customer: b.Customer, Product: b.Product, ExpiresAt: stored(b.ExpiresAt)}
}

// GrantChange reads the body of a PATCH.
func GrantChange(b *api.GrantUpdate) func(*grant.Grant) {
	return func(g *grant.Grant) {
		setOrClear(&g.DownloadLimit, b.DownloadLimit)
		switch {
		case b.ExpiresAt.IsNull():
			g.ExpiresAt = nil
		case b.ExpiresAt.IsSpecified():
			g.ExpiresAt = new(core.TimeOf(b.ExpiresAt.MustGet().Time()))
		}
	}
}

// grantSource renders the source of a grant. One that the seller gave has no id.
func grantSource(g *grant.Grant) api.GrantSource {
	source := api.GrantSource{Type: api.GrantSourceType(g.SourceType), ID: &g.SourceID}
	if g.SourceType == grant.SourceTypeManual {
		source.ID = nil
	}
	return source
}

func grantDeliverable(d grant.Deliverable) api.GrantDeliverable {
	return api.GrantDeliverable{
		Type: api.GrantDeliverableType(d.Type), Name: d.Name, URL: d.URL, File: d.FileID, Version: d.Version, Size: d.Size, DownloadsCount: d.DownloadsCount, DownloadLimit: d.DownloadLimit,
		LicenseKey: d.LicenseKey, Experience: d.ExperienceID,
	}
}
