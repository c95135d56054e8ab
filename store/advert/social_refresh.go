package advert

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

const (
	// refreshAhead is how long before its end a token is renewed at the latest, if it lives for so long. Networks may be out of reach for days, and
	// people on holiday.
	refreshAhead = 7 * 24 * time.Hour
	// refreshLease is how long a channel's access is left to whoever renews it, and the pause after a network did not answer.
	refreshLease = 10 * time.Minute
)

// refreshTime returns when an access that ends at a time is renewed. That is after two thirds of its life, and a week ahead if two thirds leave less
// than that.
func refreshTime(now, end core.Time) core.Time {
	life := end.Time().Sub(now.Time())
	at := life * 2 / 3
	if ahead := life - refreshAhead; ahead > 0 {
		at = min(at, ahead)
	}
	return now.Add(max(at, 0))
}

// give gives a channel an access, and says when that is renewed.
func (s *Store) give(a *SocialAccount, access SocialAccess) {
	a.SealedToken = s.db.Options.Sealer.Seal([]byte(access.Token), a.sealContext())
	a.TokenExpiresAt, a.Scopes = access.ExpiresAt, core.JSONOf(core.Distinct(access.Scopes))
	a.SealedRefresh, a.RefreshAt = nil, nil
	if access.Refresh == "" {
		return
	}
	a.SealedRefresh = s.db.Options.Sealer.Seal([]byte(access.Refresh), a.refreshContext())
	if access.ExpiresAt != nil {
		at := refreshTime(s.Now(), *access.ExpiresAt)
		a.RefreshAt = &at
	}
}

func (a *SocialAccount) refreshContext() string { return "refresh\x00" + a.AccountID + "\x00" + a.ID }

// RefreshToken opens the text by which the access of a channel is renewed.
func (s *Store) RefreshToken(a *SocialAccount) (string, error) {
	token, err := s.db.Options.Sealer.Open(a.SealedRefresh, a.refreshContext())
	return string(token), err
}

// DueRefresh names a channel whose access has to be renewed.
type DueRefresh struct {
	AccountID string `db:"account_id"`
	ID        string `db:"id"`
}

// DueRefreshes returns at most limit channels, of all accounts, whose access has to be renewed now. One of each account comes before
// the second of any. They are only candidates: the caller claims each with ClaimRefresh.
func (s *Store) DueRefreshes(ctx context.Context, limit int) ([]DueRefresh, error) {
	return db.Select[DueRefresh](ctx, s.db, `
		SELECT account_id, id FROM (
			SELECT account_id, id, refresh_at, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY refresh_at, id) AS turn
			FROM social_accounts WHERE refresh_at <= ?) AS due
		ORDER BY turn, refresh_at, id LIMIT ?`, s.Now(), limit)
}

// ClaimRefresh claims the renewal of a channel's access for the caller, and returns the channel; nil if somebody else has claimed it.
// If nothing is heard of the caller, it is due again ten minutes later. It commits at once.
func (s *Store) ClaimRefresh(ctx context.Context, account, id string) (*SocialAccount, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SocialAccount, error) {
		now := s.Now()
		claimed, err := u.Exec(ctx, `UPDATE social_accounts SET refresh_at = ? WHERE account_id = ? AND id = ? AND refresh_at <= ?`,
			now.Add(refreshLease), account, id, now)
		if err != nil || claimed == 0 {
			return nil, err
		}
		return s.getSocialAccount(ctx, u, account, id, "")
	})
}

// RefreshSocialAccount gives a channel its renewed access, unless it has got another one since it was claimed. It commits at once.
func (s *Store) RefreshSocialAccount(ctx context.Context, claimed *SocialAccount, access SocialAccess) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		a, err := s.unchanged(ctx, u, claimed)
		if err != nil || a == nil {
			return nil, err
		}
		if len(access.Scopes) == 0 {
			access.Scopes = a.Scopes.V
		}
		s.give(a, access)
		a.UpdatedAt = s.Now()
		return nil, u.Update(ctx, socialAccountColumns, a)
	})
	return err
}

// FailRefresh stores that the network does not renew a channel's access, and why, unless the channel has got another one since it was
// claimed. It is not tried again. It commits at once.
func (s *Store) FailRefresh(ctx context.Context, claimed *SocialAccount, why string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		a, err := s.unchanged(ctx, u, claimed)
		if err != nil || a == nil {
			return nil, err
		}
		a.RefreshAt, a.LastError, a.UpdatedAt = nil, why, s.Now()
		if a.AdsStatus == AdsStatusActive {
			a.AdsStatus = AdsStatusError
		}
		return nil, u.Update(ctx, socialAccountColumns, a)
	})
	return err
}

// unchanged locks and returns a channel that still has the access that it had when it was claimed, else nil.
func (s *Store) unchanged(ctx context.Context, u *db.Unit, claimed *SocialAccount) (*SocialAccount, error) {
	a, err := db.Get[SocialAccount](ctx, u, socialAccountColumns.SelectSQL+` WHERE account_id = ? AND id = ?`+u.Lock(), claimed.AccountID, claimed.ID)
	if err != nil {
		return nil, fmt.Errorf("read a channel: %w", err)
	}
	if a == nil || a.DeletedAt != nil || string(a.SealedToken) != string(claimed.SealedToken) {
		return nil, nil
	}
	return a, nil
}
