package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/content"
)

// AISite renders an AI site.
func AISite(a *content.AISite) api.AISite {
	return api.AISite{
		ID:                   a.ID,
		Object:               "ai_site",
		Name:                 a.Name,
		Type:                 api.AISiteType(a.Type),
		Default:              a.Default,
		Subdomain:            a.Subdomain,
		Domain:               a.Domain,
		DomainStatus:         enum[api.AISiteDomainStatus](a.DomainStatus),
		DomainVerifiedAt:     atOrNull(a.DomainVerifiedAt),
		DomainVerified:       a.DomainVerifiedAt != nil,
		CodeHostRepoFullName: a.CodeHostRepoFullName,
		CodeHostURL:          a.CodeHostURL,
		AppURL:               a.AppURL,
		IsLive:               a.IsLive,
		Metadata:             api.Metadata(a.Metadata.Text()),
		CreatedAt:            at(a.CreatedAt),
		UpdatedAt:            at(a.UpdatedAt),
	}
}

// ListAISites reads the query of a list.
func ListAISites(q api.ListAISitesParams) content.ListAISites {
	return content.ListAISites{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Type:       content.AISiteType(value(q.Type)),
		IsLive:     q.IsLive,
	}
}

// NewAISite reads the body of a create.
func NewAISite(b *api.AISiteCreate) content.AISite {
	return content.AISite{
		Name:                 b.Name,
		Type:                 content.AISiteType(value(b.Type)),
		Default:              value(b.Default),
		Subdomain:            value(b.Subdomain),
		Domain:               b.Domain,
		CodeHostRepoFullName: b.CodeHostRepoFullName,
		CodeHostURL:          b.CodeHostURL,
		AppURL:               b.AppURL,
		IsLive:               value(b.IsLive),
		Metadata:             metadata(b.Metadata),
	}
}

// AISiteChange reads the body of a PATCH.
func AISiteChange(b *api.AISiteUpdate) func(*content.AISite) {
	return func(a *content.AISite) {
		set(&a.Name, b.Name)
		setAs(&a.Type, b.Type)
		set(&a.Default, b.Default)
		set(&a.Subdomain, b.Subdomain)
		setOrClear(&a.Domain, b.Domain)
		setOrClear(&a.CodeHostRepoFullName, b.CodeHostRepoFullName)
		setOrClear(&a.CodeHostURL, b.CodeHostURL)
		setOrClear(&a.AppURL, b.AppURL)
		set(&a.IsLive, b.IsLive)
		setMetadata(&a.Metadata, b.Metadata)
	}
}
