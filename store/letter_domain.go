package store

import (
	"context"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

// tellOfDomain has the team of an account told that the domain of a site fails, unless the account has switched that off. They are told which records it needs.
func (s *Store) tellOfDomain(ctx context.Context, u *db.Unit, a *content.AISite) error {
	seller, err := s.Tenant.Seller(ctx, u, a.AccountID)
	if err != nil || !seller.Writes(tenant.LetterDomainFailing) {
		return err
	}
	detail := person.LetterDetail{Site: a.ID, Host: core.Deref(a.Domain), Reason: core.Deref(a.DomainError)}
	for _, r := range a.DomainRecords {
		detail.Records = append(detail.Records, person.DNSRecord(r))
	}
	return s.Person.TellTeam(ctx, u, person.TeamLetter{AccountID: a.AccountID, Kind: tenant.LetterDomainFailing, Period: a.ID + "." + s.Now().String()}, detail)
}
