package store

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

func TestAPIKey_HoldsAScopeOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		twice := []string{"orders:read", "products:read", "orders:read"}
		k, _, err := s.CreateAPIKey(t.Context(), s.account, Granted{}, NewAPIKey{Scopes: twice})
		require.NoError(t, err)
		require.Equal(t, twice[:2], k.Scopes.V)
		same, err := s.UpdateAPIKey(t.Context(), s.account, Granted{}, k.ID, func(k *APIKey) { k.Scopes.V = twice })
		require.NoError(t, err)
		require.Equal(t, twice[:2], same.Scopes.V)
		require.Equal(t, k.UpdatedAt, same.UpdatedAt)
	})
}

func TestNames_AreNotWhiteSpace(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		const blank = " \u3000\t"
		_, _, err := s.CreateAPIKey(t.Context(), s.account, Granted{}, NewAPIKey{Name: blank})
		dbtest.RequireInvalid(t, err, "name")
		_, err = s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: blank}})
		dbtest.RequireInvalid(t, err, "name")
		_, err = s.CreateCustomer(t.Context(), s.account, Customer{Email: ref("ada@example.com"), Name: ref(blank)})
		dbtest.RequireInvalid(t, err, "name")
		_, err = s.Content.CreateAISite(t.Context(), s.account, content.AISite{Name: blank})
		dbtest.RequireInvalid(t, err, "name")
		_, err = s.UpdateAccount(t.Context(), s.account, func(a *AccountChange) { a.Name = blank })
		dbtest.RequireInvalid(t, err, "name")
	})
}
