package export

import (
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lead"
)

// leads are the leads.
func leads(s *store.Store) *List { return list(s.Lead.List, view.ListLeads, leadHead, each(leadRow)) }

var leadHead = []string{
	"id", "status", "source", "created_at", "email", "name", "phone", "product", "customer", "ai_site", "checkout", "referrer", "utm_source", "utm_medium",
	"utm_campaign", "utm_term", "utm_content", "marketing_consent", "consent_at", "consent_ip", "consent_confirmed_at", "converted_at", "converted_order", "tags", "ads_consent",
}

// leadRow returns a lead as a row of the file, in the order of leadHead.
func leadRow(l *lead.Lead) []string {
	utm := l.UTM.V
	if utm == nil {
		utm = &lead.UTM{}
	}
	consent := l.Consent.V
	return []string{
		l.ID, string(l.Status), string(l.Source), l.CreatedAt.String(), Harmless(l.Email), Harmless(core.Deref(l.Name)), Harmless(core.Deref(l.Phone)), core.Deref(l.ProductID),
		l.CustomerID, core.Deref(l.AISiteID), core.Deref(l.CheckoutID), Harmless(core.Deref(l.Referrer)), Harmless(core.Deref(utm.Source)), Harmless(core.Deref(utm.Medium)),
		Harmless(core.Deref(utm.Campaign)), Harmless(core.Deref(utm.Term)), Harmless(core.Deref(utm.Content)), strconv.FormatBool(consent.Marketing), moment(consent.At),
		Harmless(core.Deref(consent.IP)), moment(consent.ConfirmedAt), moment(l.ConvertedAt), core.Deref(l.ConvertedOrderID), Harmless(strings.Join(l.Tags.V, "; ")),
		strconv.FormatBool(l.AdsConsent),
	}
}
