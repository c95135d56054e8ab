package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
)

// Experience renders an experience.
func Experience(e *content.Experience) api.Experience {
	return api.Experience{
		ID:          e.ID,
		Object:      "experience",
		Name:        e.Name,
		Slug:        e.Slug,
		Type:        api.ExperienceType(e.Type),
		Description: e.Description,
		CoverURL:    e.CoverURL,
		Content:     experienceContent(&e.Content.V),
		Access:      api.ExperienceAccess(e.Access),
		Products:    wire.RefTos(e.ProductIDs),
		Position:    e.Position,
		Status:      api.ExperienceStatus(e.Status),
		AccessCount: e.AccessCount,
		Metadata:    api.Metadata(e.Metadata.Text()),
		CreatedAt:   at(e.CreatedAt),
		UpdatedAt:   at(e.UpdatedAt),
	}
}

// ListExperiences reads the query of a list.
func ListExperiences(q api.ListExperiencesParams) content.ListExperiences {
	return content.ListExperiences{
		Page:       SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:     content.ExperienceStatus(value(q.Status)),
		Type:       content.ExperienceType(value(q.Type)),
		Access:     content.ExperienceAccess(value(q.Access)),
	}
}

// NewExperience reads the body of a create.
func NewExperience(b *api.ExperienceCreate) content.Experience {
	return content.Experience{
		Name:        b.Name,
		Slug:        value(b.Slug),
		Type:        content.ExperienceType(b.Type),
		Description: b.Description,
		CoverURL:    b.CoverURL,
		Content:     core.JSONOf(storedExperienceContent(value(b.Content))),
		Access:      content.ExperienceAccess(value(b.Access)),
		Position:    value(b.Position),
		Status:      content.ExperienceStatus(value(b.Status)),
		Metadata:    metadata(b.Metadata),
	}
}

// ExperienceChange reads the body of a PATCH.
func ExperienceChange(b *api.ExperienceUpdate) func(*content.Experience) {
	return func(e *content.Experience) {
		set(&e.Name, b.Name)
		set(&e.Slug, b.Slug)
		setAs(&e.Type, b.Type)
		setOrClear(&e.Description, b.Description)
		setOrClear(&e.CoverURL, b.CoverURL)
		if b.Content != nil {
			e.Content = core.JSONOf(storedExperienceContent(*b.Content))
		}
		setAs(&e.Access, b.Access)
		set(&e.Position, b.Position)
		setAs(&e.Status, b.Status)
		setMetadata(&e.Metadata, b.Metadata)
	}
}

func experienceContent(c *content.ExperienceContent) api.ExperienceContent {
	return api.ExperienceContent{
		Modules: mapped(c.Modules, func(m content.ExperienceModule) api.ExperienceModule {
			return api.ExperienceModule{Title: m.Title, Lessons: mapped(m.Lessons, func(l content.ExperienceLesson) api.ExperienceLesson {
				return api.ExperienceLesson{Title: l.Title, Body: l.Body, VideoURL: l.VideoURL, File: l.File}
			})}
		}),
		Files: c.Files, URL: c.URL, Platform: c.Platform, StartsAt: atOrNull(c.StartsAt), EndsAt: atOrNull(c.EndsAt), Timezone: c.Timezone, Location: c.Location,
	}
}

func storedExperienceContent(c api.ExperienceContent) content.ExperienceContent {
	return content.ExperienceContent{
		Modules: mapped(c.Modules, func(m api.ExperienceModule) content.ExperienceModule {
			return content.ExperienceModule{Title: m.Title, Lessons: mapped(m.Lessons, func(l api.ExperienceLesson) content.ExperienceLesson {
				return content.ExperienceLesson{Title: l.Title, Body: l.Body, VideoURL: l.VideoURL, File: l.File}
			})}
		}),
		Files: c.Files, URL: c.URL, Platform: c.Platform, StartsAt: stored(c.StartsAt), EndsAt: stored(c.EndsAt), Timezone: c.Timezone, Location: c.Location,
	}
}
