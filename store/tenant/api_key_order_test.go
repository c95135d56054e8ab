package tenant

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// made makes a key of the owner, or of by.
func (s *shop) made(t *testing.T, by *APIKey, in NewAPIKey) *APIKey {
	t.Helper()
	k, _, err := s.CreateAPIKey(t.Context(), s.account, grantedBy(by), in)
	require.NoError(t, err)
	return k
}

func grantedBy(by *APIKey) Granted {
	if by == nil {
		return Granted{}
	}
	return Granted{KeyID: &by.ID}
}

// requireForbidden wants CodeForbidden with the param.
func requireForbidden(t *testing.T, err error, param string) {
	t.Helper()
	dbtest.RequireCode(t, err, core.CodeForbidden)
	var e *core.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, param, e.Param)
}

// exists reports whether there still is such a key.
func (s *shop) exists(t *testing.T, k *APIKey) bool {
	t.Helper()
	return s.count(t, `SELECT count(*) FROM api_keys WHERE account_id = ? AND id = ?`, s.account, k.ID) == 1
}

// requireOrder wants every key to be within its maker.
func (s *shop) requireOrder(t *testing.T) {
	t.Helper()
	for _, i := range s.Invariants() {
		broken, err := db.Select[core.Violation](t.Context(), s.Store.db, i.Query)
		require.NoError(t, err)
		require.Empty(t, broken, i.Promise)
	}
}

func TestCreateAPIKey_LastsNoLongerThanItsMaker(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		soon, later := s.Now().Add(time.Hour), s.Now().Add(2*time.Hour)
		maker := s.made(t, nil, NewAPIKey{ExpiresAt: &soon})
		require.Equal(t, soon, *s.made(t, maker, NewAPIKey{}).ExpiresAt, "absent is the maker's")
		_, _, err := s.CreateAPIKey(t.Context(), s.account, grantedBy(maker), NewAPIKey{Lasting: true})
		requireForbidden(t, err, "expires_at")
		_, _, err = s.CreateAPIKey(t.Context(), s.account, grantedBy(maker), NewAPIKey{ExpiresAt: &later})
		requireForbidden(t, err, "expires_at")
		require.Nil(t, s.made(t, s.made(t, nil, NewAPIKey{}), NewAPIKey{Lasting: true}).ExpiresAt)
	})
}

func TestAPIKeys_LeaveWhatCanDoMoreAlone(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		soon := s.Now().Add(time.Hour)
		full, other := s.made(t, nil, NewAPIKey{}), s.made(t, nil, NewAPIKey{Scopes: []string{"orders:read"}})
		weak := s.made(t, nil, NewAPIKey{Scopes: []string{"keys:write", "orders:read"}, ExpiresAt: &soon})
		rename := func(k *APIKey) { k.Name = "mine" }
		for _, stronger := range []*APIKey{full, other} { // more scopes; a later expiry
			_, err := s.UpdateAPIKey(t.Context(), s.account, grantedBy(weak), stronger.ID, rename)
			requireForbidden(t, err, "id")
			_, err = s.DeleteAPIKey(t.Context(), s.account, grantedBy(weak), stronger.ID, false)
			requireForbidden(t, err, "id")
		}
		own := s.made(t, weak, NewAPIKey{Scopes: []string{"orders:read"}})
		_, err := s.UpdateAPIKey(t.Context(), s.account, grantedBy(weak), own.ID, func(k *APIKey) { k.ExpiresAt = nil })
		requireForbidden(t, err, "expires_at")
		_, err = s.UpdateAPIKey(t.Context(), s.account, grantedBy(weak), own.ID, func(k *APIKey) { k.Scopes.V = []string{"refunds:write"} })
		requireForbidden(t, err, "refunds:write")
		for _, change := range []func(*APIKey){func(k *APIKey) { k.Scopes.V = nil }, func(k *APIKey) { k.ExpiresAt = nil }} {
			_, err = s.UpdateAPIKey(t.Context(), s.account, grantedBy(weak), weak.ID, change)
			dbtest.RequireCode(t, err, core.CodeForbidden) // nor does a key raise itself
		}
		_, err = s.DeleteAPIKey(t.Context(), s.account, grantedBy(other), other.ID, false)
		require.NoError(t, err, "a key may always delete itself")
		_, err = s.UpdateAPIKey(t.Context(), s.account, grantedBy(full), weak.ID, rename)
		require.NoError(t, err)
	})
}

func TestUpdateAPIKey_GoesNotBeyondItsMaker(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		soon := s.Now().Add(time.Hour)
		full := s.made(t, nil, NewAPIKey{})
		maker := s.made(t, nil, NewAPIKey{Scopes: []string{"keys:write", "orders:read"}, ExpiresAt: &soon})
		child := s.made(t, maker, NewAPIKey{Scopes: []string{"orders:read"}})
		_, err := s.UpdateAPIKey(t.Context(), s.account, grantedBy(full), child.ID, func(k *APIKey) { k.Scopes.V = []string{"products:read"} })
		dbtest.RequireInvalid(t, err, "scopes")
		_, err = s.UpdateAPIKey(t.Context(), s.account, grantedBy(full), child.ID, func(k *APIKey) { k.ExpiresAt = nil })
		dbtest.RequireInvalid(t, err, "expires_at")
	})
}

func TestUpdateAPIKey_WeakensWhatItMade(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		soon := s.Now().Add(time.Hour)
		maker := s.made(t, nil, NewAPIKey{})
		full, some, none := s.made(t, maker, NewAPIKey{}), s.made(t, maker, NewAPIKey{Scopes: []string{"orders:read", "keys:write", "refunds:write"}}), s.made(t, maker, NewAPIKey{Scopes: []string{"refunds:write"}})
		below, lost := s.made(t, some, NewAPIKey{Scopes: []string{"orders:read"}}), s.made(t, none, NewAPIKey{Scopes: []string{"refunds:write"}})
		_, err := s.UpdateAPIKey(t.Context(), s.account, Granted{}, maker.ID, func(k *APIKey) {
			k.Scopes.V, k.ExpiresAt = []string{"keys:write", "orders:read"}, &soon
		})
		require.NoError(t, err)
		for _, want := range []struct {
			key    *APIKey
			scopes []string
		}{{full, []string{"keys:write", "orders:read"}}, {some, []string{"orders:read", "keys:write"}}, {below, []string{"orders:read"}}} {
			k, err := s.GetAPIKey(t.Context(), s.account, want.key.ID)
			require.NoError(t, err)
			require.Equal(t, want.scopes, k.Scopes.V)
			require.Equal(t, soon, *k.ExpiresAt)
		}
		require.False(t, s.exists(t, none), "without scopes it could do everything")
		require.False(t, s.exists(t, lost))
		s.requireOrder(t)
	})
}

// What follows for many keys from one change takes few statements, and there is an end to how many there are.
func TestAPIKeys_AreBoundedAndChangedTogether(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		maker := s.made(t, nil, NewAPIKey{})
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
			for n := range maxAPIKeys - 1 {
				k := *maker
				k.ID, k.TokenHash, k.CreatedBy = core.NewID(core.KindAPIKey), HashToken(fmt.Sprint(n)), &maker.ID
				if n%2 == 0 {
					k.Scopes.V = []string{"orders:read", "refunds:read"}
				}
				if err := u.Insert(ctx, apiKeyColumns, &k); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		require.NoError(t, err)
		_, _, err = s.CreateAPIKey(t.Context(), s.account, Granted{}, NewAPIKey{})
		dbtest.RequireCode(t, err, core.CodeInvalid)

		_, err = s.UpdateAPIKey(t.Context(), s.account, Granted{}, maker.ID, func(k *APIKey) { k.Scopes.V = []string{"orders:read", "keys:write"} })
		require.NoError(t, err)
		require.Equal(t, 500, s.count(t, `SELECT count(*) FROM api_keys WHERE account_id = ? AND scopes = ?`, s.account, `["orders:read"]`))
		require.Equal(t, 500, s.count(t, `SELECT count(*) FROM api_keys WHERE account_id = ? AND scopes = ?`, s.account, `["orders:read","keys:write"]`))
		require.LessOrEqual(t, s.count(t, `SELECT count(DISTINCT updated_at) FROM api_keys WHERE account_id = ?`, s.account), 2)
		s.requireOrder(t)

		_, err = s.DeleteAPIKey(t.Context(), s.account, Granted{}, maker.ID, true)
		require.NoError(t, err)
		require.Equal(t, 999, s.count(t, `SELECT count(*) FROM api_keys WHERE account_id = ? AND created_by IS NULL`, s.account))
		s.made(t, nil, NewAPIKey{})
	})
}

func TestDeleteAPIKey_RevokesWhatItMade(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		leaked, bystander := s.made(t, nil, NewAPIKey{}), s.made(t, nil, NewAPIKey{})
		child := s.made(t, leaked, NewAPIKey{})
		grandchild, token, err := s.CreateAPIKey(t.Context(), s.account, grantedBy(child), NewAPIKey{})
		require.NoError(t, err)
		_, err = s.DeleteAPIKey(t.Context(), s.account, grantedBy(grandchild), leaked.ID, false)
		require.NoError(t, err, "its descendants can do as much")
		for _, k := range []*APIKey{leaked, child, grandchild} {
			require.False(t, s.exists(t, k))
		}
		require.True(t, s.exists(t, bystander))
		_, known, err := s.Authenticate(t.Context(), HashToken(token), "192.0.2.1")
		require.NoError(t, err)
		require.False(t, known)
		_, _, err = s.CreateAPIKey(t.Context(), s.account, grantedBy(child), NewAPIKey{})
		dbtest.RequireCode(t, err, core.CodeUnauthenticated)
	})
}

func TestDeleteAPIKey_LetsTheCallerAdopt(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		makerOf := func(k *APIKey) *string {
			k, err := s.GetAPIKey(t.Context(), s.account, k.ID)
			require.NoError(t, err)
			return k.CreatedBy
		}
		root := s.made(t, nil, NewAPIKey{})
		old := s.made(t, root, NewAPIKey{})
		way, other := s.made(t, old, NewAPIKey{}), s.made(t, old, NewAPIKey{Scopes: []string{"orders:read"}})
		next := s.made(t, way, NewAPIKey{}) // descends from the key that it deletes
		_, err := s.DeleteAPIKey(t.Context(), s.account, grantedBy(old), old.ID, true)
		dbtest.RequireInvalid(t, err, "descendants")
		_, err = s.DeleteAPIKey(t.Context(), s.account, grantedBy(next), old.ID, true)
		require.NoError(t, err)
		require.False(t, s.exists(t, old))
		require.Equal(t, root.ID, *makerOf(way), "who led to the caller goes up")
		require.Equal(t, way.ID, *makerOf(next))
		require.Equal(t, next.ID, *makerOf(other))
		s.requireOrder(t)
		_, err = s.DeleteAPIKey(t.Context(), s.account, Granted{}, next.ID, true)
		require.NoError(t, err)
		require.Nil(t, makerOf(other), "the owner adopts")
		s.requireOrder(t)
	})
}

// A creation that was first, and has not committed yet, is waited for.
func TestDeleteAPIKey_WaitsForWhatIsBeingMade(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		leaked := s.made(t, nil, NewAPIKey{})
		child := s.made(t, leaked, NewAPIKey{})
		begun, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := db.Tx(context.Background(), s.db, func(ctx context.Context, _ *db.Unit) (any, error) {
				_, _, err := s.CreateAPIKey(ctx, s.account, grantedBy(child), NewAPIKey{Name: "late"})
				await := dbtest.Waiter(t, s.db)
				close(begun)
				await() // the deletion
				return nil, err
			})
			ended <- err
		}()
		<-begun
		_, err := s.DeleteAPIKey(t.Context(), s.account, Granted{}, leaked.ID, false)
		require.NoError(t, err)
		require.NoError(t, <-ended)
		require.Zero(t, s.count(t, `SELECT count(*) FROM api_keys WHERE account_id = ?`, s.account))
	})
}

// Creations by a key and by what it made run beside its revocation: none may be left over.
func TestDeleteAPIKey_LeavesNothingMadeMeanwhile(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for round := range 3 {
			leaked := s.made(t, nil, NewAPIKey{})
			makers := []*APIKey{leaked, s.made(t, leaked, NewAPIKey{})}
			makers = append(makers, s.made(t, makers[1], NewAPIKey{}))
			var made, refused atomic.Int64
			var wait sync.WaitGroup
			start := make(chan struct{})
			for i := range 50 {
				wait.Go(func() {
					<-start
					_, _, err := s.CreateAPIKey(context.Background(), s.account, grantedBy(makers[i%3]), NewAPIKey{Name: "late"})
					var e *core.Error
					switch {
					case err == nil:
						made.Add(1)
					case errors.As(err, &e) && e.Code == core.CodeUnauthenticated:
						refused.Add(1)
					default:
						assert.NoError(t, err)
					}
				})
			}
			close(start)
			for made.Load() < int64(5*round) { // in the midst of them
				time.Sleep(time.Millisecond)
			}
			_, err := s.DeleteAPIKey(t.Context(), s.account, Granted{}, leaked.ID, false)
			require.NoError(t, err)
			wait.Wait()
			require.Equal(t, int64(50), made.Load()+refused.Load())
			require.Zero(t, s.count(t, `SELECT count(*) FROM api_keys WHERE account_id = ?`, s.account), "%d were made, %d refused", made.Load(), refused.Load())
		}
	})
}

// Whatever keys do to each other, none is ever beyond its maker, and none goes beyond what some key of the owner's has.
func TestAPIKeys_KeepTheirOrder(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	if given := os.Getenv("TILLWRIGHT_TEST_SEED"); given != "" {
		number, err := strconv.ParseUint(given, 10, 64)
		require.NoError(t, err)
		seed = number
	}
	t.Logf("TILLWRIGHT_TEST_SEED=%d", seed)
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		chance := rand.New(rand.NewPCG(seed, 0))
		soon := s.Now().Add(time.Hour)
		done := map[string]int{}
		for range 400 {
			keys, err := db.Select[APIKey](t.Context(), s.Store.db, apiKeyColumns.SelectSQL+` WHERE account_id = ? ORDER BY id`, s.account)
			require.NoError(t, err)
			var by *APIKey
			if len(keys) > 0 && chance.IntN(5) > 0 {
				by = &keys[chance.IntN(len(keys))]
			}
			scopes := slices.DeleteFunc([]string{"keys:write", "orders:read", "orders:write", "ads:read"}, func(string) bool { return chance.IntN(3) == 0 })
			if chance.IntN(3) == 0 {
				scopes = nil
			}
			var expiry *core.Time
			if chance.IntN(3) == 0 {
				expiry = ref(soon.Add(time.Duration(chance.IntN(3)) * time.Hour))
			}
			what := "create"
			if len(keys) > 8 || len(keys) > 0 && chance.IntN(2) == 0 {
				k := keys[chance.IntN(len(keys))]
				if chance.IntN(3) == 0 {
					what = "delete"
					_, err = s.DeleteAPIKey(t.Context(), s.account, grantedBy(by), k.ID, chance.IntN(2) == 0)
				} else {
					what = "update"
					_, err = s.UpdateAPIKey(t.Context(), s.account, grantedBy(by), k.ID, func(k *APIKey) { k.Scopes.V, k.ExpiresAt = scopes, expiry })
				}
			} else {
				_, _, err = s.CreateAPIKey(t.Context(), s.account, grantedBy(by), NewAPIKey{Scopes: scopes, ExpiresAt: expiry, Lasting: chance.IntN(2) == 0})
			}
			var e *core.Error
			if err != nil {
				require.ErrorAs(t, err, &e)
				what += " " + string(e.Code)
			}
			done[what]++
			s.requireOrder(t)
		}
		for _, what := range []string{"create", "create forbidden", "update", "update forbidden", "update validation_failed", "delete", "delete forbidden"} {
			require.Positive(t, done[what], fmt.Sprintf("%s: %v", what, done))
		}
	})
}

func TestCheck_FindsAKeyBeyondItsMaker(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		maker := s.made(t, nil, NewAPIKey{Scopes: []string{"keys:write", "orders:read"}, ExpiresAt: ref(s.Now().Add(time.Hour))})
		child := s.made(t, maker, NewAPIKey{Scopes: []string{"orders:read"}})
		s.requireOrder(t)
		for _, change := range []string{
			`expires_at = NULL`, `expires_at = expires_at + 1`, `scopes = '[]'`, `scopes = '["orders:read","orders:write"]'`, `created_by = 'key_gone'`,
		} {
			_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
				_, err := u.Exec(ctx, `UPDATE api_keys SET `+change+` WHERE account_id = ? AND id = ?`, s.account, child.ID)
				require.NoError(t, err)
				found := 0
				for _, i := range s.Invariants() {
					broken, err := db.Select[core.Violation](ctx, s.Store.db, i.Query)
					require.NoError(t, err)
					found += len(broken)
				}
				require.Equal(t, 1, found, change)
				return nil, errors.New("take it back")
			})
			require.Error(t, err)
		}
		s.requireOrder(t)
	})
}
