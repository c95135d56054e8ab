package grant

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// TestLicenseKey_CountsItsDevicesWhateverHappensAtOnce has devices come and go while the seller takes some away and puts another key in the place of theirs.
func TestLicenseKey_CountsItsDevicesWhateverHappensAtOnce(t *testing.T) {
	eachLicensor(t, func(t *testing.T, s *licensor) {
		var current atomic.Pointer[LicenseKey]
		made, err := s.CreateLicenseKey(t.Context(), s.account, LicenseKey{ProductID: product, ActivationLimit: new(int64(4))})
		require.NoError(t, err)
		current.Store(made)
		do := func(ctx context.Context) error {
			k := current.Load()
			use := LicenseUse{Key: *k.Key, Product: product, Fingerprint: fmt.Sprint("device", rand.IntN(6))}
			var err error
			switch rand.IntN(8) {
			case 0:
				var rotated *LicenseKey
				if rotated, err = s.RotateLicenseKey(ctx, s.account, k.ID, true); err == nil {
					current.Store(rotated)
				}
			case 1, 2:
				var devices []LicenseActivation
				if devices, _, err = s.ListLicenseActivations(ctx, s.account, k.ID, ListLicenseActivations{Page: core.Page{Limit: 1}}); err == nil && len(devices) > 0 {
					_, err = s.DeleteLicenseActivation(ctx, s.account, k.ID, devices[0].ID)
				}
			case 3, 4:
				_, err = s.DeactivateLicense(ctx, s.account, use)
			default:
				_, err = s.ActivateLicense(ctx, s.account, use)
			}
			if refusal := (*core.Error)(nil); errors.As(err, &refusal) { // there is no such device, no place, or no such key any more
				return nil
			}
			return err
		}
		var group sync.WaitGroup
		var failed atomic.Pointer[error]
		for range 6 {
			group.Go(func() {
				for range 25 {
					if err := do(context.Background()); err != nil {
						failed.Store(&err)
					}
				}
			})
		}
		group.Wait()
		if err := failed.Load(); err != nil {
			require.NoError(t, *err)
		}
		s.sound(t)
	})
}

// TestActivateLicense_SeesAChangeThatItWaitedFor disables a key in a transaction that is still open when a device asks: nothing becomes active on it.
func TestActivateLicense_SeesAChangeThatItWaitedFor(t *testing.T) {
	eachLicensor(t, func(t *testing.T, s *licensor) {
		k, err := s.CreateLicenseKey(t.Context(), s.account, LicenseKey{ProductID: product})
		require.NoError(t, err)
		activated := make(chan error, 1)
		_, err = db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
			if _, err := u.Exec(ctx, `UPDATE license_keys SET status = ? WHERE account_id = ? AND id = ?`, LicenseKeyDisabled, s.account, k.ID); err != nil {
				return nil, err
			}
			await := dbtest.Waiter(t, s.db)
			go func() {
				_, err := s.ActivateLicense(context.WithoutCancel(t.Context()), s.account, LicenseUse{Key: *k.Key, Product: product, Fingerprint: "mac"})
				activated <- err
			}()
			await()
			return nil, nil
		})
		require.NoError(t, err)
		dbtest.RequireInvalid(t, <-activated, "key")
		s.sound(t)
	})
}
