package checkout

import (
	"maps"

	"github.com/tillwright/tillwright/store/core"
)

// AnswerAds records whether the buyer agrees that ad networks are told of their purchase; nil leaves it as it is. A no erases the visit.
func (c *Checkout) AnswerAds(agrees *bool) {
	if agrees == nil {
		return
	}
	if c.AdsConsent = *agrees; !c.AdsConsent {
		c.AdsVisit.V = nil
	}
}

// checkVisit checks the visit of a checkout. One with the clicks of the visit before was first heard of when that was.
func (c *Checkout) checkVisit(p *core.Problems, before *Checkout, now core.Time) {
	v, was, at := c.AdsVisit.V, before.AdsVisit.V, now
	if v != nil && was != nil && maps.Equal(was.ClickIDs, v.ClickIDs) {
		at = was.At
	}
	v.Check(p, c.AdsConsent, at)
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

// HostedPage returns the address of the page on which a checkout is paid here, as others may know it. It is that of the link by which the buyer
// came, or else one without the client secret.
func (s *Store) HostedPage(c *Checkout) string {
	if link := c.Link(); link != nil {
		return s.db.Options.PublicURL + "/buy/" + *link
	}
	return s.db.Options.PublicURL + "/checkout"
}
