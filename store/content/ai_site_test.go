package content

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// creator is an account with the room in which its content is.
type creator struct {
	*Store
	account string
}

func eachCreator(t *testing.T, test func(t *testing.T, s *creator)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { test(t, &creator{New(d), dbtest.Account(t, d)}) })
}

func TestCreateAISite_ParallelOnesHaveOneDefaultAndOwnSubdomains(t *testing.T) {
	eachCreator(t, func(t *testing.T, s *creator) {
		const sites = 15 // more than the numbers behind a name
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for range sites / 3 {
					if _, err := s.CreateAISite(context.Background(), s.account, AISiteDraft{AISite: &AISite{Name: "Shop front"}}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		list, _, err := s.ListAISites(t.Context(), s.account, ListAISites{Page: core.Page{Limit: 100}})
		require.NoError(t, err)
		require.Len(t, list, sites)
		defaults, subdomains := 0, map[string]bool{}
		for _, site := range list {
			if site.Default {
				defaults++
			}
			subdomains[site.Subdomain] = true
			require.True(t, isSubdomain(site.Subdomain), site.Subdomain)
			require.True(t, strings.HasPrefix(site.Subdomain, "shop-front"), site.Subdomain)
		}
		require.Equal(t, 1, defaults)
		require.Len(t, subdomains, sites)
	})
}

func TestTakeSubdomain_OneOfManyGetsIt(t *testing.T) {
	eachCreator(t, func(t *testing.T, s *creator) {
		other := dbtest.Account(t, s.db)
		results := make(chan error, 10)
		for i := range cap(results) {
			go func() {
				account := []string{s.account, other}[i%2]
				_, err := s.CreateAISite(context.Background(), account, AISiteDraft{AISite: &AISite{Name: "x", Subdomain: "wanted"}})
				results <- err
			}()
		}
		got := 0
		for range cap(results) {
			if err := <-results; err == nil {
				got++
			} else {
				dbtest.RequireInvalid(t, err, "subdomain")
			}
		}
		require.Equal(t, 1, got)
	})
}

func TestDefaultAISite_ParallelChangesLeaveOne(t *testing.T) {
	eachCreator(t, func(t *testing.T, s *creator) {
		var ids []string
		for range 4 {
			site, err := s.CreateAISite(t.Context(), s.account, AISiteDraft{AISite: &AISite{Name: "site"}})
			require.NoError(t, err)
			ids = append(ids, site.ID)
		}
		var wg sync.WaitGroup
		for _, id := range ids {
			wg.Go(func() {
				for range 5 {
					if _, err := s.UpdateAISite(context.Background(), s.account, id, func(a *AISiteDraft) { a.Default = true }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, 1, dbtest.Count(t, s.db, `SELECT count(*) FROM ai_sites WHERE account_id = ? AND is_default`, s.account))
	})
}
