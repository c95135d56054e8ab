package tenant

import (
	"testing"

	"github.com/stretchr/testify/require"
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
