package grant

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// LicenseCode says why a licence key is valid or not.
type LicenseCode string

// The codes of a validation. Not activated is a key that may be used, but is not active on the device.
const (
	LicenseValid        LicenseCode = "valid"
	LicenseNotFound     LicenseCode = "not_found"
	LicenseDisabled     LicenseCode = "disabled"
	LicenseRevoked      LicenseCode = "revoked"
	LicenseSuspended    LicenseCode = "suspended"
	LicenseExpired      LicenseCode = "expired"
	LicenseNotActivated LicenseCode = "not_activated"
)

// LicenseUse is what a program shows: a key, the id of the product that it is for, and the device. That is named by a fingerprint
// or by an activation.
type LicenseUse struct {
	Key, Product, Fingerprint, Activation string

	Name     *string        // of the device; nil leaves it
	Metadata *core.Metadata // nil leaves it
}

// LicenseValidation says whether a key may be used.
type LicenseValidation struct {
	Code       LicenseCode
	LicenseKey *LicenseKey        // nil for not found
	Activation *LicenseActivation // of the device that was named, if the key is active there; with its Token if the key is valid
}

// licenseLife is what a key has of its grant.
type licenseLife struct {
	Status    Status     `db:"status"`
	PaidUntil *core.Time `db:"paid_until"`
}

// validatedEach is how far apart the moments are that LastValidatedAt keeps: programs that ask often would write each time.
const validatedEach = time.Minute

// code returns whether a key may be used by itself.
func (k *LicenseKey) code() LicenseCode {
	switch k.Status {
	case LicenseKeyDisabled:
		return LicenseDisabled
	case LicenseKeyRevoked:
		return LicenseRevoked
	case LicenseKeyGranted, LicenseKeyExpired:
	}
	switch {
	case k.lives != nil && k.lives.Status == StatusSuspended:
		return LicenseSuspended
	case k.Status == LicenseKeyExpired:
		return LicenseExpired
	}
	return LicenseValid
}

// ValidateLicense says whether a key may be used for a product, and on a device if one is named. It counts nothing. A key of another product, and
// any key of an account that is disabled or does not exist, is not found.
func (s *Store) ValidateLicense(ctx context.Context, account string, use LicenseUse) (*LicenseValidation, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LicenseValidation, error) {
		k, err := s.getLicenseShown(ctx, u, account, use)
		if err != nil || k == nil {
			return &LicenseValidation{Code: LicenseNotFound}, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		if k.LastValidatedAt == nil || k.LastValidatedAt.Add(validatedEach) <= now {
			k.LastValidatedAt = &now
			if _, err := u.Exec(ctx, `UPDATE license_keys SET last_validated_at = ? WHERE account_id = ? AND id = ?`, now, account, k.ID); err != nil {
				return nil, fmt.Errorf("note validation: %w", err)
			}
		}
		v := &LicenseValidation{Code: k.code(), LicenseKey: k}
		if use.Fingerprint == "" {
			return v, nil
		}
		if v.Activation, err = s.activationOn(ctx, u, k, use.Fingerprint); err != nil || v.Code != LicenseValid {
			return v, err
		}
		if v.Activation == nil {
			v.Code = LicenseNotActivated
			return v, nil
		}
		return v, s.prove(ctx, u, k, v.Activation, now)
	})
}

// ActivateLicense makes a key active on a device, and returns the activation with its Token. The same fingerprint again is the same activation. A
// key that is not found is CodeMissing on key, and one that cannot be used is CodeInvalid on key. One without a free place is CodeInvalid on
// activation_limit.
func (s *Store) ActivateLicense(ctx context.Context, account string, use LicenseUse) (*LicenseActivation, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LicenseActivation, error) {
		k, err := s.lockLicenseShown(ctx, u, account, use)
		if err != nil {
			return nil, err
		}
		if k == nil {
			return nil, missingLicense()
		}
		if code := k.code(); code != LicenseValid {
			return nil, core.Invalid("key", fmt.Sprintf("This licence key is %s.", code))
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		a, err := s.activationOn(ctx, u, k, use.Fingerprint)
		if err != nil {
			return nil, err
		}
		if a == nil {
			a, err = s.activate(ctx, u, k, use, now)
		} else {
			err = s.activateAgain(ctx, u, a, use, now)
		}
		if err != nil {
			return nil, err
		}
		return a, s.prove(ctx, u, k, a, now)
	})
}

// DeactivateLicense ends the activation of a key on a device and frees its place, whatever the key's status, and returns it. A key that is not found is
// CodeMissing on key, an activation on the field that names it.
func (s *Store) DeactivateLicense(ctx context.Context, account string, use LicenseUse) (*LicenseActivation, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LicenseActivation, error) {
		k, err := s.lockLicenseShown(ctx, u, account, use)
		if err != nil {
			return nil, err
		}
		if k == nil {
			return nil, missingLicense()
		}
		a, err := s.activationNamed(ctx, u, k, use)
		if err != nil {
			return nil, err
		}
		return a, s.deactivate(ctx, u, k, a)
	})
}

// missingLicense does not repeat the key: a mistyped one is nearly a secret.
func missingLicense() *core.Error {
	return &core.Error{Code: core.CodeMissing, Param: "key", Message: "No such licence key of this product. Check what was typed."}
}

// getLicenseShown reads the key that a program shows, nil if the account has none such of that product. It is found by its hash, so that
// no time tells how much of one was right.
func (s *Store) getLicenseShown(ctx context.Context, r db.Reader, account string, use LicenseUse) (*LicenseKey, error) {
	return s.findLicenseShown(ctx, r, account, use)
}

// lockLicenseShown does what getLicenseShown does, and locks the key until the transaction ends.
func (s *Store) lockLicenseShown(ctx context.Context, u *db.Unit, account string, use LicenseUse) (*LicenseKey, error) {
	return s.findLicenseShown(ctx, u.Locked(), account, use)
}

func (s *Store) findLicenseShown(ctx context.Context, r db.Reader, account string, use LicenseUse) (*LicenseKey, error) {
	k, err := db.Get[LicenseKey](ctx, r, licenseKeyColumns.SelectSQL+`
		WHERE account_id = ? AND key_hash = ? AND product_id = ? AND `+db.EnabledAccount, account, licenseHash(use.Key), use.Product)
	if err != nil || k == nil {
		return nil, err
	}
	if k.GrantID != nil {
		if k.lives, err = db.Get[licenseLife](ctx, db.Unlocked(r), `SELECT status, paid_until FROM grants WHERE account_id = ? AND id = ?`, account, *k.GrantID); err != nil {
			return nil, fmt.Errorf("read what a licence key lives with: %w", err)
		}
	}
	now, err := db.BusinessNow(ctx, r, account)
	k.Status = k.statusAt(now)
	return k, err
}

// activate takes a free place of a locked key.
func (s *Store) activate(ctx context.Context, u *db.Unit, k *LicenseKey, use LicenseUse, now core.Time) (*LicenseActivation, error) {
	taken, err := u.Exec(ctx, `
		UPDATE license_keys SET activations_count = activations_count + 1, last_validated_at = ?, updated_at = ?
		WHERE account_id = ? AND id = ? AND (activation_limit IS NULL OR activations_count < activation_limit)`, now, now, k.AccountID, k.ID)
	if err != nil {
		return nil, fmt.Errorf("take a place: %w", err)
	}
	if taken == 0 {
		return nil, core.Invalid("activation_limit", fmt.Sprintf("This licence key is active on %d devices, which is the most that it allows. Deactivate one first.", k.ActivationsCount))
	}
	a := &LicenseActivation{
		AccountID: k.AccountID, ID: core.NewID(core.KindLicenseActivation), LicenseKeyID: k.ID, Fingerprint: use.Fingerprint, Name: use.Name,
		Metadata: core.Deref(use.Metadata), CreatedAt: now, UpdatedAt: now,
	}
	var p core.Problems
	a.Metadata.Check(&p)
	if err := p.Err(); err != nil {
		return nil, err
	}
	return a, u.Insert(ctx, activationColumns, a)
}

// activateAgain gives an activation the name and the metadata that its device sent now.
func (s *Store) activateAgain(ctx context.Context, u *db.Unit, a *LicenseActivation, use LicenseUse, now core.Time) error {
	before := *a
	if use.Name != nil {
		a.Name = use.Name
	}
	if use.Metadata != nil {
		a.Metadata = *use.Metadata
	}
	var p core.Problems
	a.Metadata.Check(&p)
	if err := p.Err(); err != nil || core.SameJSON(before, *a) {
		return err
	}
	a.UpdatedAt = now
	return u.Update(ctx, activationColumns, a)
}

// prove gives an activation the token by which its device goes on without us, unless that would be over already.
func (s *Store) prove(ctx context.Context, u *db.Unit, k *LicenseKey, a *LicenseActivation, now core.Time) error {
	signer, err := s.signer(ctx, u, k.AccountID)
	if err != nil {
		return err
	}
	end := k.tokenEnd(now)
	if end <= now {
		return nil // the paid period is over for so long that there is nothing to prove
	}
	token, err := licenseToken(signer, k, a.Fingerprint, now, end)
	a.Token = &token
	return err
}
