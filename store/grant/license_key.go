package grant

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// LicenseKeyStatus says whether a licence key can be used.
type LicenseKeyStatus string

// The states of a licence key. Expired is what its expiry makes of a granted one; no row says so. Revoked is final for whoever asks.
const (
	LicenseKeyGranted  LicenseKeyStatus = "granted"
	LicenseKeyDisabled LicenseKeyStatus = "disabled"
	LicenseKeyRevoked  LicenseKeyStatus = "revoked"
	LicenseKeyExpired  LicenseKeyStatus = "expired"
)

// LicenseKeyEnd says what revoked a licence key.
type LicenseKeyEnd string

// A key that ended with its grant comes back with it. One that was revoked by hand or replaced does not.
const (
	licenseEndedByGrant    LicenseKeyEnd = "grant"
	licenseEndedByHand     LicenseKeyEnd = "hand"
	licenseEndedByRotation LicenseKeyEnd = "rotation"
)

// LicenseKey is what a buyer's program shows to be used. It opens one product.
type LicenseKey struct {
	AccountID        string           `db:"account_id"`
	ID               string           `db:"id"` // lic_
	ProductID        string           `db:"product_id"`
	GrantID          *string          `db:"grant_id"` // what it lives and ends with; nil = it was made by hand or imported
	CustomerID       *string          `db:"customer_id"`
	KeyHash          string           `db:"key_hash"`
	SealedKey        []byte           `db:"sealed_key"`
	DisplayKey       string           `db:"display_key"`
	Stored           LicenseKeyStatus `db:"status"` // never expired
	EndedBy          *LicenseKeyEnd   `db:"ended_by"`
	WasDisabled      bool             `db:"was_disabled"`     // when its grant ended it
	InStock          bool             `db:"in_stock"`         // imported, and not sold yet
	ActivationLimit  *int64           `db:"activation_limit"` // nil = any number
	ActivationsCount int64            `db:"activations_count"`
	OfflineDays      *int64           `db:"offline_days"` // nil = defaultOfflineDays
	ExpiresAt        *core.Time       `db:"expires_at"`   // exclusive
	LastValidatedAt  *core.Time       `db:"last_validated_at"`
	Metadata         core.Metadata    `db:"metadata"`
	CreatedAt        core.Time        `db:"created_at"`
	UpdatedAt        core.Time        `db:"updated_at"`

	Status LicenseKeyStatus `db:"-"` // at the moment that it was read
	Key    *string          `db:"-"` // secret; nil unless it was just made or is asked for by its id

	lives *licenseLife // what a program shows it with; nil without a grant
}

var licenseKeyColumns = db.ColumnsOf[LicenseKey]("license_keys")

func (k *LicenseKey) sealContext() string { return "license key\x00" + k.AccountID + "\x00" + k.ID }

// statusAt returns the status that the key has at a moment.
func (k *LicenseKey) statusAt(now core.Time) LicenseKeyStatus {
	if k.Stored == LicenseKeyGranted && k.ExpiresAt != nil && *k.ExpiresAt <= now {
		return LicenseKeyExpired
	}
	return k.Stored
}

// whereLicenseStatus adds the SQL condition that statusAt returns this status; an empty one adds nothing.
func whereLicenseStatus(f *db.Filter, status LicenseKeyStatus, now core.Time) {
	switch status {
	case LicenseKeyExpired:
		f.And(`status = 'granted'`)
		db.Between(f, "expires_at", nil, "<=", &now)
	case LicenseKeyGranted:
		f.OrderedIfSet("status", string(LicenseKeyGranted))
		f.And(`(expires_at IS NULL OR expires_at > ?)`, now)
	case LicenseKeyDisabled, LicenseKeyRevoked, "":
		f.OrderedIfSet("status", string(status))
	}
}

// check notes what is wrong with the fields of a key that others may set.
func (k *LicenseKey) check(p *core.Problems) {
	p.Check(k.ActivationLimit == nil || *k.ActivationLimit >= max(1, k.ActivationsCount), "activation_limit",
		fmt.Sprintf("The key is active on %d devices. Send at least as many and at least 1, or null for any number; deactivate devices first to allow fewer.", k.ActivationsCount))
	k.Metadata.Check(p)
}

// ListLicenseKeys holds the filters of a list of licence keys. An empty one does not filter.
type ListLicenseKeys struct {
	core.Page
	core.ListFilter
	Product  string // its id
	Customer string // their id
	Grant    string // its id
	Status   LicenseKeyStatus
}

// ListLicenseKeys returns a page of licence keys, newest first, and whether there are more. None of them shows its Key.
func (s *Store) ListLicenseKeys(ctx context.Context, account string, in ListLicenseKeys) ([]LicenseKey, bool, error) {
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.OrderedIfSet("product_id", in.Product)
	f.OrderedIfSet("customer_id", in.Customer)
	f.OrderedIfSet("grant_id", in.Grant)
	whereLicenseStatus(&f, in.Status, now)
	f.List(s.db, "license_keys", core.KindLicenseKey, in.ListFilter)
	list, more, err := db.Page(ctx, s.db, licenseKeyColumns, core.KindLicenseKey, account, in.Page, &f)
	for i := range list {
		list[i].Status = list[i].statusAt(now)
	}
	return list, more, err
}

// GetLicenseKey returns a licence key with its Key, which is nil if no secret key opens it, or CodeMissing.
func (s *Store) GetLicenseKey(ctx context.Context, account, ref string) (*LicenseKey, error) {
	k, err := s.getLicenseKey(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	k.Key, err = s.text(k)
	return k, err
}

// text returns the text of a key, nil if it was sealed with a secret key that is lost. Then it still serves whoever has it, and what else a
// customer has is shown. `doctor` tells which.
func (s *Store) text(k *LicenseKey) (*string, error) {
	text, err := s.db.Options.Sealer.Open(k.SealedKey, k.sealContext())
	switch {
	case err == nil:
		return new(string(text)), nil
	case s.db.Options.Sealer.Knows(k.SealedKey):
		return nil, fmt.Errorf("licence key %s: %w", k.ID, err)
	}
	return nil, nil
}

// CreateLicenseKey makes a granted key of a product and a customer that exist, and returns it with its Key. Without one it is generated; one that the
// account has is CodeInvalid on key.
func (s *Store) CreateLicenseKey(ctx context.Context, account string, k LicenseKey) (*LicenseKey, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LicenseKey, error) {
		var problems core.Problems
		if k.Key != nil {
			checkLicenseText(*k.Key, &problems)
		}
		k.check(&problems)
		if err := problems.Err(); err != nil {
			return nil, err
		}
		made := k
		if err := s.draftLicenseKey(ctx, u, account, &made); err != nil {
			return nil, err
		}
		if known, err := s.knownLicenses(ctx, u, account, []string{made.KeyHash}); err != nil || len(known) > 0 {
			if err == nil {
				err = core.Invalid("key", knownLicense)
			}
			return nil, err
		}
		return &made, u.Insert(ctx, licenseKeyColumns, &made)
	})
}

const knownLicense = "The account has this key already. Case, spaces and hyphens make no difference, nor O for 0, nor I or L for 1."

// draftLicenseKey gives a key that is to be made its id, its times and its Key if it has none, and seals it.
func (s *Store) draftLicenseKey(ctx context.Context, r db.Reader, account string, k *LicenseKey) error {
	now, err := db.BusinessNow(ctx, r, account)
	if err != nil {
		return err
	}
	k.AccountID, k.ID, k.Stored, k.ActivationsCount = account, core.NewID(core.KindLicenseKey), LicenseKeyGranted, 0
	k.CreatedAt, k.UpdatedAt = now, now
	if k.Key == nil {
		k.Key = new(newLicenseText())
	}
	k.KeyHash, k.DisplayKey = licenseHash(*k.Key), displayLicense(*k.Key)
	k.SealedKey = s.db.Options.Sealer.Seal([]byte(*k.Key), k.sealContext())
	k.Status = k.statusAt(now)
	return nil
}

// knownLicenses returns those of some hashes of which the account has a key.
func (s *Store) knownLicenses(ctx context.Context, u *db.Unit, account string, hashes []string) ([]string, error) {
	in, arg := s.db.In("key_hash", hashes)
	return db.Select[string](ctx, u, `SELECT key_hash FROM license_keys WHERE account_id = ? AND `+in, account, arg)
}

// UpdateLicenseKey locks a key, applies change and stores it. A limit below its activations is CodeInvalid, and so is any change of a
// revoked key but of its metadata.
func (s *Store) UpdateLicenseKey(ctx context.Context, account, ref string, change func(*LicenseKey)) (*LicenseKey, error) {
	return s.changeLicenseKey(ctx, account, ref, func(k *LicenseKey) error {
		limit, expiry := core.JSONText(k.ActivationLimit), core.JSONText(k.ExpiresAt)
		change(k)
		var p core.Problems
		if k.Stored == LicenseKeyRevoked {
			p.Check(core.JSONText(k.ActivationLimit) == limit, "activation_limit", revokedLicense)
			p.Check(core.JSONText(k.ExpiresAt) == expiry, "expires_at", revokedLicense)
		}
		k.check(&p)
		return p.Err()
	})
}

const revokedLicense = "This licence key is revoked, which is final. Make another one."

// DisableLicenseKey ends the use of a key until it is enabled. Disabling a disabled one changes nothing; a revoked one is CodeInvalid on status.
func (s *Store) DisableLicenseKey(ctx context.Context, account, ref string) (*LicenseKey, error) {
	return s.changeLicenseKey(ctx, account, ref, func(k *LicenseKey) error { return k.enter(LicenseKeyDisabled) })
}

// EnableLicenseKey lets a disabled key be used again. A revoked one is CodeInvalid on status.
func (s *Store) EnableLicenseKey(ctx context.Context, account, ref string) (*LicenseKey, error) {
	return s.changeLicenseKey(ctx, account, ref, func(k *LicenseKey) error { return k.enter(LicenseKeyGranted) })
}

// RevokeLicenseKey ends a key for good. One that its grant has ended does not come back with it any more.
func (s *Store) RevokeLicenseKey(ctx context.Context, account, ref string) (*LicenseKey, error) {
	return s.changeLicenseKey(ctx, account, ref, func(k *LicenseKey) error {
		k.end(licenseEndedByHand)
		return nil
	})
}

// enter changes the state of a key that is not revoked.
func (k *LicenseKey) enter(state LicenseKeyStatus) error {
	if k.Stored == LicenseKeyRevoked {
		return core.Invalid("status", revokedLicense)
	}
	k.Stored = state
	return nil
}

// end revokes a key. What a hand or a rotation has ended stays ended by that.
func (k *LicenseKey) end(by LicenseKeyEnd) {
	if k.Stored == LicenseKeyRevoked && *k.EndedBy != licenseEndedByGrant {
		return
	}
	k.Stored, k.EndedBy, k.InStock = LicenseKeyRevoked, &by, false
}

// changeLicenseKey locks a key, changes it and stores it if it is another one then.
func (s *Store) changeLicenseKey(ctx context.Context, account, ref string, change func(*LicenseKey) error) (*LicenseKey, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LicenseKey, error) {
		k, err := s.lockLicenseKey(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		before := core.JSONText(k)
		if err := change(k); err != nil || core.JSONText(k) == before {
			return k, err
		}
		if k.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
			return nil, err
		}
		k.Status = k.statusAt(k.UpdatedAt)
		return k, u.Update(ctx, licenseKeyColumns, k)
	})
}

// RotateLicenseKey puts a new key in the place of one, which is revoked, and returns the new one with its Key. It has the same product,
// customer, grant, limits and metadata, and with keepActivations the devices. A revoked key is CodeInvalid on status.
func (s *Store) RotateLicenseKey(ctx context.Context, account, ref string, keepActivations bool) (*LicenseKey, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LicenseKey, error) {
		old, err := s.lockLicenseKey(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if old.Stored == LicenseKeyRevoked {
			return nil, core.Invalid("status", revokedLicense)
		}
		made := *old
		made.Key, made.LastValidatedAt = nil, nil
		if err := s.draftLicenseKey(ctx, u, account, &made); err != nil {
			return nil, err
		}
		made.Stored = old.Stored // a disabled one stays disabled
		made.Status = made.statusAt(made.CreatedAt)
		old.end(licenseEndedByRotation)
		old.UpdatedAt = made.CreatedAt
		if keepActivations {
			made.ActivationsCount, old.ActivationsCount = old.ActivationsCount, 0
		}
		if err := u.Update(ctx, licenseKeyColumns, old); err != nil {
			return nil, err
		}
		if err := u.Insert(ctx, licenseKeyColumns, &made); err != nil || !keepActivations {
			return &made, err
		}
		_, err = u.Exec(ctx, `UPDATE license_activations SET license_key_id = ? WHERE account_id = ? AND license_key_id = ?`, made.ID, account, old.ID)
		return &made, err
	})
}

// getLicenseKey reads a key, or returns CodeMissing.
func (s *Store) getLicenseKey(ctx context.Context, account, ref string) (*LicenseKey, error) {
	return s.findLicenseKey(ctx, s.db, account, ref)
}

// lockLicenseKey does what getLicenseKey does, and locks the row until the transaction ends.
func (s *Store) lockLicenseKey(ctx context.Context, u *db.Unit, account, ref string) (*LicenseKey, error) {
	return s.findLicenseKey(ctx, u.Locked(), account, ref)
}

func (s *Store) findLicenseKey(ctx context.Context, r db.Reader, account, ref string) (*LicenseKey, error) {
	id, ok := core.ParseID(core.KindLicenseKey, ref)
	if !ok {
		return nil, core.Missing("licence key", "", ref)
	}
	k, err := db.Get[LicenseKey](ctx, r, licenseKeyColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read licence key: %w", err)
	}
	if k == nil {
		return nil, core.Missing("licence key", "", ref)
	}
	now, err := db.BusinessNow(ctx, r, account)
	k.Status = k.statusAt(now)
	return k, err
}

// ForgetLicenses revokes the keys of a customer who is deleted, and forgets what their devices are called.
func (s *Store) ForgetLicenses(ctx context.Context, u *db.Unit, account, customer string) error {
	now, err := db.BusinessNow(ctx, u, account)
	if err != nil {
		return err
	}
	if _, err := u.Exec(ctx, `
		UPDATE license_keys SET status = 'revoked', ended_by = 'hand', updated_at = ?
		WHERE account_id = ? AND customer_id = ? AND (ended_by IS NULL OR ended_by = 'grant')`, now, account, customer); err != nil {
		return fmt.Errorf("revoke licence keys of a customer: %w", err)
	}
	if _, err := u.Exec(ctx, `
		UPDATE license_activations SET name = NULL, metadata = '{}', updated_at = ? WHERE account_id = ? AND license_key_id IN (
			SELECT id FROM license_keys WHERE account_id = ? AND customer_id = ?)`, now, account, account, customer); err != nil {
		return fmt.Errorf("forget devices of a customer: %w", err)
	}
	return nil
}
