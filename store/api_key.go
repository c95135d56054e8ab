package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// APIKey lets a program act for an account. Its token is shown once and stored as a hash.
type APIKey struct {
	AccountID  string         `db:"account_id"`
	ID         string         `db:"id"`
	Name       string         `db:"name"`
	TokenHash  []byte         `db:"token_hash"`
	TokenLast4 string         `db:"token_last4"`
	Scopes     JSON[[]string] `db:"scopes"` // empty = all
	ExpiresAt  *Time          `db:"expires_at"`
	LastUsedAt *Time          `db:"last_used_at"` // to the minute
	LastUsedIP *string        `db:"last_used_ip"`
	CreatedBy  *string        `db:"created_by"` // id of the key that made it, nil for the command line
	CreatedAt  Time           `db:"created_at"`
	UpdatedAt  Time           `db:"updated_at"`
}

// Granted is what the caller may do itself: it can give away no more. The zero value may do everything.
type Granted struct {
	KeyID  *string // nil for the command line
	Scopes []string
}

// NewAPIKey is a key to be made.
type NewAPIKey struct {
	Name      string
	Scopes    []string // empty = all
	ExpiresAt *Time
}

// ListAPIKeys are the filters of a list of keys.
type ListAPIKeys struct {
	Page
	ListFilter
}

var apiKeyColumns = columnsOf[APIKey]("api_keys")

// scopeResources are what scopes are made of: each with :read and :write.
func scopeResources() []string {
	return []string{"products", "checkouts", "orders", "customers", "invoices", "subscriptions", "discounts", "refunds", "leads",
		"content", "sites", "files", "licenses", "webhooks", "ads", "account", "keys", "metrics"}
}

func isScope(scope string) bool {
	resource, verb, _ := strings.Cut(scope, ":")
	return (verb == "read" || verb == "write") && slices.Contains(scopeResources(), resource)
}

// distinct returns the texts in their order, each once; nil stays nil.
func distinct(texts []string) []string {
	var once []string
	for _, text := range texts {
		if !slices.Contains(once, text) {
			once = append(once, text)
		}
	}
	if once == nil {
		return texts
	}
	return once
}

// HashToken returns what a token is found by.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// check returns CodeInvalid with everything that is not acceptable in itself.
func (k *APIKey) check() error {
	var p Problems
	p.Check(strings.TrimSpace(k.Name) != "" && utf8.RuneCountInString(k.Name) <= 255, "name", "A name has 1 to 255 characters, not only white space.")
	for _, scope := range k.Scopes.V {
		p.Check(isScope(scope), "scopes", fmt.Sprintf("There is no scope '%s'. A scope is <resource>:read or <resource>:write.", scope))
	}
	return p.Err()
}

func (k *APIKey) checkExpiry(now Time) error {
	if k.ExpiresAt != nil && *k.ExpiresAt <= now {
		return Invalid("expires_at", "An expiry lies in the future.")
	}
	return nil
}

// check returns CodeForbidden if scopes go beyond what was granted.
func (g Granted) check(scopes []string) error {
	if len(g.Scopes) == 0 {
		return nil
	}
	if len(scopes) == 0 {
		return &Error{Code: CodeForbidden, Param: "scopes", Message: "A key without scopes may do everything, which your key may not. Send the scopes that the new one needs."}
	}
	for _, scope := range scopes {
		if !slices.Contains(g.Scopes, scope) {
			return &Error{Code: CodeForbidden, Param: scope, Message: fmt.Sprintf("Your key lacks the scope '%s', so it cannot grant it.", scope)}
		}
	}
	return nil
}

// CreateAPIKey makes a key and returns it with its token, which nobody can read again. It returns CodeForbidden
// for scopes that the caller lacks.
func (s *Store) CreateAPIKey(ctx context.Context, account string, by Granted, in NewAPIKey) (key *APIKey, token string, err error) {
	token = newToken()
	key, err = tx(ctx, s, func(ctx context.Context, u *unit) (*APIKey, error) {
		if _, err := s.findAccount(ctx, account, ""); err != nil {
			return nil, err
		}
		k := &APIKey{AccountID: account, ID: NewID(KindAPIKey), Name: in.Name, TokenHash: HashToken(token), TokenLast4: token[len(token)-4:],
			Scopes: JSONOf(distinct(in.Scopes)), ExpiresAt: in.ExpiresAt, CreatedBy: by.KeyID, CreatedAt: s.Now()}
		if k.Name == "" {
			k.Name = "API key"
		}
		k.UpdatedAt = k.CreatedAt
		if err := by.check(in.Scopes); err != nil {
			return nil, err
		}
		if err := k.check(); err != nil {
			return nil, err
		}
		if err := k.checkExpiry(k.CreatedAt); err != nil {
			return nil, err
		}
		return k, u.insert(ctx, apiKeyColumns, k)
	})
	if err != nil {
		return nil, "", err
	}
	return key, token, nil
}

// GetAPIKey returns a key, or CodeMissing.
func (s *Store) GetAPIKey(ctx context.Context, account, ref string) (*APIKey, error) {
	return s.findAPIKey(ctx, account, ref, "")
}

// ListAPIKeys returns a page of keys, newest first, and whether there are more.
func (s *Store) ListAPIKeys(ctx context.Context, account string, in ListAPIKeys) ([]APIKey, bool, error) {
	var f filter
	f.list(s, in.ListFilter, "name", "id", "token_last4")
	return page(ctx, s, apiKeyColumns, KindAPIKey, account, in.Page, &f)
}

// UpdateAPIKey locks the key, applies change and stores it. It returns CodeForbidden for a change of scopes or expiry
// of a key that then holds scopes which the caller lacks. The key obeys from its next request on.
func (s *Store) UpdateAPIKey(ctx context.Context, account string, by Granted, ref string, change func(*APIKey)) (*APIKey, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*APIKey, error) {
		k, err := s.findAPIKey(ctx, account, ref, u.lock())
		if err != nil {
			return nil, err
		}
		before, text := *k, jsonText(k)
		change(k)
		k.Scopes.V = distinct(k.Scopes.V)
		if jsonText(k) == text {
			return k, nil
		}
		if !sameJSON(before.Scopes, k.Scopes) || !sameJSON(before.ExpiresAt, k.ExpiresAt) {
			if err := by.check(k.Scopes.V); err != nil { // to let a key live longer is to grant what it holds
				return nil, err
			}
		}
		if !sameJSON(before.ExpiresAt, k.ExpiresAt) {
			if err := k.checkExpiry(s.Now()); err != nil {
				return nil, err
			}
		}
		if err := k.check(); err != nil {
			return nil, err
		}
		k.UpdatedAt = s.Now()
		return k, u.update(ctx, apiKeyColumns, k)
	})
}

// DeleteAPIKey deletes a key for good and returns it. Its very next request fails.
func (s *Store) DeleteAPIKey(ctx context.Context, account, ref string) (*APIKey, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*APIKey, error) {
		k, err := s.findAPIKey(ctx, account, ref, u.lock())
		if err != nil {
			return nil, err
		}
		_, err = u.exec(ctx, `DELETE FROM api_keys WHERE account_id = ? AND id = ?`, account, k.ID)
		return k, err
	})
}

func (s *Store) findAPIKey(ctx context.Context, account, ref, lock string) (*APIKey, error) {
	id, ok := ParseID(KindAPIKey, ref)
	if !ok {
		return nil, Missing("api_key", "", ref)
	}
	k, err := get[APIKey](ctx, s, apiKeyColumns.selectSQL+` WHERE account_id = ? AND id = ?`+lock, account, id)
	if err == nil && k == nil {
		err = Missing("api_key", "", ref)
	}
	return k, err
}
