package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/content"
)

// LegalPage renders a legal page.
func LegalPage(l *content.LegalPage) api.LegalPage {
	body, html := bodyOf(l.Text)
	return api.LegalPage{
		ID:                 l.ID,
		Object:             "legal_page",
		Kind:               api.LegalPageKind(l.Kind),
		Title:              l.Title,
		Slug:               l.Slug,
		Body:               body,
		BodyHTML:           html,
		Status:             api.LegalPageStatus(l.Status),
		Version:            l.Version,
		PublishedAt:        atOrNull(l.PublishedAt),
		Locale:             l.Locale,
		RequiresAcceptance: l.RequiresAcceptance,
		Metadata:           api.Metadata(l.Metadata.Text()),
		CreatedAt:          at(l.CreatedAt),
		UpdatedAt:          at(l.UpdatedAt),
	}
}

// LegalPageVersion renders a published text of a page.
func LegalPageVersion(t *content.Text) api.LegalPageVersion {
	return api.LegalPageVersion{
		Object: "legal_page_version", Version: t.Version, Title: t.Title, Body: &t.Body, BodyHTML: &t.HTML, CreatedAt: at(t.CreatedAt),
	}
}

// LegalPageVersionListed renders a published text of a page without its body.
func LegalPageVersionListed(v *content.TextVersion) api.LegalPageVersion {
	return api.LegalPageVersion{Object: "legal_page_version", Version: v.Version, Title: v.Title, Body: nil, BodyHTML: nil, CreatedAt: at(v.CreatedAt)}
}

// ListLegalPages reads the query of a list.
func ListLegalPages(q api.ListLegalPagesParams) content.ListLegalPages {
	return content.ListLegalPages{
		Page:       SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:     content.LegalPageStatus(value(q.Status)),
		Kind:       content.LegalPageKind(value(q.Kind)),
	}
}

// NewLegalPage reads the body of a create.
func NewLegalPage(b *api.LegalPageCreate) content.LegalPage {
	return content.LegalPage{
		Kind:               content.LegalPageKind(b.Kind),
		Title:              b.Title,
		Slug:               value(b.Slug),
		Body:               value(b.Body),
		Status:             content.LegalPageStatus(value(b.Status)),
		Locale:             value(b.Locale),
		RequiresAcceptance: value(b.RequiresAcceptance),
		Metadata:           metadata(b.Metadata),
	}
}

// LegalPageChange reads the body of a PATCH.
func LegalPageChange(b *api.LegalPageUpdate) func(*content.LegalPage) {
	return func(l *content.LegalPage) {
		setAs(&l.Kind, b.Kind)
		set(&l.Title, b.Title)
		set(&l.Slug, b.Slug)
		set(&l.Body, b.Body)
		setAs(&l.Status, b.Status)
		set(&l.Locale, b.Locale)
		set(&l.RequiresAcceptance, b.RequiresAcceptance)
		setMetadata(&l.Metadata, b.Metadata)
	}
}
