package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListAdCapabilities implements GET /ads/capabilities.
func (h *Handlers) ListAdCapabilities(_ context.Context, _ api.ListAdCapabilitiesRequestObject) (api.ListAdCapabilitiesResponseObject, error) {
	return api.ListAdCapabilities200JSONResponse(view.AdCapabilities(h.ads.Capabilities())), nil
}
