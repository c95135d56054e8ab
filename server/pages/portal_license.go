package pages

import (
	"net/http"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// portalLicense is the data of portal_license.html: on which devices a licence key is active.
type portalLicense struct {
	portalPage
	Product     string
	License     *grant.LicenseKey
	Activations []grant.LicenseActivation
}

// HasKey reports whether the page shows a licence key.
func (p portalLicense) HasKey() bool { return p.License.Key != nil }

// Called returns the name that its program gave a device, or else the beginning of its fingerprint.
func (p portalLicense) Called(d grant.LicenseActivation) string {
	if name := text(d.Name); name != "" {
		return name
	}
	return p.l.T("license.device", "name", d.Fingerprint[:min(len(d.Fingerprint), 12)])
}

// license returns a licence key that is among what the customer has now, with its product's name. Any other is CodeMissing.
func (p *Pages) license(v *visit) (key *grant.LicenseKey, product string, err error) {
	all, err := p.possessions(v)
	if err != nil {
		return nil, "", err
	}
	for _, possession := range all {
		for _, d := range possession.Deliveries {
			if id := text(d.LicenseKey); id != "" && id == v.Param("license") {
				key, err := p.store.Grant.GetLicenseKey(v.ctx(), v.Session.AccountID, id)
				return key, possession.Product, err
			}
		}
	}
	return nil, "", core.Missing("license key", "", v.Param("license"))
}

// portalLicense serves the list of the devices on which a licence key is active.
func (p *Pages) portalLicense(v *visit) error {
	key, product, err := p.license(v)
	if err != nil {
		return p.refuse(v, err)
	}
	active, _, err := p.store.Grant.ListLicenseActivations(v.ctx(), v.Session.AccountID, key.ID, grant.ListLicenseActivations{Page: core.Page{Limit: portalAll}})
	if err != nil {
		return p.refuse(v, err)
	}
	page := portalLicense{portalPage: v.page(v.l.T("license.key"), ""), Product: product, License: key, Activations: active}
	return p.render(v, http.StatusOK, "portal_license.html", page.frame(), page)
}

// removeActivation ends the activation of a key on a device, and frees its place.
func (p *Pages) removeActivation(v *visit) error {
	key, _, err := p.license(v)
	if err != nil {
		return p.refuse(v, err)
	}
	_, err = p.store.Grant.DeleteLicenseActivation(v.doing("deleteLicenseActivation"), v.Session.AccountID, key.ID, v.Param("activation"))
	if err != nil && !isMissing(err) { // the button was pressed twice
		return err
	}
	return v.done("/licenses/"+key.ID, "freed")
}
