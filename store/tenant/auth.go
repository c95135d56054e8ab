package tenant

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// RateLimit is how many requests a minute one API key may make, or one address without a key.
const RateLimit = 600

// HookRateLimit is how many notifications a minute one address may send. It is higher than RateLimit, because all those of a
// provider come from a few addresses.
const HookRateLimit = 6000

// rateWindow is the width of a window in seconds; windows begin with the clock's minutes.
const rateWindow = 60

// Grant is the answer to a request that was counted: which key it came with, if any, and how much of its quota is used.
type Grant struct {
	KeyID     string // empty if the request came without a valid key
	KeyName   string
	Account   string
	Scopes    []string // empty = all
	ExpiresAt *core.Time
	Used      int // this request included
	Limit     int
	WindowEnd int64 // Unix seconds
	Now       int64 // Unix seconds, of the clock that counts
}

// quota counts requests. It is shared by all replicas on PostgreSQL and local to the process on SQLite.
type quota interface {
	// count finds the key of a token hash, nil for none, and counts the request for it, or for the address.
	count(ctx context.Context, tokenHash []byte, address string) (*Grant, error)
	// look returns how often an address was counted in this minute, without counting.
	look(ctx context.Context, address string) (*Grant, error)
}

// Authenticate finds the key by the SHA-256 of its token, counts the request for that key and returns true. If no key in force
// has the token it returns false and counts the request for the address; of IPv6 that is the /64 network. A deleted key fails at
// its very next request, and so do all keys of an account that is disabled.
func (s *Store) Authenticate(ctx context.Context, tokenHash []byte, address string) (*Grant, bool, error) {
	grant, err := s.quota.count(ctx, tokenHash, address)
	if err != nil {
		return nil, false, fmt.Errorf("authenticate: %w", err)
	}
	if grant.KeyID != "" {
		s.keyUses.note(grant, address, s.Now())
	}
	return grant, grant.KeyID != "", nil
}

// CountAddress counts a request that needs no key for the address that it comes from.
func (s *Store) CountAddress(ctx context.Context, address string) (*Grant, error) {
	grant, err := s.quota.count(ctx, nil, address)
	if err != nil {
		return nil, fmt.Errorf("count address: %w", err)
	}
	return grant, nil
}

// CountHook counts a notification of a provider for its address, up to HookRateLimit and apart from all else that comes from
// there.
func (s *Store) CountHook(ctx context.Context, address string) (*Grant, error) {
	grant, err := s.CountAddress(ctx, "hooks/"+subject(address))
	if err != nil {
		return nil, err
	}
	grant.Limit = HookRateLimit
	return grant, nil
}

// CountPage counts a visit to a page for the visitor's address, apart from requests to the API without a key. A shop's buyers may sit behind one
// address with somebody's broken program.
func (s *Store) CountPage(ctx context.Context, address string) (*Grant, error) {
	return s.CountAddress(ctx, "pages/"+subject(address))
}

// CountFor counts a request for something that has a limit of its own, apart from all else that comes from an address.
func (s *Store) CountFor(ctx context.Context, what, address string, limit int) (*Grant, error) {
	grant, err := s.CountAddress(ctx, what+"/"+subject(address))
	if err != nil {
		return nil, err
	}
	grant.Limit = limit
	return grant, nil
}

// subject returns the name under which requests from an address are counted. Of IPv6 it is that of the network, because one
// subscriber has a whole /64.
func subject(address string) string {
	if addr, err := netip.ParseAddr(address); err == nil && addr.Is6() {
		network, _ := addr.Prefix(64) // fails on more than 128 bits only
		address = network.String()
	}
	return "addr_" + address
}

// grantRow is what count reads of a key in force.
type grantRow struct {
	ID      string              `db:"id"`
	Name    string              `db:"name"`
	Account string              `db:"account_id"`
	Scopes  core.JSON[[]string] `db:"scopes"`
	Expires *core.Time          `db:"expires_at"`
}

// localQuota counts in memory. All windows begin at the same moment, so one map serves one minute and is dropped whole. A
// process that serves keeps the map in a file (see keptWindows).
type localQuota struct {
	store  *Store
	mu     sync.Mutex
	minute int64
	used   map[string]int

	path    string // of the file that keeps the windows, empty if none does
	counted bool   // something was, since the file was written
	stop    chan struct{}
	ended   chan error
}

// count finds the key of a token hash and counts the request for it. If no enabled account has such a key, it counts the request for the address.
func (q *localQuota) count(ctx context.Context, tokenHash []byte, address string) (*Grant, error) {
	grant := &Grant{}
	counted := ""
	now := q.store.Now()
	if tokenHash != nil {
		key, err := db.Get[grantRow](ctx, q.store.db, `
			SELECT id, name, account_id, scopes, expires_at FROM api_keys
			WHERE token_hash = ? AND (expires_at IS NULL OR expires_at > ?) AND `+db.EnabledAccount, tokenHash, now)
		if err != nil {
			return nil, err
		}
		if key != nil {
			grant.KeyID, grant.KeyName, grant.Account, grant.Scopes, grant.ExpiresAt = key.ID, key.Name, key.Account, key.Scopes.V, key.Expires
			counted = key.ID
		}
	}
	if counted == "" {
		counted = subject(address)
	}
	grant.Now = now.Time().Unix()
	minute, used := q.add(counted, grant.Now/rateWindow)
	grant.Used, grant.Limit, grant.WindowEnd = used, RateLimit, (minute+1)*rateWindow
	return grant, nil
}

// add counts one request of the subject, and returns the minute whose window it was counted in and how many that window has now.
// If the system's clock goes back, the window stays.
func (q *localQuota) add(subject string, minute int64) (int64, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if minute > q.minute || q.used == nil {
		q.minute, q.used = max(minute, q.minute), map[string]int{}
	}
	q.used[subject]++
	q.counted = true
	return q.minute, q.used[subject]
}

// keyUses remembers when each key was last used and from where, until FlushKeyUse writes that for all of them at once.
type keyUses struct {
	mu   sync.Mutex
	uses map[string]keyUse
}

type keyUse struct {
	account, address string
	at               core.Time
}

func (k *keyUses) note(g *Grant, address string, at core.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.uses == nil {
		k.uses = map[string]keyUse{}
	}
	k.uses[g.KeyID] = keyUse{account: g.Account, address: address, at: at}
}

func (k *keyUses) takeAll() map[string]keyUse {
	k.mu.Lock()
	defer k.mu.Unlock()
	uses := k.uses
	k.uses = nil
	return uses
}

// KeyUseInterval is how often FlushKeyUse should be called.
const KeyUseInterval = time.Minute

// FlushKeyUse writes last_used_at and last_used_ip of the keys used since the last call. Close calls it too.
func (s *Store) FlushKeyUse(ctx context.Context) error {
	uses := s.keyUses.takeAll()
	if len(uses) == 0 {
		return nil
	}
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (struct{}, error) {
		for _, id := range slices.Sorted(maps.Keys(uses)) { // in one order, or replicas would lock crosswise
			use := uses[id]
			if _, err := u.Exec(ctx, `
				UPDATE api_keys SET last_used_at = ?, last_used_ip = ? WHERE account_id = ? AND id = ?`,
				use.at, use.address, use.account, id); err != nil {
				return struct{}{}, fmt.Errorf("write use of key: %w", err)
			}
		}
		return struct{}{}, nil
	})
	return err
}
