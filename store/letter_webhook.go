package store

import (
	"context"
	"net/url"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

// TellOfFailing has the owners of an account told once that an endpoint has taken nothing for an hour, unless the account has switched that off. Those of
// a disabled account are told once it is enabled. Once the endpoint works and then fails again, they are told again.
func (s *Store) TellOfFailing(ctx context.Context, account, id string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		e, err := s.Outbox.NoteTold(ctx, u, account, id)
		if err != nil || e == nil {
			return nil, err
		}
		seller, err := s.Tenant.GetAccountIn(ctx, u, account)
		if err != nil || !seller.Writes(tenant.LetterWebhookFailing) {
			return nil, err
		}
		detail := person.LetterDetail{Endpoint: e.ID, Since: e.FailingSince}
		if at, err := url.Parse(e.URL); err == nil {
			detail.Host = at.Host // what follows it may be a secret
		}
		return nil, s.Person.TellOwners(ctx, account, tenant.LetterWebhookFailing, detail)
	})
	return err
}
