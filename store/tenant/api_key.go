package tenant

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// APIKey lets a program act for an account. Its token is shown once and stored as a hash.
type APIKey struct {
	AccountID  string              `db:"account_id"`
	ID         string              `db:"id"`
	Name       string              `db:"name"`
	TokenHash  []byte              `db:"token_hash"`
	TokenLast4 string              `db:"token_last4"`
	Scopes     core.JSON[[]string] `db:"scopes"` // empty = all
	ExpiresAt  *core.Time          `db:"expires_at"`
	LastUsedAt *core.Time          `db:"last_used_at"` // to the minute
	LastUsedIP *string             `db:"last_used_ip"`
	CreatedBy  *string             `db:"created_by"` // id of its maker, the key that made or adopted it, or the person; nil for the command line
	CreatedAt  core.Time           `db:"created_at"`
	UpdatedAt  core.Time           `db:"updated_at"`
}

// Granted says who makes, changes or deletes a key. The zero value is the owner, at the command line, who may give everything.
type Granted struct {
	KeyID    *string  // the calling key, which can give away no more than it has
	PersonID *string  // instead of a key, who is signed in to the dashboard
	Scopes   []string // what that person may do, and so may give; none means everything
}

// maker returns the id of who makes a key, nil for the command line.
func (g Granted) maker() *string {
	if g.KeyID == nil {
		return g.PersonID
	}
	return g.KeyID
}

// NewAPIKey says what key CreateAPIKey is to make.
type NewAPIKey struct {
	Name      string
	Scopes    []string   // empty = all
	ExpiresAt *core.Time // nil: that of the key which makes it, none if the owner does
	Lasting   bool       // it is to last for ever; refused if the key which makes it does not
}

// ListAPIKeys are the filters of a list of keys.
type ListAPIKeys struct {
	core.Page
	core.ListFilter
}

var apiKeyColumns = db.ColumnsOf[APIKey]("api_keys")

// scopeResources lists the resources that there are scopes for. Each has two: <resource>:read and <resource>:write.
func scopeResources() []string {
	return []string{"products", "checkouts", "orders", "customers", "invoices", "subscriptions", "discounts", "refunds", "leads",
		"content", "sites", "files", "licenses", "webhooks", "ads", "account", "keys", "metrics"}
}

// scopeAdLimits lets a key change how much all keys together may spend on ads. It is not part of ads:write, because it is to
// bound those who have that.
const scopeAdLimits = "ad_limits:write"

func isScope(scope string) bool {
	if scope == scopeAdLimits {
		return true
	}
	resource, verb, _ := strings.Cut(scope, ":")
	return (verb == "read" || verb == "write") && slices.Contains(scopeResources(), resource)
}

// HashToken returns the SHA-256 of a token. It is stored in place of the token, and the key is found by it.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// check returns CodeInvalid with every field of the key that is not acceptable. What the key may be given is checked apart: see
// checkGranted.
func (k *APIKey) check() error {
	var p core.Problems
	p.Check(strings.TrimSpace(k.Name) != "" && utf8.RuneCountInString(k.Name) <= 255, "name", "A name has 1 to 255 characters, not only white space.")
	for _, scope := range k.Scopes.V {
		p.Check(isScope(scope), "scopes", fmt.Sprintf("There is no scope '%s'. A scope is <resource>:read or <resource>:write.", scope))
	}
	return p.Err()
}

func (k *APIKey) checkExpiry(now core.Time) error {
	if k.ExpiresAt != nil && *k.ExpiresAt <= now {
		return core.Invalid("expires_at", "An expiry lies in the future.")
	}
	return nil
}

// CreateAPIKey makes a key and returns it with its token, which nobody can read again. It returns CodeForbidden for a key that
// could do more than the calling key. The caller's row is locked: if it is deleted at the same moment, the new key goes with it.
func (s *Store) CreateAPIKey(ctx context.Context, account string, by Granted, in NewAPIKey) (key *APIKey, token string, err error) {
	token = core.NewToken()
	key, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*APIKey, error) {
		if _, err := s.Seller(ctx, u, account); err != nil {
			return nil, err
		}
		maker, _, err := s.lockAPIKeys(ctx, u, account, by, "")
		if err != nil {
			return nil, err
		}
		k := &APIKey{AccountID: account, ID: core.NewID(core.KindAPIKey), Name: in.Name, TokenHash: HashToken(token), TokenLast4: token[len(token)-4:],
			Scopes: core.JSONOf(core.Distinct(in.Scopes)), ExpiresAt: in.ExpiresAt, CreatedBy: by.maker(), CreatedAt: s.Now()}
		if k.Name == "" {
			k.Name = "API key"
		}
		if maker != nil && k.ExpiresAt == nil && !in.Lasting {
			k.ExpiresAt = maker.ExpiresAt
		}
		k.UpdatedAt = k.CreatedAt
		if err := k.checkGranted(maker); err != nil {
			return nil, err
		}
		if err := k.check(); err != nil {
			return nil, err
		}
		if err := k.checkExpiry(k.CreatedAt); err != nil {
			return nil, err
		}
		if err := s.checkRoom(ctx, u, account); err != nil {
			return nil, err
		}
		if s.OnAPIKey != nil {
			if err := s.OnAPIKey(ctx, k); err != nil {
				return nil, err
			}
		}
		return k, u.Insert(ctx, apiKeyColumns, k)
	})
	if err != nil {
		return nil, "", err
	}
	return key, token, nil
}

// GetAPIKey returns a key, or CodeMissing.
func (s *Store) GetAPIKey(ctx context.Context, account, ref string) (*APIKey, error) {
	id, ok := core.ParseID(core.KindAPIKey, ref)
	if !ok {
		return nil, core.Missing("api_key", "", ref)
	}
	k, err := db.Get[APIKey](ctx, s.db, apiKeyColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && k == nil {
		err = core.Missing("api_key", "", ref)
	}
	return k, err
}

// KeyServes reports whether an API key exists, is not over its time, is of an account that is not disabled, and has some scopes.
func (s *Store) KeyServes(ctx context.Context, account, id string, scopes []string) (bool, error) {
	has, err := db.Get[core.JSON[[]string]](ctx, s.db, `SELECT scopes FROM api_keys WHERE account_id = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?) AND `+db.EnabledAccount, account, id, s.db.Now())
	if err != nil || has == nil {
		return false, err
	}
	lacks := slices.ContainsFunc(scopes, func(scope string) bool { return !slices.Contains(has.V, scope) })
	return len(has.V) == 0 || !lacks, nil
}

// ListAPIKeys returns a page of keys, newest first, and whether there are more.
func (s *Store) ListAPIKeys(ctx context.Context, account string, in ListAPIKeys) ([]APIKey, bool, error) {
	var f db.Filter
	f.List(s.db, "api_keys", core.KindAPIKey, in.ListFilter, "name", "token_last4")
	return db.Page(ctx, s.db, apiKeyColumns, core.KindAPIKey, account, in.Page, &f)
}

// UpdateAPIKey locks the key, applies change and stores it. What the key loses, all keys that it made lose too, and the keys
// that these made. It returns CodeForbidden for a key that can do more than the caller, before or after the change. It returns CodeInvalid for
// one that could then do more than the key that made it. The keys obey from their next requests on.
func (s *Store) UpdateAPIKey(ctx context.Context, account string, by Granted, ref string, change func(*APIKey)) (*APIKey, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*APIKey, error) {
		caller, k, err := s.lockAPIKeys(ctx, u, account, by, ref)
		if err != nil {
			return nil, err
		}
		before, text := *k, core.JSONText(k)
		change(k)
		k.Scopes.V = core.Distinct(k.Scopes.V)
		if core.JSONText(k) == text {
			return k, nil
		}
		if err := before.checkTouched(caller); err != nil {
			return nil, err
		}
		// A key that changes itself is measured by what it could do before.
		if caller != nil && caller.ID == k.ID {
			caller = &before
		}
		if err := k.checkGranted(caller); err != nil {
			return nil, err
		}
		if !core.SameJSON(before.ExpiresAt, k.ExpiresAt) {
			if err := k.checkExpiry(s.Now()); err != nil {
				return nil, err
			}
		}
		if err := k.check(); err != nil {
			return nil, err
		}
		if err := s.checkMaker(ctx, u, k); err != nil {
			return nil, err
		}
		k.UpdatedAt = s.Now()
		if err := u.Update(ctx, apiKeyColumns, k); err != nil {
			return nil, err
		}
		return k, s.weakenDescendants(ctx, u, k)
	})
}

// DeleteAPIKey deletes a key for good and returns it. The keys that it made are deleted with it, and those that these made. With adopt they stay,
// and the caller becomes the maker of the keys that the deleted one made. The next request of a deleted key fails. It returns CodeForbidden for a
// key that can do more than the caller; a key may always delete itself.
func (s *Store) DeleteAPIKey(ctx context.Context, account string, by Granted, ref string, adopt bool) (*APIKey, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*APIKey, error) {
		caller, k, err := s.lockAPIKeys(ctx, u, account, by, ref)
		if err != nil {
			return nil, err
		}
		if err := k.checkTouched(caller); err != nil {
			return nil, err
		}
		if adopt && caller != nil && caller.ID == k.ID {
			return nil, core.Invalid("descendants", "A key that deletes itself cannot adopt the keys that it made. Send this with another key.")
		}
		below, err := s.lockDescendants(ctx, u, k)
		if err != nil {
			return nil, err
		}
		if adopt {
			return k, errors.Join(s.adopt(ctx, u, caller, k, below), s.deleteAPIKeys(ctx, u, account, k.ID))
		}
		ids := []string{k.ID}
		for i := range below {
			ids = append(ids, below[i].ID)
		}
		return k, s.deleteAPIKeys(ctx, u, account, ids...)
	})
}
