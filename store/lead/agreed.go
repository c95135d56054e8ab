package lead

import (
	"context"

	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

// Agreed returns those of some customers of a seller who may be sent news, in their order. They own their address, and agreed themselves or by a lead
// of it. Whoever ended the news, in whichever way, may not: see HasEnded. It takes two statements, however many they are.
func (s *Store) Agreed(ctx context.Context, r db.Reader, seller *tenant.Account, all []customer.Customer) ([]customer.Customer, error) {
	var owners []customer.Customer
	var keys []string
	for _, c := range all {
		if c.DeletedAt == nil && c.EmailKey != nil && c.Email != nil && !c.IsUnsubscribed() {
			owners, keys = append(owners, c), append(keys, *c.EmailKey)
		}
	}
	if len(owners) == 0 {
		return nil, nil
	}
	ended, err := s.rooms.Customer.EndedNews(ctx, r, seller.ID, keys)
	if err != nil {
		return nil, err
	}
	leads, err := s.ofAddress(ctx, r, seller.ID, keys...)
	if err != nil {
		return nil, err
	}
	byLead := map[string]bool{}
	for i := range leads {
		l := &leads[i]
		if l.Status == StatusUnsubscribed {
			ended[l.EmailKey] = true
		}
		byLead[l.EmailKey] = byLead[l.EmailKey] || l.hasAgreed(seller)
	}
	var agreed []customer.Customer
	for _, c := range owners {
		said := c.MarketingConsent.V
		if !ended[*c.EmailKey] && (byLead[*c.EmailKey] || said != nil && said.Status == customer.Subscribed) {
			agreed = append(agreed, c)
		}
	}
	return agreed, nil
}

// hasAgreed reports whether a lead agreed to news. If its seller wants leads confirmed now, what somebody typed into a form before has to be
// confirmed as well. For what the seller sent, the seller vouches.
func (l *Lead) hasAgreed(seller *tenant.Account) bool {
	isVouched := l.Source == SourceAPI || l.Source == SourceImport
	return l.Consent.V.Marketing && (isVouched || l.Consent.V.ConfirmedAt != nil || seller.LeadConfirmation == tenant.LeadConfirmationNone)
}
