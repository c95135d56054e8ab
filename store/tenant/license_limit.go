package tenant

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// How often a minute buyers' programs may show one licence key, and one address keys that nobody has. They are counted with the requests, and not in
// throttle: a guess counts although its request fails and its transaction is undone.
const (
	licenseKeyLimit     = 60
	unknownLicenseLimit = 20
)

// CountLicenseKey counts that a program at an address shows a key, which is named by its hash. It is CodeRateLimit if that key was shown too
// often within the minute, or too many unknown ones from this address. Then one that exists is not answered either: an answer would say that a
// guess was right.
func (s *Store) CountLicenseKey(ctx context.Context, address, hash string) error {
	guesses, err := s.quota.look(ctx, unknownLicenses(address))
	if err != nil {
		return fmt.Errorf("look for unknown licence keys: %w", err)
	}
	if guesses.Used >= unknownLicenseLimit {
		return tooManyLicenses(guesses, "This address asked for %d licence keys that nobody has within a minute.", unknownLicenseLimit)
	}
	grant, err := s.CountAddress(ctx, "license_key/"+hash)
	if err == nil && grant.Used > licenseKeyLimit {
		err = tooManyLicenses(grant, "This licence key was asked for %d times within a minute.", licenseKeyLimit)
	}
	return err
}

// CountUnknownLicense counts that the key which a program at an address showed is unknown. It is CodeRateLimit if there were too many.
func (s *Store) CountUnknownLicense(ctx context.Context, address string) error {
	grant, err := s.CountAddress(ctx, unknownLicenses(address))
	if err == nil && grant.Used > unknownLicenseLimit {
		err = tooManyLicenses(grant, "This address asked for %d licence keys that nobody has within a minute.", unknownLicenseLimit)
	}
	return err
}

// unknownLicenses is the name under which unknown keys from an address are counted.
func unknownLicenses(address string) string { return "unknown_license_keys/" + subject(address) }

func tooManyLicenses(g *Grant, why string, limit int) error {
	wait := max(1, g.WindowEnd-g.Now)
	return &core.Error{Code: core.CodeRateLimit, Param: "key", After: time.Duration(wait) * time.Second, Message: fmt.Sprintf(why+" Ask again in %d seconds.", limit, wait)}
}

func (q *localQuota) look(_ context.Context, name string) (*Grant, error) {
	now := q.store.Now().Time().Unix()
	q.mu.Lock()
	defer q.mu.Unlock()
	if minute := now / rateWindow; minute > q.minute {
		return &Grant{Now: now, WindowEnd: (minute + 1) * rateWindow}, nil
	}
	return &Grant{Used: q.used[subject(name)], Now: now, WindowEnd: (q.minute + 1) * rateWindow}, nil
}

func (q *sharedQuota) look(ctx context.Context, name string) (*Grant, error) {
	row, err := db.Get[quotaRow](db.Detached(ctx), q.store.db, `
		SELECT coalesce((SELECT used FROM rate_windows WHERE subject = ? AND minute = floor(extract(epoch FROM clock_timestamp()))::bigint / 60), 0) AS used,
			floor(extract(epoch FROM clock_timestamp()))::bigint / 60 AS minute, floor(extract(epoch FROM clock_timestamp()))::bigint AS now`, subject(name))
	if err != nil {
		return nil, err
	}
	return row.grant(row.Used), nil
}
