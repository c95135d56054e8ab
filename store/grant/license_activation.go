package grant

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// LicenseActivation is a device on which a licence key is active, known by a fingerprint that the program makes.
type LicenseActivation struct {
	AccountID    string        `db:"account_id"`
	ID           string        `db:"id"` // lact_
	LicenseKeyID string        `db:"license_key_id"`
	Fingerprint  string        `db:"fingerprint"`
	Name         *string       `db:"name"`
	Metadata     core.Metadata `db:"metadata"`
	CreatedAt    core.Time     `db:"created_at"`
	UpdatedAt    core.Time     `db:"updated_at"`

	Token *string `db:"-"` // secret; nil unless it was just asked for
}

var activationColumns = db.ColumnsOf[LicenseActivation]("license_activations")

// ListLicenseActivations holds the filters of a list of activations. An empty one does not filter.
type ListLicenseActivations struct {
	core.Page
	core.ListFilter
}

// ListLicenseActivations returns a page of the devices of a key, newest first, and whether there are more.
func (s *Store) ListLicenseActivations(ctx context.Context, account, ref string, in ListLicenseActivations) ([]LicenseActivation, bool, error) {
	k, err := s.getLicenseKey(ctx, account, ref)
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.OrderedIfSet("license_key_id", k.ID)
	f.List(s.db, "license_activations", core.KindLicenseActivation, in.ListFilter)
	return db.Page(ctx, s.db, activationColumns, core.KindLicenseActivation, account, in.Page, &f)
}

// DeleteLicenseActivation ends an activation of a key and frees its place, and returns it.
func (s *Store) DeleteLicenseActivation(ctx context.Context, account, ref, activation string) (*LicenseActivation, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LicenseActivation, error) {
		k, err := s.lockLicenseKey(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		a, err := s.activationOf(ctx, u, k, activation, "")
		if err != nil {
			return nil, err
		}
		return a, s.deactivate(ctx, u, k, a)
	})
}

// deactivate ends an activation of a locked key and frees its place.
func (s *Store) deactivate(ctx context.Context, u *db.Unit, k *LicenseKey, a *LicenseActivation) error {
	if _, err := u.Exec(ctx, `DELETE FROM license_activations WHERE account_id = ? AND id = ?`, a.AccountID, a.ID); err != nil {
		return fmt.Errorf("delete activation: %w", err)
	}
	var err error
	if k.UpdatedAt, err = db.BusinessNow(ctx, u, k.AccountID); err != nil {
		return err
	}
	k.ActivationsCount--
	return u.Update(ctx, licenseKeyColumns, k)
}

// activationOf reads an activation of a key by its id, or returns CodeMissing on param. That is the field that named it, empty for the path.
func (s *Store) activationOf(ctx context.Context, u *db.Unit, k *LicenseKey, ref, param string) (*LicenseActivation, error) {
	id, ok := core.ParseID(core.KindLicenseActivation, ref)
	if !ok {
		return nil, core.Missing("activation", param, ref)
	}
	a, err := db.Get[LicenseActivation](ctx, u, activationColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND license_key_id = ?`, k.AccountID, id, k.ID)
	if err == nil && a == nil {
		err = core.Missing("activation", param, ref)
	}
	return a, err
}

// activationOn returns the activation of a key on a device, nil if it is not active there.
func (s *Store) activationOn(ctx context.Context, u *db.Unit, k *LicenseKey, fingerprint string) (*LicenseActivation, error) {
	return db.Get[LicenseActivation](ctx, u, activationColumns.SelectSQL+`
		WHERE account_id = ? AND license_key_id = ? AND fingerprint = ?`, k.AccountID, k.ID, fingerprint)
}

// activationNamed reads the activation that a program names, by its id, its fingerprint, or both, or returns CodeMissing on that field.
func (s *Store) activationNamed(ctx context.Context, u *db.Unit, k *LicenseKey, use LicenseUse) (a *LicenseActivation, err error) {
	if use.Activation != "" {
		a, err = s.activationOf(ctx, u, k, use.Activation, "activation")
	} else {
		a, err = s.activationOn(ctx, u, k, use.Fingerprint)
	}
	if err == nil && (a == nil || use.Fingerprint != "" && a.Fingerprint != use.Fingerprint) {
		err = core.Missing("activation", "fingerprint", use.Fingerprint)
	}
	return a, err
}
