package advert

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// AccountStatus says whether ads can run in an ad account.
type AccountStatus string

// The states of an ad account.
const (
	AccountActive   AccountStatus = "active"
	AccountDisabled AccountStatus = "disabled"
	AccountPending  AccountStatus = "pending"
)

// Account is an advertiser's account with a network, as one channel sees it: two channels that see the same one have a
// row each. A driver fills in the fields from PlatformID to DefaultPayor; the store fills in the rest.
type Account struct {
	AccountID          string        `db:"account_id"`
	ID                 string        `db:"id"` // of the row, time-ordered; never shown
	ChannelID          string        `db:"channel_id"`
	Platform           Platform      `db:"platform"`
	PlatformID         string        `db:"platform_id"`
	Name               string        `db:"name"`
	Currency           string        `db:"currency"` // lower-case ISO 4217
	Timezone           string        `db:"timezone"` // IANA name; days of budgets and reports are days there
	Status             AccountStatus `db:"status"`
	PlatformStatus     string        `db:"platform_status"` // the network's word
	UnusableReason     string        `db:"unusable_reason"` // why ads cannot be made in it; empty if they can
	MinimumDailyBudget Amount        `db:"minimum_daily_budget"`
	AmountSpent        Amount        `db:"amount_spent"`
	SpendCap           Amount        `db:"spend_cap"`           // 0 = none
	BusinessCenterID   string        `db:"business_center_id"`  // platform id; empty = none
	Country            string        `db:"country"`             // two letters, upper-case; empty = not known
	DefaultBeneficiary string        `db:"default_beneficiary"` // who profits from its ads, as the network has it
	DefaultPayor       string        `db:"default_payor"`       // who pays for them
	DSABeneficiary     string        `db:"dsa_beneficiary"`     // instead of DefaultBeneficiary; kept here, the network does not have it
	DSAPayor           string        `db:"dsa_payor"`           // instead of DefaultPayor
	SyncedAt           core.Time     `db:"synced_at"`           // when its campaigns were last mirrored; 0 = never
	SyncCursor         string        `db:"sync_cursor"`         // where the walk through them stopped; empty = at the end
	SyncBegan          core.Time     `db:"sync_began"`          // when that walk began
	CreatedAt          core.Time     `db:"created_at"`
	UpdatedAt          core.Time     `db:"updated_at"`
}

// Beneficiary returns who profits from the ads of the ad account, empty if nobody said so.
func (a *Account) Beneficiary() string { return cmp.Or(a.DSABeneficiary, a.DefaultBeneficiary) }

// Payor returns who pays for the ads of the ad account, empty if nobody said so.
func (a *Account) Payor() string { return cmp.Or(a.DSAPayor, a.DefaultPayor) }

// IsSelectable reports whether ads can be made in the ad account.
func (a *Account) IsSelectable() bool { return a.Status == AccountActive && a.UnusableReason == "" }

// BusinessCenter is what a network gives an agency to keep its ad accounts in. A driver fills in PlatformID, Name and
// AdvertiserCount; the store fills in the rest.
type BusinessCenter struct {
	AccountID       string    `db:"account_id"`
	ID              string    `db:"id"` // of the row, time-ordered; never shown
	ChannelID       string    `db:"channel_id"`
	Platform        Platform  `db:"platform"`
	PlatformID      string    `db:"platform_id"`
	Name            string    `db:"name"`
	AdvertiserCount *int64    `db:"advertiser_count"` // nil = unknown
	CreatedAt       core.Time `db:"created_at"`
	UpdatedAt       core.Time `db:"updated_at"`
}

var (
	accountRows     = mirrorOf[Account]("ad_accounts", "account_id, channel_id, platform_id", "channel_id", "platform", "platform_id", "dsa_beneficiary", "dsa_payor", "synced_at", "sync_cursor", "sync_began")
	businessCenters = mirrorOf[BusinessCenter]("ad_business_centers", "account_id, channel_id, platform_id", "channel_id", "platform", "platform_id")
)

// PutAccounts stores the ad accounts that a network says a channel can see now. One that is stored and not among them
// any more becomes disabled.
func (s *Store) PutAccounts(ctx context.Context, channel *SocialAccount, seen []Account) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		now, rows, ids := s.Now(), make([]Account, 0, len(seen)), make([]string, 0, len(seen))
		for i := len(seen) - 1; i >= 0; i-- { // the first of the network's list is the first of ours
			a := seen[i]
			a.AccountID, a.ID, a.ChannelID, a.Platform = channel.AccountID, core.NewULID(), channel.ID, channel.Platform
			a.Currency, a.CreatedAt, a.UpdatedAt = strings.ToLower(a.Currency), now, now
			a.SyncedAt, a.SyncCursor, a.SyncBegan = 0, "", 0
			rows, ids = append(rows, a), append(ids, a.PlatformID)
		}
		if err := accountRows.upsert(ctx, s, u, onePer(rows, func(a *Account) string { return a.PlatformID })); err != nil {
			return nil, err
		}
		condition, arg := s.db.In("platform_id", ids)
		return u.Exec(ctx, `
			UPDATE ad_accounts SET status = 'disabled', unusable_reason = ?, updated_at = ?
			WHERE account_id = ? AND channel_id = ? AND status <> 'disabled' AND NOT (`+condition+`)`,
			"The channel has no access to this ad account any more.", now, channel.AccountID, channel.ID, arg)
	})
	return err
}

// PutBusinessCenters stores the business centers that a network says a channel can see now. One that is stored and not
// among them any more is deleted.
func (s *Store) PutBusinessCenters(ctx context.Context, channel *SocialAccount, seen []BusinessCenter) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		now, rows, ids := s.Now(), make([]BusinessCenter, 0, len(seen)), make([]string, 0, len(seen))
		for i := len(seen) - 1; i >= 0; i-- {
			b := seen[i]
			b.AccountID, b.ID, b.ChannelID, b.Platform = channel.AccountID, core.NewULID(), channel.ID, channel.Platform
			b.CreatedAt, b.UpdatedAt = now, now
			rows, ids = append(rows, b), append(ids, b.PlatformID)
		}
		if err := businessCenters.upsert(ctx, s, u, onePer(rows, func(b *BusinessCenter) string { return b.PlatformID })); err != nil {
			return nil, err
		}
		condition, arg := s.db.In("platform_id", ids)
		return u.Exec(ctx, `DELETE FROM ad_business_centers WHERE account_id = ? AND channel_id = ? AND NOT (`+condition+`)`,
			channel.AccountID, channel.ID, arg)
	})
	return err
}

// ListAccounts returns a page of the ad accounts that an activated channel may use. If adAccount, a platform id, is
// not empty, only that one is listed. The errors are those of ActivatedChannel.
func (s *Store) ListAccounts(ctx context.Context, account, channel, adAccount string, p Page) (*List[Account], error) {
	a, err := s.ActivatedChannel(ctx, account, channel)
	if err != nil {
		return nil, err
	}
	var f db.Filter
	f.OrderedIfSet("channel_id", a.ID)
	f.OrderedIfSet("platform_id", adAccount)
	if len(a.AdAccountIDs.V) > 0 {
		f.And(s.db.In("platform_id", a.AdAccountIDs.V))
	}
	return listPage(ctx, s, accountRows.Columns, account, p, &f, a.ID, adAccount)
}

// ListBusinessCenters returns a page of the business centers that an activated channel sees. The errors are those of
// ActivatedChannel.
func (s *Store) ListBusinessCenters(ctx context.Context, account, channel string, p Page) (*List[BusinessCenter], error) {
	a, err := s.ActivatedChannel(ctx, account, channel)
	if err != nil {
		return nil, err
	}
	var f db.Filter
	f.OrderedIfSet("channel_id", a.ID)
	return listPage(ctx, s, businessCenters.Columns, account, p, &f, a.ID)
}

// GetAccount returns an ad account of a channel by its platform id, also when it is disabled. If the channel does not
// see it or may not use it, the error is CodeMissing on ad_account_id.
func (s *Store) GetAccount(ctx context.Context, channel *SocialAccount, id string) (*Account, error) {
	a, err := db.Get[Account](ctx, s.db, accountRows.SelectSQL+` WHERE account_id = ? AND channel_id = ? AND platform_id = ?`,
		channel.AccountID, channel.ID, id)
	if err != nil {
		return nil, fmt.Errorf("read ad account: %w", err)
	}
	if a == nil || !channel.Allows(id) {
		return nil, core.Missing("ad account", "ad_account_id", id)
	}
	return a, nil
}

// DueAccount names an ad account that may have to be mirrored again, when it was mirrored last, and whether something in it
// is in doubt.
type DueAccount struct {
	AccountID  string    `db:"account_id"`
	ChannelID  string    `db:"channel_id"`
	PlatformID string    `db:"platform_id"`
	SyncedAt   core.Time `db:"synced_at"`
	LookAgain  bool      `db:"look_again"`
}

// DueAccounts returns at most limit ad accounts, of all accounts, that were last mirrored before a time. If it is in doubt how something in them is
// at their network, the time that counts is inDoubt. Those that have waited longest come first, but one of each account comes before the second of
// any. So a large account does not keep the others waiting. They are only candidates: whoever wants to mirror one claims it with ClaimSync.
func (s *Store) DueAccounts(ctx context.Context, before, inDoubt core.Time, limit int) ([]DueAccount, error) {
	return db.Select[DueAccount](ctx, s.db, `
		WITH due AS MATERIALIZED (
			SELECT account_id, channel_id, platform_id, synced_at, look_again FROM ad_accounts WHERE synced_at < ?
			UNION ALL
			SELECT account_id, channel_id, platform_id, synced_at, look_again FROM ad_accounts WHERE look_again AND synced_at >= ? AND synced_at < ?)
		SELECT account_id, channel_id, platform_id, synced_at, look_again FROM (
			SELECT d.account_id, d.channel_id, d.platform_id, d.synced_at, d.look_again,
				ROW_NUMBER() OVER (PARTITION BY d.account_id ORDER BY d.synced_at, d.channel_id, d.platform_id) AS turn
			FROM due AS d
			CROSS JOIN social_accounts AS c
			WHERE c.account_id = d.account_id AND c.id = d.channel_id AND c.ads_status = 'active') AS turns
		ORDER BY turn, synced_at LIMIT ?`, before, before, inDoubt, limit)
}

// ClaimSync claims the mirroring of an ad account for the caller, and reports whether it succeeded: of several that
// ask, the first one has it. It sets synced_at to now, so that the ad account is not due again soon even if the
// mirroring fails. What is in doubt there is no longer marked: a doubt that comes during the mirroring is marked anew.
func (s *Store) ClaimSync(ctx context.Context, due DueAccount) (bool, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		rows, err := u.Exec(ctx, `UPDATE ad_accounts SET synced_at = ?, look_again = ? WHERE account_id = ? AND channel_id = ? AND platform_id = ? AND synced_at = ?`,
			s.Now(), false, due.AccountID, due.ChannelID, due.PlatformID, due.SyncedAt)
		return rows == 1, err
	})
}

// LookAgain marks an ad account again in which something is still in doubt.
func (s *Store) LookAgain(ctx context.Context, due DueAccount) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		return nil, lookAgainAt(ctx, u, due.AccountID, due.ChannelID, due.PlatformID)
	})
	return err
}

// lookAgainAt marks an ad account: it is in doubt how something in it is at its network.
func lookAgainAt(ctx context.Context, u *db.Unit, account, channel, id string) error {
	if _, err := u.Exec(ctx, `UPDATE ad_accounts SET look_again = ? WHERE account_id = ? AND channel_id = ? AND platform_id = ?`, true, account, channel, id); err != nil {
		return fmt.Errorf("mark an ad account: %w", err)
	}
	return nil
}

// PauseSync stores where a walk through an ad account has stopped, and when that walk began. So the next walk can go on from there. An empty cursor
// forgets the place.
func (s *Store) PauseSync(ctx context.Context, a *Account, began core.Time, cursor string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ad_accounts SET sync_cursor = ?, sync_began = ? WHERE account_id = ? AND channel_id = ? AND platform_id = ?`,
			cursor, began, a.AccountID, a.ChannelID, a.PlatformID)
	})
	return err
}

// accountKey names an ad account as a channel sees it.
type accountKey struct{ channel, id string }

// accountsOf returns the ad accounts that the keys name. One that the mirror does not have is not in the map.
func (s *Store) accountsOf(ctx context.Context, r db.Reader, account string, keys []accountKey) (map[accountKey]*Account, error) {
	found := map[accountKey]*Account{}
	if len(keys) == 0 {
		return found, nil
	}
	var ids []string
	for _, key := range keys {
		ids = append(ids, key.id)
	}
	condition, arg := s.db.In("platform_id", core.Distinct(ids))
	rows, err := db.Select[Account](ctx, r, accountRows.SelectSQL+` WHERE account_id = ? AND `+condition, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read ad accounts: %w", err)
	}
	for i := range rows {
		found[accountKey{rows[i].ChannelID, rows[i].PlatformID}] = &rows[i]
	}
	return found, nil
}
