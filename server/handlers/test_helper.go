package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/view"
)

// AdvanceTestClock implements POST /test_helpers/clock.
func (h *Handlers) AdvanceTestClock(ctx context.Context, r api.AdvanceTestClockRequestObject) (api.AdvanceTestClockResponseObject, error) {
	in, err := view.AdvanceTestClock(r.Body)
	if err != nil {
		return nil, err
	}
	clock, err := h.billing.AdvanceClock(ctx, account(ctx), in)
	if err != nil {
		return nil, err
	}
	return api.AdvanceTestClock200JSONResponse(view.TestClock(clock.Now, clock.Target, clock.Done, clock.Processed)), nil
}

// DriftAds implements POST /test_helpers/ads/drift.
func (h *Handlers) DriftAds(ctx context.Context, r api.DriftAdsRequestObject) (api.DriftAdsResponseObject, error) {
	campaign, err := h.ads.DriftAds(ctx, account(ctx), view.DriftAds(r.Body))
	if err != nil {
		return nil, err
	}
	return api.DriftAds200JSONResponse(view.AdDrift(campaign, r.Body.Kind)), nil
}

// AuthenticateTestPayment implements POST /test_helpers/payments/{id}/authenticate.
func (h *Handlers) AuthenticateTestPayment(ctx context.Context, r api.AuthenticateTestPaymentRequestObject) (api.AuthenticateTestPaymentResponseObject, error) {
	payment, err := h.billing.AuthenticateTestPayment(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.AuthenticateTestPayment200JSONResponse(view.Payment(payment)), nil
}

// SettleTestRefund implements POST /test_helpers/refunds/{id}/settle.
func (h *Handlers) SettleTestRefund(ctx context.Context, r api.SettleTestRefundRequestObject) (api.SettleTestRefundResponseObject, error) {
	refund, err := h.billing.SettleTestRefund(ctx, account(ctx), r.ID, payments.RefundStatus(r.Body.Status))
	if err != nil {
		return nil, err
	}
	return api.SettleTestRefund200JSONResponse(view.Refund(refund)), nil
}
