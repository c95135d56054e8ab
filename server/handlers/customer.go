package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/core"
)

// cancelScope is what a key needs besides to cancel the subscriptions of a customer whom it deletes.
const cancelScope = "subscriptions:write"

// ListCustomers implements GET /customers.
func (h *Handlers) ListCustomers(ctx context.Context, r api.ListCustomersRequestObject) (api.ListCustomersResponseObject, error) {
	customers, more, err := h.store.Customer.List(ctx, account(ctx), view.ListCustomers(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/customers", customers, more, view.Customer, r.Params.Expand)
	return api.ListCustomers200JSONResponse(out), err
}

// CreateCustomer implements POST /customers.
func (h *Handlers) CreateCustomer(ctx context.Context, r api.CreateCustomerRequestObject) (api.CreateCustomerResponseObject, error) {
	c, err := h.store.Customer.Create(ctx, account(ctx), view.NewCustomer(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, c, view.Customer, r.Params.Expand)
	return api.CreateCustomer201JSONResponse(out), err
}

// GetCustomer implements GET /customers/{id}.
func (h *Handlers) GetCustomer(ctx context.Context, r api.GetCustomerRequestObject) (api.GetCustomerResponseObject, error) {
	c, err := h.store.Customer.Get(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, c, view.Customer, r.Params.Expand)
	return api.GetCustomer200JSONResponse(out), err
}

// GetCustomerByExternalID implements GET /customers/external/{external_id}.
func (h *Handlers) GetCustomerByExternalID(ctx context.Context, r api.GetCustomerByExternalIDRequestObject) (api.GetCustomerByExternalIDResponseObject, error) {
	c, err := h.store.Customer.OfExternalID(ctx, account(ctx), r.ExternalID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, c, view.Customer, r.Params.Expand)
	return api.GetCustomerByExternalID200JSONResponse(out), err
}

// UpdateCustomer implements PATCH /customers/{id}.
func (h *Handlers) UpdateCustomer(ctx context.Context, r api.UpdateCustomerRequestObject) (api.UpdateCustomerResponseObject, error) {
	c, err := h.store.UpdateCustomer(ctx, account(ctx), r.ID, view.CustomerChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, c, view.Customer, r.Params.Expand)
	return api.UpdateCustomer200JSONResponse(out), err
}

// UpsertCustomer implements POST /customers/by_external_id.
func (h *Handlers) UpsertCustomer(ctx context.Context, r api.UpsertCustomerRequestObject) (api.UpsertCustomerResponseObject, error) {
	c, isNew, err := h.store.UpsertCustomer(ctx, account(ctx), view.CustomerUpsert(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, c, view.Customer, r.Params.Expand)
	if isNew {
		return api.UpsertCustomer201JSONResponse(out), err
	}
	return api.UpsertCustomer200JSONResponse(out), err
}

// BulkUpsertCustomers implements POST /customers/bulk_upsert.
func (h *Handlers) BulkUpsertCustomers(ctx context.Context, r api.BulkUpsertCustomersRequestObject) (api.BulkUpsertCustomersResponseObject, error) {
	done, err := h.store.UpsertCustomers(ctx, account(ctx), view.CustomerUpserts(r.Body, refusals(ctx)))
	if err != nil {
		return nil, err
	}
	return api.BulkUpsertCustomers200JSONResponse(view.BulkUpsert(done)), nil
}

// DeleteCustomer implements DELETE /customers/{id}.
func (h *Handlers) DeleteCustomer(ctx context.Context, r api.DeleteCustomerRequestObject) (api.DeleteCustomerResponseObject, error) {
	cancel := r.Params.CancelSubscriptions != nil && *r.Params.CancelSubscriptions
	if cancel && !caller.Of(ctx).May(cancelScope) {
		return nil, &core.Error{Code: core.CodeForbidden, Param: cancelScope,
			Message: "To cancel subscriptions an API key needs the scope " + cancelScope + ", which this one lacks."}
	}
	c, err := h.store.DeleteCustomer(ctx, account(ctx), r.ID, cancel)
	if err != nil {
		return nil, err
	}
	return api.DeleteCustomer200JSONResponse(view.Deleted("customer", c.ID)), nil
}

// ExportCustomers implements GET /customers/export.
func (h *Handlers) ExportCustomers(ctx context.Context, r api.ExportCustomersRequestObject) (api.ExportCustomersResponseObject, error) {
	u, err := h.export(ctx, "customers", r.Params)
	return api.ExportCustomers200JSONResponse(u), err
}

// GetCustomerState implements GET /customers/{id}/state.
func (h *Handlers) GetCustomerState(ctx context.Context, r api.GetCustomerStateRequestObject) (api.GetCustomerStateResponseObject, error) {
	state, err := h.store.GetCustomerState(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetCustomerState200JSONResponse(view.CustomerState(state)), nil
}

// MergeCustomer implements POST /customers/{id}/merge.
func (h *Handlers) MergeCustomer(ctx context.Context, r api.MergeCustomerRequestObject) (api.MergeCustomerResponseObject, error) {
	c, err := h.store.MergeCustomer(ctx, account(ctx), r.ID, r.Body.From)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, c, view.Customer, r.Params.Expand)
	return api.MergeCustomer200JSONResponse(out), err
}

// ListCustomerPaymentMethods implements GET /customers/{id}/payment_methods.
func (h *Handlers) ListCustomerPaymentMethods(ctx context.Context, r api.ListCustomerPaymentMethodsRequestObject) (api.ListCustomerPaymentMethodsResponseObject, error) {
	page := view.Page(r.Params.Limit, r.Params.StartingAfter, r.Params.EndingBefore)
	methods, more, err := h.store.Payment.ListMethods(ctx, account(ctx), r.ID, page)
	if err != nil {
		return nil, err
	}
	return api.ListCustomerPaymentMethods200JSONResponse(view.List("/v1/customers/"+r.ID+"/payment_methods", methods, more, view.SavedPaymentMethod)), nil
}

// CreateCustomerPaymentMethod implements POST /customers/{id}/payment_methods.
func (h *Handlers) CreateCustomerPaymentMethod(ctx context.Context, r api.CreateCustomerPaymentMethodRequestObject) (api.CreateCustomerPaymentMethodResponseObject, error) {
	m, err := h.billing.SaveMethod(ctx, account(ctx), r.ID, billing.SaveMethod{
		Method: payments.MethodInput{Ref: r.Body.PaymentMethod.Token, Card: (*payments.Card)(r.Body.PaymentMethod.Card)}, IsDefault: r.Body.Default != nil && *r.Body.Default,
	})
	if err != nil {
		return nil, err
	}
	return api.CreateCustomerPaymentMethod201JSONResponse(view.SavedPaymentMethod(m)), nil
}

// DeleteCustomerPaymentMethod implements DELETE /customers/{id}/payment_methods/{payment_method}.
func (h *Handlers) DeleteCustomerPaymentMethod(ctx context.Context, r api.DeleteCustomerPaymentMethodRequestObject) (api.DeleteCustomerPaymentMethodResponseObject, error) {
	m, err := h.store.DeletePaymentMethod(ctx, account(ctx), r.ID, r.PaymentMethod)
	if err != nil {
		return nil, err
	}
	return api.DeleteCustomerPaymentMethod200JSONResponse(view.Deleted("payment_method", m.ID)), nil
}
