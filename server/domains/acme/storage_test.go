package acme

import (
	"context"
	"encoding/json"
	"io/fs"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3/acme"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestStorage_KeepsFilesByFolder(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		ctx, s := t.Context(), newWorld(t, url).replica().storage
		for _, key := range []string{"a/b/c", "a/b/d", "a/e", "a-b/f", "A/g"} {
			require.NoError(t, s.Store(ctx, key, []byte("old "+key)))
			require.NoError(t, s.Store(ctx, key, []byte(key)))
		}
		text, err := s.Load(ctx, "a/b/c")
		require.NoError(t, err)
		require.Equal(t, "a/b/c", string(text))
		direct, err := s.List(ctx, "a", false)
		require.NoError(t, err)
		require.Equal(t, []string{"a/b", "a/e"}, direct)
		all, err := s.List(ctx, "a", true)
		require.NoError(t, err)
		require.Equal(t, []string{"a/b/c", "a/b/d", "a/e"}, all)
		info, err := s.Stat(ctx, "a/e")
		require.NoError(t, err)
		require.EqualValues(t, 3, info.Size)
		require.NoError(t, s.Delete(ctx, "a"))
		require.False(t, s.Exists(ctx, "a/b/c"))
		_, err = s.Load(ctx, "a/e")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.True(t, s.Exists(ctx, "a-b/f"))
		require.True(t, s.Exists(ctx, "A/g"))
	})
}

func TestStorage_LockEndsWithItsHolder(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		killed, next := w.replica().storage, w.replica().storage
		killed.lease = time.Hour
		require.NoError(t, killed.Lock(t.Context(), "a"))
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, next.Lock(short, "a"), context.DeadlineExceeded)
		killed.lease = time.Millisecond
		require.NoError(t, killed.Lock(t.Context(), "b"), "of another name")
		long, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		require.NoError(t, next.Lock(long, "b"))
		require.NoError(t, killed.Unlock(t.Context(), "b"))
		short, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, killed.Lock(short, "b"), context.DeadlineExceeded, "it is not theirs any more")
		require.NoError(t, next.Unlock(short, "b"), "also when time is over")
		require.NoError(t, killed.Lock(t.Context(), "b"))
	})
}

// Time can end while a statement is under way. The database reports that as a statement or a connection that it ended.
func TestStorage_LockEndsWithItsContext(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newWorld(t, url).replica().storage
		require.NoError(t, s.Lock(t.Context(), "a"))
		held, err := database.Behind(t, url).BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = held.ExecContext(t.Context(), `UPDATE site_certificate_locks SET lease_until = lease_until`)
		require.NoError(t, err)
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.Equal(t, context.DeadlineExceeded, s.Lock(short, "a"))
		require.NoError(t, held.Rollback())
	})
}

func TestStorage_AFileInAnotherPlaceOrOfALostKeyIsNone(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		ctx, w := t.Context(), newWorld(t, url)
		r := w.replica()
		require.NoError(t, r.storage.Store(ctx, "a", []byte("a secret")))
		f, err := r.store.Content.GetCertificateFile(ctx, "a")
		require.NoError(t, err)
		require.NotContains(t, string(f.Sealed), "secret")
		sealer, err := core.NewSealer([]byte("another key, which has 32 bytes."))
		require.NoError(t, err)
		other, err := store.Open(ctx, store.Options{URL: url, Sealer: sealer, Synchronous: "normal", PublicURL: "https://shop.test", CloseTime: time.Minute})
		require.NoError(t, err)
		defer other.Close()
		s := newStorage(other.Content)
		require.False(t, s.Exists(ctx, "a"))
		require.NoError(t, s.Store(ctx, "a", []byte("another")))
		require.True(t, s.Exists(ctx, "a"))
		require.False(t, r.storage.Exists(ctx, "a"))
	})
}

// A challenge that this process has not begun is answered from the database.
func TestListen_AnswersTheChallengesOfOtherReplicas(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		r := w.replica().serve()
		_, err := w.dial(w.domain, "acme-tls/1")
		require.Error(t, err)
		begun, err := json.Marshal(acme.Challenge{Type: acme.ChallengeTypeTLSALPN01, Identifier: acme.Identifier{Type: "dns", Value: w.domain}, KeyAuthorization: "a.b"})
		require.NoError(t, err)
		require.NoError(t, r.storage.Store(t.Context(), "acme/"+certmagic.StorageKeys.Safe(r.issuer.IssuerKey())+"/challenge_tokens/"+w.domain+".json", begun))
		cert, err := w.dial(w.domain, "acme-tls/1")
		require.NoError(t, err)
		require.Equal(t, []string{w.domain}, cert.DNSNames)
		require.Equal(t, "1.3.6.1.5.5.7.1.31", cert.Extensions[len(cert.Extensions)-1].Id.String())
	})
}

func TestRecheck_LooksAtOnceAtDomainsWhoseCertificateIsGone(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		r := w.replica().serve()
		a := r.site()
		r.later(10*time.Second, a)
		r.later(10*time.Second, a)
		require.NoError(t, r.recheck(t.Context()))
		require.EqualValues(t, 1, w.orders.Load())
		due := *r.read(a).DomainDueAt
		require.Greater(t, due.Time().Sub(w.now), time.Hour, "it is there")
		require.NoError(t, r.storage.Delete(t.Context(), "certificates"))
		require.NoError(t, r.recheck(t.Context()))
		require.LessOrEqual(t, r.read(a).DomainDueAt.Time().Sub(w.now), time.Duration(0))
		r.later(time.Second, a)
		require.EqualValues(t, 2, w.orders.Load())
	})
}
