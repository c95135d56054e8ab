package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/portal"
)

// PortalSession renders a portal session with its token.
func PortalSession(p *portal.Session) api.PortalSession {
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
