package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/tenant"
)

// APIKey renders an API key without its token.
func APIKey(k *tenant.APIKey) api.APIKey {
	return api.APIKey{
		ID:         k.ID,
		Object:     "api_key",
		Name:       k.Name,
		Token:      nil, // only the answer to its creation shows it
		TokenLast4: k.TokenLast4,
		Scopes:     mapped(k.Scopes.V, func(s string) api.APIKeyScope { return api.APIKeyScope(s) }),
		ExpiresAt:  atOrNull(k.ExpiresAt),
		LastUsedAt: atOrNull(k.LastUsedAt),
		LastUsedIP: k.LastUsedIP,
		CreatedBy:  k.CreatedBy,
		CreatedAt:  at(k.CreatedAt),
		UpdatedAt:  at(k.UpdatedAt),
	}
}

// NewAPIKey reads the body of a create.
func NewAPIKey(b *api.APIKeyCreate) tenant.NewAPIKey {
	return tenant.NewAPIKey{Name: value(b.Name), Scopes: scopes(b.Scopes), ExpiresAt: stored(sent(b.ExpiresAt)), Lasting: b.ExpiresAt.IsNull()}
}

// APIKeyChange reads the body of a PATCH.
func APIKeyChange(b *api.APIKeyUpdate) func(*tenant.APIKey) {
	return func(k *tenant.APIKey) {
		set(&k.Name, b.Name)
		if b.Scopes != nil {
			k.Scopes.V = scopes(b.Scopes)
		}
		if b.ExpiresAt.IsSpecified() {
			k.ExpiresAt = stored(sent(b.ExpiresAt))
		}
	}
}

func scopes(sent []api.APIKeyScope) []string {
	return mapped(sent, func(s api.APIKeyScope) string { return string(s) })
}
