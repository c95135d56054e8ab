package store

import (
	"maps"
	"net/netip"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// AdsVisit is the visit that led to a purchase or a lead, as ad networks want to know it. It is kept while its buyer agrees and the checkout
// may still be paid.
type AdsVisit struct {
	PageURL   string            `json:"page_url,omitempty"`
	ClickIDs  map[string]string `json:"click_ids,omitempty"` // parameter of the address -> what the network appended: fbclid, epik, ttclid, gclid
	ClientIP  string            `json:"client_ip,omitempty"`
	UserAgent string            `json:"user_agent,omitempty"`
	At        core.Time         `json:"at"` // when its clicks were first heard of
}

// AnswerAds records whether the buyer agrees that ad networks are told of their purchase; nil leaves it as it is. A no erases the visit.
func (c *Checkout) AnswerAds(agrees *bool) {
	if agrees == nil {
		return
	}
	if c.AdsConsent = *agrees; !c.AdsConsent {
		c.AdsVisit.V = nil
	}
}

// check checks a visit of somebody who agreed or did not, and notes when its clicks were first heard of. A nil one was not sent.
func (v *AdsVisit) check(p *core.Problems, agreed bool, at core.Time) {
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

// tell adds a visit to what ad networks are told, nothing if it is nil.
func (v *AdsVisit) tell(h *advert.Happening) {
	if v != nil {
		h.ClientIP, h.UserAgent, h.PageURL, h.Clicks, h.ClickAt = v.ClientIP, v.UserAgent, v.PageURL, v.ClickIDs, v.At
	}
}

// checkVisit checks the visit of a checkout. One with the clicks of the visit before was first heard of when that was.
func (c *Checkout) checkVisit(p *core.Problems, before *Checkout, now core.Time) {
	v, was, at := c.AdsVisit.V, before.AdsVisit.V, now
	if v != nil && was != nil && maps.Equal(was.ClickIDs, v.ClickIDs) {
		at = was.At
	}
	v.check(p, c.AdsConsent, at)
}

// answerAds does what a change of the checkout does, with what came as it is confirmed.
func (c *Checkout) answerAds(p *core.Problems, in *Confirm, now core.Time) {
	before := *c
	c.AnswerAds(in.AdsConsent)
	if in.AdsVisit != nil {
		c.AdsVisit.V = in.AdsVisit
	}
	c.checkVisit(p, &before, now)
}

// HostedPage returns the address of the page on which a checkout is paid here, as others may know it: that of the link by which the buyer
// came, or one without the client secret.
func (s *Store) HostedPage(c *Checkout) string {
	if link := c.link(); link != nil {
		return s.db.Options.PublicURL + "/buy/" + *link
	}
	return s.db.Options.PublicURL + "/checkout"
}
