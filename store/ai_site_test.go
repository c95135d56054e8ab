package store

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
)

func TestCreateAISite_ParallelOnesHaveOneDefaultAndOwnSubdomains(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		const sites = 15 // more than the numbers behind a name
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for range sites / 3 {
					if _, err := s.CreateAISite(context.Background(), s.account, AISite{Name: "Shop front"}); err != nil {
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
			require.True(t, isSubdomain(site.Subdomain) && strings.HasPrefix(site.Subdomain, "shop-front"), site.Subdomain)
		}
		require.Equal(t, 1, defaults)
		require.Len(t, subdomains, sites)
	})
}

func TestTakeSubdomain_OneOfManyGetsIt(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		other, err := s.CreateAccount(t.Context(), NewAccount{Name: "Eve's Shop", Email: "eve@example.com"})
		require.NoError(t, err)
		results := make(chan error, 10)
		for i := range cap(results) {
			go func() {
				account := []string{s.account, other.ID}[i%2]
				_, err := s.CreateAISite(context.Background(), account, AISite{Name: "x", Subdomain: "wanted"})
				results <- err
			}()
		}
		got := 0
		for range cap(results) {
			if err := <-results; err == nil {
				got++
			} else {
				requireInvalid(t, err, "subdomain")
			}
		}
		require.Equal(t, 1, got)
	})
}

func TestDefaultAISite_ParallelChangesLeaveOne(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var ids []string
		for range 4 {
			site, err := s.CreateAISite(t.Context(), s.account, AISite{Name: "site"})
			require.NoError(t, err)
			ids = append(ids, site.ID)
		}
		var wg sync.WaitGroup
		for _, id := range ids {
			wg.Go(func() {
				for range 5 {
					if _, err := s.UpdateAISite(context.Background(), s.account, id, func(a *AISite) { a.Default = true }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, 1, s.count(t, `SELECT count(*) FROM ai_sites WHERE account_id = ? AND is_default`, s.account))
	})
}
