package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
)

// PortalSession renders a portal session with its token.
func PortalSession(p *store.PortalSession) api.PortalSession {
	return api.PortalSession{
		ID:        p.ID,
		Object:    "portal_session",
		Customer:  p.CustomerID,
		URL:       p.URL,
		Token:     p.Token,
		ReturnURL: p.ReturnURL,
		ExpiresAt: at(p.ExpiresAt),
		CreatedAt: at(p.CreatedAt),
		UpdatedAt: at(p.UpdatedAt),
	}
}
