package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
)

// LeadForm renders what a form has to send.
func LeadForm(f *store.LeadForm) api.LeadForm {
	return api.LeadForm{Object: "lead_form", Token: f.Token, ExpiresAt: at(f.ExpiresAt)}
}

// CapturedLead reads what somebody at a network address left in a form.
func CapturedLead(b *api.PublicLeadCreate, from string) store.CapturedLead {
	return store.CapturedLead{
		NewLead: store.NewLead{
			Email:   b.Email,
			Product: value(b.Product),
			Source:  store.LeadSourceForm,
			Name:    b.Name,
			Phone:   b.Phone,
			UTM:     (*store.UTM)(b.UTM),
		},
		FormToken:  b.FormToken,
		Website:    value(b.Website),
		From:       from,
		Agrees:     value(b.Consent),
		AdsConsent: value(b.AdsConsent),
		AdsVisit:   AdsVisit(b.AdsVisit),
	}
}
