package picture

import (
	"context"
	"image/color"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/picture"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// Whoever is stopped while it fetches a picture leaves it to others, and keeps nothing after that. A picture whose address changed meanwhile is not kept either.
func TestFetch_IsFinishedByAnotherReplica(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		file := drawn(t, 20, 10, color.White)
		owner := w.sells(catalog.Product{CoverURL: w.at("/cover", sends(file))})
		stopped, err := w.Pictures.Claim(t.Context(), w.account)
		require.NoError(t, err)
		require.NotNil(t, stopped)
		assert.Nil(t, w.fetch(owner).Name, "it is left to who claimed it")
		assert.Zero(t, w.times("/cover"))
		w.now = w.now.Add(picture.Lease)
		kept := w.fetch(owner)
		require.NotNil(t, kept.Name)
		made, err := Make(file, false)
		require.NoError(t, err)
		did, err := w.Pictures.Keep(t.Context(), stopped, made)
		require.NoError(t, err)
		assert.False(t, did)
		require.NoError(t, w.Pictures.Fail(t.Context(), stopped, "Too late.", true))
		assert.Equal(t, kept, w.fetch(owner))

		changing := func(rw http.ResponseWriter, r *http.Request) {
			_, err := w.Catalog.UpdateProduct(r.Context(), w.account, owner, func(p *catalog.Product) { p.CoverURL = new(w.seller.URL + "/new") })
			assert.NoError(t, err)
			sends(file)(rw, r)
		}
		w.at("/new", sends(drawn(t, 40, 10, color.White)))
		_, err = w.Catalog.UpdateProduct(t.Context(), w.account, owner, func(p *catalog.Product) { p.CoverURL = w.at("/changing", changing) })
		require.NoError(t, err)
		assert.Equal(t, []picture.Size{{Width: 40, Height: 10}}, w.fetch(owner).Sizes.V)

		again := w.sells(catalog.Product{CoverURL: w.at("/cover", sends(file))})
		for range 5 {
			claimed, err := w.Pictures.Claim(t.Context(), w.account)
			require.NoError(t, err)
			require.NotNil(t, claimed)
			w.now = w.now.Add(picture.Lease)
		}
		given := w.fetch(again)
		assert.Nil(t, given.DueAt)
		assert.Equal(t, "This server stopped each time that it fetched the picture.", *given.Problem)
	})
}

// A picture that waits to be decoded stays with whoever claimed it, however long the others take.
func TestFetch_KeepsItsClaimWhileItWaitsToBeDecoded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		later := w.now.Add(picture.Lease - time.Second)
		owner := w.sells(catalog.Product{CoverURL: w.at("/cover", func(rw http.ResponseWriter, r *http.Request) {
			w.now = later
			sends(drawn(t, 9, 9, color.White))(rw, r)
		})})
		f := w.replicas[0]
		f.renewEvery = time.Millisecond
		f.making <- struct{}{} // another one is decoded
		fetched := make(chan error, 1)
		go func() { fetched <- f.Fetch(t.Context()) }()
		require.Eventually(t, func() bool {
			p, err := w.Pictures.Of(t.Context(), w.account, owner)
			return err == nil && p.DueAt != nil && p.DueAt.Time().After(later.Add(time.Minute))
		}, time.Minute, 5*time.Millisecond)
		<-f.making
		require.NoError(t, <-fetched)
		p, err := w.Pictures.Of(t.Context(), w.account, owner)
		require.NoError(t, err)
		assert.NotNil(t, p.Name)
		assert.EqualValues(t, 1, p.Attempts)
	})
}

// What is not asked for, because its server was silent a moment ago, costs the account a fetch for all together.
func TestFetch_HasAllPicturesOfAServerThatWasSilentForAMoment(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var abort http.HandlerFunc = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		var owners []string
		for range 15 {
			owners = append(owners, w.sells(catalog.Product{CoverURL: w.at("/cover", abort)}))
		}
		fetch := func() { // by one replica, since each asks once
			t.Helper()
			require.NoError(t, w.replicas[0].Fetch(t.Context()))
		}
		fetch()
		for range 9 {
			w.now = w.now.Add(pause / 10)
			fetch()
			p, err := w.Pictures.Of(t.Context(), w.account, owners[0])
			require.NoError(t, err)
			assert.Equal(t, "Its server could not be reached, or did not send the picture in time.", *p.Problem)
			assert.LessOrEqual(t, p.Attempts, int64(1))
		}
		assert.Equal(t, 1, w.times("/cover"), "it is left alone")
		w.at("/cover", sends(drawn(t, 9, 9, color.White)))
		w.now = w.now.Add(pause / 5)
		fetch()
		shown, err := w.Pictures.Shown(t.Context(), w.account, owners)
		require.NoError(t, err)
		assert.Len(t, shown, len(owners))
		var fetches int
		require.NoError(t, database.Behind(t, w.database).QueryRowContext(t.Context(), `SELECT fetches FROM picture_usage`).Scan(&fetches))
		assert.Equal(t, w.times("/cover")+2, fetches, "those that were not asked for were put off together, and the first one after its pause")
	})
}

// A change of several products in one transaction waits for nobody who claims a picture of theirs, else each may wait for the other.
func TestClaim_IsNotHeldUpByAChangeOfSeveralProducts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if !strings.HasPrefix(w.database, "postgres") {
			return // on SQLite there is one writer at a time
		}
		good := sends(drawn(t, 9, 9, color.White))
		var owners []string
		for _, path := range []string{"/a", "/b", "/c"} {
			owners = append(owners, w.sells(catalog.Product{CoverURL: w.at(path, good)}))
		}
		w.fetch(w.account)
		owners = append(owners, w.sells(catalog.Product{CoverURL: w.at("/d", good)}), w.sells(catalog.Product{CoverURL: w.at("/e", good)}))
		begin := func() func(owner string) error {
			tx, err := database.Behind(t, w.database).BeginTx(t.Context(), nil)
			require.NoError(t, err)
			t.Cleanup(func() { _ = tx.Rollback() })
			_, err = tx.ExecContext(t.Context(), `SET LOCAL lock_timeout = '10s'`)
			require.NoError(t, err)
			return func(owner string) error {
				if owner == "" {
					return tx.Commit()
				}
				_, err := tx.ExecContext(t.Context(), `UPDATE products SET cover_url = NULL WHERE id = $1`, owner)
				return err
			}
		}
		one, other := begin(), begin()
		require.NoError(t, one(owners[0]))
		require.NoError(t, other(owners[1]), "no change waits for another")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		claimed, err := w.Pictures.Claim(ctx, w.account)
		require.NoError(t, err)
		require.NotNil(t, claimed)
		require.NoError(t, one(owners[3]))
		require.NoError(t, one(""))
		require.NoError(t, other(""))
		assert.NotNil(t, w.fetch(owners[2]).Name)
		broken, err := w.Audit.Check(t.Context(), outbox.DeliveryRetention{Failed: time.Hour, Succeeded: time.Hour})
		require.NoError(t, err)
		assert.Empty(t, broken)
	})
}

// A server that was silent is not asked for the account's other pictures for a while. What an account may have in a day, or keep, is not exceeded.
func TestFetch_LeavesAnAccountItsBounds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var abort http.HandlerFunc = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		for range 3 {
			w.sells(catalog.Product{CoverURL: w.at("/silent", abort)})
		}
		w.fetch(w.account)
		assert.LessOrEqual(t, w.times("/silent"), 2, "each replica asks once")
		w.at("/silent", nil)
		w.now = w.now.Add(2 * pause)
		w.fetch(w.account)
		held := func() string {
			t.Helper()
			why, err := w.Pictures.Held(t.Context(), w.account)
			require.NoError(t, err)
			return why
		}
		assert.Empty(t, held())

		behind := database.Behind(t, w.database)
		usage := func(change string) {
			t.Helper()
			_, err := behind.ExecContext(t.Context(), `UPDATE picture_usage SET `+change)
			require.NoError(t, err)
		}
		file := sends(drawn(t, 9, 9, color.White))
		usage("fetches = 49")
		first, second := w.sells(catalog.Product{CoverURL: w.at("/a", file)}), w.sells(catalog.Product{CoverURL: w.at("/b", file)})
		w.fetch(first)
		assert.Equal(t, 1, w.times("/a")+w.times("/b"))
		assert.Equal(t, "50 pictures of the account were fetched today. It is fetched tomorrow.", held())
		claimed, err := w.Pictures.Claim(t.Context(), w.account)
		require.NoError(t, err)
		assert.Nil(t, claimed)
		w.now = w.now.Add(24 * time.Hour)
		assert.Empty(t, held())
		assert.NotNil(t, w.fetch(first).Name)
		assert.NotNil(t, w.fetch(second).Name)

		usage("pictures = 100")
		third := w.sells(catalog.Product{CoverURL: w.at("/c", file)})
		assert.Nil(t, w.fetch(third).Name)
		assert.Contains(t, held(), "As many pictures are kept for the account as may be: 100, or 1024 MB.")
		_, err = w.Catalog.DeleteProduct(t.Context(), w.account, first)
		require.NoError(t, err)
		assert.NotNil(t, w.fetch(third).Name, "it was not given up")

		_, _, err = w.Tenant.DisableAccount(t.Context(), w.account)
		require.NoError(t, err)
		fourth := w.sells(catalog.Product{CoverURL: w.at("/d", file)})
		usage("pictures = 2")
		w.fetch(fourth)
		assert.Zero(t, w.times("/d"), "nothing is fetched for a disabled account")
		_, _, err = w.Tenant.EnableAccount(t.Context(), w.account)
		require.NoError(t, err)
		assert.NotNil(t, w.fetch(fourth).Name)
	})
}
