package checkout

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

// LegalAcceptance says which text of a legal page a buyer accepted.
type LegalAcceptance struct {
	LegalPage  string                `json:"legal_page"` // id
	Kind       content.LegalPageKind `json:"kind"`
	Version    int64                 `json:"version"`
	AcceptedAt core.Time             `json:"accepted_at"`
}

// pagesToAccept returns the legal pages that the buyer of a checkout has to accept, without their bodies.
func (s *Store) pagesToAccept(ctx context.Context, r db.Reader, c *Checkout, seller *tenant.Account) ([]content.LegalPage, error) {
	return s.rooms.Content.PagesToAccept(ctx, r, c.AccountID, cmp.Or(core.Deref(c.Locale), seller.Locale), seller.Locale)
}

// acceptTerms notes in a locked checkout what its buyer accepts. It is a problem with terms_accepted if they have not accepted the terms
// where the seller wants that, or a page as it is now. Texts that they were not shown, where that is known, nobody accepts: CodeInvalid on
// terms_accepted, because they changed. Our page asks for nothing where the seller has nothing to accept: a tick sent to it by hand does not
// count then. A seller's own page may ask all the same. A buyer who is not there is asked for nothing, and has accepted no page.
func (s *Store) acceptTerms(ctx context.Context, u *db.Unit, p *core.Problems, c *Checkout, in *Confirm, now core.Time) error {
	if in.From.OnBehalf {
		if in.TermsAccepted {
			c.TermsAcceptedAt = &now
		}
		return nil
	}
	seller, err := s.rooms.Tenant.Seller(ctx, u, c.AccountID)
	if err != nil {
		return err
	}
	var pages []content.LegalPage
	asks, err := s.rooms.Tenant.AsksToAccept(ctx, u, c.AccountID)
	if err == nil && asks {
		pages, err = s.pagesToAccept(ctx, u, c, seller)
	}
	if err != nil {
		return err
	}
	isAsked := seller.CheckoutRequiresTerms || len(pages) > 0
	if in.TermsAccepted && (isAsked || !in.OnPage) {
		if in.TermsShown != nil && !wereShown(pages, *in.TermsShown) {
			return core.Invalid("terms_accepted", "The terms have changed since the buyer saw them.").Because("changed")
		}
		if pages, err = s.rooms.Content.Accept(ctx, u, pages); err != nil {
			return err
		}
		c.TermsAcceptedAt = &now
		c.accept(pages, now)
	}
	p.Check(!isAsked || c.TermsAcceptedAt != nil && c.hasAccepted(pages), "terms_accepted", "The terms must be accepted.")
	return nil
}

// TextsOf names the texts that the pages have now, so that a form can say which ones its buyer was shown.
func TextsOf(pages []content.LegalPage) string {
	texts := make([]string, len(pages))
	for i, l := range pages {
		texts[i] = textOf(l)
	}
	return strings.Join(texts, " ")
}

func textOf(l content.LegalPage) string { return fmt.Sprintf("%s.%d", l.ID, l.Version) }

// wereShown reports whether the texts that the pages have now are among those that TextsOf named before.
func wereShown(pages []content.LegalPage, texts string) bool {
	shown := strings.Fields(texts)
	return !slices.ContainsFunc(pages, func(l content.LegalPage) bool { return !slices.Contains(shown, textOf(l)) })
}

// WereShown reports whether a form that names texts, as TextsOf does, showed its buyer all that they have to accept now.
func (o *Offer) WereShown(texts string) bool { return wereShown(o.LegalPages, texts) }

// accept notes which pages, as they are now, the buyer accepts.
func (c *Checkout) accept(pages []content.LegalPage, now core.Time) {
	c.LegalAcceptances.V = nil
	for _, l := range pages {
		c.LegalAcceptances.V = append(c.LegalAcceptances.V, LegalAcceptance{l.ID, l.Kind, l.Version, now})
	}
}

// hasAccepted reports whether the buyer has accepted each of the pages as it is now.
func (c *Checkout) hasAccepted(pages []content.LegalPage) bool {
	accepted := map[string]int64{}
	for _, a := range c.LegalAcceptances.V {
		accepted[a.LegalPage] = a.Version
	}
	for _, l := range pages {
		if accepted[l.ID] != l.Version {
			return false
		}
	}
	return true
}
