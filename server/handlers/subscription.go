package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/view"
)

// ListSubscriptions implements GET /subscriptions.
func (h *Handlers) ListSubscriptions(ctx context.Context, r api.ListSubscriptionsRequestObject) (api.ListSubscriptionsResponseObject, error) {
	list, more, err := h.store.Subscription.List(ctx, account(ctx), view.ListSubscriptions(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/subscriptions", list, more, view.Subscription, r.Params.Expand)
	return api.ListSubscriptions200JSONResponse(out), err
}

// CreateSubscription implements POST /subscriptions.
func (h *Handlers) CreateSubscription(ctx context.Context, r api.CreateSubscriptionRequestObject) (api.CreateSubscriptionResponseObject, error) {
	in := billing.CreateSubscription{Draft: view.NewSubscription(r.Body)}
	if r.Body.PaymentMethod != nil {
		in.Method = &payments.MethodInput{Ref: *r.Body.PaymentMethod}
	}
	s, err := h.billing.CreateSubscription(ctx, account(ctx), in)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, s, view.Subscription, r.Params.Expand)
	return api.CreateSubscription201JSONResponse(out), err
}

// CancelSubscription implements POST /subscriptions/{id}/cancel.
func (h *Handlers) CancelSubscription(ctx context.Context, r api.CancelSubscriptionRequestObject) (api.CancelSubscriptionResponseObject, error) {
	s, err := h.billing.CancelSubscription(ctx, account(ctx), r.ID, view.CancelSubscription(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, s, view.Subscription, r.Params.Expand)
	return api.CancelSubscription200JSONResponse(out), err
}

// UncancelSubscription implements POST /subscriptions/{id}/uncancel.
func (h *Handlers) UncancelSubscription(ctx context.Context, r api.UncancelSubscriptionRequestObject) (api.UncancelSubscriptionResponseObject, error) {
	s, err := h.store.UncancelSubscription(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, s, view.Subscription, r.Params.Expand)
	return api.UncancelSubscription200JSONResponse(out), err
}

// PauseSubscription implements POST /subscriptions/{id}/pause.
func (h *Handlers) PauseSubscription(ctx context.Context, r api.PauseSubscriptionRequestObject) (api.PauseSubscriptionResponseObject, error) {
	s, err := h.store.PauseSubscription(ctx, account(ctx), r.ID, view.PauseSubscription(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, s, view.Subscription, r.Params.Expand)
	return api.PauseSubscription200JSONResponse(out), err
}

// ResumeSubscription implements POST /subscriptions/{id}/resume.
func (h *Handlers) ResumeSubscription(ctx context.Context, r api.ResumeSubscriptionRequestObject) (api.ResumeSubscriptionResponseObject, error) {
	s, err := h.store.ResumeSubscription(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, s, view.Subscription, r.Params.Expand)
	return api.ResumeSubscription200JSONResponse(out), err
}

// ChangeSubscription implements POST /subscriptions/{id}/change.
func (h *Handlers) ChangeSubscription(ctx context.Context, r api.ChangeSubscriptionRequestObject) (api.ChangeSubscriptionResponseObject, error) {
	s, err := h.billing.ChangeSubscription(ctx, account(ctx), r.ID, view.SubscriptionChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, s, view.Subscription, r.Params.Expand)
	return api.ChangeSubscription200JSONResponse(out), err
}

// ExportSubscriptions implements GET /subscriptions/export.
func (h *Handlers) ExportSubscriptions(ctx context.Context, r api.ExportSubscriptionsRequestObject) (api.ExportSubscriptionsResponseObject, error) {
	u, err := h.export(ctx, "subscriptions", r.Params)
	return api.ExportSubscriptions200JSONResponse(u), err
}

// GetSubscription implements GET /subscriptions/{id}.
func (h *Handlers) GetSubscription(ctx context.Context, r api.GetSubscriptionRequestObject) (api.GetSubscriptionResponseObject, error) {
	s, err := h.store.Subscription.Get(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, s, view.Subscription, r.Params.Expand)
	return api.GetSubscription200JSONResponse(out), err
}

// UpdateSubscription implements PATCH /subscriptions/{id}.
func (h *Handlers) UpdateSubscription(ctx context.Context, r api.UpdateSubscriptionRequestObject) (api.UpdateSubscriptionResponseObject, error) {
	s, err := h.store.UpdateSubscription(ctx, account(ctx), r.ID, view.SubscriptionPatch(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, s, view.Subscription, r.Params.Expand)
	return api.UpdateSubscription200JSONResponse(out), err
}

// PreviewSubscriptionChange implements POST /subscriptions/{id}/change_preview.
func (h *Handlers) PreviewSubscriptionChange(ctx context.Context, r api.PreviewSubscriptionChangeRequestObject) (api.PreviewSubscriptionChangeResponseObject, error) {
	change, err := h.store.PreviewSubscriptionChange(ctx, account(ctx), r.ID, view.SubscriptionChange(r.Body))
	if err != nil {
		return nil, err
	}
	return api.PreviewSubscriptionChange200JSONResponse(view.SubscriptionChangePreview(change)), nil
}

// PreviewSubscriptionRenewal implements GET /subscriptions/{id}/renew_preview.
func (h *Handlers) PreviewSubscriptionRenewal(ctx context.Context, r api.PreviewSubscriptionRenewalRequestObject) (api.PreviewSubscriptionRenewalResponseObject, error) {
	renewal, err := h.store.Subscription.PreviewRenewal(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.PreviewSubscriptionRenewal200JSONResponse(view.SubscriptionRenewal(renewal)), nil
}
