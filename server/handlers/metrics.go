package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// GetMetrics implements GET /metrics.
func (h *Handlers) GetMetrics(ctx context.Context, r api.GetMetricsRequestObject) (api.GetMetricsResponseObject, error) {
	m, err := h.store.Report.GetMetrics(ctx, account(ctx), view.GetMetrics(r.Params))
	if err != nil {
		return nil, err
	}
	return api.GetMetrics200JSONResponse(view.Metrics(m)), nil
}
