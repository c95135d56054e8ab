package tenant

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// The order of keys: no key makes, changes or deletes one that can do more than itself. Every key can do at most what the key that made it can.

// beyond names the first thing that k can do and other cannot: a scope, "scopes" if k may do everything, "expires_at" if k lasts
// longer. It returns "" if k can do nothing more than other.
func (k *APIKey) beyond(other *APIKey) string {
	if len(other.Scopes.V) > 0 {
		if len(k.Scopes.V) == 0 {
			return "scopes"
		}
		for _, scope := range k.Scopes.V {
			if !slices.Contains(other.Scopes.V, scope) {
				return scope
			}
		}
	}
	if other.ExpiresAt != nil && (k.ExpiresAt == nil || *k.ExpiresAt > *other.ExpiresAt) {
		return "expires_at"
	}
	return ""
}

// checkGranted returns CodeForbidden if k, as it is about to be stored, could do more than the calling key. A nil caller is the
// owner, who may grant everything.
func (k *APIKey) checkGranted(caller *APIKey) error {
	if caller == nil {
		return nil
	}
	switch param := k.beyond(caller); param {
	case "":
		return nil
	case "scopes":
		return &core.Error{Code: core.CodeForbidden, Param: param, Message: "A key without scopes may do everything, which you may not. Send the scopes that this one needs."}
	case "expires_at":
		return &core.Error{Code: core.CodeForbidden, Param: param, Message: fmt.Sprintf("Your key expires at %s. It cannot make another one last longer.", *caller.ExpiresAt)}
	default:
		return &core.Error{Code: core.CodeForbidden, Param: param, Message: fmt.Sprintf("You lack the scope '%s', so you cannot grant it.", param)}
	}
}

// checkTouched returns CodeForbidden if k, as it is stored, can do more than the calling key, which then may neither change nor
// delete it. A key may always touch itself, and the owner, a nil caller, every key.
func (k *APIKey) checkTouched(caller *APIKey) error {
	if caller == nil || caller.ID == k.ID || k.beyond(caller) == "" {
		return nil
	}
	return &core.Error{Code: core.CodeForbidden, Param: "id", Message: "This key can do more than yours, which can neither change nor delete it. Use a key with all of its scopes that does not expire before it."}
}

// lockAPIKeys locks the calling key and the key that ref names. It locks them in the order of their ids, so that no two requests wait for each
// other. The caller comes back as nil for the owner, and without an id for a person who may not do everything. K is nil for an empty ref. It
// returns CodeUnauthenticated for a caller that was revoked since its request was let in, and CodeMissing if nothing has the name.
func (s *Store) lockAPIKeys(ctx context.Context, u *db.Unit, account string, by Granted, ref string) (caller, k *APIKey, err error) {
	var ids []string
	if by.KeyID != nil {
		ids = append(ids, *by.KeyID)
	}
	id, named := core.ParseID(core.KindAPIKey, ref)
	if named {
		ids = append(ids, id)
	}
	condition, arg := s.db.In("id", ids)
	keys, err := db.Select[APIKey](ctx, u.Locked(), apiKeyColumns.SelectSQL+` WHERE account_id = ? AND `+condition+` ORDER BY id`, account, arg)
	if err != nil {
		return nil, nil, fmt.Errorf("lock keys: %w", err)
	}
	for i := range keys {
		if by.KeyID != nil && keys[i].ID == *by.KeyID {
			caller = new(keys[i])
		}
		if named && keys[i].ID == id {
			k = &keys[i]
		}
	}
	if by.KeyID == nil && len(by.Scopes) > 0 {
		caller = &APIKey{Scopes: core.JSONOf(by.Scopes)} // a person is measured as a key would be
	}
	if by.KeyID != nil && caller == nil {
		return nil, nil, &core.Error{Code: core.CodeUnauthenticated, Message: "This API key was revoked while its request was under way."}
	}
	if ref != "" && k == nil {
		return nil, nil, core.Missing("api_key", "", ref)
	}
	return caller, k, nil
}

// checkMaker returns CodeInvalid if k, as it is about to be stored, could do more than the key that made it. The maker need not
// be locked: whoever weakens it locks k afterwards, and then sees this change.
func (s *Store) checkMaker(ctx context.Context, u *db.Unit, k *APIKey) error {
	if k.CreatedBy == nil {
		return nil
	}
	maker, err := db.Get[APIKey](ctx, u, apiKeyColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, k.AccountID, *k.CreatedBy)
	if err != nil {
		return fmt.Errorf("find the maker of %s: %w", k.ID, err)
	}
	if maker == nil || k.beyond(maker) == "" {
		return nil
	}
	param := k.beyond(maker)
	field := "scopes"
	if param == "expires_at" {
		field = param
	}
	return core.Invalid(field, fmt.Sprintf("A key can do no more than the key that made it, %s. Change that one first, or make another key.", maker.ID))
}

// lockDescendants locks and returns every key that k made, that those made, and so on. While their rows are locked none of them
// can make another key. Those that came while this waited for the locks are found by looking again, until nothing new turns up.
// CROSS JOIN keeps SQLite from reading all keys of the account for each of them.
func (s *Store) lockDescendants(ctx context.Context, u *db.Unit, k *APIKey) ([]APIKey, error) {
	for known := -1; ; {
		below, err := db.Select[APIKey](ctx, u.Locked(), apiKeyColumns.SelectSQL+` WHERE account_id = ? AND id IN (
			WITH RECURSIVE below (id) AS (
				SELECT id FROM api_keys WHERE account_id = ? AND created_by = ?
				UNION SELECT k.id FROM below CROSS JOIN api_keys AS k WHERE k.account_id = ? AND k.created_by = below.id)
			SELECT id FROM below) ORDER BY id`, k.AccountID, k.AccountID, k.ID, k.AccountID)
		if err != nil {
			return nil, fmt.Errorf("lock the descendants of %s: %w", k.ID, err)
		}
		if len(below) == known {
			return below, nil
		}
		known = len(below)
	}
}

// weakenDescendants takes from every descendant of k the scopes and the time that k no longer has. A key that would be left
// without scopes is deleted, because a key without scopes can do everything. Its own descendants are left with nothing too, and
// are deleted with it.
func (s *Store) weakenDescendants(ctx context.Context, u *db.Unit, k *APIKey) error {
	below, err := s.lockDescendants(ctx, u, k)
	if err != nil {
		return err
	}
	var powerless []string
	alike := map[string][]string{} // the ids of keys that can do the same then, by that
	as := map[string]*APIKey{}
	for i := range below {
		d := &below[i]
		if d.beyond(k) == "" {
			continue
		}
		if !d.weaken(k) {
			powerless = append(powerless, d.ID)
			continue
		}
		can := core.JSONText(d.Scopes.V) + core.JSONText(d.ExpiresAt)
		alike[can], as[can] = append(alike[can], d.ID), d
	}
	for can, ids := range alike { // they are locked
		condition, arg := s.db.In("id", ids)
		if _, err := u.Exec(ctx, `UPDATE api_keys SET scopes = ?, expires_at = ?, updated_at = ? WHERE account_id = ? AND `+condition,
			as[can].Scopes, as[can].ExpiresAt, k.UpdatedAt, k.AccountID, arg); err != nil {
			return fmt.Errorf("weaken what %s made: %w", k.ID, err)
		}
	}
	return s.deleteAPIKeys(ctx, u, k.AccountID, powerless...)
}

// weaken leaves k only those scopes and that time which other has too, and reports whether k can still do anything.
func (k *APIKey) weaken(other *APIKey) bool {
	if other.ExpiresAt != nil && (k.ExpiresAt == nil || *k.ExpiresAt > *other.ExpiresAt) {
		k.ExpiresAt = other.ExpiresAt
	}
	switch {
	case len(other.Scopes.V) == 0:
		return true
	case len(k.Scopes.V) == 0:
		k.Scopes.V = slices.Clone(other.Scopes.V)
	default:
		k.Scopes.V = slices.DeleteFunc(k.Scopes.V, func(scope string) bool { return !slices.Contains(other.Scopes.V, scope) })
	}
	return len(k.Scopes.V) > 0
}

// adopt makes the caller the maker of the keys that k made, which k leaves behind when it is deleted; below are k's locked
// descendants. Without a caller they are the owner's. That keeps the order of keys: the caller can do no less than k, or it
// could not delete k. If the caller itself descends from k, one child of k is the caller or leads to it. That child goes to the maker of k
// instead: no key can be its own ancestor.
func (s *Store) adopt(ctx context.Context, u *db.Unit, caller, k *APIKey, below []APIKey) error {
	above := map[string]*string{}
	for i := range below {
		above[below[i].ID] = below[i].CreatedBy
	}
	var line string // the child of k that leads to the caller
	if caller != nil && caller.ID == "" {
		caller = nil
	}
	if caller != nil {
		// Up from the caller, from maker to maker. Only descendants of k are known here, so that the last one is a child of k.
		for id := &caller.ID; id != nil && above[*id] != nil; id = above[*id] {
			line = *id
		}
	}
	var children []string
	for i := range below {
		if *below[i].CreatedBy == k.ID && below[i].ID != line {
			children = append(children, below[i].ID)
		}
	}
	var adopter *string
	if caller != nil {
		adopter = &caller.ID
	}
	if line != "" {
		if err := s.setMaker(ctx, u, k.AccountID, k.CreatedBy, line); err != nil {
			return err
		}
	}
	return s.setMaker(ctx, u, k.AccountID, adopter, children...)
}

// setMaker has locked keys be made by another one, or by the owner.
func (s *Store) setMaker(ctx context.Context, u *db.Unit, account string, maker *string, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	condition, arg := s.db.In("id", ids)
	if _, err := u.Exec(ctx, `UPDATE api_keys SET created_by = ?, updated_at = ? WHERE account_id = ? AND `+condition, maker, s.Now(), account, arg); err != nil {
		return fmt.Errorf("give keys another maker: %w", err)
	}
	return nil
}

// maxAPIKeys is how many keys an account has, expired ones too.
const maxAPIKeys = 1000

// checkRoom returns CodeInvalid if an account has as many keys as it may. Some that are made at the same moment may be let in beyond that.
func (s *Store) checkRoom(ctx context.Context, u *db.Unit, account string) error {
	n, err := db.Get[int](ctx, u, `SELECT COUNT(*) FROM (SELECT 1 AS one FROM api_keys WHERE account_id = ? LIMIT ?) AS k`, account, maxAPIKeys)
	if err != nil {
		return fmt.Errorf("count keys: %w", err)
	}
	if *n >= maxAPIKeys {
		return core.Invalid("base", "An account has at most 1,000 API keys, expired ones too. Delete some that are not used any more.")
	}
	return nil
}

func (s *Store) deleteAPIKeys(ctx context.Context, u *db.Unit, account string, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	condition, arg := s.db.In("id", ids)
	if _, err := u.Exec(ctx, `DELETE FROM api_keys WHERE account_id = ? AND `+condition, account, arg); err != nil {
		return fmt.Errorf("delete keys: %w", err)
	}
	return nil
}

// Invariants hold after every transaction.
func (s *Store) Invariants() []db.Invariant {
	return []db.Invariant{
		{Promise: "no API key can do more than the key that made it", Query: `
			SELECT k.account_id, k.id FROM api_keys k LEFT JOIN api_keys m ON m.account_id = k.account_id AND m.id = k.created_by
			WHERE k.created_by LIKE 'key%' AND (m.id IS NULL OR m.expires_at IS NOT NULL AND (k.expires_at IS NULL OR k.expires_at > m.expires_at)
				OR m.scopes <> '[]' AND (k.scopes = '[]' OR EXISTS (
					SELECT 1 FROM ` + s.db.JSONElements("k.scopes") + ` e WHERE NOT EXISTS (
						SELECT 1 FROM ` + s.db.JSONElements("m.scopes") + ` g WHERE g.value = e.value))))`},
	}
}
