package content

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// ExperienceType is what buyers find. It says which fields the content has.
type ExperienceType string

// The types of an experience.
const (
	ExperienceTypeCourse    ExperienceType = "course"
	ExperienceTypeCommunity ExperienceType = "community"
	ExperienceTypeDownload  ExperienceType = "download"
	ExperienceTypeLink      ExperienceType = "link"
	ExperienceTypeEvent     ExperienceType = "event"
	ExperienceTypeEmbed     ExperienceType = "embed"
)

// ExperienceContent is what is behind the door of an experience. Which of its fields there are goes by the type.
type ExperienceContent struct {
	Modules  []ExperienceModule `json:"modules,omitempty"`
	Files    []string           `json:"files,omitempty"` // ids
	URL      *string            `json:"url,omitempty"`
	Platform *string            `json:"platform,omitempty"`
	StartsAt *core.Time         `json:"starts_at,omitempty"`
	EndsAt   *core.Time         `json:"ends_at,omitempty"`
	Timezone *string            `json:"timezone,omitempty"`
	Location *string            `json:"location,omitempty"`
}

// ExperienceModule is a part of a course.
type ExperienceModule struct {
	Title   string             `json:"title"`
	Lessons []ExperienceLesson `json:"lessons,omitempty"`
}

// ExperienceLesson is one lesson of a course. Its body is Markdown.
type ExperienceLesson struct {
	Title    string  `json:"title"`
	Body     *string `json:"body,omitempty"`
	VideoURL *string `json:"video_url,omitempty"`
	File     *string `json:"file,omitempty"` // id
}

// contentFields are the fields that the content of each type needs before it is published, and those that it may have besides.
var contentFields = map[ExperienceType]struct{ needed, allowed []string }{
	ExperienceTypeCourse:    {needed: []string{"modules"}},
	ExperienceTypeCommunity: {needed: []string{"url", "platform"}},
	ExperienceTypeDownload:  {needed: []string{"files"}},
	ExperienceTypeLink:      {needed: []string{"url"}},
	ExperienceTypeEvent:     {needed: []string{"starts_at", "timezone"}, allowed: []string{"ends_at", "url", "location"}},
	ExperienceTypeEmbed:     {needed: []string{"url"}},
}

// set returns the names of the fields that the content has.
func (c *ExperienceContent) set() []string {
	var names []string
	for _, field := range []struct {
		name string
		has  bool
	}{
		{"modules", len(c.Modules) > 0}, {"files", len(c.Files) > 0}, {"url", c.URL != nil}, {"platform", c.Platform != nil}, {"starts_at", c.StartsAt != nil},
		{"ends_at", c.EndsAt != nil}, {"timezone", c.Timezone != nil}, {"location", c.Location != nil},
	} {
		if field.has {
			names = append(names, field.name)
		}
	}
	return names
}

// check notes what is wrong with the content of an experience of a type.
func (c *ExperienceContent) check(p *core.Problems, t ExperienceType) {
	fields := contentFields[t]
	all := slices.Concat(fields.needed, fields.allowed)
	for _, name := range c.set() {
		p.Check(slices.Contains(all, name), "content."+name, fmt.Sprintf("The content of an experience of type %s has %s.", t, strings.Join(all, ", ")))
	}
	if t == ExperienceTypeEmbed && c.URL != nil {
		p.Check(isEmbeddable(*c.URL), "content.url", "Send an https URL of one of "+strings.Join(embedHosts, ", ")+".")
	}
	if c.Timezone != nil {
		_, err := core.LoadZone(*c.Timezone)
		p.Check(err == nil, "content.timezone", "Send an IANA time zone, such as Europe/Berlin.")
	}
	if c.EndsAt != nil {
		p.Check(c.StartsAt != nil && *c.EndsAt > *c.StartsAt, "content.ends_at", "An event ends after its starts_at.")
	}
	for i, module := range c.Modules {
		p.Check(strings.TrimSpace(module.Title) != "", fmt.Sprintf("content.modules.%d.title", i), "A title is not only white space.")
		for j, lesson := range module.Lessons {
			p.Check(strings.TrimSpace(lesson.Title) != "", fmt.Sprintf("content.modules.%d.lessons.%d.title", i, j), "A title is not only white space.")
		}
	}
}

// checkComplete notes what the content lacks to be published.
func (c *ExperienceContent) checkComplete(p *core.Problems, t ExperienceType) {
	has := c.set()
	for _, name := range contentFields[t].needed {
		p.Check(slices.Contains(has, name), "content."+name, fmt.Sprintf("An experience of type %s needs it before it is published.", t))
	}
}

// embedHosts are those that give out what can be shown in another page.
var embedHosts = []string{
	"calendly.com", "codepen.io", "docs.google.com", "figma.com", "loom.com", "open.spotify.com", "player.twitch.tv", "player.vimeo.com",
	"soundcloud.com", "typeform.com", "vimeo.com", "w.soundcloud.com", "wistia.com", "youtu.be", "youtube-nocookie.com", "youtube.com",
}

// isEmbeddable reports whether an address is an https URL of one of embedHosts, or of www. before one.
func isEmbeddable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" {
		return false
	}
	return slices.Contains(embedHosts, strings.TrimPrefix(strings.ToLower(u.Hostname()), "www."))
}
