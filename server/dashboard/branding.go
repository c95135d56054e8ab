package dashboard

import (
	"net/http"
	"slices"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

const brandingPage = settingsPage + "/branding"

// brandingForm returns the form of how the seller's pages look: of what a paid plan includes, if the account has it.
func (v *visit) brandingForm() *ui.Form {
	f := &ui.Form{Submit: "Save", Once: newOnce(), Controls: []ui.Control{
		{Name: "logo_url", Label: "Logo URL", Hint: "A PNG, JPEG, GIF or WebP, such as https://example.com/logo.png. It stands on the checkout, on invoices and in letters.", Value: core.Deref(v.shop.LogoURL), InputMode: "url", Longest: 2048, Optional: true},
		{Name: "accent_color", Label: "Colour of links and buttons", Hint: "Such as #1a73e8, on checkouts, invoices, the portal and in letters. It is made darker or lighter where it could not be read.", Value: core.Deref(v.shop.AccentColor), Longest: 7, Optional: true},
		{Name: "handle", Label: "Handle", Hint: "A short name for addresses: small letters, digits and hyphens. What leads to the old one leads nowhere then.", Value: v.shop.Handle, Longest: 63, Required: true},
	}}
	if v.planHas(tenant.FeatureCustomDomain) {
		f.Controls = append(f.Controls, ui.Control{Name: "custom_domain", Label: "Domain", Hint: "A host name for the public pages, such as shop.example.com.", Value: core.Deref(v.shop.CustomDomain), Longest: 253, Optional: true})
	}
	if v.planHas(tenant.FeatureRemoveBranding) {
		f.Controls = append(f.Controls, ui.Control{Kind: "checkbox", Name: "remove_branding", Label: "Say nowhere by what the pages are made", Checked: v.shop.RemoveBranding})
	}
	return f
}

func (v *visit) planHas(feature string) bool { return slices.Contains(v.shop.PlanFeatures, feature) }

// branding shows how the seller's pages look.
func (d *Dashboard) branding(v *visit) error {
	f := v.brandingForm()
	if err := d.tellPicture(v, v.shop.ID, f); err != nil {
		return err
	}
	return v.show(http.StatusOK, settingPage("Branding", f))
}

// saveBranding changes it.
func (d *Dashboard) saveBranding(v *visit) error {
	f := v.brandingForm()
	v.typedInto(f)
	in := &sdk.AccountUpdate{LogoURL: v.change("logo_url"), AccentColor: v.change("accent_color"), Handle: new(v.field("handle"))}
	if v.planHas(tenant.FeatureCustomDomain) {
		in.CustomDomain = v.change("custom_domain")
	}
	if v.planHas(tenant.FeatureRemoveBranding) {
		in.RemoveBranding = v.ticked("remove_branding")
	}
	_, err := d.api.Account.Update(v.ctx(), in, v.once())
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, settingPage("Branding", f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(brandingPage, person.Notice{Text: "The settings were saved."})
}
