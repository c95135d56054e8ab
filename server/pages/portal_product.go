package pages

import (
	"cmp"
	"fmt"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// possession is a product that a customer has, with what it opens to them.
type possession struct {
	Product    string // its name
	Deliveries []delivery
}

// delivery is something that a grant opens, with what the page shows of it.
type delivery struct {
	grant.Delivery
	Download   *download           // of a file
	Experience *content.Experience // that can be opened
}

// TitleOf returns the name that the seller gave a delivery, or else its own.
func (v *visit) TitleOf(d delivery) string {
	switch {
	case text(d.Name) != "":
		return *d.Name
	case d.Download != nil:
		return d.Download.Name
	case d.Experience != nil:
		return d.Experience.Name
	case d.URL != nil:
		return *d.URL
	case d.LicenseKey != nil || d.Key != nil:
		return v.l.T("license.key")
	}
	return ""
}

// possessions returns what the customer has now, the newest first, each product once.
func (p *Pages) possessions(v *visit) ([]possession, error) {
	ctx, account := v.ctx(), v.Session.AccountID
	grants, err := p.store.Grant.CurrentGrants(ctx, account, v.Customer.ID)
	if err != nil {
		return nil, err
	}
	var ids []string
	places := map[string]int{}
	for i := range grants {
		if id := grants[i].ProductID; grants[i].Status == grant.StatusActive {
			if _, known := places[id]; !known {
				places[id] = len(ids)
				ids = append(ids, id)
			}
		}
	}
	products, err := p.store.Catalog.OffersByID(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	deliveries, err := p.deliveries(v, grants)
	if err != nil {
		return nil, err
	}
	all := make([]possession, len(ids))
	for i, id := range ids {
		if products[id] != nil {
			all[i].Product = products[id].Name
		}
	}
	for _, d := range deliveries {
		all[places[d.ProductID]].Deliveries = append(all[places[d.ProductID]].Deliveries, d)
	}
	return all, nil
}

// deliveries returns what grants open, each thing once. Two purchases of one product open the same, unless each has downloads of its own or
// another version.
func (p *Pages) deliveries(v *visit, grants []grant.Grant) ([]delivery, error) {
	ctx, account := v.ctx(), v.Session.AccountID
	found, err := p.store.Grant.Deliveries(ctx, account, grants)
	if err != nil {
		return nil, err
	}
	var fileIDs, experienceIDs []string
	for _, d := range found {
		if d.FileID != nil {
			fileIDs = append(fileIDs, *d.FileID)
		}
		if d.ExperienceID != nil {
			experienceIDs = append(experienceIDs, *d.ExperienceID)
		}
	}
	files, err := p.store.Grant.FilesByID(ctx, account, fileIDs)
	if err != nil {
		return nil, err
	}
	experiences, err := p.store.Content.ExperiencesByID(ctx, account, experienceIDs)
	if err != nil {
		return nil, err
	}
	var all []delivery
	seen := map[string]bool{}
	for _, d := range found {
		key := d.ProductID + d.Type + text(d.URL) + text(d.Key) + text(d.Name) + text(d.FileID) + text(d.ExperienceID)
		if d.Version != nil {
			key += fmt.Sprint(" ", *d.Version)
		}
		if d.DownloadLimit != nil {
			key += d.GrantID
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		shown := delivery{Delivery: d}
		if f := files[text(d.FileID)]; f != nil {
			shown.Download = newDownload(v.l, d.GrantID, f, cmp.Or(core.Deref(d.Version), f.Version), d.Downloaded)
			if d.Size != nil {
				shown.Download.Size = fileSize(*d.Size)
			}
			shown.Download.limit(v.l, d.DownloadLimit, d.DownloadsCount)
		}
		if e := experiences[text(d.ExperienceID)]; e != nil && e.Status == content.ExperienceStatusPublished {
			shown.Experience = e
		}
		all = append(all, shown)
	}
	return all, nil
}
