package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

const (
	// domainLetters is how many letters about domains an account has in an hour. After that, domains wait for the one of the next hour.
	domainLetters = 1

	// domainsOfLetter is how many domains a letter names, and domainsAtOnce how many it tells of.
	domainsOfLetter = 10
	domainsAtOnce   = 1000
)

// TellOfDomains writes one letter about the domains of an account that fail, of which its team is to be told now. There are domainLetters in an hour; after
// that, domains wait. Nobody is told of those that work again by then, or whose site is not live any more. An account that is disabled, or has switched
// these letters off, is told of none. It reports whether there were domains that no other replica has in hand.
func (s *Store) TellOfDomains(ctx context.Context, account string) (bool, error) {
	did, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		seller, err := s.Tenant.Seller(ctx, u, account)
		if err != nil {
			return false, err
		}
		sites, err := s.Content.LockSitesToTell(ctx, u, account, domainsAtOnce)
		if err != nil || len(sites) == 0 {
			return false, err
		}
		var ids []string
		var failing []content.AISite
		for _, a := range sites {
			ids = append(ids, a.ID)
			if a.IsLive && a.DomainTold { // a server of the release before notes only in the latter that it works again
				failing = append(failing, a)
			}
		}
		if len(failing) > 0 && seller.DisabledAt == nil && seller.Writes(tenant.LetterDomainFailing) {
			wait, err := s.countTeamLetter(ctx, account, "domain_letters", domainLetters)
			if err != nil {
				return false, err
			}
			if wait > 0 {
				return true, s.Content.TellLater(ctx, u, account, ids, new(s.Now().Add(wait)))
			}
			period := failing[0].ID + "." + s.Now().String()
			if err := s.Person.TellTeam(ctx, u, person.TeamLetter{AccountID: account, Kind: tenant.LetterDomainFailing, Period: period}, domainsToTell(failing)); err != nil {
				return false, err
			}
		}
		return true, s.Content.TellLater(ctx, u, account, ids, nil)
	})
	if err != nil {
		return false, fmt.Errorf("tell of domains: %w", err)
	}
	return did, nil
}

// domainsToTell returns what a team is told of domains that fail. Of one alone they are told which records it needs.
func domainsToTell(failing []content.AISite) person.LetterDetail {
	first, others := failing[0], failing[1:]
	detail := person.LetterDetail{Site: first.ID, Host: core.Deref(first.Domain), Reason: core.Deref(first.DomainError)}
	for _, r := range first.DomainRecords {
		detail.Records = append(detail.Records, person.DNSRecord(r))
	}
	named := min(len(others), domainsOfLetter-1)
	for _, a := range others[:named] {
		detail.Domains = append(detail.Domains, person.FailingDomain{Host: core.Deref(a.Domain), Reason: core.Deref(a.DomainError)})
	}
	detail.Unnamed = int64(len(others) - named)
	return detail
}
