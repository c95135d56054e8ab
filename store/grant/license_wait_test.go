package grant

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// waits gives a product to so many customers, who wait for a key of it.
func (s *licensor) waits(t *testing.T, product string, customers int) []Grant {
	t.Helper()
	grants, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) ([]Grant, error) {
		givings := make([]Giving, customers)
		for i := range givings {
			givings[i] = Giving{Account: s.account, Customer: fmt.Sprint("cus_", i), Product: product, Source: Source{Type: SourceTypeManual}, Item: product, Quantity: 1}
		}
		grants, err := s.GiveNew(ctx, u, givings)
		for i := range grants {
			err = errors.Join(err, s.waitForLicense(ctx, u, &grants[i]))
		}
		return grants, err
	})
	require.NoError(t, err)
	return grants
}

// stocks stores a key of a product that is to be sold.
func (s *licensor) stocks(t *testing.T, product string, expiresAt *core.Time) *LicenseKey {
	t.Helper()
	k, err := s.CreateLicenseKey(t.Context(), s.account, LicenseKey{ProductID: product, InStock: true, ExpiresAt: expiresAt})
	require.NoError(t, err)
	return k
}

// due are the products of the account for which somebody waits beside stock.
func (s *licensor) due(t *testing.T) (products []string) {
	t.Helper()
	due, err := s.DueLicenseWaits(t.Context(), s.account, 10)
	require.NoError(t, err)
	for _, d := range due {
		require.Equal(t, s.account, d.AccountID)
		products = append(products, d.ID)
	}
	return products
}

// keyOf is the id of the key of a grant, "" while it has none.
func (s *licensor) keyOf(t *testing.T, grant string) string {
	t.Helper()
	keys, err := db.Select[string](t.Context(), s.db, `SELECT id FROM license_keys WHERE account_id = ? AND grant_id = ?`, s.account, grant)
	require.NoError(t, err)
	require.LessOrEqual(t, len(keys), 1)
	if len(keys) == 0 {
		return ""
	}
	return keys[0]
}

func TestDueLicenseWaits_AreThoseForWhichThereIsStock(t *testing.T) {
	eachLicensor(t, func(t *testing.T, s *licensor) {
		other := &licensor{s.Store, dbtest.Account(t, s.db)}
		serve := func() {
			t.Helper()
			served, err := s.ServeLicenseWaits(t.Context(), s.account, product)
			require.NoError(t, err)
			require.True(t, served)
		}
		waiting := s.waits(t, product, 3)
		s.waits(t, product+"b", 2)
		other.stocks(t, product, nil)
		s.stocks(t, product+"c", nil)
		s.stocks(t, product, new(s.Now()-1))
		off := s.stocks(t, product, nil)
		_, err := s.DisableLicenseKey(t.Context(), s.account, off.ID)
		require.NoError(t, err)
		require.Empty(t, s.due(t), "with keys of others, of another product, expired and disabled ones alone")
		accounts, err := s.WaitingAccounts(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{s.account}, accounts)

		_, err = s.EnableLicenseKey(t.Context(), s.account, off.ID)
		require.NoError(t, err)
		require.Equal(t, []string{product}, s.due(t), "once a key is enabled")
		serve()
		require.Equal(t, off.ID, s.keyOf(t, waiting[0].ID), "the oldest wait is served first")
		require.Empty(t, s.due(t))

		_, err = s.RevokeGrant(t.Context(), s.account, waiting[1].ID)
		require.NoError(t, err)
		first, second := s.stocks(t, product, nil), s.stocks(t, product, nil)
		serve()
		require.Equal(t, first.ID, s.keyOf(t, waiting[2].ID))
		require.Empty(t, s.due(t), "a revoked grant does not wait")
		_, err = s.ReinstateGrant(t.Context(), s.account, waiting[1].ID)
		require.NoError(t, err)
		require.Equal(t, []string{product}, s.due(t), "once a grant is reinstated")
		serve()
		require.Equal(t, second.ID, s.keyOf(t, waiting[1].ID))
		s.sound(t)
	})
}

// TestDueLicenseWaits_FindTheKeyThatASaleGaveBack has a sale hold the last key, which a second one passes over, and then come to nothing.
func TestDueLicenseWaits_FindTheKeyThatASaleGaveBack(t *testing.T) {
	eachLicensor(t, func(t *testing.T, s *licensor) {
		if s.db.Engine != core.PostgreSQL {
			return // SQLite has one writer
		}
		k := s.stocks(t, product, nil)
		var waiting []Grant
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
			held, err := s.stockedLicense(ctx, u, s.account, product)
			require.NoError(t, err)
			require.Equal(t, k.ID, held.ID)
			_, err = db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
				left, err := s.stockedLicense(ctx, u, s.account, product)
				require.Nil(t, left)
				return nil, err
			})
			require.NoError(t, err)
			waiting = s.waits(t, product, 1)
			served, err := s.ServeLicenseWaits(t.Context(), s.account, product)
			require.NoError(t, err)
			require.False(t, served)
			return nil, core.Invalid("payment", "The card was declined.")
		})
		require.Error(t, err)
		require.Equal(t, []string{product}, s.due(t))
		served, err := s.ServeLicenseWaits(t.Context(), s.account, product)
		require.NoError(t, err)
		require.True(t, served)
		require.Equal(t, k.ID, s.keyOf(t, waiting[0].ID))
	})
}

// TestServeLicenseWaits_PassesOverALockedGrant has a grant locked while its key comes.
func TestServeLicenseWaits_PassesOverALockedGrant(t *testing.T) {
	eachLicensor(t, func(t *testing.T, s *licensor) {
		if s.db.Engine != core.PostgreSQL {
			return // SQLite has one writer
		}
		waiting := s.waits(t, product, 1)
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
			if _, err := s.lockGrant(ctx, u, s.account, waiting[0].ID); err != nil {
				return nil, err
			}
			results, err := s.ImportLicenseKeys(t.Context(), s.account, product, []ImportedLicense{{Key: "STOCK-1"}}, nil)
			require.NoError(t, err)
			require.Empty(t, results[0].Problems)
			return nil, nil
		})
		require.NoError(t, err)
		require.Empty(t, s.keyOf(t, waiting[0].ID))
		require.Equal(t, []string{product}, s.due(t))
		served, err := s.ServeLicenseWaits(t.Context(), s.account, product)
		require.NoError(t, err)
		require.True(t, served)
		require.NotEmpty(t, s.keyOf(t, waiting[0].ID))
	})
}

// TestServeLicenseWaits_OfThreeReplicasServesEachOnce has three workers serve what waits while keys are imported one by one.
func TestServeLicenseWaits_OfThreeReplicasServesEachOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		const imports, spare = 20, 5
		d := dbtest.Open(t, url, nil)
		s := &licensor{New(d, Limits{}), dbtest.Account(t, d)}
		replicas := []*Store{s.Store}
		if d.Engine == core.PostgreSQL { // of an embedded database there is one
			replicas = append(replicas, New(dbtest.Open(t, url, nil), Limits{}), New(dbtest.Open(t, url, nil), Limits{}))
		}
		keys := 2 * imports * len(replicas)
		waiting := s.waits(t, product, keys+spare)
		var group sync.WaitGroup
		var failed atomic.Pointer[error]
		for _, replica := range replicas {
			for range 2 {
				group.Go(func() {
					for range imports {
						_, err := replica.ImportLicenseKeys(context.Background(), s.account, product, []ImportedLicense{{Key: "STOCK-" + core.NewULID()}}, nil)
						_, other := replica.ServeLicenseWaits(context.Background(), s.account, product)
						if err = errors.Join(err, other); err != nil {
							failed.Store(&err)
						}
					}
				})
			}
		}
		group.Wait()
		require.Nil(t, failed.Load())
		for len(s.due(t)) > 0 { // what was passed over because another one had it
			_, err := s.ServeLicenseWaits(t.Context(), s.account, product)
			require.NoError(t, err)
		}
		served := 0
		for i := range waiting {
			if s.keyOf(t, waiting[i].ID) != "" {
				served++
			}
		}
		require.Equal(t, keys, served)
		require.Equal(t, spare, dbtest.Count(t, d, `SELECT count(*) FROM license_waits WHERE account_id = ?`, s.account))
		s.sound(t)
	})
}
