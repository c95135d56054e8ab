package tenant

import (
	"context"
	"errors"
	"fmt"
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

func (s *shop) newKey(t *testing.T, scopes ...string) (*APIKey, string) {
	t.Helper()
	key, token, err := s.CreateAPIKey(t.Context(), s.account, Granted{}, NewAPIKey{Name: "test", Scopes: scopes})
	require.NoError(t, err)
	return key, token
}

// hammer authenticates n times, spread over the replicas, and returns how often the quota sufficed. The window
// may turn once on the way, so the number of windows is returned too.
func hammer(t *testing.T, n int, replicas []*Store, hash []byte) (passed int64, windows int) {
	t.Helper()
	var within atomic.Int64
	var ends sync.Map
	var all sync.WaitGroup
	for worker := range 50 {
		all.Go(func() {
			for i := worker; i < n; i += 50 {
				grant, ok, err := replicas[i%len(replicas)].Authenticate(context.Background(), hash, "192.0.2.1")
				if err != nil || !ok {
					t.Errorf("authenticate: %v, %v", ok, err)
					return
				}
				ends.Store(grant.WindowEnd, true)
				if grant.Used <= grant.Limit {
					within.Add(1)
				}
			}
		})
	}
	all.Wait()
	ends.Range(func(any, any) bool { windows++; return true })
	return within.Load(), windows
}

func TestAuthenticate_CountsExactlyOverReplicas(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"read committed", "serializable"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			url := database.URL(t, core.PostgreSQL)
			setIsolation(t, url, isolation)
			s := newShop(t, url)
			replicas := []*Store{s.Store, openStore(t, url), openStore(t, url)}
			for windows := 2; windows > 1; {
				_, token := s.newKey(t)
				var passed int64
				if passed, windows = hammer(t, 2000, replicas, HashToken(token)); windows == 1 {
					require.Equal(t, int64(RateLimit), passed)
				}
			}
		})
	}
}

func setIsolation(t *testing.T, url, isolation string) {
	t.Helper()
	admin := database.Behind(t, url)
	var name string
	require.NoError(t, admin.QueryRow(`SELECT current_database()`).Scan(&name))
	_, err := admin.Exec(fmt.Sprintf(`ALTER DATABASE %s SET default_transaction_isolation = '%s'`, name, isolation))
	require.NoError(t, err)
}

func TestCount_PagesHooksAndTheAPIApart(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for _, count := range []func(context.Context, string) (*Grant, error){s.CountAddress, s.CountPage, s.CountHook} {
			for used := 1; used < 3; used++ {
				grant, err := count(t.Context(), "2001:db8::1")
				require.NoError(t, err)
				require.Equal(t, used, grant.Used)
			}
			grant, err := count(t.Context(), "2001:db8::2")
			require.NoError(t, err)
			require.Equal(t, 3, grant.Used, "the same network")
		}
	})
}

func TestDeleteOldWindows(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for _, address := range []string{"192.0.2.1", "192.0.2.2"} {
			_, err := s.CountAddress(t.Context(), address)
			require.NoError(t, err)
		}
		deleted, err := s.DeleteOldWindows(t.Context())
		require.NoError(t, err)
		require.Zero(t, deleted)
		if s.db.Engine == core.SQLite {
			return // the windows of a process end with their minute
		}
		_, err = s.db.Write.DB.Exec(`UPDATE rate_windows SET minute = minute - 10 WHERE subject = 'addr_192.0.2.1'`)
		require.NoError(t, err)
		deleted, err = s.DeleteOldWindows(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(1), deleted)
	})
}

func TestAuthenticate_CountsInMemory(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.SQLite))
	for windows := 2; windows > 1; {
		_, token := s.newKey(t)
		var passed int64
		if passed, windows = hammer(t, 1000, []*Store{s.Store}, HashToken(token)); windows == 1 {
			require.Equal(t, int64(RateLimit), passed)
		}
	}
}

func TestAuthenticate_FindsOnlyKeysInForce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		key, token := s.newKey(t, "products:read", "orders:write")
		grant, ok, err := s.Authenticate(t.Context(), HashToken(token), "192.0.2.1")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, key.ID, grant.KeyID)
		require.Equal(t, s.account, grant.Account)
		require.Equal(t, []string{"products:read", "orders:write"}, grant.Scopes)
		require.Equal(t, RateLimit, grant.Limit)
		require.InDelta(t, grant.Now+30, grant.WindowEnd, 30)

		require.NoError(t, s.FlushKeyUse(t.Context()))
		used, err := s.GetAPIKey(t.Context(), s.account, key.ID)
		require.NoError(t, err)
		require.NotNil(t, used.LastUsedAt)
		require.Equal(t, "192.0.2.1", *used.LastUsedIP)

		_, err = db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
			return u.Exec(ctx, `UPDATE api_keys SET expires_at = ? WHERE account_id = ? AND id = ?`, s.Now().Add(-1e9), s.account, key.ID)
		})
		require.NoError(t, err)
		_, ok, err = s.Authenticate(t.Context(), HashToken(token), "192.0.2.1")
		require.NoError(t, err)
		require.False(t, ok, "the key has expired")

		key, token = s.newKey(t)
		_, err = s.DeleteAPIKey(t.Context(), s.account, Granted{}, key.ID, false)
		require.NoError(t, err)
		_, ok, err = s.Authenticate(t.Context(), HashToken(token), "192.0.2.2")
		require.NoError(t, err)
		require.False(t, ok, "the key is deleted")
		grant, err = s.CountAddress(t.Context(), "192.0.2.2")
		require.NoError(t, err)
		require.GreaterOrEqual(t, grant.Used, 1)
		require.Empty(t, grant.KeyID)
	})
}

// A subscriber has a whole /64, so that is what a quota is for. What is shown of a key's use is who it was.
func TestAuthenticate_CountsIPv6ByItsNetworkAndStoresTheAddress(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		key, token := s.newKey(t)
		_, ok, err := s.Authenticate(t.Context(), HashToken(token), "2001:db8:1:2:3::4")
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, s.FlushKeyUse(t.Context()))
		used, err := s.GetAPIKey(t.Context(), s.account, key.ID)
		require.NoError(t, err)
		require.Equal(t, "2001:db8:1:2:3::4", *used.LastUsedIP)

		for windows := 2; windows > 1; { // the minute may end on the way
			windows = 1
			var before *Grant
			for _, address := range []string{"2001:db8:1:2::1", "2001:db8:1:2:ffff::", "2001:db8:1:2::2", "2001:db8:1:3::1"} {
				grant, err := s.CountAddress(t.Context(), address)
				require.NoError(t, err)
				switch {
				case before == nil:
				case grant.WindowEnd != before.WindowEnd:
					windows++
				case address == "2001:db8:1:3::1":
					require.Less(t, grant.Used, before.Used, "another network")
				default:
					require.Equal(t, before.Used+1, grant.Used, "the same network")
				}
				before = grant
			}
		}
	})
}

// A mistake of ours fails the requests that it met, and none that comes after them.
func TestSharedQuota_SurvivesAPanic(t *testing.T) {
	t.Parallel()
	q := &sharedQuota{store: &Store{}, patience: time.Hour} // without a database: to ask panics
	answered := make(chan error)
	for range 20 {
		go func() {
			_, err := q.count(t.Context(), nil, "192.0.2.1")
			answered <- err
		}()
	}
	for i := range 20 {
		select {
		case err := <-answered:
			require.ErrorContains(t, err, "panic")
			require.NotErrorAs(t, err, new(*core.UnavailableError), "a mistake of ours passes for nothing else")
		case <-time.After(time.Minute):
			require.Fail(t, "a request waits for ever", "%d were answered", i)
		}
	}
	requireNobodyAsks(t, q)
}

// requireNobodyAsks waits for whoever asks the database to have ended.
func requireNobodyAsks(t *testing.T, q *sharedQuota) {
	t.Helper()
	require.Eventually(t, func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return !q.asking && len(q.waiting) == 0
	}, time.Minute, 10*time.Millisecond)
}

// All requests wait to be counted. So that waits for one connection, and not for those who came earlier.
func TestSharedQuota_IsNextWhenAConnectionIsFree(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.PostgreSQL))
	pool, q := s.db.Read, s.quota.(*sharedQuota)
	for range pool.Size() {
		require.NoError(t, pool.Enter(t.Context(), ""))
	}
	ctx, over := context.WithCancel(t.Context())
	var earlier sync.WaitGroup
	for range 20 {
		earlier.Go(func() {
			for ctx.Err() == nil { // a wait has an end
				if pool.Enter(ctx, "") == nil {
					<-ctx.Done()
					pool.Leave("")
				}
			}
		})
	}
	waits := func(many int) {
		t.Helper()
		require.Eventually(t, func() bool { return pool.Waiting() == many }, time.Minute, time.Millisecond)
	}
	waits(20)
	q.patience = time.Minute
	all := make(chan error, 1)
	go func() {
		for {
			_, err := s.CountAddress(t.Context(), "192.0.2.1")
			if !errors.As(err, new(*core.UnavailableError)) || ctx.Err() != nil {
				all <- err
				return
			}
		}
	}()
	waits(21)
	pool.Leave("")
	select {
	case err := <-all:
		assert.NoError(t, err)
	case <-time.After(time.Minute):
		assert.Fail(t, "it waits for those who came earlier")
	}
	over()
	earlier.Wait()
}

// A database that hangs keeps a request no longer than it is patient, and those whose clients go not even that.
func TestSharedQuota_LeavesADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	proxy := database.NewProxy(t, database.URL(t, core.PostgreSQL))
	s := newShop(t, proxy.URL)
	_, err := s.CountAddress(t.Context(), "192.0.2.1")
	require.NoError(t, err)
	q := s.quota.(*sharedQuota)
	requireNobodyAsks(t, q)
	proxy.Freeze()

	var all sync.WaitGroup
	all.Go(func() {
		if _, err := s.CountAddress(t.Context(), "192.0.2.1"); err == nil {
			t.Error("counted by a database that hangs")
		}
	})
	require.Eventually(t, func() bool { // its statement hangs now, and the others wait behind it
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.asking && len(q.waiting) == 0
	}, time.Minute, time.Millisecond)
	give := func(up context.Context, why error) {
		t.Helper()
		var waiting sync.WaitGroup
		for range 20 {
			waiting.Go(func() {
				_, err := s.CountAddress(up, "192.0.2.1")
				if away := new(core.UnavailableError); assert.ErrorAs(t, err, &away) {
					assert.ErrorIs(t, away.Cause, why)
				}
			})
		}
		waiting.Wait()
	}
	require.Equal(t, quotaPatience, q.patience)
	wait := func(patience time.Duration) {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.patience = patience
	}
	wait(time.Hour) // the database would let them wait for db.AnswerTimeout
	hurried, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	give(hurried, context.DeadlineExceeded)
	wait(100 * time.Millisecond)
	give(t.Context(), errQuotaSlow)
	all.Wait()
	require.Empty(t, q.waiting, "nobody who gave up is asked for later")

	proxy.Thaw()
	requireNobodyAsks(t, q)
	wait(time.Minute)
	grant, err := s.CountAddress(t.Context(), "192.0.2.1")
	require.NoError(t, err)
	require.LessOrEqual(t, grant.Used, 3, "those who waited behind the statement that hung were not counted")
}

func TestCreateAPIKey_GrantsNoMoreThanTheCreatorHas(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		maker, _, err := s.CreateAPIKey(t.Context(), s.account, Granted{}, NewAPIKey{Scopes: []string{"products:read", "keys:write"}})
		require.NoError(t, err)
		by := Granted{KeyID: &maker.ID}
		for _, scopes := range [][]string{nil, {"orders:read"}, {"products:read", "products:write"}} {
			_, _, err := s.CreateAPIKey(t.Context(), s.account, by, NewAPIKey{Name: "more", Scopes: scopes})
			dbtest.RequireCode(t, err, core.CodeForbidden)
		}
		key, token, err := s.CreateAPIKey(t.Context(), s.account, by, NewAPIKey{Name: "same", Scopes: []string{"products:read"}})
		require.NoError(t, err)
		require.True(t, core.WellFormedToken(token))
		require.False(t, core.WellFormedToken(token[:len(token)-1]+"!"))
		require.Equal(t, token[len(token)-4:], key.TokenLast4)
		_, err = s.UpdateAPIKey(t.Context(), s.account, by, key.ID, func(k *APIKey) { k.Scopes.V = nil })
		dbtest.RequireCode(t, err, core.CodeForbidden)
		renamed, err := s.UpdateAPIKey(t.Context(), s.account, by, key.ID, func(k *APIKey) { k.Name = "other" })
		require.NoError(t, err)
		require.Equal(t, "other", renamed.Name)
		_, _, err = s.CreateAPIKey(t.Context(), s.account, Granted{}, NewAPIKey{Scopes: []string{"coffee:read"}})
		dbtest.RequireInvalid(t, err, "scopes")
		_, _, err = s.CreateAPIKey(t.Context(), s.account, Granted{}, NewAPIKey{ExpiresAt: ref(s.Now())})
		dbtest.RequireInvalid(t, err, "expires_at")
		found, _, err := s.ListAPIKeys(t.Context(), s.account, ListAPIKeys{Page: core.Page{Limit: 10}, ListFilter: core.ListFilter{Q: "OTHER"}})
		require.NoError(t, err)
		require.Len(t, found, 1)
	})
}
