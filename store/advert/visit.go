package advert

import (
	"net/netip"

	"github.com/tillwright/tillwright/store/core"
)

// Visit is the visit that led to a purchase or a lead, as ad networks want to know it. It is kept while its buyer agrees and the checkout
// may still be paid.
type Visit struct {
	PageURL   string            `json:"page_url,omitempty"`
	ClickIDs  map[string]string `json:"click_ids,omitempty"` // parameter of the address -> what the network appended: fbclid, epik, ttclid, gclid
	ClientIP  string            `json:"client_ip,omitempty"`
	UserAgent string            `json:"user_agent,omitempty"`
	At        core.Time         `json:"at"` // when its clicks were first heard of
}

// Check checks a visit of somebody who agreed or did not, and notes when its clicks were first heard of. A nil one was not sent.
func (v *Visit) Check(p *core.Problems, agreed bool, at core.Time) {
	if v == nil {
		return
	}
	p.Check(agreed, "ads_visit", "Send ads_consent true with it if the visitor agreed: without that nothing of their visit is kept.")
	if v.ClientIP != "" {
		addr, err := netip.ParseAddr(v.ClientIP)
		p.Check(err == nil && addr.Zone() == "", "ads_visit.client_ip", "Send an address of IPv4 or IPv6, such as 203.0.113.7.")
		if err == nil {
			v.ClientIP = addr.Unmap().String()
		}
	}
	v.At = at
}

// Tell adds a visit to what ad networks are told, nothing if it is nil.
func (v *Visit) Tell(h *Happening) {
	if v != nil {
		h.ClientIP, h.UserAgent, h.PageURL, h.Clicks, h.ClickAt = v.ClientIP, v.UserAgent, v.PageURL, v.ClickIDs, v.At
	}
}
