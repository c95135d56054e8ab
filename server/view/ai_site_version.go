package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/content"
)

// AISiteVersion renders a version of an AI site.
func AISiteVersion(v *content.AISiteVersion) api.AISiteVersion {
	return api.AISiteVersion{
		ID:         v.ID,
		Object:     "ai_site_version",
		AISite:     v.SiteID,
		Version:    v.Version,
		Origin:     api.AISiteVersionOrigin(v.Origin),
		Prompt:     v.Prompt,
		Content:    siteContent(v.Content),
		Dropped:    list(v.Dropped.V),
		PreviewURL: v.PreviewURL,
		CreatedAt:  at(v.CreatedAt),
	}
}
