package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lead"
)

// Lead renders a lead.
func Lead(l *lead.Lead) api.Lead {
	return api.Lead{
		ID:              l.ID,
		Object:          "lead",
		Email:           l.Email,
		Name:            l.Name,
		Phone:           l.Phone,
		Product:         ref(l.ProductID),
		Source:          api.LeadSource(l.Source),
		AISite:          l.AISiteID,
		Checkout:        l.CheckoutID,
		Referrer:        l.Referrer,
		UTM:             (*api.LeadUTM)(l.UTM.V),
		Status:          api.LeadStatus(l.Status),
		Customer:        l.CustomerID,
		ConvertedAt:     atOrNull(l.ConvertedAt),
		ConvertedOrder:  l.ConvertedOrderID,
		Consent:         leadConsent(&l.Consent.V),
		AdsConsent:      l.AdsConsent,
		CustomFieldData: object(l.CustomFieldData.V),
		Tags:            list(l.Tags.V),
		Metadata:        api.Metadata(l.Metadata.Text()),
		CreatedAt:       at(l.CreatedAt),
		UpdatedAt:       at(l.UpdatedAt),
	}
}

func leadConsent(c *lead.Consent) api.LeadConsent {
	return api.LeadConsent{Marketing: c.Marketing, At: atOrNull(c.At), IP: c.IP, ConfirmedAt: atOrNull(c.ConfirmedAt)}
}

// ListLeads reads the query of a list.
func ListLeads(q api.ListLeadsParams) lead.List {
	return lead.List{
		Page:       SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Email:      value(q.Email),
		Status:     lead.Status(value(q.Status)),
		Source:     lead.Source(value(q.Source)),
		Product:    value(q.Product),
		Customer:   value(q.Customer),
		Tag:        value(q.Tag),
	}
}

// NewLead reads the body of a create.
func NewLead(b *api.LeadCreate) lead.NewLead {
	n := lead.NewLead{
		Email:    b.Email,
		Product:  value(b.Product),
		AISite:   value(b.AISite),
		Source:   lead.SourceAPI,
		Status:   lead.Status(value(b.Status)),
		Name:     b.Name,
		Phone:    b.Phone,
		Referrer: b.Referrer,
		UTM:      (*lead.UTM)(b.UTM),
		Tags:     b.Tags,
		Metadata: metadata(b.Metadata),
	}
	setAs(&n.Source, b.Source)
	set(&n.CustomFieldData, (*map[string]string)(b.CustomFieldData))
	if c := b.Consent; c != nil {
		n.Consent = &lead.NewConsent{Marketing: c.Marketing, At: (*string)(c.At), ConfirmedAt: (*string)(c.ConfirmedAt), IP: c.IP}
	}
	return n
}

// ImportedLeads reads the body of an import.
func ImportedLeads(b *api.LeadImportCreate) []lead.NewLead {
	source := lead.SourceImport
	setAs(&source, b.Source)
	return mapped(b.Leads, func(r api.LeadRow) lead.NewLead {
		n := lead.NewLead{
			Email:           value(r.Email),
			Product:         value(r.Product),
			AISite:          value(r.AISite),
			Source:          source,
			Status:          lead.Status(value(r.Status)),
			Name:            r.Name,
			Phone:           r.Phone,
			Referrer:        r.Referrer,
			UTM:             (*lead.UTM)(r.UTM),
			CustomFieldData: r.CustomFieldData,
			Tags:            r.Tags,
			Metadata:        core.NewMetadata(r.Metadata),
		}
		if c := r.Consent; c != nil {
			n.Consent = &lead.NewConsent{Marketing: value(c.Marketing), At: c.At, ConfirmedAt: c.ConfirmedAt, IP: c.IP}
		}
		return n
	})
}

// LeadImport renders what became of the leads of an import.
func LeadImport(saved []lead.Saved) api.LeadImport {
	counts := map[lead.Outcome]int64{}
	results := make([]api.LeadImportResult, len(saved))
	for i := range saved {
		counts[saved[i].Outcome]++
		results[i] = leadImportResult(i, &saved[i])
	}
	return api.LeadImport{
		Object: "lead_import", Created: counts[lead.OutcomeCreated], Updated: counts[lead.OutcomeUpdated], Unchanged: counts[lead.OutcomeUnchanged],
		Failed: counts[lead.OutcomeFailed], Results: results,
	}
}

func leadImportResult(index int, s *lead.Saved) api.LeadImportResult {
	out := api.LeadImportResult{Index: int64(index), Status: api.LeadImportResultStatus(s.Outcome), ConsentRefused: s.ConsentRefused, ID: nil, Errors: nil}
	if s.Err != nil {
		out.Errors = problems(s.Err)
	} else {
		out.ID = &s.Lead.ID
	}
	return out
}

// problems returns what is wrong with a row, by field. Something that does not exist is wrong with the field that named it.
func problems(e *core.Error) map[string][]string {
	if e.Fields == nil {
		return map[string][]string{e.Param: {e.Message}}
	}
	return e.Fields
}

// LeadChange reads the body of a PATCH.
func LeadChange(b *api.LeadUpdate) func(*lead.Lead) {
	return func(l *lead.Lead) {
		setOrClear(&l.Name, b.Name)
		setOrClear(&l.Phone, b.Phone)
		setOrClear(&l.Referrer, b.Referrer)
		if b.UTM.IsSpecified() {
			l.UTM.V = (*lead.UTM)(sent(b.UTM))
		}
		setAs(&l.Status, b.Status)
		if c := b.Consent; c != nil {
			l.Consent.V = lead.Consent{Marketing: c.Marketing, At: stored(c.At), IP: c.IP, ConfirmedAt: stored(c.ConfirmedAt)}
		}
		set(&l.CustomFieldData.V, (*map[string]string)(b.CustomFieldData))
		if b.Tags != nil {
			l.Tags.V = b.Tags
		}
		setMetadata(&l.Metadata, b.Metadata)
	}
}
