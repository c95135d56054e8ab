package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/lead"
)

// LeadForm renders what a form has to send.
func LeadForm(f *lead.Form) api.LeadForm {
	return api.LeadForm{Object: "lead_form", Token: f.Token, ExpiresAt: at(f.ExpiresAt)}
}

// CapturedLead reads what somebody at a network address left in a form.
func CapturedLead(b *api.PublicLeadCreate, from string) lead.Captured {
	return lead.Captured{
		NewLead: lead.NewLead{
			Email:   b.Email,
			Product: value(b.Product),
			Source:  lead.SourceForm,
			Name:    b.Name,
			Phone:   b.Phone,
			UTM:     (*lead.UTM)(b.UTM),
		},
		FormToken:  b.FormToken,
		Website:    value(b.Website),
		From:       from,
		Agrees:     value(b.Consent),
		AdsConsent: value(b.AdsConsent),
		AdsVisit:   AdsVisit(b.AdsVisit),
	}
}
