package pages

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/content/markdown"
	"github.com/tillwright/tillwright/store/grant"
)

// portalExperience is the data of portal_experience.html, on which a customer opens an experience.
type portalExperience struct {
	portalPage
	*content.Experience
	downloads map[string]*download     // by the ids of files
	prose     map[string]template.HTML // its texts, by what was written
}

// Prose returns a text of the experience as HTML in which nothing runs.
func (e *portalExperience) Prose(written *string) template.HTML { return e.prose[text(written)] }

// endOfText is what no text has in it.
const endOfText = "\x00"

// writeProse returns texts as HTML, each with its end.
func writeProse(_ context.Context, texts []string) ([]byte, error) {
	var all bytes.Buffer
	for _, one := range texts {
		rendered, _ := markdown.Render(one) // harmless too if there is a problem
		all.WriteString(strings.ReplaceAll(rendered, endOfText, ""))
		all.WriteString(endOfText)
	}
	return all.Bytes(), nil
}

// proseOf returns the texts of an experience as HTML, by what was written. A course may be so long that this takes two seconds, and any of its readers may
// ask for it again and again. So it is kept, and made in turn.
func (p *Pages) proseOf(ctx context.Context, e *content.Experience) (map[string]template.HTML, error) {
	var texts []string
	add := func(written *string) {
		if text(written) != "" {
			texts = append(texts, *written)
		}
	}
	add(e.Description)
	for _, module := range e.Content.V.Modules {
		for _, lesson := range module.Lessons {
			add(lesson.Body)
		}
	}
	if texts == nil {
		return nil, nil
	}
	made, err := p.proses.get(ctx, newAsker(e.AccountID, caller.Address(ctx)), texts)
	if err != nil {
		return nil, err
	}
	prose := make(map[string]template.HTML, len(texts))
	for i, rendered := range strings.SplitN(string(made), endOfText, len(texts)+1)[:len(texts)] {
		prose[texts[i]] = template.HTML(rendered) // what the policy of markdown let through
	}
	return prose, nil
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
	page.prose, err = p.proseOf(ctx, e)
	if errors.Is(err, errBusy) {
		return p.busy(v)
	}
	if err != nil {
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
