package pages

import (
	"html/template"
	"net/http"
	"time"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/content/markdown"
	"github.com/tillwright/tillwright/store/grant"
)

// portalExperience is the data of portal_experience.html, on which a customer opens an experience.
type portalExperience struct {
	portalPage
	*content.Experience
	downloads map[string]*download // by the ids of files
}

// Markdown returns a text as HTML in which nothing runs.
func (*portalExperience) Markdown(source *string) template.HTML {
	rendered, _ := markdown.Render(text(source)) // harmless too if there is a problem
	return template.HTML(rendered)
}

// Download returns a file of the experience, nil if it is not there.
func (e *portalExperience) Download(id string) *download { return e.downloads[id] }

// When returns the times of an event in its own zone, empty if it has none.
func (e *portalExperience) When() string {
	c := &e.Content.V
	zone, err := time.LoadLocation(text(c.Timezone))
	if c.StartsAt == nil || err != nil {
		return ""
	}
	when := e.l.Moment(c.StartsAt.Time().In(zone))
	if c.EndsAt != nil {
		when = e.l.T("experience.times", "start", when, "end", e.l.Moment(c.EndsAt.Time().In(zone)))
	}
	return when + " (" + zone.String() + ")"
}

// portalExperience shows an experience to a customer who may open it; to everybody else it is missing.
func (p *Pages) portalExperience(v *visit) error {
	ctx, account := v.ctx(), v.Session.AccountID
	e, err := p.store.Content.ExperienceNamed(ctx, account, v.Param("experience"))
	if err != nil {
		return p.refuse(v, err)
	}
	g, err := p.store.Grant.HasExperience(ctx, account, v.Customer.ID, e.ID)
	if err != nil {
		return err
	}
	if e.Status != content.ExperienceStatusPublished || g == nil && e.Access != content.ExperienceAccessPublic {
		return p.tell(v, http.StatusNotFound, missing(p.spoken(v)))
	}
	page := &portalExperience{portalPage: v.page(e.Name, ""), Experience: e}
	if page.downloads, err = p.experienceDownloads(v, e, g); err != nil {
		return err
	}
	return p.render(v, http.StatusOK, "portal_experience.html", page.frame(), page)
}

// experienceDownloads returns the files of an experience by id, with links if a grant opens it.
func (p *Pages) experienceDownloads(v *visit, e *content.Experience, g *grant.Grant) (map[string]*download, error) {
	files, err := p.store.Grant.FilesByID(v.ctx(), e.AccountID, e.Content.V.FileIDs())
	if err != nil {
		return nil, err
	}
	by, had := &grant.Grant{}, map[string]grant.Downloads{}
	if g != nil && len(files) > 0 {
		by = g
		if err = p.store.Grant.Open(v.ctx(), by); err != nil {
			return nil, err
		}
		if had, err = p.store.Grant.DownloadsBy(v.ctx(), e.AccountID, by.ID); err != nil {
			return nil, err
		}
	}
	all := make(map[string]*download, len(files))
	for id, f := range files {
		version, limit := f.Version, by.DownloadLimit
		if d := by.File(id); d != nil && d.Version != nil { // what its link sends
			version, limit, f.Size = *d.Version, d.DownloadLimit, *d.Size
		}
		all[id] = newDownload(v.l, by.ID, f, version, had[id].Version)
		all[id].limit(v.l, limit, new(had[id].Count))
	}
	return all, nil
}
