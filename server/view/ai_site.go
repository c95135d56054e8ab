package view

import (
	"encoding/json"

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
		DomainError:          a.DomainError,
		DomainCheckedAt:      atOrNull(a.DomainCheckedAt),
		DomainRecords:        mapped(a.DomainRecords, domainRecord),
		CodeHostRepoFullName: a.CodeHostRepoFullName,
		CodeHostURL:          a.CodeHostURL,
		AppURL:               a.AppURL,
		IsLive:               a.IsLive,
		Content:              siteContent(a.Content),
		Version:              a.Version,
		PublishedVersion:     a.PublishedVersion,
		PublishedAt:          atOrNull(a.PublishedAt),
		URL:                  a.URL,
		Metadata:             api.Metadata(a.Metadata.Text()),
		CreatedAt:            at(a.CreatedAt),
		UpdatedAt:            at(a.UpdatedAt),
	}
}

func domainRecord(r content.DomainRecord) api.AISiteDomainRecord {
	return api.AISiteDomainRecord{Type: api.AISiteDomainRecordType(r.Type), Name: r.Name, Value: r.Value}
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
func NewAISite(b *api.AISiteCreate) content.AISiteDraft {
	draft := content.AISiteDraft{AISite: &content.AISite{
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
	}}
	if b.Content != nil {
		draft.Sent = sentContent(b.Content)
	}
	return draft
}

// AISiteChange reads the body of a PATCH.
func AISiteChange(b *api.AISiteUpdate) func(*content.AISiteDraft) {
	return func(a *content.AISiteDraft) {
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
		if b.Content.IsSpecified() {
			a.Sent = sentContent(sent(b.Content))
		}
	}
}

// sentContent returns content as the store reads it: as the JSON that was sent, with fields that there are not.
func sentContent(c *api.AISiteContent) json.RawMessage {
	text, err := json.Marshal(c)
	if err != nil { // it was read from JSON
		panic(err)
	}
	return text
}

// siteContent renders the content of a site, nil for none.
func siteContent(c *content.SiteContent) *api.AISiteContent {
	if c == nil {
		return nil
	}
	return &api.AISiteContent{
		Theme:                &api.AISiteTheme{Accent: c.Theme.Accent, Mode: &c.Theme.Mode, AdditionalProperties: nil},
		Blocks:               mapped(c.Blocks, siteBlock),
		AdditionalProperties: nil,
	}
}

// siteBlock renders a block with the fields of its type alone, so that what is read can be sent again.
func siteBlock(b content.SiteBlock) api.AISiteBlock {
	var items []api.AISiteItem
	if len(b.Items) > 0 {
		items = mapped(b.Items, siteItem)
	}
	return api.AISiteBlock{
		ID: &b.ID, Type: b.Type, Hidden: &b.Hidden, Heading: b.Heading, Text: b.Text, ImageURL: b.ImageURL, Button: siteButton(b.Button),
		Items: items, Products: b.Products, Limit: b.Limit, Tag: b.Tag, Product: b.Product, ConsentText: b.ConsentText, Markdown: b.Markdown, URL: b.URL, Alt: b.Alt, Caption: b.Caption,
		EndsAt: atOrNull(b.EndsAt), Label: b.Label, AdditionalProperties: nil,
	}
}

func siteButton(b *content.SiteLink) *api.AISiteButton {
	if b == nil {
		return nil
	}
	return &api.AISiteButton{Label: b.Label, URL: b.URL, AdditionalProperties: nil}
}

func siteItem(i content.SiteItem) api.AISiteItem {
	return api.AISiteItem{Label: i.Label, URL: i.URL, Question: i.Question, Answer: i.Answer, Quote: i.Quote, Name: i.Name, AdditionalProperties: nil}
}
